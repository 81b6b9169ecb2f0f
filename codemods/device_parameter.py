"""Gives tests a ``device`` parameter, and what they run on that device; their class is instantiated for each.

Whole classes only: a plain class changes if all of its tests can take a device, and runs where it ran. Tests that
asked for an accelerator get ``@onlyAccelerator``, so that nothing newly runs on the CPU. In a class that is
instantiated already, a test that is restricted to accelerators loses its literals one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from codemods.device_changes import value_of
from codemods.device_choices import Choice, device_choices
from codemods.device_claims import check_claims
from codemods.device_class import check_class, check_decorators, parametrized
from codemods.device_fakes import check_fakes
from codemods.device_file_gates import unread_gates
from codemods.device_fixture import check_free, check_used, finding_it
from codemods.device_gates import GatePlan, plan_gates
from codemods.device_imports import INSTANTIATE, ONLY, check_imports, torch_for
from codemods.device_instantiate import call_splices, own_name_splices
from codemods.device_level import doubts
from codemods.device_loops import device_loop
from codemods.device_main import main_gate
from codemods.device_members import ordinary_splices, pin_out, pinned_devices, static_methods
from codemods.device_one_test import tests_of_instantiated
from codemods.device_parametrized import Parametrized, parametrized_device
from codemods.device_plan import helpers_of, is_accelerator_use, plan_functions
from codemods.device_questions import Question, questions_of, sheltered
from codemods.device_signature import decorator_splices, function_splices
from codemods.device_spots import Ground, split_device
from codemods.device_stops import leading_stops
from codemods.device_twins import twin_out, twins_of
from codemods.device_unread import callers, check_main
from codemods.device_values import Blocked, DeviceChange, FunctionEdit, Loop
from codemods.device_whole import check_callers, check_fixture, check_reached
from codemods.device_xpu import tests_on_xpu
from codemods.edit import SourceFile, Splice
from codemods.generic_gates import compiles
from codemods.imported_change import bound_first, importers_of
from codemods.plan import Change, Codemod, Context, Plan, PlanBuilder
from hwlint.rules.home import home_device
from hwlint.scan.facts import Function, Span
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach, reach


class DeviceParameter(Codemod):
    name = "device_parameter"
    summary = "Gives tests a `device` parameter, replaces the devices they name, and instantiates their class."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.test_classes():
            if not cls.own_tests:
                continue
            try:
                if cls.is_instantiated and home_device(cls):
                    continue  # A literal of the class's own device is right at home.
                if cls.is_instantiated:
                    for change in tests_of_instantiated(plan, context, cls):
                        plan.add(change)
                else:
                    whole = self.change_of(context, cls)
                    if whole is not None:
                        plan.add(whole)
            except Blocked as blocked:
                plan.refuse(cls.facts.qualname, blocked.reason, blocked.text, blocked.span or class_span(cls.facts))
        return plan.done()

    @staticmethod
    def change_of(context: Context, cls: LinkedClass) -> DeviceChange | None:
        """The change of a class that is not instantiated, None for one that has nothing to do with accelerators.

        Raises Blocked.
        """
        return _whole_class(context, cls) if _concerns(context, cls) else None

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        done: set[int] = set()
        together = [edit for change in changes if isinstance(change, DeviceChange) for edit in change.functions]
        for change in changes:
            if not isinstance(change, DeviceChange):
                continue
            for line in change.claims:
                check_claims(file.function_at(line))
            found += _function_splices(file, change, together, done)
            found += (twin_out(file, line) for line in change.gone)
            found += (splice for line in change.static for splice in ordinary_splices(file, line))
            found += (pin_out(file, change.class_line, pin) for pin in change.pinned)
            if change.instantiate:
                node = file.class_at(change.class_line)
                found += own_name_splices(file, node, change.replaced)
                found += decorator_splices(file, node, change.class_removed, change.class_swapped, ())
                found += call_splices(file, node, change.arguments, change.replaced, change.above)
        return found


def _function_splices(
    file: SourceFile, change: DeviceChange, together: Sequence[FunctionEdit], done: set[int]
) -> list[Splice]:
    """The splices of a change's functions but those ``done`` by another, which is kept up. Raises Blocked.

    ``together``: the edits of all changes.
    """
    try:
        found = _splices_of(file, change, change.functions, change.helpers, together, done)
    except Blocked as blocked:
        if not change.fallback or blocked.reason not in ("unknown-caller", "name-taken"):
            raise
        takers = (e for e in change.fallback if e.parameter or e.required)
        helpers = tuple(e.line for e in takers if e.line in change.helpers)
        found = _splices_of(file, change, change.fallback, helpers, together, done)
        done |= {edit.line for edit in change.fallback}
        return found
    done |= {edit.line for edit in change.functions}
    return found


def _splices_of(
    file: SourceFile,
    change: DeviceChange,
    functions: Sequence[FunctionEdit],
    helpers: Sequence[int],
    together: Sequence[FunctionEdit],
    done: set[int],
) -> list[Splice]:
    found: list[Splice] = []
    check_callers(file, helpers, functions, together)
    check_reached(file, functions, change.ungated, change.fixtures)
    for edit in functions:
        if edit.line in done:
            continue
        if edit.line in change.fixtures and (edit.spots or edit.pass_to):
            check_fixture(file, edit)
        found += function_splices(file, edit)
    return found


def _concerns(context: Context, cls: LinkedClass) -> bool:
    """Whether a plain class has to do with accelerators at all."""
    verdict = context.verdict(cls)
    return (
        verdict is not None
        and verdict.label in ("ACCELERATOR", "SPLIT")
        and any(t.label == "ACCELERATOR" for t in verdict.tests)
    )


# A plain class


def _whole_class(context: Context, cls: LinkedClass) -> DeviceChange:
    """The change of a class that is not instantiated. Raises Blocked."""
    verdict = context.verdict(cls)
    assert verdict is not None
    if cls.label not in ("", "ACCELERATOR"):
        raise Blocked("contradiction", f"it is tagged {cls.label}")
    twins = twins_of(context, cls)
    gone = {twin.cpu.line for twin in twins}
    judged = [t for t in verdict.tests if t.line not in gone]
    others = sorted({t.label for t in judged if t.label != "ACCELERATOR"})
    if others:
        shown = next(t.name for t in judged if t.label == others[0])
        raise Blocked("split", f"some of its tests are {others[0]} ({shown})")
    if verdict.confidence == "unsure":
        raise Blocked("uncertain", "it is not sure that its tests are for accelerators")
    check_imports(context)
    check_main(context)
    check_class(context, cls)
    call = parametrized(cls)
    tests: list[tuple[Function, Reach, Ground]] = []
    gates: dict[int, GatePlan] = {}
    ungated: list[int] = []
    parametrizations: dict[int, Parametrized] = {}
    loops: dict[int, Loop] = {}
    remaining = [f for f in cls.own_tests if f.line not in gone]
    unread = unread_gates(context, cls, [reach(cls, f) for f in remaining])
    for function in remaining:
        reached = reach(cls, function)
        traced = compiles(context, cls, reached)
        choices = device_choices(context, function)
        loop, asked_by_loop = device_loop(context, function, [choice.span for choice in choices]) or (None, ())
        if loop is not None:
            loops[function.line] = loop
        going = [one.span for one in (*choices, loop) if one is not None]
        asked = tuple(
            question
            for question in questions_of(context, cls, function, reached.gates)
            if not any(span.holds(question.span) for span in going)
        )
        questions = (*asked, *asked_by_loop, *(question for choice in choices for question in choice.asked))
        plan = plan_gates(
            reached.gates,
            function,
            cls.facts.decorators,
            context.path,
            traced,
            context.module.main,
            questions,
            unread,
            leading_stops(context.source(), function),
        )
        _check_test(context, cls, function)
        over = parametrized_device(context, function)
        if over is not None:
            plan = _with_parametrization(plan, over)
            parametrizations[function.line] = over
        given_up = tuple(one.span for one in (over, loop, *choices) if one is not None)
        needs = plan.needs_accelerator
        if over is None:
            needs = _needs_accelerator(context, plan, reached, asked, given_up)
        _check_chosen(function, choices, plan)
        if any(twin.other is function for twin in twins):
            needs, plan = False, _with_twin(plan, function)
        if needs and context.settings.migrate.add_cpu and not plan.kept and not _calls_device_api(reached):
            needs = False  # As the configuration asks: the CPU runs it, too.
        check_fakes(context.source(), reached, plan.needs_accelerator)
        if needs and not plan.needs_accelerator:
            ungated.append(function.line)
        gates[id(function)] = replace(plan, needs_accelerator=needs)
        chosen = tuple((choice.span, choice.name) for choice in choices)
        tests.append((function, reached, Ground(context.catalog, context.settings, needs, given_up, chosen, asked)))
    value = value_of(cls)
    renamed = {twin.other.line: twin.name for twin in twins}
    functions = _with_loops(_with_all_gates(plan_functions(context, cls, tests, value), cls, gates), loops)
    by_type = plan_functions(context, cls, tests, value, by_type=True)
    fallback = _with_loops(_with_all_gates(by_type, cls, gates), loops)
    gated = {f.line for f, *_ in tests if gates[id(f)].needs_accelerator} - set(ungated)
    free = {f.line for f, *_ in tests if not gates[id(f)].needs_accelerator}
    check_used(context, cls, functions, {*parametrizations, *loops}, finding_it(context, cls, gated, free))
    check_free(context, cls, free)
    removed = _class_removed(context, cls, gates)
    known = frozenset(g.span for g in cls.facts.gates) | (
        {call.span} if call is not None and call.form == "decorator" else frozenset()
    )
    check_decorators(context, cls.facts.decorators, known, "the class")
    if call is not None and call.form == "decorator":
        removed = (*removed, call.span)
    needed = any(edit.added or edit.swapped for edit in functions)
    on_xpu = tests_on_xpu(context, cls, tests, gates)
    xpu = bool(on_xpu)
    fixtures = tuple(m.line for m in cls.facts.methods if m.kind == "setup")
    told = _told_by_main(context, functions, ungated, fixtures)
    above, importers = bound_first(context, cls, ("cpu", "cuda", "xpu") if xpu else ("cpu", "cuda"))
    doubted = doubts(context, cls, "ACCELERATOR", [reached for _, reached, _ in tests])
    doubted = (*doubted, *told, *(f"{path} imports it" for path in importers))
    return DeviceChange(
        codemod=DeviceParameter.name,
        symbol=cls.facts.qualname,
        span=class_span(cls.facts),
        description="take `device` in its tests, and instantiate it" + (f" ({'; '.join(doubted)})" if doubted else ""),
        applicability="unsafe" if doubted else "safe",
        imports=(
            INSTANTIATE,
            *((ONLY,) if needed else ()),
            *dict.fromkeys(i for plan in gates.values() for i in plan.imports),
            *torch_for(context, (*functions, *fallback)),
        ),
        cls=cls.name,
        importers=importers_of(context, cls),
        above=above,
        class_line=cls.facts.line,
        renames=tuple(
            ((cls.facts.qualname, old.name), (cls.facts.qualname, twin.name))
            for twin in twins
            for old in (twin.cpu, twin.other)
        ),
        functions=_with_names(functions, renamed),
        helpers=tuple(helpers_of(functions, cls.own_tests)),
        fallback=_with_names(fallback, renamed) if fallback != functions else (),
        gone=tuple(sorted(gone)),
        static=tuple(method.line for method in static_methods(cls)),
        pinned=tuple(pinned_devices(context, cls).values()),
        ungated=() if told else tuple(ungated),
        fixtures=fixtures,
        class_removed=removed,
        class_swapped=tuple(dict.fromkeys(s for plan in gates.values() for s in plan.class_swapped)),
        # Tests that ran on XPU as well claim nothing that is CUDA's own.
        claims=tuple(e.line for e in functions if e.line not in on_xpu) if len(on_xpu) < len(tests) else (),
        arguments=", allow_xpu=True" if xpu else "",
        replaced=call.span if call is not None and call.form == "call" else None,
        instantiate=True,
    )


def _told_by_main(
    context: Context, functions: Sequence[FunctionEdit], ungated: Sequence[int], fixtures: Sequence[int]
) -> tuple[str, ...]:
    """The doubt about tests without a gate that may get by without their device, where the end of the file says that
    they did not run there; nothing where there is no such test, or the end of the file says nothing.
    """
    gate = main_gate(context) if ungated else None
    if gate is None:
        return ()
    try:
        check_reached(context.source(), functions, ungated, fixtures)
    except Blocked as blocked:
        if blocked.reason == "uncertain":
            return (f"{blocked.text} but by `if {gate.name}` at the end of the file",)
    return ()


def _check_test(context: Context, cls: LinkedClass, function: Function) -> None:
    line = next(callers(context.source(), cls, function.name), 0)
    if line:  # The loader gives each test the name of its device.
        raise Blocked("unknown-caller", f"`{function.name}` is named on line {line}", function_span(function))
    gates = frozenset(g.span for g in function.gates)
    check_decorators(context, function.decorators, gates, "the test")
    if "devices" in function.parameters:
        raise Blocked("parametrized", f"`{function.name}` takes `devices` from elsewhere", function_span(function))


def _check_chosen(function: Function, choices: Sequence[Choice], plan: GatePlan) -> None:
    """Raise Blocked where the test chooses no device on the CPU, and nothing keeps it from running there."""
    for choice in choices:
        if not choice.complete and not plan.needs_accelerator:
            raise Blocked("unknown-gate", f"`{function.name}` has no device where there is no accelerator", choice.span)


def _with_parametrization(plan: GatePlan, over: Parametrized) -> GatePlan:
    """The gates of a test that ran on a list of devices. Raises Blocked."""
    if over.on_cpu and plan.needs_accelerator:
        raise Blocked("unknown-gate", "its CPU variant is gated on an accelerator", over.span)
    allow_xpu = bool(over.devices & {"xpu", "accelerator"})
    return replace(
        plan,
        removed=(*plan.removed, over.span),
        needs_accelerator=not over.on_cpu,
        allow_xpu=plan.allow_xpu or allow_xpu,
    )


def _with_twin(plan: GatePlan, function: Function) -> GatePlan:
    """The gates of a test that runs on the CPU in the place of its twin. Raises Blocked where one of them stays."""
    if plan.kept or plan.swapped or plan.class_removed or plan.class_swapped:
        raise Blocked(
            "compound-gate", f"`{function.name}` is gated by more than an accelerator", function_span(function)
        )
    return replace(plan, needs_accelerator=False)


def _needs_accelerator(
    context: Context, plan: GatePlan, reached: Reach, asked: Sequence[Question], gone: Sequence[Span]
) -> bool:
    """Whether the test ran on an accelerator alone, or not at all; ``gone``: what stands there does not count."""
    if plan.needs_accelerator:
        return True
    for one in reached.uses:
        use = one.use
        types, _ = split_device(use.device)
        if not is_accelerator_use(use) or use.role not in ("placement", "api", "backend", "parametrization"):
            continue
        if use.construct == "api" and not _binds(context, use.name):
            continue
        if "cpu" in types or _chosen(one.use, reached):
            continue
        if one.path == context.path and (sheltered(use.span, asked) or any(span.holds(use.span) for span in gone)):
            continue
        return True
    return False


def _calls_device_api(reached: Reach) -> bool:
    return any(one.use.construct == "api" and one.use.role == "api" for one in reached.uses)


def _binds(context: Context, name: str) -> bool:
    """Whether a call of the API fails where its device is not there."""
    if name.startswith(("torch.backends.", "torch.version.")):
        return False
    return not name.rpartition(".")[2].startswith(
        ("manual_seed", "is_available", "device_count", "is_initialized", "empty_cache")
    )


def _chosen(use: object, reached: Reach) -> bool:
    """Whether the device is the one half of ``"cuda" if torch.cuda.is_available() else "cpu"``."""
    for one in reached.gates:
        gate = one.gate
        if gate.form == "if_block" and not gate.blocking and gate.span.line == use.span.line:  # type: ignore[attr-defined]
            return True
    return False


def _with_all_gates(
    edits: Sequence[FunctionEdit], cls: LinkedClass, gates: dict[int, GatePlan]
) -> tuple[FunctionEdit, ...]:
    tests = {f.line: f for f in cls.own_tests}
    return tuple(with_gates(e, tests[e.line], gates[id(tests[e.line])]) if e.line in tests else e for e in edits)


def _with_loops(edits: Sequence[FunctionEdit], loops: Mapping[int, Loop]) -> tuple[FunctionEdit, ...]:
    return tuple(replace(edit, loop=loops[edit.line]) if edit.line in loops else edit for edit in edits)


def _with_names(edits: Sequence[FunctionEdit], names: Mapping[int, str]) -> tuple[FunctionEdit, ...]:
    return tuple(replace(edit, rename=names.get(edit.line, edit.rename)) for edit in edits)


def with_gates(edit: FunctionEdit, function: Function, plan: GatePlan) -> FunctionEdit:
    """The edit with the test's decorators: onlyAccelerator outermost, in the place of the first where that goes."""
    edit = replace(edit, swapped=plan.swapped)
    if not plan.needs_accelerator:
        return replace(edit, removed=plan.removed)
    first = function.decorators[0].span if function.decorators else None
    if first is not None and first in plan.removed:
        removed = tuple(span for span in plan.removed if span != first)
        return replace(edit, removed=removed, swapped=(*plan.swapped, (first, "onlyAccelerator")))
    return replace(edit, removed=plan.removed, added=("onlyAccelerator",))


def _class_removed(context: Context, cls: LinkedClass, gates: dict[int, GatePlan]) -> tuple[Span, ...]:
    """Gates of the class that every test has taken over."""
    spans = list(dict.fromkeys(span for plan in gates.values() for span in plan.class_removed))
    own = {d.span for d in cls.facts.decorators}
    for span in spans:
        if span not in own:
            raise Blocked("unknown-gate", "a base of the class is gated", span)
    return tuple(spans)
