"""Random number generators of the reference device: one default generator per device, separate from the CPU's."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch import Tensor

from . import state

T = TypeVar("T")
_cpu_generator_type: Any = torch._C.Generator

# An operator's kernel is given a new Python object for the generator's C++ object; by its address the old one is found.
_by_address: weakref.WeakValueDictionary[int, ReferenceGenerator] = weakref.WeakValueDictionary()


class ReferenceGenerator(_cpu_generator_type):  # type: ignore[misc]
    """A generator whose numbers are the CPU generator's and whose device is a reference device."""

    _index: int

    def __new__(cls, device: object = None) -> ReferenceGenerator:
        generator: ReferenceGenerator = super().__new__(cls, "cpu")
        generator._index = state.index_of(device)
        _by_address[generator._cdata] = generator
        return generator

    def __init__(self, device: object = None) -> None:
        pass

    @property
    def device(self) -> torch.device:
        return torch.device(state.name(), self._index)

    def clone_state(self) -> ReferenceGenerator:
        clone = ReferenceGenerator(self._index)
        clone.set_state(self.get_state())
        return clone

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self._index, self.get_state())


def _rebuild(index: int, generator_state: Tensor) -> ReferenceGenerator:
    generator = ReferenceGenerator(index)
    generator.set_state(generator_state)
    return generator


class _GeneratorType(type(_cpu_generator_type)):  # type: ignore[misc]
    """``torch.Generator`` as tests see it: any generator is an instance, and a reference device may be asked for."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _cpu_generator_type)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _cpu_generator_type)

    def __call__(cls, device: object = "cpu") -> Any:
        if state.is_reference(torch.device(device)):
            return ReferenceGenerator(device)
        return _cpu_generator_type(device)


class Generator(_cpu_generator_type, metaclass=_GeneratorType):  # type: ignore[misc]
    """Stands in for ``torch.Generator``, whose constructor cannot reach a back end written in Python."""


_defaults: dict[int, ReferenceGenerator] = {}


def default_generator(index: int) -> ReferenceGenerator:
    """The default generator of device ``index``."""
    if index not in _defaults:
        _defaults[index] = ReferenceGenerator(index)
        _defaults[index].manual_seed(torch.initial_seed())
    return _defaults[index]


def check_generator(generator: Any) -> Any:
    """Return a reference device's generator; raise RuntimeError for any other, as a device's random operators do."""
    if generator._cdata not in _by_address:
        raise RuntimeError(f"Expected a '{state.name()}' device type for generator but found '{generator.device.type}'")
    return generator


def with_cpu_generator_of(index: int, compute: Callable[[], T]) -> T:
    """Run an operator that takes no generator while the CPU's default generator continues that of device ``index``."""
    device_generator, cpu_generator = default_generator(index), torch.default_generator
    saved = cpu_generator.get_state()
    cpu_generator.set_state(device_generator.get_state())
    try:
        return compute()
    finally:
        device_generator.set_state(cpu_generator.get_state())
        cpu_generator.set_state(saved)
