"""The classes that come out of a split: what they are called, and what goes with the tests of each."""

from __future__ import annotations

import re
import unittest
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hwlint.suite.model import LinkedClass

REST = "the rest"
"""In the place of a label: tests for an accelerator that keep the device they name."""
SUFFIXES = {
    "GENERIC": "Generic",
    "ACCELERATOR": "Device",
    "CPU": "CpuOnly",
    "CUDA": "CudaOnly",
    "MPS": "MpsOnly",
    "XPU": "XpuOnly",
    REST: "Pinned",
}
"""What a part is called after the class. No device type at the end: instantiation puts that there."""
OTHERWISE = "Tests"
"""What else is put behind the name of a part that is taken."""
BASES = ("Base", "Shared")


@dataclass(frozen=True, slots=True)
class Part:
    """One of the classes that come out."""

    name: str
    label: str
    tests: tuple[str, ...]
    helpers: tuple[str, ...] = ()
    """Methods that only its tests get to."""


def owners_of(parts: Sequence[Part]) -> dict[str, int]:
    """Which part each method goes to; those that are not there go to the base."""
    return {name: i for i, part in enumerate(parts) for name in (*part.tests, *part.helpers)}


def helpers_of_one(cls: LinkedClass, labels: Mapping[str, str], label: str) -> tuple[str, ...]:
    """Helper methods that tests of this label get to, and no others."""
    methods = {m.name: m for m in cls.facts.methods}
    reached: dict[str, set[str]] = {}
    for test in cls.own_tests:
        for name in reached_methods(cls, test.name):
            reached.setdefault(name, set()).add(labels.get(test.name, ""))
    fixtures = {r for m in methods.values() if m.kind == "setup" for r in m.references}
    return tuple(
        name
        for name, method in methods.items()
        if reached.get(name) == {label}
        and method.kind == "helper"
        and not method.decorators
        and not {f"self.{name}", f"cls.{name}"} & fixtures
        and not hasattr(unittest.TestCase, name)
    )


def reached_methods(cls: LinkedClass, test: str) -> set[str]:
    """The test and the methods of the class that it gets to."""
    methods = {m.name: m for m in cls.facts.methods}
    queue, seen = [methods[test]], {test}
    while queue:
        for reference in queue.pop().references:
            head, _, name = reference.partition(".")
            if head in ("self", "cls") and name in methods and name not in seen:
                seen.add(name)
                queue.append(methods[name])
    return seen


def names_in(cls: LinkedClass, label: str) -> tuple[str, ...]:
    """What a part for the label may be called."""
    suffix = SUFFIXES[label]
    return (cls.name + OTHERWISE,) if cls.name.endswith(suffix) else (cls.name + suffix, cls.name + suffix + OTHERWISE)


def bases_in(cls: LinkedClass) -> tuple[str, ...]:
    """What the base of the parts may be called."""
    return tuple(f"_{cls.name}{suffix}" for suffix in BASES)


def is_part(cls: LinkedClass) -> bool:
    """Whether the class has come out of a split, and is not to be taken apart again."""
    shared = re.compile("_(.+)(?:" + "|".join(BASES) + ")")
    above = (shared.fullmatch(base.name) for base in cls.bases)
    return cls.name.endswith(SUFFIXES[REST]) or any(m is not None and cls.name.startswith(m.group(1)) for m in above)
