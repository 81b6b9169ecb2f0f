"""Which tests apply to a device: what is asked, and the answer for each test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hwlint import codec

UNCLASSIFIED = "none"
"""Stands for classes without a classification in what is asked."""

Reason = Literal["unclassified", "other classification", "device set", "gate", "function", "lost"]
REASONS: dict[Reason, str] = {
    "unclassified": "its class has no classification",
    "other classification": "its class has a classification that was not asked for",
    "device set": "its class is not instantiated for the device",
    "gate": "a decorator or a guard keeps it off the device",
    "function": "it is a function outside of any class, which no classification selects",
    "lost": "an instantiated base has taken it from its subclass",
}


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked."""

    device: str
    """A device type: 'cuda', 'npu'."""
    labels: tuple[str, ...]
    """Classifications that apply, UNCLASSIFIED among them for classes without one."""


@dataclass(frozen=True, slots=True)
class Selected:
    """One test as the loader makes it for the device."""

    path: str
    class_name: str
    """Of the generated class, or the plain one."""
    name: str
    """With '*' where it stands for several whose names cannot be read off the source."""
    label: str
    template_class: str
    template_test: str
    line: int
    needs: tuple[str, ...] = ()
    """What else the host must have; the source cannot tell whether it does."""

    @property
    def exact(self) -> bool:
        return "*" not in self.name

    @property
    def node_id(self) -> str:
        """As pytest names it."""
        return f"{self.path}::{self.class_name}::{self.name}"

    @property
    def dotted(self) -> str:
        """As unittest names it, from the suite's root."""
        return ".".join((self.path.removesuffix(".py").replace("/", "."), self.class_name, self.name))


@dataclass(frozen=True, slots=True)
class Passed:
    """One test, as written, that is not selected."""

    path: str
    class_name: str
    test: str
    line: int
    label: str
    reason: str
    """One of REASONS, or for a test of which it is not known, what stands against knowing."""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Selection:
    """The answer."""

    query: Query
    selected: tuple[Selected, ...]
    excluded: tuple[Passed, ...]
    unknown: tuple[Passed, ...]
    """Tests of which the source does not say whether they are instantiated for the device."""

    @property
    def tests(self) -> int:
        """Selected tests as written."""
        return len({(s.path, s.template_class, s.template_test, s.line) for s in self.selected})


codec.register((Query, Selected, Passed, Selection))
