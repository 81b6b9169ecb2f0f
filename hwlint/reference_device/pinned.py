"""Pinned host memory: a mark on a CPU tensor's storage, since all memory is host memory here.

torch asks an accelerator's C++ allocator for it, and there is none. ``torch.empty(..., pin_memory=True)``, which asks
it directly, is not supported.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_MARK = "_pinned_for_reference_device"


def is_pinned(tensor: Tensor, device: Any = None) -> bool:
    """``is_pinned`` of a CPU tensor. The mark is kept on the storage's Python object, which torch keeps with it."""
    return hasattr(tensor.untyped_storage(), _MARK)


def pin_memory(tensor: Tensor, device: Any = None) -> Tensor:
    """``_pin_memory`` of a CPU tensor: a copy in marked memory."""
    pinned: Tensor = torch.ops.aten.clone.default(tensor)
    setattr(pinned.untyped_storage(), _MARK, True)
    return pinned
