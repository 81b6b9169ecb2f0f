"""A CPU-backed reference accelerator in pure Python, on torch's PrivateUse1 key.

It lets device-generic code run on a second device type, with at least two devices, on a machine without an
accelerator. It computes with the CPU's kernels; what it checks is integration: that tensors are placed on the device
they should be on, that no device name is hardcoded, that the device module, streams, events and generators are asked
for in a generic way. It is a reference in the spirit of PyTorch's OpenReg, and no claim that real hardware passes.

Use ``register()`` in a program of your own, or ``python -m hwlint.reference_device script.py`` from outside.
"""

from __future__ import annotations

__all__ = ["register"]


def register(name: str = "refdev", device_count: int = 2) -> str:
    """Register the reference accelerator with torch, once per process.

    Args:
        name: the device type, as in ``torch.device(name)`` and ``torch.<name>``.
        device_count: how many devices there are.
    Returns:
        The device type under which it is registered; on a second call, that of the first.
    Raises:
        ImportError: torch is not installed, or is too old to have a back end written in Python.
        RuntimeError: another back end has taken the PrivateUse1 key.
    """
    from . import registration

    return registration.register(name, device_count)
