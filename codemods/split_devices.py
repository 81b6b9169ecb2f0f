"""Takes out of a class for several device types what is for one alone, or for none (opt-in: ``--split``).

An ACCELERATOR test may have no ``@only...`` decorator but onlyAccelerator. The tests that still have one after
skip_gates go into a class for that device, instantiated ``only_for`` it. A test that takes no ``device`` and does the
same on each goes into a GENERIC class that is not instantiated (:mod:`codemods.device_free`). The others keep the
class, its name and its instantiation, and with them their IDs. Where there are no others, those for one device keep
the class, which is then instantiated for that alone. What they share goes to a base: the loader copies the members of
the class's own body onto the class it makes, and takes others from where they stand, behind its own base
(torch/testing/_internal/common_device_type.py, torch 2.14.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemods.class_for_device import FLAGS
from codemods.device_free import device_free_tests, idle_decorators, is_parametrized
from codemods.device_values import Blocked
from codemods.edit import BLANK, SourceFile, Splice
from codemods.imported_change import bound_first
from codemods.plan import COMMON_UTILS, Change, Codemod, Context, Import, Plan, PlanBuilder
from codemods.split_class import SplitChange, assigned_names, check_apart, split_change, split_splices
from hwlint.catalog.tables import read
from hwlint.rules.collected import listed
from hwlint.scan.facts import DEVICE_LABELS, Decorator, Function, Instantiation, Span
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.ids import may_run
from hwlint.suite.model import LinkedClass

PARAMETRIZED = Import(COMMON_UTILS, "instantiate_parametrized_tests")
NO_CALLS = ("",)
"""For parts that are not instantiated: the class's own instantiation is not theirs."""
KEYED_BY_CLASS = ("ops", "modules", "optims")
"""Decorators whose entries (DecorateInfo) skip and expect failures by the name of the class."""
FIXTURES = ("setUpClass", "tearDownClass")
"""Class methods that the loader calls with the class that it makes, wherever they stand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicesChange(SplitChange):
    """``own_call`` takes the place of the class's instantiation, '' where that stays."""

    own_call: str = ""
    dropped: tuple[tuple[Span, int], ...] = ()
    """Decorators that go, with the line of their test's ``def``."""


class SplitDevices(Codemod):
    name = "split_devices"
    summary = "Takes tests for one device, or for none, out of instantiated classes (only with `--split`)."

    def enabled(self, context: Context) -> bool:
        return context.options.split

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.test_classes():
            labels = _labels(context, cls) if cls.is_instantiated else {}
            if set(labels.values()) <= {"ACCELERATOR"}:
                continue
            try:
                plan.add(_change(context, cls, labels))
            except Blocked as blocked:
                plan.refuse(cls.facts.qualname, blocked.reason, blocked.text, blocked.span or class_span(cls.facts))
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        for change in changes:
            if isinstance(change, DevicesChange):
                if len(change.parts) > 1:
                    check_names(frozenset(assigned_names(file.class_at(change.class_line))))
                    found += _split(file, change)
                if change.own_call:
                    found.append(_narrowed(file, change))
        return found


def _split(file: SourceFile, change: DevicesChange) -> Iterator[Splice]:
    for splice in split_splices(file, change):
        if splice.start < splice.end or splice.text.strip():
            yield _without(file, change.dropped, splice)


def _without(file: SourceFile, dropped: Sequence[tuple[Span, int]], splice: Splice) -> Splice:
    """The splice without those decorators, whose tests stand in its text as they stand in the file."""
    text = splice.text
    for span, def_line in dropped:
        lines = file.text[file.line_start(span.line) : file.line_start(span.end_line + 1)]
        rest = file.text[file.line_start(span.end_line + 1) : file.line_start(def_line + 1)]
        if "#" in lines or not lines.lstrip(BLANK).startswith("@"):
            raise Blocked("layout", f"a decorator shares its lines with a comment (line {span.line})", span)
        text = text.replace(lines + rest, rest, 1)
    return Splice(splice.start, splice.end, text)


def _narrowed(file: SourceFile, change: DevicesChange) -> Splice:
    assert change.call is not None
    start, end = file.range_of(change.call)
    if "#" in file.text[start:end]:
        raise Blocked("layout", f"a comment stands in the call on line {change.call.line}", change.call)
    return Splice(start, end, change.own_call)


def _labels(context: Context, cls: LinkedClass) -> dict[str, str]:
    """The label of the class that each test belongs in: that of the one device it is kept to, GENERIC where it is the
    same on each, else ACCELERATOR.
    """
    free = device_free_tests(context, cls)
    found = {}
    for function in cls.own_tests:
        runs = [d for d in cls.devices.devices if may_run(context.catalog, function, d)]
        kept = len(runs) == 1 < len(cls.devices.devices) and runs[0].upper() in DEVICE_LABELS
        others = "GENERIC" if function.name in free else "ACCELERATOR"
        found[function.name] = runs[0].upper() if kept else others
    return found


def _change(context: Context, cls: LinkedClass, labels: Mapping[str, str]) -> DevicesChange:
    """Raises Blocked."""
    call = _instantiation(cls)
    first = _first_label(cls, labels)
    check_apart(context, cls)
    for function in cls.own_tests:
        if labels[function.name] not in (first, "GENERIC"):
            _check_keys(context, cls, function)
    once = [test for test, label in labels.items() if label == "GENERIC"]
    doubts = [f"{listed(once)} {'run' if len(once) > 1 else 'runs'} once, and not for each device"] if once else []
    plain = split_change(SplitDevices.name, context, cls, labels, first, call, doubts)
    splits = len(plain.parts) > 1
    if splits:
        _check_shared(cls, plain)
    further = tuple(_further_calls(context, cls, call, plain))
    own_call = "" if first == "ACCELERATOR" else _call_for(call, cls.name, first)
    narrowed = f"instantiate {cls.name} for {first.lower()} alone, as its tests run nowhere else"
    return DevicesChange(
        codemod=plain.codemod,
        symbol=plain.symbol,
        span=plain.span,
        description=plain.description if splits else narrowed,
        applicability="unsafe" if own_call else plain.applicability,
        imports=tuple(PARAMETRIZED for one in further if one.startswith(PARAMETRIZED.name)),
        renames=plain.renames if splits else (),
        cls=plain.cls,
        importers=plain.importers,
        class_line=plain.class_line,
        parts=plain.parts,
        base=plain.base,
        call=plain.call,
        further=further or NO_CALLS,
        own_call=own_call,
        dropped=tuple(
            (decorator.span, function.line)
            for function in cls.own_tests
            if labels[function.name] == "GENERIC"
            for decorator in idle_decorators(context, function)
        ),
    )


def _first_label(cls: LinkedClass, labels: Mapping[str, str]) -> str:
    """The label of the tests that keep the class: of those for several devices, else of those that are keyed by it."""
    if "ACCELERATOR" in labels.values():
        return "ACCELERATOR"
    for_one = [f for f in cls.own_tests if labels[f.name] != "GENERIC"]
    if not for_one:
        raise Blocked("split", "none of its tests is for a device")
    keyed = next((f for f in for_one if _keyed(f) is not None), for_one[0])
    return labels[keyed.name]


def _check_shared(cls: LinkedClass, change: SplitChange) -> None:
    """Raise Blocked where a method that the parts share cannot go to their base."""
    placed = {name for part in change.parts for name in (*part.tests, *part.helpers)}
    shared = frozenset(m.name for m in cls.facts.methods if m.name not in placed)
    check_names(shared)
    for method in cls.facts.methods:
        kinds = {d.name for d in method.decorators} & {"staticmethod", "classmethod"}
        if method.name in shared and method.name not in FIXTURES and kinds:
            raise Blocked("class-member", f"`{method.name}` is a {kinds.pop()}", function_span(method))


def _instantiation(cls: LinkedClass) -> Instantiation:
    calls = cls.device_type_instantiations
    if len(calls) != 1 or cls.is_parametrized or calls[0].form != "call" or not calls[0].top_level_statement:
        raise Blocked("already-instantiated", "it is instantiated in an unusual way", calls[0].span)
    if not cls.devices.exact:
        raise Blocked("already-instantiated", "for which devices it is instantiated cannot be read", calls[0].span)
    return calls[0]


def _keyed(function: Function) -> Decorator | None:
    """The decorator whose entries may name the class and the test."""
    return next((d for d in function.decorators if d.name.rpartition(".")[2] in KEYED_BY_CLASS), None)


def _check_keys(context: Context, cls: LinkedClass, function: Function) -> None:
    """Raise Blocked where entries of a test that goes to another class may no longer find it."""
    decorator = _keyed(function)
    if decorator is None:
        return
    named = context.keys.named_with(cls.name, context.path)
    if named is None or {"", function.name} & named:
        text = f"entries of @{decorator.name} may name `{cls.name}` and `{function.name}`"
        raise Blocked("imported-elsewhere", text, decorator.span)


def check_names(shared: frozenset[str]) -> None:
    """Raise Blocked where a member that goes to the base would be hidden there."""
    taken = frozenset(str(read("framework_bases")["device_members"]).split())
    for name in sorted(shared & taken - frozenset(FIXTURES)):
        raise Blocked("class-member", f"`{name}` would be hidden by that of the loader's own base")


def _further_calls(context: Context, cls: LinkedClass, call: Instantiation, change: SplitChange) -> Iterator[str]:
    """The instantiations of the further parts, as far as they have one."""
    for part in change.parts[1:]:
        tests = [function for function in cls.own_tests if function.name in part.tests]
        if part.label != "GENERIC":
            above, _ = bound_first(context, cls, (part.label.lower(),), part.name)
            if above:
                yield above
            yield _call_for(call, part.name, part.label)
        elif any(is_parametrized(context, test) for test in tests):
            yield f"{PARAMETRIZED.name}({part.name})"


def _call_for(call: Instantiation, name: str, label: str) -> str:
    """The instantiation of the class that is called ``name``, for the device of its label alone."""
    device = label.lower()
    plain = [a.text for a in call.arguments if not a.name]
    scope = plain[1] if len(plain) > 1 else next((a.text for a in call.arguments if a.name == "scope"), "")
    if not scope:
        raise Blocked("already-instantiated", "the call names no scope", call.span)
    return f'{call.spelling}({name}, {scope}, only_for="{device}"{FLAGS.get(device, "")})'
