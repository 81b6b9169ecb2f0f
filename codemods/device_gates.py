"""What the gates of a test become once it takes the device: which go, which stay, what has to come.

An availability gate becomes ``@onlyAccelerator``. A gate that asks for more (a count, a capability, a library, a
platform) stays, and ``@onlyAccelerator`` keeps the CPU variant out of what the host alone would let through. What
asks the host for one device in another way keeps the whole test as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from codemods.device_spots import MEANT
from codemods.device_values import Blocked
from codemods.plan import Import
from hwlint.scan.facts import Decorator, Function, Gate, Requirement, Span
from hwlint.suite.reach import ReachedGate

VENDOR = re.compile(r"(?i)cuda|nccl|cudnn|rocm|\bhip\b|nvrtc|cublas|xpu|mps\b|ptxas|nvcc")
"""What names a vendor's thing in a condition that is not understood."""
AVAILABLE = ("cuda", "xpu", "accelerator")
"""Devices whose availability gates become onlyAccelerator."""

TRITON_UTILS = "torch.testing._internal.triton_utils"
INDUCTOR_UTILS = "torch.testing._internal.inductor_utils"
ANY_TRITON = {"requires_cuda": "requires_gpu", "requires_cuda_and_triton": "requires_gpu_and_triton"}
"""Of torch.testing._internal.triton_utils: what asks for triton on CUDA, and what asks for it on any accelerator."""


@dataclass(frozen=True, slots=True)
class GatePlan:
    """What is done about the gates of one test."""

    removed: tuple[Span, ...] = ()
    class_removed: tuple[Span, ...] = ()
    """Decorators of the class that this test can do without."""
    swapped: tuple[tuple[Span, str], ...] = ()
    class_swapped: tuple[tuple[Span, str], ...] = ()
    """Decorators that go on asking for triton, on any accelerator."""
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


def plan_gates(
    gates: Iterable[ReachedGate],
    function: Function,
    class_decorators: Iterable[Decorator],
    path: str,
    compiled: bool,
    main: Span | None,
) -> GatePlan:
    """The plan for one test of ``path``. ``compiled``: what it does goes through a compiler that needs triton.

    Raises Blocked for a gate that can neither go nor stay.
    """
    found = _Collected({d.span: d for d in (*function.decorators, *class_decorators)})
    for reached in gates:
        gate = reached.gate
        if reached.scope == "file":
            _file_gate(reached, path, main)
        elif reached.scope in ("setup", "helper"):
            if _asks_one_device(gate) and not _is_conditional(gate, function):
                raise Blocked(
                    "unknown-gate", f"`{_short(gate)}` asks the host in a {reached.scope} function", gate.span
                )
        elif gate.form == "if_class":
            if _present(gate):
                raise Blocked("import-time-gate", f"the class exists only where `{_short(gate)}`", gate.span)
        elif gate.form in ("decorator", "class_decorator"):
            if reached.path != path and reached.scope == "class":
                raise Blocked("unknown-gate", f"`{_short(gate)}` stands at a base in another file", gate.span)
            _decorator(gate, found, compiled)
        elif _asks_one_device(gate) and not _is_conditional(gate, function):
            raise Blocked("unknown-gate", f"`{_short(gate)}` asks the host in the test", gate.span)
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
        raise Blocked("import-time-gate", f"`{_short(gate)}` ends the import of the file", gate.span)


def _decorator(gate: Gate, found: _Collected, compiled: bool) -> None:
    """One decorator, of the test or its class."""
    present = list(_present(gate))
    if any(r.kind in ("unknown", "capability") for r in present) and not any(
        r.kind in ("device", "accelerator") for r in present
    ):
        if VENDOR.search(gate.name) and not gate.combine:
            raise Blocked("unknown-gate", f"`{_short(gate)}` asks for something of one vendor's", gate.span)
    if not present:
        return
    devices = {r.value for r in present if r.kind in ("device", "accelerator")}
    if gate.combine:
        if any(r.kind == "device" and r.value != "cpu" for r in present):
            raise Blocked("compound-gate", f"`{_short(gate)}` asks for several things", gate.span)
        if gate.combine == "all" and devices & set(AVAILABLE):
            found.needs_accelerator = found.allow_xpu = found.kept = True
        elif devices:
            raise Blocked("compound-gate", f"`{_short(gate)}` asks for one of several things", gate.span)
        return
    others = {r.kind: r.value for r in present if r.kind not in ("device", "accelerator")}
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
        _availability(gate, devices, bool(others), found, compiled)
    elif "platform" in others:
        raise Blocked("vendor-api", f"`{_short(gate)}` asks for a build of one vendor", gate.span)
    elif "count" in others and "cuda" in devices:
        raise Blocked("device-count", f"`{_short(gate)}` counts the devices of the host", gate.span)
    else:  # Any other capability, count or library: a targeted skip, which stays.
        found.kept = True


def _availability(gate: Gate, devices: set[str], triton: bool, found: _Collected, compiled: bool) -> None:
    on_class = gate.form == "class_decorator"
    decorator = found.decorators.get(gate.span)
    triton = triton or (decorator is not None and decorator.qualified.startswith(f"{TRITON_UTILS}."))
    if triton and compiled:
        found.kept = True
        if "cuda" not in devices:
            return  # It holds on every accelerator, and stays for triton.
        text, needed = _any_triton(decorator)
        if needed is None:
            raise Blocked("capability-gate", f"`{_short(gate)}` asks for triton as well", gate.span)
        (found.class_swapped if on_class else found.swapped).append((gate.span, text))
        found.imports.append(needed)
        found.allow_xpu = True
        return
    (found.class_removed if on_class else found.removed).append(gate.span)


def _any_triton(decorator: Decorator | None) -> tuple[str, Import | None]:
    """The decorator that asks for triton on any accelerator, in the place of one that asks for it on CUDA."""
    if decorator is None:
        return "", None
    last = decorator.qualified.rpartition(".")[2]
    generic = ANY_TRITON.get(last)
    if generic is not None and decorator.qualified.startswith(f"{TRITON_UTILS}.") and not decorator.called:
        return generic, Import(TRITON_UTILS, generic)
    if last in ("skipIf", "skipUnless") and len(decorator.arguments) == 2:
        condition = decorator.arguments[0].text
        if condition in ("HAS_CUDA", "not HAS_CUDA"):
            return f"{decorator.name}({condition.replace('HAS_CUDA', 'HAS_GPU')}, {{reason}})", Import(
                INDUCTOR_UTILS, "HAS_GPU"
            )
    return "", None


def _present(gate: Gate) -> Iterator[Requirement]:
    """What the gate asks to be there."""
    return (r for r in gate.requirements if not r.absent)


def _asks_one_device(gate: Gate) -> bool:
    return any(
        r.kind in ("device", "accelerator", "count", "capability") and r.value != "cpu" for r in gate.requirements
    )


def _is_conditional(gate: Gate, function: Function) -> bool:
    """Whether the gate is that of ``"cuda" if torch.cuda.is_available() else "cpu"``, which gives way as a whole."""
    if gate.form != "if_block" or gate.blocking or gate.span.line != gate.span.end_line:
        return False
    on_line = [u for u in function.uses if u.span.line == u.span.end_line == gate.span.line and u.construct == "string"]
    before = any(u.device.partition(":")[0] in MEANT and u.span[2:] <= gate.span[:2] for u in on_line)
    behind = any(u.device == "cpu" and gate.span[2:] <= u.span[:2] for u in on_line)
    return before and behind


def _short(gate: Gate) -> str:
    text = " ".join(gate.name.split())
    return text if len(text) <= 70 else f"{text[:67]}..."
