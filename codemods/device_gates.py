"""What the gates of a test become once it takes the device: which go, which stay, what has to come.

An availability gate becomes ``@onlyAccelerator``. A gate that asks for more (a count, a capability, a library) stays,
in the form that asks any accelerator where there is one, and ``@onlyAccelerator`` keeps the CPU variant out of what the
host alone would let through, and so a part of a test that hangs on such a question. What asks the host for one device
in another way keeps the whole test as it is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from codemods.device_questions import Question
from codemods.device_stops import asks_capability, is_choice
from codemods.device_values import AVAILABLE, MEANT, Blocked
from codemods.generic_gates import asks_triton, generic_gate
from codemods.plan import Import
from hwlint.catalog import load_catalog
from hwlint.catalog.claims import gate_claim
from hwlint.scan.facts import Decorator, Function, Gate, Requirement, Span
from hwlint.suite.reach import ReachedGate


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What is done about the gates of one test."""

    removed: tuple[Span, ...] = ()
    class_removed: tuple[Span, ...] = ()
    """Decorators of the class that this test can do without."""
    swapped: tuple[tuple[Span, str], ...] = ()
    class_swapped: tuple[tuple[Span, str], ...] = ()
    """Decorators that go on asking for triton or a count, on any accelerator."""
    imports: tuple[Import, ...] = ()
    needs_accelerator: bool = False
    allow_xpu: bool = False
    """Some gate let XPU through."""
    kept: bool = False
    """Some gate that asks for more than an accelerator stays."""


@dataclass(slots=True)
class _Collected:
    decorators: dict[Span, Decorator]
    removed: list[Span] = field(default_factory=list)
    class_removed: list[Span] = field(default_factory=list)
    swapped: list[tuple[Span, str]] = field(default_factory=list)
    class_swapped: list[tuple[Span, str]] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    needs_accelerator: bool = False
    allow_xpu: bool = False
    kept: bool = False
    helper: Gate | None = None
    """The gate of a helper, or within the test: it holds for the part of the test that gets there, or is chosen."""


def plan_gates(
    gates: Iterable[ReachedGate],
    function: Function,
    class_decorators: Iterable[Decorator],
    path: str,
    compiled: bool,
    main: Span | None,
    questions: Iterable[Question] = (),
    unread: Collection[Span] = (),
    leading: Collection[Span] = (),
) -> GatePlan:
    """The plan for one test of ``path``. ``compiled``: what it does goes through a compiler that needs triton.

    ``questions`` are gates that ask the device instead, ``unread`` gates of the file that decide on nothing here,
    ``leading`` those that end the test at its start.

    Raises Blocked for a gate that can neither go nor stay.
    """
    found = _Collected({d.span: d for d in (*function.decorators, *class_decorators)})
    asked = {question.span: question for question in questions}
    for reached in gates:
        gate = reached.gate
        if reached.path == path and gate.span in asked:
            found.needs_accelerator = found.needs_accelerator or asked[gate.span].keeps_off
            found.allow_xpu = found.allow_xpu or not asked[gate.span].names_cuda
        elif reached.scope == "file":
            if gate.span not in unread:
                _file_gate(reached, path, main)
        elif _gives_way(gate, reached.function or function) or counts_ranks(gate, reached.function or function):
            continue
        elif reached.scope in ("test", "helper") and asks_capability(gate):
            if reached.scope == "test" and gate.span in leading:
                found.needs_accelerator = found.kept = True
            else:
                found.helper = found.helper or gate
        elif reached.scope in ("test", "setup", "helper") and is_choice(gate):
            found.helper = found.helper or gate
        elif reached.scope in ("setup", "helper"):
            if reached.scope == "helper" and _is_generic_count(gate):
                found.helper = found.helper or gate
            elif _asks_one_device(gate):
                where = f"in a {reached.scope} function"
                raise Blocked("unknown-gate", f"`{_short(gate)}` asks the host {where}", gate.span)
        elif gate.form == "if_class":
            raise Blocked("import-time-gate", f"the class exists only where `{_short(gate)}`", gate.span)
        elif gate.form in ("decorator", "class_decorator"):
            if reached.path != path and reached.scope == "class":
                raise Blocked("unknown-gate", f"`{_short(gate)}` stands at a base in another file", gate.span)
            _decorator(gate, found, compiled)
        elif _asks_one_device(gate):
            raise Blocked("unknown-gate", f"`{_short(gate)}` asks the host in the test", gate.span)
    if found.helper is not None and not found.needs_accelerator:
        text = f"`{_short(found.helper)}` asks the host for a part of the test, and the test itself does not"
        raise Blocked("unknown-gate", text, found.helper.span)
    return GatePlan(
        removed=tuple(found.removed),
        class_removed=tuple(found.class_removed),
        swapped=tuple(found.swapped),
        class_swapped=tuple(found.class_swapped),
        imports=tuple(dict.fromkeys(found.imports)),
        needs_accelerator=found.needs_accelerator,
        allow_xpu=found.allow_xpu,
        kept=found.kept,
    )


def _file_gate(reached: ReachedGate, path: str, main: Span | None) -> None:
    gate = reached.gate
    if main is not None and main.line <= gate.span.line <= main.end_line:
        return  # Only for who runs the file as a script.
    if any(r.kind == "device" and not r.absent for r in gate.requirements):
        what = "ends the import of the file" if gate.blocking else "decides on what the file imports or sets"
        raise Blocked("import-time-gate", f"`{_short(gate)}` {what}", gate.span)


def _decorator(gate: Gate, found: _Collected, compiled: bool) -> None:
    """One decorator, of the test or its class."""
    present = list(_present(gate))
    if any(r.kind in ("unknown", "capability") for r in present) and not any(
        r.kind in ("device", "accelerator") for r in present
    ):
        if gate_claim().search(gate.name) and not gate.combine:
            raise Blocked("unknown-gate", f"`{_short(gate)}` asks for something of one vendor's", gate.span)
    if not present:
        return
    devices = {r.value for r in present if r.kind in ("device", "accelerator")}
    others = {r.kind: r.value for r in present if r.kind not in ("device", "accelerator")}
    if gate.combine and not _is_one(gate, devices):
        _compound(gate, devices, set(others), found, compiled)
        return
    if devices == {"cpu"} or not (devices or others):
        return
    if devices and not devices & set(AVAILABLE):
        raise Blocked("unknown-gate", f"`{_short(gate)}` asks for {min(devices)}", gate.span)
    if "count" in others and not devices:
        raise Blocked("device-count", f"`{_short(gate)}` counts devices of the host", gate.span)
    if not devices:
        return
    found.needs_accelerator = True
    if "cuda" not in devices and "count" not in others:
        found.allow_xpu = True
    if not others or others == {"library": "triton"}:
        _availability(gate, devices, found, compiled)
    elif "platform" in others:
        raise Blocked("vendor-api", f"`{_short(gate)}` asks for a build of one vendor", gate.span)
    elif "count" in others and "cuda" in devices:
        _generic(gate, found, Blocked("device-count", f"`{_short(gate)}` counts the devices of the host", gate.span))
    else:  # Any other capability, count or library: a targeted skip, which stays.
        found.kept = True


def _is_one(gate: Gate, devices: set[str]) -> bool:
    """Whether a compound condition asks for one device and triton there, as HAS_CUDA does in one name."""
    kinds = {(r.kind, r.value if r.kind == "library" else "") for r in gate.requirements}
    together = gate.combine == "all" and not any(r.absent for r in gate.requirements)
    return together and len(devices) == 1 and kinds <= {("device", ""), ("accelerator", ""), ("library", "triton")}


def _compound(gate: Gate, devices: set[str], others: set[str], found: _Collected, compiled: bool) -> None:
    """A condition with 'and' or 'or'. Raises Blocked."""
    if not devices:
        return
    together = gate.combine == "all" and devices <= set(AVAILABLE)
    named = devices - {"accelerator"}
    if together and not named:
        found.needs_accelerator = found.allow_xpu = found.kept = True
    elif together and len(named) == 1 and "capability" in others:
        found.needs_accelerator = found.kept = True  # A targeted skip with all that it asks for.
        found.allow_xpu = found.allow_xpu or "xpu" in devices
    elif gate.combine == "any" and _whichever(gate, devices) and not compiled:
        found.needs_accelerator = True
        found.allow_xpu = found.allow_xpu or "xpu" in devices
        (found.class_removed if gate.form == "class_decorator" else found.removed).append(gate.span)
    else:
        several = "one of several things" if gate.combine == "any" else "several things"
        raise Blocked("compound-gate", f"`{_short(gate)}` asks for {several}", gate.span)


def _whichever(gate: Gate, devices: set[str]) -> bool:
    """Whether the gate asks for one of several accelerators, all of which instantiation makes classes for."""
    backends = load_catalog().backends
    made = {name for name, backend in backends.items() if backend.inclusion in ("available", "registered")}
    return "cuda" in devices and devices <= made | {"xpu"} and len(devices) == len(gate.requirements)


def _availability(gate: Gate, devices: set[str], found: _Collected, compiled: bool) -> None:
    on_class = gate.form == "class_decorator"
    if compiled and asks_triton(gate, found.decorators.get(gate.span)):
        found.kept = True
        if "cuda" in devices:
            _generic(gate, found, Blocked("capability-gate", f"`{_short(gate)}` asks for triton as well", gate.span))
        return  # Else it holds on every accelerator, and stays for triton.
    (found.class_removed if on_class else found.removed).append(gate.span)


def _generic(gate: Gate, found: _Collected, otherwise: Blocked) -> None:
    """Let the gate ask the same of any accelerator; raise ``otherwise`` where there is no such form."""
    generic = generic_gate(gate, found.decorators.get(gate.span))
    if generic is None:
        raise otherwise
    text, needed = generic
    (found.class_swapped if gate.form == "class_decorator" else found.swapped).append((gate.span, text))
    found.imports.extend(needed)
    found.kept = True


def _present(gate: Gate) -> Iterator[Requirement]:
    """What the gate asks to be there."""
    return (r for r in gate.requirements if not r.absent)


def _asks_one_device(gate: Gate) -> bool:
    return any(
        r.kind in ("device", "accelerator", "count", "capability") and r.value != "cpu" for r in gate.requirements
    )


def _is_generic_count(gate: Gate) -> bool:
    """Whether a decorator counts the devices of any accelerator, as ``@skip_if_lt_x_gpu(2)`` does."""
    kinds = {r.kind for r in gate.requirements if not r.absent}
    return gate.form == "decorator" and not gate.combine and kinds == {"accelerator", "count"}


def _gives_way(gate: Gate, function: Function) -> bool:
    """Whether the gate is a choice within ``function`` that gives way to the device, or may stay beside it."""
    if gate.form != "if_block" or gate.blocking:
        return False
    return _is_conditional(gate, function) or _is_parametrization(gate, function)


def counts_ranks(gate: Gate, function: Function) -> bool:
    """Whether the gate chooses the number of processes by what the host has: each variant has as many as before."""
    return function.name == "world_size" and gate.form == "if_block" and not gate.blocking


def _is_conditional(gate: Gate, function: Function) -> bool:
    """Whether the gate is that of ``"cuda" if torch.cuda.is_available() else "cpu"``, which gives way as a whole."""
    if gate.span.line != gate.span.end_line:
        return False
    on_line = [u for u in function.uses if u.span.line == u.span.end_line == gate.span.line and u.construct == "string"]
    before = any(u.device.partition(":")[0] in MEANT and u.span[2:] <= gate.span[:2] for u in on_line)
    behind = any(u.device == "cpu" and gate.span[2:] <= u.span[:2] for u in on_line)
    return before and behind


def _is_parametrization(gate: Gate, function: Function) -> bool:
    """Whether it asks for a capability, or triton, in a list that a test is parametrized with: the list stays."""
    inside = any(d.span.holds(gate.span) for d in function.decorators)
    return inside and any(r.kind in ("capability", "library") for r in gate.requirements)


def _short(gate: Gate) -> str:
    text = " ".join(gate.name.split())
    return text if len(text) <= 70 else f"{text[:67]}..."
