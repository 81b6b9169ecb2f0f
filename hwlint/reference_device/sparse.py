"""Sparse COO tensors of the reference device: indices and values are device tensors, the rest is torch's own.

Other sparse layouts are not supported.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import memory, state

_sparse_cpu_kernels = torch._C.DispatchKeySet(torch._C.DispatchKey.SparseCPU)
aten = torch.ops.aten
_new = aten._sparse_coo_tensor_with_dims_and_tensors.default

METADATA = frozenset({
    "_coalesced_", "_dimI", "_dimV", "_indices", "_nnz", "_values",
    "_sparse_coo_tensor_with_dims", "_sparse_coo_tensor_with_dims_and_tensors", "dense_dim",
    "indices", "is_coalesced", "sparse_dim", "values",
})  # fmt: skip
"""Operators that only look at, or put together, the two tensors: the CPU's kernels take those of any device."""


def redispatch(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run one of ``METADATA`` with the CPU's sparse kernel on the device's own tensors."""
    return op.redispatch(_sparse_cpu_kernels, *args, **kwargs)


def to_host(tensor: Tensor) -> Tensor:
    """A CPU tensor whose indices and values are the memory of those of a device tensor."""
    return _new(
        redispatch(aten.sparse_dim.default, tensor),
        redispatch(aten.dense_dim.default, tensor),
        tensor.shape,
        memory.to_host(redispatch(aten._indices.default, tensor)),
        memory.to_host(redispatch(aten._values.default, tensor)),
        dtype=tensor.dtype,
        layout=torch.sparse_coo,
        device=state.CPU,
        is_coalesced=redispatch(aten.is_coalesced.default, tensor),
    )


def to_device(host: Tensor, index: int) -> Tensor:
    """A tensor of device ``index`` whose indices and values are the memory of those of a CPU tensor."""
    tensor: Tensor = redispatch(
        _new,
        host.sparse_dim(),
        host.dense_dim(),
        host.shape,
        memory.to_device(aten._indices.default(host), index),
        memory.to_device(aten._values.default(host), index),
        dtype=host.dtype,
        layout=torch.sparse_coo,
        device=torch.device(state.name(), index),
        is_coalesced=host.is_coalesced(),
    )
    return tensor


def write_back(tensor: Tensor, host: Tensor) -> None:
    """Make a device tensor what an operator made of its CPU counterpart."""
    redispatch(aten.copy_sparse_to_sparse_.default, tensor, to_device(host, tensor.device.index), False)
