"""What keeps a class from the contract of its label, in words, with the place and what it would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from codemods.device_only_for import only_for_edit
from codemods.plan import Context
from hwlint.findings import Finding
from hwlint.scan.facts import Span
from hwlint.suite.devices import argument
from hwlint.suite.model import LinkedClass

SHOWN = 3
"""Names of tests that a text gives."""


def unmet_contract(
    context: Context, cls: LinkedClass, label: str, findings: Sequence[Finding]
) -> tuple[str, str, Span]:
    """Reason, text and place for a refusal: ``findings`` are what level upstream has against the label of ``cls``."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.code, []).append(finding)
    if not cls.is_instantiated and "HW103" in by_code:
        by_code.pop("HW104", None)  # The parameter comes with the instantiation.
    parts = [_part(context, cls, label, code, found) for code, found in by_code.items()]
    reason = "only-for" if set(by_code) == {"HW106"} and label == "ACCELERATOR" else "contract"
    return reason, f"tagged {label}, it would not meet the contract: {'; '.join(parts)}", findings[0].span


def _part(context: Context, cls: LinkedClass, label: str, code: str, found: Sequence[Finding]) -> str:
    """One obstacle; those of one kind are one."""
    first = found[0]
    line = first.span.line
    if code == "HW103":
        return _instantiation(cls, label, first)
    if code == "HW104":
        take = "take" if len(found) > 1 else "takes"
        if label == "GENERIC":
            return f"{_tests(found)} {take} `device`"
        allowed = context.settings.migrate.unused_device != "refuse" or not cls.is_instantiated
        setting = "" if allowed else ' (`unused-device = "add"` in [tool.hwlint.migrate] would add it)'
        return f"{_tests(found)} {take} no `device`{setting}"
    if code == "HW105":
        decorator = f"@{first.detail}"
        advice = (
            "take it off if every device may run the test, else move the test to a class for those devices"
            if first.detail.startswith("onlyNative")
            else "widen it to @onlyAccelerator, or move the test to a class for that device"
        )
        return f"{_tests(found)} {'have' if len(found) > 1 else 'has'} `{decorator}`: {advice}"
    if code == "HW106" and label == "ACCELERATOR":
        return f"the instantiation on line {line} has `only_for`: {_only_for(context, cls)}"
    return f"{first.message} (line {line})" + (f" and {len(found) - 1} more" if len(found) > 1 else "")


def _tests(found: Sequence[Finding]) -> str:
    """'test_a (line 3), test_b (line 9) and 2 more'."""
    shown = ", ".join(f"{f.symbol.rpartition('.')[2]} (line {f.span.line})" for f in found[:SHOWN])
    return shown if len(found) <= SHOWN else f"{shown} and {len(found) - SHOWN} more"


def _instantiation(cls: LinkedClass, label: str, finding: Finding) -> str:
    if label == "GENERIC":
        return f"it is instantiated by device type (line {cls.device_type_instantiations[0].line})"
    call = next(iter(cls.device_type_instantiations), None)
    if call is None:
        return f"it must be instantiated by instantiate_device_type_tests (line {finding.span.line})"
    return (
        f"upstream's linter does not see its instantiation on line {call.line}: it has to be a statement of the module"
    )


def _only_for(context: Context, cls: LinkedClass) -> str:
    """What becomes of the list, or why a person has to decide."""
    policy = context.settings.migrate.only_for
    migrate = replace(context.settings.migrate, only_for="same-devices" if policy == "keep" else policy)
    asked = replace(context, settings=replace(context.settings, migrate=migrate))
    edit = only_for_edit(asked, cls)
    if edit is not None and policy != "keep":
        return "it gives way once the rest is met"
    if edit is not None:
        return f'`only-for = "same-devices"` in [tool.hwlint.migrate] would do: {edit.description}'
    given = argument(cls.device_type_instantiations[0], "only_for") if cls.device_type_instantiations else None
    if given is None or not given.known:
        return "its devices are not written down, so that what `except_for` would have to leave out cannot be told"
    devices = given.value if isinstance(given.value, tuple) else (given.value,)
    if "cpu" in devices and len(devices) > 1:
        return "it names the CPU and some accelerators; without it every accelerator would run the class: decide"
    return f"it names {', '.join(map(str, devices))} alone: decide whether the class is for that device"
