"""The judgement on a class: label, confidence and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hwlint.scan.facts import Span

Confidence = Literal["certain", "likely", "unsure"]
Label = Literal["GENERIC", "ACCELERATOR", "CPU", "CUDA", "MPS", "XPU", "SPLIT"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason, with its position and the label it argues for."""

    kind: str
    """Name of the evidence rule that gave it: 'gate', 'placement', 'vendor-api', ..."""
    argues_for: str
    """A label, or '' for what only lowers the confidence."""
    message: str
    path: str
    span: Span
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class TestVerdict:
    """The judgement on one test."""

    __test__ = False

    name: str
    line: int
    label: str
    confidence: Confidence
    evidence: tuple[Evidence, ...] = ()
    inherited_from: str = ""
    """Qualified class that defines it, '' for an own test."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement on one test class; SPLIT where its tests belong to more than one label."""

    path: str
    class_name: str
    line: int
    label: str
    confidence: Confidence
    current: str
    """The classification it has (own or inherited), '' for none."""
    current_inherited: bool = False
    evidence: tuple[Evidence, ...] = ()
    tests: tuple[TestVerdict, ...] = ()
