"""Registers the pieces of the reference device with torch, in the order in which torch wants them."""

from __future__ import annotations

import torch
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from . import state

_registered: list[object] = []


class _Hooks(torch._C._acc.PrivateUse1Hooks):  # type: ignore[misc]
    def is_available(self) -> bool:
        return True

    def is_built(self) -> bool:
        return True

    def has_primary_context(self, dev_id: int) -> bool:
        return True


def register(name: str, device_count: int) -> str:
    """See ``hwlint.reference_device.register``."""
    if _registered:
        return state.name()
    state.configure(name, device_count)
    from . import accelerator, device_module, dispatch, kernels, storages

    hooks = _Hooks()
    _setup_privateuseone_for_python_backend(name, device_module.module(), hooks)
    accelerator.install()
    storages.install()
    fallback = torch.library.Library("_", "IMPL")
    fallback.fallback(dispatch.run_on_host, "PrivateUse1")
    fallback.fallback(dispatch.run_on_host, "SparsePrivateUse1")
    fallback.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    # Kept for the life of the process: torch unregisters what a collected Library registered.
    _registered.extend([hooks, fallback, *kernels.install()])
    return name
