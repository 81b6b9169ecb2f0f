"""Turns skips that ask the host into ones that ask the device under test, in classes that are instantiated.

An availability gate and ``@onlyCUDA`` become ``@onlyAccelerator``, a global skip its device-aware form from the
catalog, a gate of the whole class one of each test. Capability gates and compound conditions stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from codemods.device_changes import restriction
from codemods.device_claims import check_claims
from codemods.device_signature import decorator_splices, function_splices
from codemods.device_spots import newer_than
from codemods.device_values import AVAILABLE, Blocked, FunctionEdit
from codemods.edit import SourceFile, Splice
from codemods.generic_gates import compiles
from codemods.imports import is_taken
from codemods.plan import COMMON_DEVICE_TYPE, Applicability, Change, Codemod, Context, Import, Plan, PlanBuilder
from hwlint.catalog import ANY_ACCELERATOR, SkipReplacement
from hwlint.catalog import Decorator as Entry
from hwlint.catalog.claims import comment_claim
from hwlint.rules.home import home_device
from hwlint.scan.facts import Decorator, DeviceUse, Function, Gate, Span
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import reach

ONLY = "onlyAccelerator"
DOUBLE = re.compile(r"double|float64|complex|all_types|floating_types|get_all_dtypes")
"""Dtypes, and lists of them, that hold 64-bit or complex ones (pytorch/pytorch#193669)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateChange(Change):
    """Decorators of one test, or of a class and its tests."""

    class_line: int
    functions: tuple[FunctionEdit, ...]
    portable: tuple[int, ...] = ()
    """Lines of tests whose bodies must make no claim about one vendor's device."""
    class_removed: tuple[Span, ...] = ()


@dataclass(slots=True)
class Draft:
    """What is to become of the decorators of one test."""

    removed: list[Span] = field(default_factory=list)
    swapped: list[tuple[Span, str]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Decorators to import."""
    says: list[str] = field(default_factory=list)
    only: bool = False
    """onlyAccelerator is asked for."""
    widens: bool = False
    safe: bool = True


class SkipGates(Codemod):
    name = "skip_gates"
    summary = "Turns skips that ask the host into ones that ask the device under test."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.test_classes():
            if _plan_class_gates(plan, context, cls):
                continue  # The tests' own gates are next, once the class's are theirs.
            for function in cls.own_tests:
                try:
                    change = _one_test(context, cls, function)
                except Blocked as blocked:
                    symbol = f"{cls.facts.qualname}.{function.name}"
                    plan.refuse(symbol, blocked.reason, blocked.text, blocked.span or function_span(function))
                else:
                    if change is not None:
                        plan.add(change)
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        for change in changes:
            if not isinstance(change, GateChange):
                continue
            for line in change.portable:
                check_claims(file.function_at(line))
            for edit in change.functions:
                found += function_splices(file, edit)
            if change.class_removed:
                found += decorator_splices(file, file.class_at(change.class_line), change.class_removed, (), ())
        return found


# One test


def _one_test(context: Context, cls: LinkedClass, function: Function) -> GateChange | None:
    draft = Draft()
    gates = {g.span: g for g in function.gates if g.form == "decorator"}
    takes = "device" in function.parameters
    for decorator in function.decorators:
        entry = context.catalog.find_decorator(decorator.qualified)
        if entry is not None and entry.needs_bool:
            _lazy_condition(context, decorator, draft)
        elif not cls.is_instantiated or home_device(cls) not in ("", "cpu") or cls.label == "GENERIC":
            continue
        elif entry is not None and entry.role == "whitelist":
            _whitelist(context, cls, function, decorator, entry, draft)
        elif entry is not None and entry.device_aware and entry.role == "blacklist":
            continue  # It asks the device under test.
        elif decorator.span in gates:
            compiled, bound = compiles(context, cls, reach(cls, function)), _needs_one(context, cls, function)
            _gate(context, decorator, gates[decorator.span], takes, draft, compiled, bound)
    if not (draft.removed or draft.swapped):
        return None
    if draft.only:
        _check_apis(context, cls, function)
    edit = _edit_of(function, draft)
    imports = tuple(Import(COMMON_DEVICE_TYPE, name) for name in dict.fromkeys(draft.names))
    for one in imports:
        if is_taken(context.module, one):
            raise Blocked("name-taken", f"`{one.name}` means something else in this file")
    applicability: Applicability = "safe" if draft.safe else "unsafe"
    return GateChange(
        codemod=SkipGates.name,
        symbol=f"{cls.facts.qualname}.{function.name}",
        span=function_span(function),
        description=" and ".join(dict.fromkeys(draft.says)),
        applicability=applicability,
        imports=imports,
        class_line=cls.facts.line,
        functions=(edit,),
        portable=(function.line,) if draft.widens else (),
    )


def _edit_of(function: Function, draft: Draft) -> FunctionEdit:
    """onlyAccelerator stands outermost: in the place of what goes if that is first, else above all others."""
    removed, swapped = list(draft.removed), list(draft.swapped)
    there = any(d.qualified.rpartition(".")[2] == ONLY for d in function.decorators) or any(
        t == ONLY for _, t in swapped
    )
    added: tuple[str, ...] = ()
    if draft.only and not there:
        first = function.decorators[0].span
        if first in removed:
            removed.remove(first)
            swapped.append((first, ONLY))
        else:
            added = (ONLY,)
    return FunctionEdit(function.line, removed=tuple(removed), swapped=tuple(swapped), added=added)


def _needs_one(context: Context, cls: LinkedClass, function: Function) -> bool:
    """Whether the test runs on an accelerator anyway: it is restricted to some, or its body asks for one."""
    if restriction(context, cls, function):
        return True
    return any(u.role in ("placement", "api") and u.device.partition(":")[0] in AVAILABLE for u in _uses(cls, function))


def _lazy_condition(context: Context, decorator: Decorator, draft: Draft) -> None:
    """``@serialTest(TEST_ACCELERATOR)`` raises at import: the condition has to be a bool (common_utils.py)."""
    if len(decorator.arguments) != 1:
        return
    condition = decorator.arguments[0]
    head, dot, rest = condition.text.partition(".")
    flag = context.catalog.find_flag(dict(context.module.imports).get(head, head) + dot + rest)
    if flag is not None and flag.lazy and not flag.callable:
        draft.swapped.append((decorator.span, f"{decorator.name}(bool({condition.text}))"))
        draft.says.append("make the condition of serialTest a bool")


def _why_kept(file: SourceFile, line: int) -> str:
    """The comment on the decorator's line, or in the lines right above it, that gives a reason for the one device."""
    lines = [file.line_text(line).partition("#")[2]]
    above = line - 1
    while above > 0 and file.is_comment(above):
        lines.append(file.line_text(above).strip().lstrip("#"))
        above -= 1
    text = " ".join(part.strip() for part in reversed(lines) if part.strip())
    return text if comment_claim().search(text) else ""


def _whitelist(
    context: Context, cls: LinkedClass, function: Function, decorator: Decorator, entry: Entry, draft: Draft
) -> None:
    """``@onlyCUDA`` -> ``@onlyAccelerator`` where the body is portable. Raises Blocked."""
    devices = entry.devices
    if (
        entry.generic_form != ONLY
        or ANY_ACCELERATOR in devices
        or decorator.called
        or not set(devices) & {"cuda", "xpu"}
    ):
        return
    others = set(cls.devices.devices) - {"cpu", "meta", *devices}
    if not others:
        return
    _need(context, ONLY, entry_since(context, ONLY))
    vendor = next((u for u in _uses(cls, function) if _is_bound(context, u)), None)
    if vendor is not None:
        raise Blocked("vendor-api", f"`{vendor.name}` is for {vendor.device}", vendor.span)
    said = _why_kept(context.source(), decorator.span.line)
    if said:
        raise Blocked("device-claim", f"a comment beside @{decorator.name} says why: {said!r}", decorator.span)
    for other in function.decorators:
        if _asks_for_more(context, function, other):
            raise Blocked("capability-gate", f"@{other.name} asks for more than a device", other.span)
    if "mps" in others and any(DOUBLE.search(a.text) for d in function.decorators for a in d.arguments):
        raise Blocked("capability-gate", "its dtypes may be ones that MPS does not have")
    draft.swapped.append((decorator.span, ONLY))
    draft.names.append(ONLY)
    draft.says.append(f"let every accelerator run what @{decorator.name} kept to {' and '.join(devices)}")
    draft.safe = False
    draft.widens = True


def _asks_for_more(context: Context, function: Function, decorator: Decorator) -> bool:
    """Whether it needs more than a device; ``@skipCUDAIf(not HAS_GPU, ...)`` asks the host what others may lack."""
    known = context.catalog.find_decorator(decorator.qualified)
    if known is None or known.role != "blacklist":
        return known is not None and (bool(known.library) or known.role in ("count", "library", "capability"))
    asked = (r for g in function.gates if g.span == decorator.span for r in g.requirements if not r.absent)
    return any(r.kind in ("device", "accelerator") for r in asked)


def _uses(cls: LinkedClass, function: Function) -> Iterator[DeviceUse]:
    return (one.use for one in reach(cls, function).uses)


def _is_bound(context: Context, use: DeviceUse) -> bool:
    """Whether the use ties the test to one vendor's device."""
    types = {part.partition(":")[0] for part in use.device.split("|")}
    if types <= {"cpu", "meta", "accelerator", ""}:
        return False
    if use.construct == "api":
        entry = context.catalog.find_api(use.name)
        return entry is None or entry.kind == "vendor_only" or use.device == "cuda"
    return True


def _check_apis(context: Context, cls: LinkedClass, function: Function) -> None:
    """Raise Blocked where a test that every accelerator shall run calls what only one vendor's device module has."""
    for use in _uses(cls, function):
        if use.construct == "api" and use.role == "api":
            entry = context.catalog.find_api(use.name)
            if entry is None or entry.kind == "vendor_only":
                raise Blocked("vendor-api", f"`{use.name}` is for {use.device}", use.span)


def entry_since(context: Context, name: str) -> str:
    entry = context.catalog.decorators.get(name)
    return entry.since if entry is not None else ""


def _need(context: Context, name: str, since: str) -> None:
    if newer_than(since, context.settings):
        raise Blocked("needs-newer-torch", f"@{name} is there from torch {since} on")


def _gate(
    context: Context, decorator: Decorator, gate: Gate, takes: bool, draft: Draft, compiled: bool, bound: bool
) -> None:
    """A decorator that asks the host, on a test that is made once per device. Raises Blocked."""
    if not gate.requirements:
        return
    present = [r for r in gate.requirements if not r.absent]
    devices = {r.value for r in present if r.kind in ("device", "accelerator")}
    others = {r.kind: r.value for r in present if r.kind not in ("device", "accelerator")}
    capability = others.get("capability", "") if "cuda" in devices else ""
    if gate.combine and not (gate.combine == "all" and capability):
        if devices - {"cpu"}:
            raise Blocked("compound-gate", f"`{gate.name}` asks for several things", gate.span)
        return
    replacement = _replacement(context, decorator)
    availability = bool(devices & set(AVAILABLE)) and (not others or others == {"library": "triton"})
    if availability:
        _available(context, decorator, devices, others, takes, draft, compiled, bound)
    elif replacement is not None and not replacement[0].parameter:
        if not takes:
            raise Blocked("unused-device", f"@{decorator.name} would ask a test that takes no device", gate.span)
        entry, text = replacement
        _need(context, entry.decorator, entry.since)
        draft.swapped.append((decorator.span, text))
        draft.names.append(text.partition("(")[0])
        draft.says.append(f"ask the device instead of the host with @{text.partition('(')[0]}")
        draft.safe = False
    elif capability:
        raise Blocked("capability-gate", f"`{gate.name}` asks for {capability}, and stays", gate.span)


def _available(
    context: Context,
    decorator: Decorator,
    devices: set[str],
    others: Mapping[Any, str],
    takes: bool,
    draft: Draft,
    compiled: bool,
    bound: bool,
) -> None:
    if others and compiled and bound and ANY_ACCELERATOR in devices:
        return  # It holds on every accelerator, and stays for triton.
    if others and compiled:
        raise Blocked("capability-gate", f"@{decorator.name} asks for triton as well", decorator.span)
    if not takes:
        raise Blocked("unused-device", f"@{decorator.name} would ask a test that takes no device", decorator.span)
    if not bound:
        raise Blocked(
            "unknown-gate",
            f"@{decorator.name} may mean the CPU variant as well, which ran where the host has the device",
            decorator.span,
        )
    _need(context, ONLY, entry_since(context, ONLY))
    draft.removed.append(decorator.span)
    draft.names.append(ONLY)
    draft.says.append(f"ask for any accelerator instead of {' or '.join(sorted(devices))} in the host")
    draft.only = True
    draft.safe = False


def _replacement(context: Context, decorator: Decorator) -> tuple[SkipReplacement, str] | None:
    """The device-aware form of a global skip, and its text with '{reason}' for the reason; None where there is none."""
    source, form, reason = skip_parts(decorator)
    for entry in context.catalog.skip_replacements:
        if (entry.source, entry.form) != (source, form) or entry.widens:
            continue
        if "{reason}" in entry.replacement and not reason:
            bare = _bare_form(context, source, entry)
            return (entry, bare) if bare else None
        return entry, entry.replacement
    return None


def _bare_form(context: Context, source: str, entry: SkipReplacement) -> str:
    """What to write where there is no reason to keep: ``skipIfXpu`` -> ``skipXPU``."""
    if entry.replacement.endswith("(msg={reason})"):
        return entry.decorator
    known = context.catalog.decorators.get(source)
    generic = context.catalog.decorators.get(known.generic_form) if known is not None else None
    if generic is None or generic.called or newer_than(generic.since, context.settings):
        return ""
    return generic.name


def skip_parts(decorator: Decorator) -> tuple[str, str, str]:
    """What a skip asks, in the catalog's terms: the flag or decorator, its form, and the source of its reason."""
    name = decorator.qualified.rpartition(".")[2]
    arguments = decorator.arguments
    if name not in ("skipIf", "skipUnless") or not arguments:
        said = [a for a in arguments if a.name in ("msg", "reason")]
        if len(said) != len(arguments):
            return "", "", ""
        return name, "decorator", said[0].text if said else ""
    if len(arguments) > 2 or any(a.name not in ("", "condition", "reason") for a in arguments):
        return "", "", ""
    condition = arguments[0].text
    flag = condition.removeprefix("not ")
    runs_with_it = (name == "skipUnless") != (flag != condition)
    reason = arguments[1].text if len(arguments) > 1 else ""
    return flag.rpartition(".")[2], "skipUnless" if runs_with_it else "skipIf", reason


# A class


def _plan_class_gates(plan: PlanBuilder, context: Context, cls: LinkedClass) -> bool:
    """Plan that a gate of an instantiated class becomes one of each test, if all can take it; whether it does."""
    if not cls.is_instantiated or home_device(cls) not in ("", "cpu") or not cls.own_tests or cls.label == "GENERIC":
        return False
    gates = [g for g in cls.facts.gates if g.form == "class_decorator" and not g.combine]
    asked = [(g.span, [r for r in g.requirements if not r.absent]) for g in gates]
    kinds = ("device", "accelerator")
    wanted = [span for span, rs in asked if rs and all(r.kind in kinds and r.value in AVAILABLE for r in rs)]
    if not wanted:
        return False
    span = class_span(cls.facts)
    if newer_than(entry_since(context, ONLY), context.settings):
        plan.refuse(cls.facts.qualname, "needs-newer-torch", f"@{ONLY} is newer than the torch set", span)
        return False
    if is_taken(context.module, Import(COMMON_DEVICE_TYPE, ONLY)) or cls.subclasses() or cls.inherited_tests:
        plan.refuse(cls.facts.qualname, "unknown-gate", "its gate holds for more than its own tests", span)
        return False
    vendor = next((u for f in cls.own_tests for u in _uses(cls, f) if _is_bound(context, u)), None)
    if vendor is not None:
        text = f"its tests use `{vendor.name}`, which is for {vendor.device}"
        plan.refuse(cls.facts.qualname, "vendor-api", text, span)
        return False
    without = [f.name for f in cls.own_tests if "device" not in f.parameters and "devices" not in f.parameters]
    fixtures = [m for m in cls.facts.methods if m.kind == "setup" and any(u.construct == "api" for u in m.uses)]
    if without or fixtures:
        late = "needs the device before the test is skipped"
        what = f"{without[0]} takes no device" if without else f"{fixtures[0].name} {late}"
        plan.refuse(cls.facts.qualname, "unknown-gate", f"its gate cannot be each test's: {what}", span)
        return False
    edits = [
        FunctionEdit(f.line, added=(ONLY,))
        for f in cls.own_tests
        if not any(d.qualified.rpartition(".")[2] in (ONLY, "onlyCUDA", "onlyCPU", "onlyXPU") for d in f.decorators)
    ]
    plan.add(
        GateChange(
            codemod=SkipGates.name,
            symbol=cls.facts.qualname,
            span=span,
            description="let each test say that it needs an accelerator, instead of the class",
            applicability="unsafe",
            imports=(Import(COMMON_DEVICE_TYPE, ONLY),) if edits else (),
            class_line=cls.facts.line,
            functions=tuple(edits),
            portable=tuple(f.line for f in cls.own_tests),
            class_removed=tuple(wanted),
        )
    )
    return True
