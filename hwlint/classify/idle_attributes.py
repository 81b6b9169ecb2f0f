"""``device_type = GPU_TYPE`` in a class body, where the test does not read it: it says nothing of where that runs."""

from __future__ import annotations

import unittest

from hwlint.classify.subject import Subject
from hwlint.scan.facts import Decorator, Function
from hwlint.suite.reach import ReachedUse

PINS = ("device", "device_type")
READ_NO_DEVICE = frozenset(("unittest", "plain", "dynamo", "inductor"))
"""Kinds of framework bases that read no device of the class."""


def is_idle_attribute(subject: Subject, reached: ReachedUse) -> bool:
    """Whether the use is such an attribute, and nothing that the test may get to reads one of that name."""
    cls = subject.cls
    name = reached.use.context.removesuffix(" =")
    if name not in PINS or not any(reached.use in c.facts.attribute_uses for c in cls.mro if c.path == reached.path):
        return False
    if cls.opaque_bases or cls.facts.dynamic or subject.reach.unknown or cls.is_instantiated:
        return False
    if any(base.kind not in READ_NO_DEVICE for base in cls.framework_bases):
        return False
    if any("set_default_device" in use.context for use in cls.module.module_uses):
        return False  # What the tests of the file make is placed there.
    functions = [one.function for one in subject.reach.functions]
    functions += (*cls.module.functions, *(m for c in cls.module.classes for m in c.methods))
    if any(_reads(function, name) for function in functions) or not _is_known(subject):
        return False
    decorators = [*cls.facts.decorators, *(d for f in functions if f is subject.function for d in f.decorators)]
    return not any(_may_read(decorator) for decorator in decorators)


def _is_known(subject: Subject) -> bool:
    """Whether all that the test calls on itself is a method that can be read, or unittest's own, and it gets to no
    function that it may hand itself to.
    """
    if any(reached.owner is None and reached.function.parameters for reached in subject.reach.functions):
        return False
    known = {method.name for cls in subject.cls.mro for method in cls.facts.methods}
    names = {
        reference.split(".")[1]
        for reached in subject.reach.functions
        for reference in reached.function.references
        if reference.startswith(("self.", "cls."))
    }
    return all(name in known or hasattr(unittest.TestCase, name) for name in names)


def _reads(function: Function, name: str) -> bool:
    return any(reference.endswith(f".{name}") for reference in function.references) or "unread" in function.flags


def _may_read(decorator: Decorator) -> bool:
    """Whether it may look at the test's device: the skips of common_device_type do, and what is not known."""
    module = decorator.qualified.rpartition(".")[0]
    return module.endswith("common_device_type") or module.partition(".")[0] not in ("torch", "unittest")
