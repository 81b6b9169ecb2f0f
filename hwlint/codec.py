"""Facts and findings <-> bytes, for the cache and between processes.

Pickle, restricted: reading the bytes can make nothing but hwlint's own plain data classes, so that a cache from
elsewhere (one that CI restored, say) can be wrong but can run no code. An object is written as its class and the values
of its fields: what dataclasses do by themselves for frozen classes with slots takes twice the time both ways.
"""

from __future__ import annotations

import dataclasses
import io
import pickle
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, TypeVar

T = TypeVar("T")


class DecodeError(ValueError):
    """The bytes are not those of such an object."""


def encode(value: object) -> bytes:
    """The bytes of an instance of a data class that :func:`register` knows, or of plain values."""
    buffer = io.BytesIO()
    _Pickler(buffer, protocol=5).dump(value)
    return buffer.getvalue()


def decode(kind: type[T], data: bytes) -> T:
    """The instance of ``kind`` that :func:`encode` gave ``data`` for. Raises DecodeError."""
    try:
        value = _Unpickler(io.BytesIO(data)).load()
    except Exception as error:  # Whatever broken bytes make the unpickler or a class raise.
        raise DecodeError(str(error)) from None
    if not isinstance(value, kind):
        raise DecodeError(f"{type(value).__name__} instead of {kind.__name__}")
    return value


def register(classes: Iterable[type]) -> None:
    """Allow ``classes`` in :func:`decode`. They must be plain data: making one must do nothing else."""
    for cls in classes:
        _allowed[cls.__module__, cls.__qualname__] = cls
        if dataclasses.is_dataclass(cls):
            _reducers[cls] = _by_fields(cls)
        elif issubclass(cls, tuple):
            _reducers[cls] = _by_items


Reducer = Callable[[Any], tuple[type, tuple[Any, ...]]]
_allowed: dict[tuple[str, str], type] = {}
_reducers: dict[type, Reducer] = {}


def _by_fields(cls: type) -> Reducer:
    names = [field.name for field in dataclasses.fields(cls)]
    values = attrgetter(*names)
    if len(names) == 1:
        return lambda one: (cls, (values(one),))
    return lambda one: (cls, values(one))


def _by_items(one: tuple[Any, ...]) -> tuple[type, tuple[Any, ...]]:
    return type(one), tuple(one)


class _Pickler(pickle.Pickler):
    dispatch_table = _reducers


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _allowed[module, name]
        except KeyError:
            raise DecodeError(f"{module}.{name} has no place here") from None


def _data_classes(*modules: Any) -> Iterable[type]:
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, type) and value.__module__ == module.__name__:
                yield value


def _register_own() -> None:
    from hwlint import findings
    from hwlint.scan import facts

    register(_data_classes(facts, findings))


_register_own()
