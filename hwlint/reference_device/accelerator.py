"""Makes ``torch.accelerator`` work for a back end that is written in Python.

``torch.accelerator`` asks ``torch._C._accelerator_*`` functions, which ask C++ hooks. Of those hooks torch 2.14 lets
Python supply three (``torch._C._acc.PrivateUse1Hooks``); the rest raise or do nothing. So the functions themselves are
replaced here by ones that ask the device module.
"""

from __future__ import annotations

from typing import Any

import torch

from . import device_module, random, state, streams


def _set_device(index: int) -> None:
    if index >= 0:
        state.set_current_device(index)


def _exchange_device(index: int) -> int:
    previous = state.current_device()
    _set_device(index)
    return previous


_REPLACEMENTS: dict[str, Any] = {
    "_accelerator_getDeviceIndex": state.current_device,
    "_accelerator_setDeviceIndex": _set_device,
    "_accelerator_exchangeDevice": _exchange_device,
    "_accelerator_maybeExchangeDevice": _exchange_device,
    "_accelerator_hooks_device_count": state.device_count,
    "_accelerator_hooks_get_current_device": state.current_device,
    "_accelerator_hooks_set_current_device": _set_device,
    "_accelerator_hooks_exchange_device": _exchange_device,
    "_accelerator_hooks_maybe_exchange_device": _exchange_device,
    "_accelerator_getStream": streams.current_stream,
    "_accelerator_setStream": streams.set_stream,
    "_accelerator_synchronizeDevice": device_module.synchronize,
    "_accelerator_getDeviceCapability": device_module.get_device_capability,
    "_accelerator_getDefaultGenerator": random.default_generator,
    "_accelerator_isAllocatorInitialized": device_module.is_initialized,
    "_accelerator_emptyCache": device_module.empty_cache,
    "_accelerator_emptyHostCache": device_module.empty_cache,
    "_accelerator_getDeviceStats": device_module.nested_memory_stats,
    "_accelerator_resetAccumulatedStats": device_module.reset_accumulated_memory_stats,
    "_accelerator_resetPeakStats": device_module.reset_peak_memory_stats,
    "_accelerator_getMemoryInfo": device_module.mem_get_info,
}


def install() -> None:
    """Replace the functions; a name that this torch does not have is left out."""
    for name, function in _REPLACEMENTS.items():
        if hasattr(torch._C, name):
            setattr(torch._C, name, function)
    torch.Generator = random.Generator
    torch.Stream = streams.Stream
    torch.Event = streams.Event
