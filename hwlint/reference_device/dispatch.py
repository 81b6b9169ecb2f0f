"""The kernel behind every operator of the reference device: run the CPU's kernel on the same memory.

torch calls ``run_on_host`` as the PrivateUse1 back end's fallback. Before it computes, it refuses what hardware
refuses: tensors of two devices in one operator, and a generator of another device.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from . import memory, random, sparse, state

# Operators that take tensors of several devices on hardware too: copies, and indexing, whose indices may be on the
# CPU.
_COPIES = frozenset({"aten::copy_", "aten::_copy_from", "aten::_copy_from_and_resize", "aten::_to_copy"})
_INDEXING = frozenset({
    "aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_", "aten::_unsafe_index",
    "aten::_unsafe_index_put",
})  # fmt: skip

# Operators on metadata alone: the CPU's kernel can be given the device tensor itself, which keeps one storage for all
# views.
_METADATA = frozenset({
    "aten::as_strided", "aten::view", "aten::_reshape_alias", "aten::unfold", "aten::alias", "aten::view_as_real",
    "aten::view_as_complex", "aten::set_",
})  # fmt: skip

_cpu_kernels = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a schema says about one operator, worked out once."""

    name: str
    names: tuple[str, ...]
    tensors: frozenset[str]
    written: frozenset[str]
    has_out: bool
    takes_generator: bool
    seeded_without_generator: bool
    may_overlap: bool
    takes_device: bool


_plans: dict[Any, Plan] = {}


def plan_for(op: Any) -> Plan:
    """The plan of an ``OpOverload``."""
    plan = _plans.get(op)
    if plan is None:
        arguments = op._schema.arguments
        takes_generator = any(str(argument.type) == "Optional[Generator]" for argument in arguments)
        plan = _plans[op] = Plan(
            name=op._schema.name,
            names=tuple(argument.name for argument in arguments),
            tensors=frozenset(argument.name for argument in arguments if str(argument.type) == "Tensor"),
            written=frozenset(a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write),
            has_out=any(a.kwarg_only and a.alias_info is not None and a.alias_info.is_write for a in arguments),
            takes_generator=takes_generator,
            seeded_without_generator=torch.Tag.nondeterministic_seeded in op.tags and not takes_generator,
            may_overlap=any(a.alias_info is not None for a in arguments)
            and sum("Tensor" in str(argument.type) for argument in arguments) > 1,
            takes_device=any(argument.name == "device" for argument in arguments),
        )
    return plan


class _Crossing:
    """The arguments of one call on their way to the host, and what is needed to bring the results back."""

    def __init__(self, plan: Plan) -> None:
        self.index: int | None = None
        self.storages: dict[int, Tensor] | None = {} if plan.may_overlap else None
        self.pairs: list[tuple[Tensor, Tensor]] = []
        self.hosts: dict[int, Tensor] = {}
        self.owned: dict[int, tuple[Any, Any]] = {}
        self.cpu_tensors: list[Tensor] = []
        self.written: list[Any] = []

    def tensor(self, value: Tensor) -> Tensor:
        if not state.is_reference(value.device):
            if value.dim() and value.device.type == "cpu":
                self.cpu_tensors.append(value)
            return value
        if id(value) in self.hosts:
            return self.hosts[id(value)]
        if self.index is None:
            self.index = value.device.index
        if value.layout is not torch.strided:
            host = sparse.to_host(value)
        elif self.storages is None:
            host = memory.to_host(value)
        else:
            host = memory.to_host_sharing(value, self.storages)
        self.pairs.append((value, host))
        self.hosts[id(value)] = host
        return host

    def value(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self.tensor(value)
        if isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
            return [self.value(item) for item in value]
        if isinstance(value, torch.device) and state.is_reference(value):
            self.index = state.index_of(value)
            return state.CPU
        if isinstance(value, torch.Generator):
            return random.check_generator(value)
        return value


def _check_devices(plan: Plan, crossing: _Crossing, arguments: dict[str, Any]) -> None:
    if plan.name in _COPIES:
        return
    if plan.name in _INDEXING:
        _check_indexing(arguments)
        return
    devices = {value.device for value, _ in crossing.pairs}
    devices.update(value.device for value in crossing.cpu_tensors)
    # A CPU tensor without dimensions may be read on any device, but nothing on a device may be written to it.
    devices.update(value.device for value in crossing.written if isinstance(value, Tensor))
    if len(devices) > 1:
        _refuse(devices)


def _check_indexing(arguments: dict[str, Any]) -> None:
    self_device = arguments["self"].device
    for index in arguments.get("indices") or ():
        if isinstance(index, Tensor) and index.device.type != "cpu" and index.device != self_device:
            raise RuntimeError(
                f"indices should be either on cpu or on the same device as the indexed tensor ({self_device})"
            )
    values = arguments.get("values")
    if isinstance(values, Tensor) and values.device != self_device and (values.dim() or values.device.type != "cpu"):
        _refuse({values.device, self_device})


def _refuse(devices: set[torch.device]) -> None:
    first, second = sorted(map(str, devices), reverse=True)[:2]
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    )


def run_on_host(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run ``op`` with the CPU's kernel; the fallback of the back end.

    Raises RuntimeError for tensors of different devices, and whatever the CPU's kernel raises.
    """
    plan = plan_for(op)
    if plan.name in _METADATA:
        return op.redispatch(_cpu_kernels, *args, **kwargs)
    crossing = _Crossing(plan)
    host_args = [crossing.value(value) for value in args]
    host_kwargs = {key: crossing.value(value) for key, value in kwargs.items()}
    arguments = dict(zip(plan.names, args, strict=False)) | kwargs
    crossing.written = [arguments.get(name) for name in plan.written]
    _check_devices(plan, crossing, arguments)

    target = arguments.get("device") if plan.takes_device else None
    if crossing.index is None:
        crossing.index = state.current_device()
    if plan.takes_generator and arguments.get("generator") is None:
        host_kwargs["generator"] = random.default_generator(crossing.index)
        host_args = host_args[: plan.names.index("generator")]

    # A number that torch wrapped in a tensor arrives as a number again; of the operator's overloads, one takes it.
    if any(name in plan.tensors and not isinstance(value, Tensor) for name, value in arguments.items()):
        op = op.overloadpacket
    compute = functools.partial(_compute, op, plan, crossing, host_args, host_kwargs)
    result = random.with_cpu_generator_of(crossing.index, compute) if plan.seeded_without_generator else compute()
    if target is not None and target.type == "cpu":
        return result
    return _bring_back(result, crossing)


def _compute(op: Any, plan: Plan, crossing: _Crossing, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if not plan.written:
        return op(*args, **kwargs)
    # An ``out=`` of the wrong size is resized, with a warning. Outputs that overlap nothing are spared the failed
    # attempt, which would warn as well.
    if plan.has_out and crossing.storages is not None and len(crossing.storages) == len(crossing.pairs):
        args, kwargs = _with_memory_of_their_own(plan, crossing, args, kwargs)
    try:
        result = op(*args, **kwargs)
    except RuntimeError as error:
        if "not resizable" not in str(error):
            raise
        args, kwargs = _with_memory_of_their_own(plan, crossing, args, kwargs)
        result = op(*args, **kwargs)
    for value, host in crossing.pairs:
        if value.layout is not torch.strided:
            if any(value is written for written in crossing.written):
                sparse.write_back(value, host)
            continue
        layout = crossing.owned.get(id(host))
        if _layout(host) != (layout or _layout(value)):
            memory.reshape_in_place(value, host)
        elif layout is not None:
            memory.to_host(value).copy_(host)
    return result


def _layout(tensor: Tensor) -> tuple[Any, Any]:
    return tensor.shape, tensor.stride()


def _with_memory_of_their_own(
    plan: Plan, crossing: _Crossing, args: list[Any], kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Put clones where the operator writes: borrowed memory cannot grow, as an output that is resized has to."""
    device_tensors = {id(host): value for value, host in crossing.pairs if value.layout is torch.strided}
    clones: dict[int, Tensor] = {}
    args = [
        _own(value, device_tensors, clones) if name in plan.written else value
        for name, value in zip(plan.names, args, strict=False)
    ]
    kwargs = {
        name: _own(value, device_tensors, clones) if name in plan.written else value for name, value in kwargs.items()
    }
    crossing.pairs = [(value, clones[id(host)]) for value, host in crossing.pairs if id(host) in clones]
    crossing.owned = {id(clone): _layout(clone) for clone in clones.values()}
    return args, kwargs


def _own(value: Any, device_tensors: dict[int, Tensor], clones: dict[int, Tensor]) -> Any:
    if isinstance(value, list):
        return [_own(item, device_tensors, clones) for item in value]
    if id(value) not in device_tensors:
        return value
    if id(value) not in clones:
        # A failed attempt may have left sizes on ``value`` that its memory does not hold: cross once more.
        clones[id(value)] = torch.ops.aten.clone.default(memory.to_host(device_tensors[id(value)]))
    return clones[id(value)]


def _bring_back(result: Any, crossing: _Crossing) -> Any:
    if isinstance(result, Tensor):
        for value, host in crossing.pairs:
            if host is result:
                return value
        assert crossing.index is not None
        if result.layout is torch.sparse_coo:
            return sparse.to_device(result, crossing.index)
        if result.layout is not torch.strided or result.is_quantized:
            raise NotImplementedError(f"the reference device has no tensors of layout {result.layout}, {result.dtype}")
        return memory.to_device(result, crossing.index)
    if isinstance(result, (list, tuple)):
        return type(result)(_bring_back(item, crossing) for item in result)
    return result
