"""Kernels for what torch asks of a back end by another name than the CPU's, and mixed-precision casts."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from . import dispatch, memory, pinned, recurrent, sparse, state

aten = torch.ops.aten


def convolution(*args: Any) -> Any:
    """``convolution_overrideable``: what ``convolution`` calls on a back end that is not torch's own."""
    return dispatch.run_on_host(aten.convolution.default, *args)


def convolution_backward(
    grad_output: Tensor, input: Tensor, weight: Tensor, stride: Any, padding: Any, dilation: Any, transposed: bool,
    output_padding: Any, groups: int, output_mask: Any,
) -> Any:  # fmt: skip
    """``convolution_backward_overrideable``; the size of the bias is the number of channels of the output."""
    bias_sizes = [grad_output.shape[1]]
    return dispatch.run_on_host(
        aten.convolution_backward.default, grad_output, input, weight, bias_sizes, stride, padding, dilation,
        transposed, output_padding, groups, output_mask,
    )  # fmt: skip


def copy_from(source: Tensor, destination: Tensor, non_blocking: bool = False) -> Tensor:
    """``_copy_from``: how ``copy_`` reaches a back end that is not torch's own, in either direction."""
    host = _host(destination)
    host.copy_(_host(source))
    if host is not destination and destination.layout is not torch.strided:
        sparse.write_back(destination, host)
    return destination


def copy_from_and_resize(source: Tensor, destination: Tensor) -> Tensor:
    """``_copy_from_and_resize``: the same into a tensor that takes the source's shape."""
    destination.resize_(source.shape)
    return copy_from(source, destination)


def _host(tensor: Tensor) -> Tensor:
    if not state.is_reference(tensor.device):
        return tensor
    return memory.to_host(tensor) if tensor.layout is torch.strided else sparse.to_host(tensor)


def record_stream(tensor: Tensor, stream: Any) -> None:
    """``record_stream``: memory is not reused behind a stream's back here, so there is nothing to note."""


# Written for all back ends, yet they let only the devices that torch itself knows pass.
_NAMING_DEVICES = (aten.mode.default, aten.mode.values)

_KERNELS = {
    "_copy_from": copy_from,
    "_copy_from_and_resize": copy_from_and_resize,
    "convolution_overrideable": convolution,
    "record_stream": record_stream,
    "_thnn_fused_lstm_cell": recurrent.lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": recurrent.lstm_cell_backward,
    "_thnn_fused_gru_cell": recurrent.gru_cell,
    "_thnn_fused_gru_cell_backward": recurrent.gru_cell_backward,
    "convolution_backward_overrideable": convolution_backward,
}

# Operators that autocast runs in the lower precision; the list of torch.amp's documentation, cut to the common ones.
_LOWER_PRECISION = (
    "mm", "bmm", "addmm", "addmv", "addbmm", "baddbmm", "mv", "matmul", "linear", "conv1d", "conv2d", "conv3d",
    "_convolution", "convolution", "prelu", "chain_matmul", "linalg_multi_dot",
)  # fmt: skip


def _cast_to_autocast_dtype(op: Any) -> Any:
    def kernel(*args: Any, **kwargs: Any) -> Any:
        dtype = torch.get_autocast_dtype(state.name())
        with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)):
            return op(
                *(_lowered(value, dtype) for value in args),
                **{key: _lowered(value, dtype) for key, value in kwargs.items()},
            )

    return kernel


def _lowered(value: Any, dtype: torch.dtype) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point() and value.dtype != torch.float64:
        return value.to(dtype)
    return [_lowered(item, dtype) for item in value] if isinstance(value, (list, tuple)) else value


def _functional_operators() -> Iterator[Any]:
    """The overloads that torch would run in two steps, allocating the output and then calling ``out=``.

    Run as one, they give the CPU's own strides and warnings, and half the calls into Python.
    """
    for qualified_name in torch._C._dispatch_get_all_op_names():
        if not qualified_name.startswith("aten::"):
            continue
        has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
        if not has_kernel(qualified_name, "CompositeExplicitAutogradNonFunctional"):
            continue
        packet, _, overload = qualified_name.removeprefix("aten::").partition(".")
        op = getattr(getattr(aten, packet, None), overload or "default", None)
        if op is not None and has_kernel(qualified_name, "CPU"):
            yield op


def install() -> list[Any]:
    """Register the kernels. Returns the libraries, which must be kept alive."""
    kernels = torch.library.Library("aten", "IMPL")
    for functional in (*_functional_operators(), *_NAMING_DEVICES):
        kernels.impl(functional, functools.partial(dispatch.run_on_host, functional), "PrivateUse1")
    for name in sparse.METADATA:
        op = getattr(aten, name).default
        kernels.impl(op, functools.partial(sparse.redispatch, op), "SparsePrivateUse1")
    kernels.impl("_copy_from", copy_from, "SparsePrivateUse1")
    kernels.impl("is_pinned", pinned.is_pinned, "CPU")
    kernels.impl("_pin_memory", pinned.pin_memory, "CPU")
    for key in ("Conjugate", "Negative"):
        # ``to_host`` keeps these bits. torch's fallback would resolve them by a copy, which comes back here.
        for name in ("_copy_from", "_copy_from_and_resize"):
            kernels.impl(name, torch.library.fallthrough_kernel, key)
    for name, kernel in _KERNELS.items():
        kernels.impl(name, kernel, "PrivateUse1")
    for name in _LOWER_PRECISION:
        packet = getattr(aten, name, None)
        if packet is not None:
            op = packet.default
            kernels.impl(name, _cast_to_autocast_dtype(op), "AutocastPrivateUse1")
    return [kernels]
