"""A class that is instantiated already gets what its label still asks for: ``device`` in each test, and the tag.

Upstream's contract (pytorch/pytorch#190173) wants the parameter from each test of a class for devices, whether the
test reads it or not. It is added where a test gets to its device by another way (the fixture of its base,
``self.device_type``, a helper): a test that does not is the same on every device, and belongs in a GENERIC class
(#193350). An ``only_for`` list gives way to the ``except_for`` of the other devices, a name that holds one device to
that device itself, and what keeps a test to native devices to skips of the others. The whole class meets the contract
afterwards, or nothing is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from codemods.device_free import check_free, without_instantiation
from codemods.device_only_for import OnlyForEdit, list_splices, literal_edit, only_for_edit, only_for_splices
from codemods.device_signature import function_splices
from codemods.device_unread import (
    PARAMETERS,
    check_class,
    check_main,
    check_test,
    described,
    first_to_ask,
    is_cpu_alone,
)
from codemods.device_values import Blocked, FunctionEdit
from codemods.edit import SourceFile, Splice
from codemods.native_devices import NativeEdit, native_edits, native_splices
from codemods.plan import Change, Codemod, Context, Import, Plan, PlanBuilder
from codemods.tag_class import TagChange, meeting_the_contract, new_tag, tag_splices, with_tags
from hwlint.classify.verdict import Verdict
from hwlint.rules.collected import listed
from hwlint.rules.home import is_binding
from hwlint.rules.unused_device import finds_device, is_kept_off_cpu
from hwlint.scan.facts import Function, ModuleFacts, Span
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractChange(Change):
    """``test_lines`` are those of the tests that get the parameter; ``tag`` is None where the class has its tag."""

    label: str
    test_lines: tuple[int, ...]
    tag: TagChange | None
    only_for: OnlyForEdit | None = None
    natives: tuple[NativeEdit, ...] = ()


class ContractDevice(Codemod):
    name = "contract_device"
    summary = "Gives tests of an instantiated class the `device` that only its label's contract asks for, and tags it."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        found: list[tuple[LinkedClass, ContractChange]] = []
        for cls in context.test_classes():
            if not cls.is_instantiated:
                continue
            tag = cls.facts.tag
            tagging = None if tag is not None and tag.label else new_tag(PlanBuilder(self.name), context, cls)
            label = tagging.label if tagging is not None else tag.label if tag is not None else ""
            if label in ("", "GENERIC"):
                continue  # What keeps a class from its tag is told by tag_class.
            try:
                change = _change(context, cls, label, tagging)
                if change is not None:
                    found.append((cls, change))
            except Blocked as blocked:
                plan.refuse(cls.facts.qualname, blocked.reason, blocked.text, blocked.span or class_span(cls.facts))
        said = PlanBuilder(self.name)
        for met in meeting_the_contract(said, context, found, _imagined):
            plan.add(met)
        # What else stands against an untagged class is told by tag_class, with the tests that take no device; but not
        # what would be wrong once all of that is done.
        untagged = {cls.facts.qualname for cls, change in found if change.tag is not None}
        plan.refusals += (r for r in said.refusals if r.symbol not in untagged or r.reason == "new-error")
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        for change in changes:
            if isinstance(change, ContractChange):
                for line in change.test_lines:
                    found += function_splices(file, FunctionEdit(line, parameter="device"))
                for native in change.natives:
                    found += native_splices(file, native)
                if change.only_for is not None:
                    found += only_for_splices(file, change.only_for)
                if change.tag is not None:
                    found += tag_splices(file, change.tag)
        edits = [c.only_for for c in changes if isinstance(c, ContractChange) and c.only_for is not None]
        return [*found, *list_splices(file, edits)]


def _without_device(context: Context, cls: LinkedClass) -> tuple[Function, ...]:
    """The tests that the contract would find fault with, where the settings have them changed."""
    if context.settings.migrate.unused_device == "refuse":
        return ()
    return tuple(f for f in cls.facts.tests if not PARAMETERS & set(f.parameters))


def _change(context: Context, cls: LinkedClass, label: str, tagging: TagChange | None) -> ContractChange | None:
    """None where there is nothing to do but to tag it. Raises Blocked, with the first test that stands against it."""
    sure = tagging is None or tagging.applicability == "safe"
    tests = _without_device(context, cls)
    only_for = only_for_edit(context, cls) if label == "ACCELERATOR" else literal_edit(context, cls, label)
    natives = native_edits(context, cls) if label == "ACCELERATOR" else ()
    if not tests and only_for is None and not natives:
        return None
    if context.is_suppressed("HW104", cls.facts.line) or context.is_suppressed("HW101", cls.facts.line):
        raise Blocked("suppressed", "a suppression comment asks to leave it")
    if tests:
        _check_tests(context, cls, label, tests)
        if not is_cpu_alone(cls):
            check_main(context)
    import_time = first_to_ask(context, cls) if tests else ""
    steps = [only_for.description] if only_for is not None else []
    same_devices = only_for is None or only_for.applicability == "safe"
    if tagging is not None:
        steps.append(tagging.description)
    if natives:
        steps.append(f"say what is no native device in {listed([n.test for n in natives])} with skips of its own")
    if tests:
        why = f" ({import_time})" if import_time else ""
        steps.append(f"take `device` in {listed([t.name for t in tests])}, which the contract asks for{why}")
    return ContractChange(
        codemod=ContractDevice.name,
        symbol=cls.facts.qualname,
        span=class_span(cls.facts),
        description=", and ".join(steps),
        applicability="safe" if sure and not import_time and same_devices and not natives else "unsafe",
        imports=tuple(dict.fromkeys((*(tagging.imports if tagging is not None else ()), *_imports(natives)))),
        label=label,
        test_lines=tuple(test.line for test in tests),
        tag=tagging,
        only_for=only_for,
        natives=natives,
    )


def _imports(natives: Iterable[NativeEdit]) -> Iterator[Import]:
    for native in natives:
        yield from native.imports


def _check_tests(context: Context, cls: LinkedClass, label: str, tests: Sequence[Function]) -> None:
    """Raise Blocked where one of the tests, which take no device, has to stay as it is."""
    check_class(context, cls)
    home = cls.devices.exact and cls.devices.devices == (label.lower(),)
    if label != "ACCELERATOR" and not home:
        raise Blocked("contradiction", f"it is {label}, and instantiated for {', '.join(cls.devices.devices)}")
    verdict = context.verdict(cls)
    for test in tests:
        try:
            _check_place(context, cls, test, label, verdict)
            check_test(context, cls, test)
        except Blocked as blocked:
            raise described(test, blocked) from None


def _check_place(context: Context, cls: LinkedClass, test: Function, label: str, verdict: Verdict | None) -> None:
    """Raise Blocked where the test does not belong in a class of that label, or has its device written down."""
    judged = next((t for t in verdict.tests if t.line == test.line), None) if verdict is not None else None
    if judged is not None and judged.label != label and not context.label_option(cls):
        raise Blocked("split", f"it belongs to {judged.label}")
    if label != "ACCELERATOR":
        return
    for use in test.uses:
        if use.role == "placement" and is_binding(use.device, context.catalog):
            raise Blocked("mixed-devices", f"it places on `{use.name}` itself (line {use.span.line})", use.span)
    if not finds_device(cls, test) and not is_kept_off_cpu(cls):
        why = _why_left(context, cls, test)
        if why:
            raise Blocked("split", f"nothing in it asks for the device, and it cannot go to a GENERIC class: {why}")
        raise Blocked("split", "it does the same on every device, and belongs in a GENERIC class")


def _why_left(context: Context, cls: LinkedClass, test: Function) -> str:
    """What kept split_devices, where that was asked, from taking the test out of the class."""
    if context.options.split:
        try:
            check_free(context, cls, without_instantiation(context, cls), test)
        except Blocked as blocked:
            return blocked.text
    return ""


def _imagined(module: ModuleFacts, changes: Iterable[tuple[LinkedClass, ContractChange]]) -> ModuleFacts:
    """The facts as they would be with the changes."""
    changes = list(changes)
    lines = {line for _, change in changes for line in change.test_lines}
    natives = {native.span for _, change in changes for native in change.natives}
    edits = {change.only_for.span: change.only_for for _, change in changes if change.only_for is not None}
    tagged = with_tags(module, ((cls, change.label) for cls, change in changes if change.tag is not None))
    return replace(
        tagged,
        classes=tuple(replace(c, methods=tuple(_edited(c.methods, lines, natives))) for c in tagged.classes),
        instantiations=tuple(
            edits[call.span].applied(call) if call.span in edits else call for call in tagged.instantiations
        ),
    )


def _edited(methods: Iterable[Function], lines: Collection[int], gone: Collection[Span]) -> Iterator[Function]:
    """The methods, those at ``lines`` with the parameter, without the decorators at ``gone``."""
    for method in methods:
        if method.line in lines:
            method = replace(method, parameters=("self", "device", *method.parameters[1:]), reads_device=False)
        if any(decorator.span in gone for decorator in method.decorators):
            method = replace(method, decorators=tuple(d for d in method.decorators if d.span not in gone))
        yield method
