"""What the rules of evidence share: the test under judgement, the kinds of evidence, and what a device's name means."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hwlint.catalog import Catalog
from hwlint.catalog.tables import read
from hwlint.classify.verdict import Evidence
from hwlint.scan.facts import Function, Span
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach

DEVICE_LABELS = {"cpu": "CPU", "cuda": "CUDA", "mps": "MPS", "xpu": "XPU"}
"""Device types with a HardwareClassification member of their own."""
COMMON_ACCELERATORS = ("cuda", "accelerator")
"""What a suite names when it means the accelerator there is."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One entry of evidence.toml."""

    name: str
    weight: float
    proof: bool
    meaning: str


@functools.lru_cache(maxsize=1)
def kinds() -> dict[str, Kind]:
    """The kinds of evidence by name."""
    return {
        e["kind"]: Kind(e["kind"], float(e["weight"]), bool(e["proof"]), e["meaning"])
        for e in read("evidence")["evidence"]
    }


@dataclass(frozen=True, slots=True)
class Subject:
    """A test as one class runs it."""

    cls: LinkedClass
    owner: LinkedClass
    """The class that defines it."""
    function: Function
    reach: Reach = field(repr=False)
    catalog: Catalog = field(repr=False)

    def evidence(self, kind: str, argues_for: str, message: str, path: str = "", span: Span | None = None) -> Evidence:
        return Evidence(
            kind=kind,
            argues_for=argues_for,
            message=message,
            path=path or self.owner.path,
            span=span or function_span(self.function),
            weight=kinds()[kind].weight,
        )


@functools.lru_cache(maxsize=1)
def facts() -> dict[str, Any]:
    """The tables of evidence.toml beside the kinds: libraries, the module under test, the share that makes a class."""
    return {name: table for name, table in read("evidence").items() if name != "evidence"}


EvidenceRule = Callable[[Subject], Iterator[Evidence]]


def label_of(device: str) -> str:
    """The classification of a test that needs ``device`` itself; ACCELERATOR where it has no member."""
    return DEVICE_LABELS.get(device, "ACCELERATOR")


def device_types(device: str) -> tuple[str, ...]:
    """'cuda:1' -> ('cuda',); 'cuda|cpu' -> ('cuda', 'cpu')."""
    return tuple(part.partition(":")[0] for part in device.split("|"))


def is_accelerator(device: str, catalog: Catalog) -> bool:
    """Whether a device string names an accelerator that a test class could be instantiated for."""
    kind = device.partition(":")[0]
    if kind == "accelerator" or kind in catalog.private_use_names:
        return True
    backend = catalog.backends.get(kind)
    return backend is not None and backend.accelerator and backend.inclusion != "never"


def accelerator_placement(subject: Subject) -> str:
    """The first accelerator with a label of its own that the test places on, '' for none."""
    for reached in subject.reach.uses:
        if reached.use.role == "placement":
            for device in device_types(reached.use.device):
                if device in DEVICE_LABELS and device != "cpu":
                    return device
    return ""
