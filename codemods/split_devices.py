"""Takes what an ``@only...`` decorator keeps to one device type out of a class for several (opt-in: ``--split``).

An ACCELERATOR test may have none of these decorators but onlyAccelerator. The tests that still have one after
skip_gates go into a class for that device, instantiated ``only_for`` it. The others keep the class, its name and its
instantiation, and with them their IDs. What they share goes to a base: the loader copies the members of the class's
own body onto the class it makes, and takes others from where they stand, behind its own base
(torch/testing/_internal/common_device_type.py, torch 2.14.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codemods.class_for_device import FLAGS
from codemods.device_values import Blocked
from codemods.edit import SourceFile, Splice
from codemods.plan import Change, Codemod, Context, Plan, PlanBuilder
from codemods.split_class import SplitChange, assigned_names, check_apart, split_change, split_splices
from hwlint.catalog.tables import read
from hwlint.scan.facts import DEVICE_LABELS, Function, Instantiation
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.ids import may_run
from hwlint.suite.model import LinkedClass

KEYED_BY_CLASS = ("ops", "modules", "optims")
"""Decorators whose entries (DecorateInfo) skip and expect failures by the name of the class."""
FIXTURES = ("setUpClass", "tearDownClass")
"""Class methods that the loader calls with the class that it makes, wherever they stand."""


class SplitDevices(Codemod):
    name = "split_devices"
    summary = "Takes tests that are kept to one device out of instantiated classes (only with `--split`)."

    def enabled(self, context: Context) -> bool:
        return context.options.split

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.test_classes():
            labels = _labels(context, cls) if cls.is_instantiated else {}
            if len(set(labels.values())) < 2:
                continue
            try:
                plan.add(_change(context, cls, labels))
            except Blocked as blocked:
                plan.refuse(cls.facts.qualname, blocked.reason, blocked.text, blocked.span or class_span(cls.facts))
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        for change in changes:
            if isinstance(change, SplitChange):
                check_names(frozenset(assigned_names(file.class_at(change.class_line))))
                found += split_splices(file, change)
        return found


def _labels(context: Context, cls: LinkedClass) -> dict[str, str]:
    """The label of the class that each test belongs in: that of the one device it is kept to, else ACCELERATOR."""
    found = {}
    for function in cls.own_tests:
        runs = [d for d in cls.devices.devices if may_run(context.catalog, function, d)]
        kept = len(runs) == 1 < len(cls.devices.devices) and runs[0].upper() in DEVICE_LABELS
        found[function.name] = runs[0].upper() if kept else "ACCELERATOR"
    return found


def _change(context: Context, cls: LinkedClass, labels: Mapping[str, str]) -> SplitChange:
    """Raises Blocked."""
    call = _instantiation(cls)
    if "ACCELERATOR" not in labels.values():
        raise Blocked("split", "each of its tests is kept to one device")
    check_apart(context, cls)
    for function in cls.own_tests:
        if labels[function.name] != "ACCELERATOR":
            _check_keys(cls, function)
    plain = split_change(SplitDevices.name, context, cls, labels, "ACCELERATOR", call)
    placed = {name for part in plain.parts for name in (*part.tests, *part.helpers)}
    shared = frozenset(m.name for m in cls.facts.methods if m.name not in placed)
    check_names(shared)
    for method in cls.facts.methods:
        kinds = {d.name for d in method.decorators} & {"staticmethod", "classmethod"}
        if method.name in shared and method.name not in FIXTURES and kinds:
            raise Blocked("class-member", f"`{method.name}` is a {kinds.pop()}", function_span(method))
    further = tuple(_further_call(call, part.name, part.label) for part in plain.parts[1:])
    return replace(plain, further=further)


def _instantiation(cls: LinkedClass) -> Instantiation:
    calls = cls.device_type_instantiations
    if len(calls) != 1 or cls.is_parametrized or calls[0].form != "call" or not calls[0].top_level_statement:
        raise Blocked("already-instantiated", "it is instantiated in an unusual way", calls[0].span)
    if not cls.devices.exact:
        raise Blocked("already-instantiated", "for which devices it is instantiated cannot be read", calls[0].span)
    return calls[0]


def _check_keys(cls: LinkedClass, function: Function) -> None:
    for decorator in function.decorators:
        if decorator.name.rpartition(".")[2] in KEYED_BY_CLASS:
            text = f"entries of @{decorator.name} may name `{cls.name}` and `{function.name}`"
            raise Blocked("imported-elsewhere", text, decorator.span)


def check_names(shared: frozenset[str]) -> None:
    """Raise Blocked where a member that goes to the base would be hidden there."""
    taken = frozenset(str(read("framework_bases")["device_members"]).split())
    for name in sorted(shared & taken - frozenset(FIXTURES)):
        raise Blocked("class-member", f"`{name}` would be hidden by that of the loader's own base")


def _further_call(call: Instantiation, name: str, label: str) -> str:
    """The instantiation of the part that is called ``name``, for the device of its label alone."""
    device = label.lower()
    plain = [a.text for a in call.arguments if not a.name]
    scope = plain[1] if len(plain) > 1 else next((a.text for a in call.arguments if a.name == "scope"), "")
    if not scope:
        raise Blocked("already-instantiated", "the call names no scope", call.span)
    return f'{call.spelling}({name}, {scope}, only_for="{device}"{FLAGS.get(device, "")})'
