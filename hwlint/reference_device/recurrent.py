"""The fused LSTM and GRU cells, which torch asks of every accelerator and which the CPU does not have.

The equations are those of the documentation of ``torch.nn.LSTM`` and ``torch.nn.GRU``. The workspace, which only the
backward kernels here read, holds the activated gates, and for the GRU what its backward needs besides.
"""

from __future__ import annotations

import torch
from torch import Tensor


def _add_bias(gates: Tensor, bias: Tensor | None) -> Tensor:
    return gates if bias is None else gates + bias


def lstm_cell(
    input_gates: Tensor, hidden_gates: Tensor, cx: Tensor, input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """``_thnn_fused_lstm_cell``: the next hidden state, the next cell state, and the workspace."""
    gates = _add_bias(input_gates, input_bias) + _add_bias(hidden_gates, hidden_bias)
    in_gate, forget_gate, cell_gate, out_gate = gates.chunk(4, 1)
    in_gate, forget_gate, out_gate = in_gate.sigmoid(), forget_gate.sigmoid(), out_gate.sigmoid()
    cell_gate = cell_gate.tanh()
    cy = forget_gate * cx + in_gate * cell_gate
    return out_gate * cy.tanh(), cy, torch.cat([in_gate, forget_gate, cell_gate, out_gate], 1)


def lstm_cell_backward(
    grad_hy: Tensor | None, grad_cy: Tensor | None, cx: Tensor, cy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor | None]:
    """``_thnn_fused_lstm_cell_backward_impl``: the gradients of the gates, of the cell state, and of a bias."""
    in_gate, forget_gate, cell_gate, out_gate = workspace.chunk(4, 1)
    tanh_cy = cy.tanh()
    grad_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    grad_cell = grad_hy * out_gate * (1 - tanh_cy * tanh_cy)
    if grad_cy is not None:
        grad_cell = grad_cell + grad_cy
    grad_gates = torch.cat(
        [
            grad_cell * cell_gate * in_gate * (1 - in_gate),
            grad_cell * cx * forget_gate * (1 - forget_gate),
            grad_cell * in_gate * (1 - cell_gate * cell_gate),
            grad_hy * tanh_cy * out_gate * (1 - out_gate),
        ],
        1,
    )
    return grad_gates, grad_cell * forget_gate, grad_gates.sum(0) if has_bias else None


def gru_cell(
    input_gates: Tensor, hidden_gates: Tensor, hx: Tensor, input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """``_thnn_fused_gru_cell``: the next hidden state and the workspace."""
    input_reset, input_update, input_new = _add_bias(input_gates, input_bias).chunk(3, 1)
    hidden_reset, hidden_update, hidden_new = _add_bias(hidden_gates, hidden_bias).chunk(3, 1)
    reset, update = (input_reset + hidden_reset).sigmoid(), (input_update + hidden_update).sigmoid()
    new = (input_new + reset * hidden_new).tanh()
    return new + update * (hx - new), torch.cat([reset, update, new, hx, hidden_new], 1)


def gru_cell_backward(
    grad_hy: Tensor, workspace: Tensor, has_bias: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor | None, Tensor | None]:
    """``_thnn_fused_gru_cell_backward``: gradients of both gates, of the hidden state, and of both biases."""
    reset, update, new, hx, hidden_new = workspace.chunk(5, 1)
    grad_update = grad_hy * (hx - new) * update * (1 - update)
    grad_new = grad_hy * (1 - update) * (1 - new * new)
    grad_reset = grad_new * hidden_new * reset * (1 - reset)
    grad_input = torch.cat([grad_reset, grad_update, grad_new], 1)
    grad_hidden = torch.cat([grad_reset, grad_update, grad_new * reset], 1)
    biases = (grad_input.sum(0), grad_hidden.sum(0)) if has_bias else (None, None)
    return grad_input, grad_hidden, grad_hy * update, *biases
