"""The functions that the tests of one class reach in its module, and what is done to each of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from codemods.device_apis import counts_accelerators
from codemods.device_defaults import passed_to
from codemods.device_golden import check_golden
from codemods.device_helpers import callee_of, is_shared, names_in
from codemods.device_members import pinned_devices, uncalled_class_methods
from codemods.device_passed import with_types
from codemods.device_questions import within
from codemods.device_spots import Ground, spots_of
from codemods.device_tree import FunctionTree
from codemods.device_values import CLS_TYPE, NO_DEVICE, SELF_TYPE, Blocked, DeviceValue, FunctionEdit, Spot
from codemods.plan import Context
from hwlint.catalog.claims import class_claim
from hwlint.classify.idle_attributes import READ_NO_DEVICE
from hwlint.scan.facts import DeviceUse, Function
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach, Reached

Key = int
"""Identity of a Function in the suite."""


@dataclass(slots=True)
class Needs:
    """One function that has to know the device, or calls one that does."""

    reached: Reached
    spots: tuple[Spot, ...]
    callees: dict[str, Key] = field(default_factory=dict)
    """As written -> the function it calls that takes the device."""
    called: str = ""
    """How a method of another class is called."""
    has_device: bool = False
    """It takes the device already, and its default is all that names one (codemods.device_defaults)."""


def is_accelerator_use(use: DeviceUse) -> bool:
    """Whether the use names more than the CPU, in a way that says where code runs."""
    return use.device.partition(":")[0] not in ("cpu", "meta", "") and use.role not in ("text", "fake", "key")


def plan_functions(
    context: Context,
    cls: LinkedClass,
    tests: Iterable[tuple[Function, Reach, Ground]],
    value: DeviceValue,
    by_type: bool = False,
) -> tuple[FunctionEdit, ...]:
    """The edits of the tests and of all that they reach in the module, gates left out. Raises Blocked.

    ``by_type``: methods that are no tests read ``self.device_type`` instead of getting a parameter.
    """
    tests = list(tests)
    grounds = {id(f): ground for f, _, ground in tests}
    needs: dict[Key, Needs] = {}
    uncalled = {id(method) for method in uncalled_class_methods(context, cls)}
    for _, reach, ground in tests:
        _check_reach(context, cls, reach)
        for reached in reach.functions:
            key = id(reached.function)
            if key in needs or key in uncalled or (reached.function.kind == "test" and key not in grounds):
                continue
            own = grounds.get(key) or _ground_of(cls, reached, ground)
            needs[key] = Needs(reached, _spots(context, cls, reached, own))
    _link_callees(context, cls, needs, set(grounds))
    for key, need in needs.items():
        if _matters(need, key in grounds):
            need.has_device = key not in grounds and _has_device(context, need)
            if is_shared(cls, need.reached):
                need.called = callee_of(context, cls, need.reached, need.has_device)
    values = {
        key: _value_of(need, key in grounds, value, by_type)
        for key, need in needs.items()
        if _matters(need, key in grounds)
    }
    for key, (_, parameter) in values.items():
        function = needs[key].reached.function
        takes = parameter or needs[key].has_device
        if takes and needs[key].reached.owner is None and context.imported_by(function.name):
            path = context.imported_by(function.name)[0]
            raise Blocked(
                "shared-helper", f"`{function.name}` would take the device, and {path} imports it", function.span
            )
    return tuple(
        _edit(context, key, need, values, needs) for key, need in needs.items() if _matters(need, key in grounds)
    )


def _has_device(context: Context, need: Needs) -> bool:
    function = need.reached.function
    if "device" not in function.parameters or function.decorators or need.callees:
        return False
    return passed_to(context.source(), function, need.spots, function.name) is not None


def _matters(need: Needs, is_test: bool) -> bool:
    return is_test or bool(need.spots or need.callees)


def _check_reach(context: Context, cls: LinkedClass, reach: Reach) -> None:
    """What is reached outside the module, or cannot be followed."""
    for reached in reach.functions:
        function = reached.function
        uses = [u for u in function.uses if is_accelerator_use(u)]
        if uses and reached.path != context.path:
            raise Blocked("shared-helper", f"{reached.symbol} in {reached.path} names `{uses[0].name}`", uses[0].span)
        if "string_program" in function.flags:
            raise Blocked("string-program", f"{reached.symbol} runs code that stands in a string", function.span)
        if "subprocess" in function.flags and reached.path == context.path:
            raise Blocked("subprocess", f"{reached.symbol} starts another process", function.span)
        if uses and "golden" in function.flags:
            check_golden(context.source().function_at(function.line), function.uses, reached.symbol)
        if {"self._testMethodName", "self.id"} & set(function.references) and reached.path == context.path:
            raise Blocked("unknown-name", f"{reached.symbol} asks for the name of the test", function.span)
    _check_vendor_classes(context, reach)
    for other in reach.classes:
        uses = [u for u in other.facts.attribute_uses if is_accelerator_use(u)]
        if uses and other in cls.mro and other.path == context.path:
            # Those of a base stay: the loader's own base comes before it.
            known = {base.kind for base in cls.framework_bases} <= READ_NO_DEVICE
            pins = pinned_devices(context, other) if known else {}
            uses = [u for u in uses if not any(pin.holds(u.span) for pin in pins.values())]
        if uses:
            raise Blocked("shared-helper", f"the body of {other.facts.qualname} names `{uses[0].name}`", uses[0].span)
    if reach.unknown:
        raise Blocked("unknown-name", f"`{reach.unknown[0]}` cannot be followed")


def _check_vendor_classes(context: Context, reach: Reach) -> None:
    """Raise Blocked where anything reached in the module reads a class of one vendor's that the module imports."""
    vendors = {local for local, _ in context.module.imports if class_claim().match(local)}
    if not vendors:
        return
    for reached in reach.functions:
        if reached.path == context.path:
            node = context.source().function_at(reached.function.line)
            read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & vendors
            if read:
                text = f"{reached.symbol} uses `{min(read)}`, a class of one vendor's"
                raise Blocked("device-claim", text, reached.function.span)


def _ground_of(cls: LinkedClass, reached: Reached, ground: Ground) -> Ground:
    """Fixtures run before the test is skipped: on the CPU variant as well."""
    fixture = reached.function.kind == "setup" and not _is_of_other_class(cls, reached)
    ground = replace(ground, gone=(), choices=())
    return replace(ground, with_accelerator=False) if fixture else ground


def _spots(context: Context, cls: LinkedClass, reached: Reached, ground: Ground) -> tuple[Spot, ...]:
    function = reached.function
    asked = within(function.span, ground.questions) if reached.path == cls.path else ()
    chosen = (Spot(span, "choice", name) for span, name in ground.choices)
    spots = (*spots_of(function.uses, ground), *chosen, *(Spot(q.span, "ask", new=q.text) for q in asked))
    if spots and reached.owner is not None and reached.owner is not cls and not is_shared(cls, reached):
        text = f"{reached.symbol} names `{spots[0].old}`, and belongs to another class"
        raise Blocked("shared-helper", text, spots[0].span)
    if spots and "dynamic" in function.flags and {"eval", "exec"} & set(function.references):
        raise Blocked("string-program", f"{reached.symbol} runs code that is made as text", function.span)
    return with_types(context, function, spots) if reached.path == context.path else spots


def _link_callees(context: Context, cls: LinkedClass, needs: dict[Key, Needs], tests: set[Key]) -> None:
    """Which functions call which of those that need the device; repeated until no more are found."""
    written = {key: _callees_in(context, cls, need, needs) for key, need in needs.items()}
    changed = True
    while changed:
        changed = False
        for key, need in needs.items():
            for reference, callee in written[key].items():
                other = needs[callee]
                wants = other.callees or not all(counts_accelerators(spot) for spot in other.spots)
                if wants and callee not in tests and reference not in need.callees:
                    need.callees[reference] = callee
                    changed = True


def _callees_in(context: Context, cls: LinkedClass, need: Needs, needs: dict[Key, Needs]) -> dict[str, Key]:
    """The helpers of ``needs`` that the function of ``need`` may call, as it writes them."""
    found = {}
    for reference in need.reached.function.references:
        callee = _helper_called(reference, need, cls, needs)
        if callee is not None:
            found[reference] = callee
    others = {key: other for key, other in needs.items() if _is_of_other_class(cls, other.reached)}
    if others and need.reached.path == context.path:
        names = names_in(context.source(), need.reached.function)
        for key, other in others.items():
            name = other.reached.function.name
            assert other.reached.owner is not None
            callee_name = other.reached.owner.name if name == "__init__" else f".{name}"
            if callee_name in names and (other.spots or callee_name not in found):
                found[callee_name] = key
    return found


def _is_of_other_class(cls: LinkedClass, reached: Reached) -> bool:
    """Whether it is a method of another class of the module, and of no base."""
    return is_shared(cls, reached) and reached.owner not in cls.mro


def _helper_called(reference: str, need: Needs, cls: LinkedClass, needs: dict[Key, Needs]) -> Key | None:
    """The helper of ``needs`` that ``reference`` in the function of ``need`` means."""
    head, dot, rest = reference.partition(".")
    own = not _is_of_other_class(cls, need.reached)
    for key, other in needs.items():
        function = other.reached.function
        if function.kind != "helper" or _is_of_other_class(cls, other.reached):
            continue
        if other.reached.owner is None and reference == function.name:
            return key
        if other.reached.owner is not None and own and dot and head in ("self", "cls") and rest == function.name:
            return key
    return None


def _edit(
    context: Context, key: Key, need: Needs, values: dict[Key, tuple[DeviceValue, str]], needs: dict[Key, Needs]
) -> FunctionEdit:
    function = need.reached.function
    own, parameter = values[key]
    if need.has_device:
        return FunctionEdit(function.line, own, called=need.called, required=True)
    takers = {name: needs[callee] for name, callee in need.callees.items() if values[callee][1]}
    having = {name: needs[callee] for name, callee in need.callees.items() if needs[callee].has_device}
    passed = tuple(sorted((*takers, *having)))
    ways = (passed_to(context.source(), n.reached.function, n.spots, name) for name, n in sorted(having.items()))
    if own.text == "device" and not _is_spot_of(need, "device"):
        tree = FunctionTree(context.source(), context.source().function_at(function.line))
        if tree.reads_outer("device"):
            text = f"`device` is a name of the module that {need.reached.symbol} reads"
            raise Blocked("name-taken", text, function.span)
    return FunctionEdit(
        function.line,
        own,
        parameter,
        need.spots,
        passed,
        tuple(way for way in ways if way is not None),
        called=need.called,
    )


def _is_spot_of(need: Needs, name: str) -> bool:
    return any(spot.old == name for spot in need.spots)


def _value_of(need: Needs, is_test: bool, value: DeviceValue, by_type: bool) -> tuple[DeviceValue, str]:
    """How the function names the device, and the parameter that it gets for it."""
    function = need.reached.function
    decorators = {d.name for d in function.decorators}
    if is_test:
        has = "device" in function.parameters
        return value, "" if has else "device"
    if not need.callees and all(counts_accelerators(spot) for spot in need.spots):
        return NO_DEVICE, ""
    if need.has_device:
        return DeviceValue("device"), ""
    if need.called:
        return (DeviceValue("device", is_type=True) if value.per_rank else DeviceValue("device")), "device"
    if function.name in ("setUpClass", "tearDownClass"):
        return CLS_TYPE, ""
    if function.kind == "setup" or decorators & {"property", "cached_property", "functools.cached_property"}:
        return SELF_TYPE, ""
    if by_type and function.parameters[:1] == ("self",) or decorators == {"staticmethod"}:
        return SELF_TYPE, ""  # A static method gets a `self` (codemods.device_members).
    if not need.callees and all(spot.action == "ask" for spot in need.spots):
        return SELF_TYPE, ""
    if "device" in function.parameters:
        raise Blocked(
            "unknown-caller", f"{need.reached.symbol} has a `device` of its own, and names one as well", function.span
        )
    if decorators and not decorators <= {"torch.no_grad", "torch.inference_mode"}:
        if function.parameters[:1] == ("self",):
            return SELF_TYPE, ""  # Whatever the decorator hands on, it needs no more than before.
        raise Blocked("unknown-caller", f"{need.reached.symbol} is decorated", function.span)
    own = DeviceValue("device", is_type=True) if value.per_rank else DeviceValue("device")
    return own, "device"


def helpers_of(edits: Iterable[FunctionEdit], tests: Iterable[Function]) -> Iterator[int]:
    """Lines of the helpers that get a parameter: whoever calls them has to be edited too."""
    lines = {f.line for f in tests}
    return (edit.line for edit in edits if (edit.parameter or edit.required) and edit.line not in lines)
