"""Decorators that gate a test: unittest's and pytest's skips, those of the catalog, and aliases a module defines."""

from __future__ import annotations

import ast

from hwlint.catalog import ANY_ACCELERATOR, Decorator
from hwlint.scan.context import ScanContext
from hwlint.scan.device_places import CONDITIONAL
from hwlint.scan.device_words import words_of
from hwlint.scan.facts import Gate, GateForm, Requirement
from hwlint.scan.gate_conditions import (
    ConditionReader,
    asks_device,
    device_requirement,
    read_condition,
    read_negated,
)
from hwlint.scan.gate_formula import Combine, Condition, Formula, absent, flatten, leaf
from hwlint.scan.names import dotted, source_of, span_of

ALWAYS_SKIP = ("unittest.skip", "unittest.case.skip", "pytest.mark.skip", "skip_but_pass_in_sandcastle")
GENERAL = frozenset("skipIf ops modules optims swap retry expectedFailure dtypes skip xfailIf parametrize".split())
"""Names of the catalog that other modules use for other things: they count only when imported from PyTorch."""


def decorator_gates(decorators: list[ast.expr], context: ScanContext, *, on_class: bool) -> tuple[Gate, ...]:
    """The gates among the decorators of a function, or with ``on_class`` of a class, in source order."""
    form: GateForm = "class_decorator" if on_class else "decorator"
    found = [read_decorator(node, context, form) for node in decorators]
    return tuple(gate for gate in found if gate is not None)


def read_decorator(node: ast.expr, context: ScanContext, form: GateForm = "decorator") -> Gate | None:
    """The gate that one decorator is, or None."""
    call = node if isinstance(node, ast.Call) else None
    target = node.func if isinstance(node, ast.Call) else node
    written = dotted(target)
    if not written:
        return None
    constant = context.constants.get(written)
    if constant is not None:
        if not constant.requirements:
            return None
        return Gate(span_of(node), form, source_of(node), constant.requirements, constant.combine, "")
    qualified = context.names.qualify_name(written)
    if call is not None and qualified == "functools.partial" and call.args:
        inner = ast.copy_location(ast.Call(call.args[0], call.args[1:], call.keywords), call)
        return read_decorator(inner, context, form)
    last = qualified.rpartition(".")[2]
    reason = _reason(call)
    support = qualified.startswith("torch.") and last == "skipIf"
    if call is not None and last in CONDITIONAL and not support and (call.args or call.keywords):
        condition = call.args[0] if call.args else call.keywords[0].value
        read = read_condition if CONDITIONAL[last] else read_negated
        requirements, combine = read(condition, context)
        if not asks_device(requirements, context):
            return None
        return Gate(span_of(node), form, f"{written}({source_of(condition)})", requirements, combine, reason)
    if qualified in ALWAYS_SKIP or last == "skip_but_pass_in_sandcastle":
        return Gate(span_of(node), form, written, (), "", reason)
    entry = find_decorator(written, qualified, context)
    if entry is None:
        return None
    read_entry = _entry(entry, call, context)
    if read_entry is None or not asks_device(read_entry[0], context):
        return None
    return Gate(span_of(node), form, source_of(node), read_entry[0], read_entry[1], reason)


def find_decorator(written: str, qualified: str, context: ScanContext) -> Decorator | None:
    """The catalog's entry; by the bare name also where a test-support module of the suite itself hands it on."""
    found = context.catalog.find_decorator(qualified)
    if found is not None:
        bare = "." not in qualified
        return None if bare and (qualified in GENERAL or written in context.helper_parameters) else found
    last = qualified.rpartition(".")[2]
    if last in GENERAL or qualified.startswith(("unittest.", "pytest.", "torch.")):
        return None
    return context.catalog.decorators.get(last)


def _reason(call: ast.Call | None) -> str:
    if call is None:
        return ""
    texts = [k.value for k in call.keywords if k.arg in ("reason", "msg")] + call.args
    for node in texts:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            return node.value
    last = call.args[-1] if call.args else None
    return last.value if isinstance(last, ast.Constant) and isinstance(last.value, str) else ""


def _entry(entry: Decorator, call: ast.Call | None, context: ScanContext) -> Condition | None:
    """What a decorator of the catalog asks for, with its arguments."""
    if entry.role in ("dtype", "mode", "parametrization"):
        return None
    devices = entry.devices or _literal_devices(call, context)
    if entry.role == "whitelist":
        extra = _literal_devices(call, context) if call is not None else ()
        return _any(tuple(dict.fromkeys((*devices, *extra))))
    if entry.role == "blacklist":
        return _blacklist(entry, devices, call, context)
    host = () if entry.device_aware else tuple(r for d in devices for r in device_requirement(d))
    library = (Requirement("library", entry.library),) if entry.library else ()
    if entry.role == "availability":
        return host + library, ""
    if entry.role == "library":
        named = library or (Requirement("library", entry.name),)
        return named + host, ""
    if entry.role == "count":
        return _count(entry, call, host + library)
    if entry.role == "capability":
        refuses = entry.name.startswith("xfail")
        return (Requirement("capability", entry.name, absent=refuses), *(() if refuses else host)), ""
    if entry.role == "platform":
        return _platform(entry)
    if entry.role == "resource" and devices:
        return (Requirement("capability", "memory"), *(r for d in devices for r in device_requirement(d))), ""
    return None


def _any(devices: tuple[str, ...]) -> Condition | None:
    requirements = tuple(r for d in devices for r in device_requirement(d))
    combine: Combine = "any" if len(requirements) > 1 else ""
    return (requirements, combine) if requirements else None


def _blacklist(
    entry: Decorator, devices: tuple[str, ...], call: ast.Call | None, context: ScanContext
) -> Condition | None:
    if not devices or ANY_ACCELERATOR in devices:
        return None
    without = Formula("all", parts=tuple(absent(leaf(*device_requirement(d))) for d in devices))
    if call is not None and entry.called and call.args and not isinstance(call.args[0], ast.Constant):
        condition = ConditionReader(context, {}).read(call.args[0], False)
        return flatten(Formula("any", parts=(without, condition)))
    return flatten(without)


def _count(entry: Decorator, call: ast.Call | None, host: tuple[Requirement, ...]) -> Condition | None:
    if not entry.devices and not entry.device_aware:
        return None
    arguments = [*call.args, *(k.value for k in call.keywords)] if call is not None else []
    numbers = [a.value for a in arguments if isinstance(a, ast.Constant) and isinstance(a.value, int)]
    value = str(numbers[0]) if numbers else source_of(arguments[0]) if arguments else "?"
    return (Requirement("count", value), *host), ""


def _platform(entry: Decorator) -> Condition | None:
    if "rocm" not in entry.name.lower() and "ROCm" not in entry.note:
        return None
    runs_there = entry.name.startswith("runOn") or "Not" in entry.name
    return (Requirement("platform", "rocm", absent=not runs_there),), ""


def _literal_devices(call: ast.Call | None, context: ScanContext) -> tuple[str, ...]:
    """Devices among the literal arguments of a decorator."""
    if call is None:
        return ()
    words = words_of(context.catalog)
    found: dict[str, None] = {}
    for node in [*call.args, *(k.value for k in call.keywords)]:
        for part in node.elts if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else (node,):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                device = words.device_of_text(part.value)
                if device:
                    found[device.partition(":")[0]] = None
    return tuple(found)
