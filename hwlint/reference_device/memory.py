"""Where the reference device's tensors live, and how they cross between it and the host.

A device tensor is an ordinary ``torch.Tensor`` with the PrivateUse1 dispatch key whose storage is host memory. It
crosses without a copy and without C++: DLPack hands a tensor over as a small C struct with the device written in it,
and a different device is written there on the way. The receiving side keeps the giver's memory alive, as DLPack asks
of it. The layout of the struct is that of the DLPack specification (https://dmlc.github.io/dlpack/latest/c_api.html).
"""

from __future__ import annotations

import ctypes
import weakref
from dataclasses import dataclass, field

import torch
from torch import Tensor

from . import state

_DLPACK_CPU = 1
_DLPACK_EXTENSION_DEVICE = 12  # DLPack's number for a device of a framework's own, torch's PrivateUse1
_OFFSET_OF_DEVICE = ctypes.sizeof(ctypes.c_void_p)  # DLTensor: the data pointer, then the device

_pointer_of_capsule = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of_capsule.restype = ctypes.c_void_p
_pointer_of_capsule.argtypes = [ctypes.py_object, ctypes.c_char_p]
_CDevice = ctypes.c_int32 * 2

_cpu_kernels = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
_set_storage = torch.ops.aten.set_.source_Storage_storage_offset
_as_strided = torch.ops.aten.as_strided.default


@dataclass(slots=True)
class MemoryUse:
    """Bytes on one device, counted when memory is handed to it and when that memory is freed."""

    allocated: int = 0
    peak: int = 0
    total_allocated: int = 0
    total_freed: int = 0
    allocations: int = 0
    blocks: dict[int, weakref.ref[Tensor]] = field(default_factory=dict)


_use: dict[int, MemoryUse] = {}


def memory_use(index: int) -> MemoryUse:
    """The counters of device ``index``."""
    return _use.setdefault(index, MemoryUse())


def _count(host: Tensor, index: int) -> None:
    use = memory_use(index)
    size = host.numel() * host.element_size()
    use.allocations += 1
    key = use.allocations

    def freed(_: object) -> None:
        use.allocated -= size
        use.total_freed += size
        use.blocks.pop(key, None)

    use.blocks[key] = weakref.ref(host, freed)
    use.allocated += size
    use.total_allocated += size
    use.peak = max(use.peak, use.allocated)


def _readdress(tensor: Tensor, device_kind: int, index: int) -> Tensor:
    capsule = torch._C._to_dlpack(tensor)
    address = _pointer_of_capsule(capsule, b"dltensor")
    assert address is not None
    device = _CDevice.from_address(address + _OFFSET_OF_DEVICE)
    device[0], device[1] = device_kind, index
    return torch._C._from_dlpack(capsule)


def to_device(host: Tensor, index: int) -> Tensor:
    """The same memory as a tensor of device ``index``. ``host`` must be a plain strided CPU tensor that nobody else
    keeps."""
    if host.is_conj() or host.is_neg():
        host = host.resolve_conj().resolve_neg()
    if host._is_zerotensor():
        # forward-mode AD's stand-in for zeros, which has no memory
        host = torch.ops.aten.zeros.default(host.shape, dtype=host.dtype, device=state.CPU)
    if index and torch._C._is_multithreading_enabled():
        # torch's engine makes one backward thread a device, and takes a back end in Python to have one device. Without
        # threads of their own, the backward passes of all devices run in the thread that asks for them.
        torch.autograd.set_multithreading_enabled(False)
    strides = host.stride()
    device_tensor = _readdress(host, _DLPACK_EXTENSION_DEVICE, index)
    _count(host, index)
    # DLPack may write other strides for dimensions of size 0 or 1, which tests compare.
    if device_tensor.stride() != strides:
        device_tensor = _as_strided.redispatch(_cpu_kernels, device_tensor, host.shape, strides, 0)
    return device_tensor


def to_host(tensor: Tensor) -> Tensor:
    """A CPU tensor over the memory of a device tensor: what is written to one is seen in the other."""
    host = _readdress(tensor, _DLPACK_CPU, 0)
    if host.stride() != tensor.stride():
        host = torch.ops.aten.as_strided.default(host, tensor.shape, tensor.stride(), host.storage_offset())
    return _with_bits_of(tensor, host)


def _with_bits_of(tensor: Tensor, host: Tensor) -> Tensor:
    if tensor.is_conj():
        host = torch.ops.aten._conj.default(host)
    if tensor.is_neg():
        host = torch.ops.aten._neg_view.default(host)
    return host


def to_host_sharing(tensor: Tensor, storages: dict[int, Tensor]) -> Tensor:
    """``to_host`` for several tensors of one call, which share a CPU storage where they share one on the device.

    By the storage the CPU's kernels find out that an output overlaps an input. ``storages`` collects one flat CPU
    tensor for each storage, by the address of its C++ object.
    """
    device_storage = tensor.untyped_storage()
    address = device_storage._cdata
    if address not in storages:
        length = device_storage.nbytes() // tensor.element_size()
        flat = _as_strided.redispatch(_cpu_kernels, tensor, (length,), (1,), 0)
        storages[address] = _readdress(flat, _DLPACK_CPU, 0)
    storage = storages[address].untyped_storage()
    empty = torch.ops.aten.empty.memory_format([0], dtype=tensor.dtype, device=state.CPU)
    host = _set_storage(empty, storage, tensor.storage_offset(), tensor.shape, tensor.stride())
    return _with_bits_of(tensor, host)


def allocate(size: list[int], stride: list[int] | None, dtype: torch.dtype, index: int) -> Tensor:
    """A new device tensor with undefined contents; ``stride`` None means contiguous.

    Raises RuntimeError for a device that does not exist.
    """
    state.check_index(index)
    if stride is None:
        host = torch.ops.aten.empty.memory_format(size, dtype=dtype, device=state.CPU)
    else:
        host = torch.ops.aten.empty_strided.default(size, stride, dtype=dtype, device=state.CPU)
    return to_device(host, index)


def reshape_in_place(tensor: Tensor, host: Tensor) -> None:
    """Give a device tensor the sizes, strides and memory of ``host``, after an operator resized its output."""
    if host.untyped_storage().data_ptr() == tensor.untyped_storage().data_ptr():
        storage = tensor.untyped_storage()
    else:
        storage = to_device(host, tensor.device.index).untyped_storage()
    _set_storage.redispatch(_cpu_kernels, tensor, storage, host.storage_offset(), host.shape, host.stride())
