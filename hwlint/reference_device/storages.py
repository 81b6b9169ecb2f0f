"""Storages that are asked for by size and device, as copying, pickling and ``torch.load`` ask for them.

``torch.UntypedStorage(size, device=...)`` takes the back end's C++ allocator, and there is none.
"""

from __future__ import annotations

from typing import Any

import torch

from . import memory, state

_native_new = torch.UntypedStorage.__new__


def _new_storage(cls: Any, *args: Any, **keywords: Any) -> Any:
    device = keywords.get("device")
    if device is None or not state.is_reference(torch.device(device)):
        return _native_new(cls, *args, **keywords)
    if args and not isinstance(args[0], int):
        values = list(args[0])
        storage = memory.allocate([len(values)], None, torch.uint8, state.index_of(device)).untyped_storage()
        return storage.copy_(_native_new(cls, values))
    size = args[0] if args else keywords.get("size", 0)
    return memory.allocate([size], None, torch.uint8, state.index_of(device)).untyped_storage()


def install() -> None:
    """Let ``torch.UntypedStorage`` be constructed for a reference device."""
    torch.UntypedStorage.__new__ = staticmethod(_new_storage)
