"""What the whole package shares: the back end's name, how many devices there are, and which one is current."""

from __future__ import annotations

import torch

CPU = torch.device("cpu")


class _State:
    name = "refdev"
    device_count = 2
    current = 0


_state = _State()


def configure(name: str, device_count: int) -> None:
    """Set the name and the number of devices; called once, before anything is registered with torch."""
    _state.name, _state.device_count = name, device_count


def name() -> str:
    return _state.name


def device_count() -> int:
    return _state.device_count


def current_device() -> int:
    return _state.current


def set_current_device(index: int) -> None:
    """Make ``index`` the current device. Raises RuntimeError if there is no such device."""
    check_index(index)
    _state.current = index


def check_index(index: int) -> None:
    """Raise RuntimeError unless there is a device of this index."""
    if not 0 <= index < _state.device_count:
        raise RuntimeError(
            f"{_state.name} error: invalid device ordinal {index}; there are {_state.device_count} devices"
        )


def index_of(device: object = None) -> int:
    """The index that a device, device string, integer or None (the current device) stands for.

    Raises ValueError for a device of another type, RuntimeError for an index that does not exist.
    """
    if device is None:
        return _state.current
    if isinstance(device, int):
        index = device if device >= 0 else _state.current
    else:
        parsed = torch.device(device)
        if parsed.type != _state.name:
            raise ValueError(f"Expected a {_state.name} device, but got: {parsed}")
        index = _state.current if parsed.index is None else parsed.index
    check_index(index)
    return index


def is_reference(device: torch.device) -> bool:
    return bool(device.type == _state.name)
