"""Streams and events of the reference device. Work is done at once, so a stream is a name and an event a time."""

from __future__ import annotations

import itertools
import time
from typing import Any

import torch

from . import state

_native_stream: Any = torch._C.Stream
_native_event: Any = torch._C.Event
_PRIVATEUSE1 = int(torch._C._autograd.DeviceType.PrivateUse1)
_stream_ids = itertools.count(1)
_event_ids = itertools.count(1)
_current: dict[int, Any] = {}


def new_stream(device: object = None, priority: int = 0) -> ReferenceStream:
    """A stream of its own on a reference device; ``priority`` is accepted and has no effect."""
    return ReferenceStream(state.index_of(device), next(_stream_ids))


def default_stream(device: object = None) -> ReferenceStream:
    return ReferenceStream(state.index_of(device), 0)


def current_stream(device: object = None) -> Any:
    index = state.index_of(device)
    return _current.get(index) or default_stream(index)


def set_stream(stream: Any) -> None:
    """Make ``stream`` current on its device, and its device the current one, as ``torch.accelerator.set_stream``
    does."""
    state.set_current_device(stream.device_index)
    _current[stream.device_index] = stream


class ReferenceStream(_native_stream):  # type: ignore[misc]
    """A stream on which everything has already happened."""

    def __new__(cls, index: int = 0, stream_id: int = 0) -> ReferenceStream:
        stream: ReferenceStream = super().__new__(
            cls, stream_id=stream_id, device_index=index, device_type=_PRIVATEUSE1
        )
        return stream

    def __init__(self, index: int = 0, stream_id: int = 0) -> None:
        self._entered: list[tuple[int, Any]] = []

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def wait_event(self, event: Any) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        pass

    def record_event(self, event: Any = None) -> Any:
        event = ReferenceEvent(torch.device(state.name(), self.device_index)) if event is None else event
        event.record(self)
        return event

    def __enter__(self) -> ReferenceStream:
        self._entered.append((state.current_device(), current_stream(self.device_index)))
        set_stream(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        device, previous = self._entered.pop()
        _current[self.device_index] = previous
        state.set_current_device(device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _native_stream) and identity(self) == identity(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(identity(self))


def identity(stream: Any) -> tuple[int, int, int]:
    """What makes two stream objects the same stream."""
    return stream.device_type, stream.device_index, stream.stream_id


class ReferenceEvent(_native_event):  # type: ignore[misc]
    """An event that has happened as soon as it is recorded, and remembers when."""

    def __new__(cls, device: object = None, **flags: Any) -> ReferenceEvent:
        event: ReferenceEvent = super().__new__(cls, torch.device(state.name(), state.index_of(device)))
        return event

    def __init__(self, device: object = None, enable_timing: bool = False, **flags: Any) -> None:
        self._id = next(_event_ids)
        self._timed = enable_timing
        self._time: float | None = None

    @property
    def event_id(self) -> int:
        return self._id

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        pass

    def query(self) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def elapsed_time(self, end_event: Any) -> float:
        """Milliseconds between two recorded events. Raises ValueError without timing, RuntimeError before
        ``record``."""
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._time is None or end_event._time is None:
            raise RuntimeError("Both events must be recorded before calculating elapsed time.")
        return float(end_event._time - self._time) * 1000


def _wants_reference(device: object) -> bool:
    return device is None or isinstance(device, int) or state.is_reference(torch.device(device))


class _StreamType(type(_native_stream)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _native_stream)

    def __call__(cls, device: object = None, **keywords: Any) -> Any:
        if "stream_id" in keywords or not _wants_reference(device):
            return _native_stream(device, **keywords) if device is not None else _native_stream(**keywords)
        return new_stream(device, **keywords)


class _EventType(type(_native_event)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _native_event)

    def __call__(cls, device: object = None, **flags: Any) -> Any:
        return ReferenceEvent(device, **flags) if _wants_reference(device) else _native_event(device, **flags)


class Stream(_native_stream, metaclass=_StreamType):  # type: ignore[misc]
    """Stands in for ``torch.Stream``, whose constructor cannot reach a back end written in Python."""


class Event(_native_event, metaclass=_EventType):  # type: ignore[misc]
    """Stands in for ``torch.Event``, for the same reason."""
