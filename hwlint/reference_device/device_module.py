"""The device module, ``torch.<name>``: what ``torch.get_device_module`` and device-generic tests ask a back end for."""

from __future__ import annotations

import sys
import types
from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor

from . import memory, random, state, streams

TOTAL_MEMORY = 16 * 1024**3
"""What each device claims to have; nothing enforces it."""

Stream = streams.new_stream
Event = streams.ReferenceEvent
current_stream = streams.current_stream
default_stream = streams.default_stream
set_stream = streams.set_stream
current_device = state.current_device
device_count = state.device_count


def is_available() -> bool:
    return True


def is_initialized() -> bool:
    return True


def _is_in_bad_fork() -> bool:
    return False


def init() -> None:
    pass


def _lazy_init() -> None:
    pass


def set_device(device: Any) -> None:
    """Select a device. A negative index selects nothing, as in ``torch.cuda.set_device``."""
    if not (isinstance(device, int) and device < 0):
        state.set_current_device(state.index_of(device))


def synchronize(device: Any = None) -> None:
    state.index_of(device)


class device:  # noqa: N801 - the name that device modules use
    """Context manager that selects a device; None and negative indices select nothing."""

    def __init__(self, device: Any) -> None:
        self._index = None if device is None or device == -1 else state.index_of(device)
        self._previous = 0

    def __enter__(self) -> None:
        self._previous = state.current_device()
        if self._index is not None:
            state.set_current_device(self._index)

    def __exit__(self, *exc_info: object) -> None:
        state.set_current_device(self._previous)


class device_of(device):  # noqa: N801
    """Context manager that selects the device of a tensor, if it is on one."""

    def __init__(self, tensor: Tensor) -> None:
        super().__init__(tensor.device if state.is_reference(tensor.device) else None)


def stream(stream: Any) -> Any:
    """Context manager that makes ``stream`` current; None changes nothing."""
    import contextlib

    return contextlib.nullcontext() if stream is None else stream


def get_device_name(device: Any = None) -> str:
    state.index_of(device)
    return "hwlint reference device"


def get_device_properties(device: Any = None) -> types.SimpleNamespace:
    return types.SimpleNamespace(name=get_device_name(device), total_memory=TOTAL_MEMORY, multi_processor_count=1)


def get_device_capability(device: Any = None) -> dict[str, Any]:
    """The form that ``torch.accelerator.get_device_capability`` gives: a dict with ``supported_dtypes``."""
    state.index_of(device)
    return {"supported_dtypes": {value for value in vars(torch).values() if isinstance(value, torch.dtype)}}


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return True


def get_amp_supported_dtype() -> list[torch.dtype]:
    return [torch.float16, torch.bfloat16]


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    return state.index_of(device) != state.index_of(peer_device)


# Random numbers.


def manual_seed(seed: int) -> None:
    random.default_generator(state.current_device()).manual_seed(seed)


def manual_seed_all(seed: int) -> None:
    for index in range(state.device_count()):
        random.default_generator(index).manual_seed(seed)


def seed() -> None:
    random.default_generator(state.current_device()).seed()


def seed_all() -> None:
    manual_seed_all(random.default_generator(state.current_device()).seed())


def initial_seed() -> int:
    return int(random.default_generator(state.current_device()).initial_seed())


def get_rng_state(device: Any = None) -> Tensor:
    generator_state: Tensor = random.default_generator(state.index_of(device)).get_state()
    return generator_state


def get_rng_state_all() -> list[Tensor]:
    return [get_rng_state(index) for index in range(state.device_count())]


def set_rng_state(new_state: Tensor, device: Any = None) -> None:
    random.default_generator(state.index_of(device)).set_state(new_state)


def set_rng_state_all(new_states: list[Tensor]) -> None:
    for index, new_state in enumerate(new_states):
        set_rng_state(new_state, index)


# Memory. Nothing is cached, so reserved is what is allocated.


def empty_cache() -> None:
    pass


def memory_allocated(device: Any = None) -> int:
    return memory.memory_use(state.index_of(device)).allocated


def max_memory_allocated(device: Any = None) -> int:
    return memory.memory_use(state.index_of(device)).peak


memory_reserved = memory_allocated
max_memory_reserved = max_memory_allocated


def reset_peak_memory_stats(device: Any = None) -> None:
    use = memory.memory_use(state.index_of(device))
    use.peak = use.allocated


def reset_accumulated_memory_stats(device: Any = None) -> None:
    use = memory.memory_use(state.index_of(device))
    use.total_allocated = use.total_freed = 0


def mem_get_info(device: Any = None) -> tuple[int, int]:
    return TOTAL_MEMORY - memory_allocated(device), TOTAL_MEMORY


def nested_memory_stats(device: Any = None) -> dict[str, Any]:
    """The counters in the nesting that ``torch.accelerator.memory_stats`` flattens."""
    use = memory.memory_use(state.index_of(device))
    in_bytes = {
        "current": use.allocated, "peak": use.peak, "allocated": use.total_allocated, "freed": use.total_freed,
    }  # fmt: skip
    in_blocks = {
        "current": len(use.blocks), "peak": len(use.blocks), "allocated": use.allocations,
        "freed": use.allocations - len(use.blocks),
    }  # fmt: skip
    names = ("allocated_bytes", "reserved_bytes", "active_bytes", "requested_bytes")
    stats: dict[str, Any] = {name: {"all": dict(in_bytes)} for name in names}
    return stats | {"allocation": {"all": in_blocks}, "num_alloc_retries": 0, "num_ooms": 0}


def memory_stats(device: Any = None) -> OrderedDict[str, int]:
    flat: dict[str, int] = {}

    def flatten(prefix: str, value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                flatten(f"{prefix}.{key}" if prefix else key, inner)
        else:
            flat[prefix] = value

    flatten("", nested_memory_stats(device))
    return OrderedDict(sorted(flat.items()))


# torch.serialization and torch.cuda-like callers look for the index helper here.
_utils = types.SimpleNamespace(_get_device_index=lambda device, optional=False, allow_cpu=False: state.index_of(device))


def module() -> types.ModuleType:
    """This module, which is what gets registered as ``torch.<name>``."""
    return sys.modules[__name__]
