"""What the rules on instantiation share: which classes unittest collects, and who is instantiated."""

from __future__ import annotations

from collections.abc import Iterator

from hwlint.rules.base import RuleContext
from hwlint.scan.facts import Function
from hwlint.suite.model import LinkedClass

IMPORTS = """\
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase
"""
SHOWN = 5
"""Names listed in a message before the rest is counted."""


def listed(names: list[str]) -> str:
    """'a, b, c and 4 more'."""
    if len(names) <= SHOWN:
        return ", ".join(names)
    return ", ".join(names[:SHOWN]) + f" and {len(names) - SHOWN} more"


def collected_classes(context: RuleContext) -> Iterator[LinkedClass]:
    """Classes of the module that unittest may collect: not mixins, not those a function makes."""
    if context.settings.is_test_file(context.module.path):
        for cls in context.suite.classes_in(context.module.path):
            if cls.is_test_case is not False and not any(b.keyword in ("def", "class") for b in cls.facts.blocks):
                yield cls


def is_instantiated(cls: LinkedClass) -> bool:
    """By its own module or by one that imports it."""
    return cls.is_instantiated or any(i.kind == "device_type" for _, i in cls.foreign_instantiations)


def needs_device(function: Function) -> bool:
    """Whether calling it without ``device`` (or ``devices``) fails, and no decorator is there that might pass one."""
    taken = [p for p in ("device", "devices") if p in function.parameters and p not in function.defaulted]
    return bool(taken) and not function.decorators
