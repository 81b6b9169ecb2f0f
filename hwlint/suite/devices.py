"""Which device types ``instantiate_device_type_tests`` makes classes for.

Facts from torch/testing/_internal/common_device_type.py (torch 2.14.1): CPU always; CUDA, PrivateUse1 and HPU where the
host has them; MPS and XPU only with ``allow_mps``/``allow_xpu``; lazy only with ``include_lazy``, which no ``only_for``
takes away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hwlint.catalog import Catalog
from hwlint.scan.facts import Argument, Instantiation

DEFAULT_DEVICES = ("cpu", "cuda", "hpu", "privateuse1")
OPTIONAL_DEVICES = (("allow_mps", "mps"), ("allow_xpu", "xpu"))
POSITIONAL = ("", "scope", "except_for", "only_for", "include_lazy", "allow_mps", "allow_xpu")


@dataclass(frozen=True, slots=True)
class DeviceSet:
    """Device types in the loader's order, on a host that has them all; ``exact`` is False where an argument is
    unknown.
    """

    devices: tuple[str, ...] = ()
    exact: bool = True

    def __contains__(self, device: str) -> bool:
        return device in self.devices

    @staticmethod
    def union(sets: Iterable[DeviceSet]) -> DeviceSet:
        devices: dict[str, None] = {}
        exact = True
        for one in sets:
            devices.update(dict.fromkeys(one.devices))
            exact = exact and one.exact
        return DeviceSet(tuple(devices), exact)


def argument(instantiation: Instantiation, name: str) -> Argument | None:
    """The argument ``name``, given by keyword or in its place."""
    found = instantiation.argument(name)
    if found is not None:
        return found
    positional = [a for a in instantiation.arguments if a.name == ""]
    at = POSITIONAL.index(name)
    return positional[at] if at < len(positional) else None


def device_set(instantiation: Instantiation, catalog: Catalog) -> DeviceSet:
    """Devices of one instantiation; empty for ``instantiate_parametrized_tests``."""
    if instantiation.kind != "device_type":
        return DeviceSet()
    exact = not any(a.name in ("*", "**") for a in instantiation.arguments)
    devices = list(DEFAULT_DEVICES)
    for flag, device in OPTIONAL_DEVICES:
        given = argument(instantiation, flag)
        if given is not None and not given.known:
            exact = False
        if given is not None and (given.value or not given.known):
            devices.append(device)
    for name, keep in (("except_for", False), ("only_for", True)):
        given = argument(instantiation, name)
        if given is None or (given.known and not given.value):
            continue
        if not given.known:
            exact = False
            continue
        listed = given.value if isinstance(given.value, (tuple, str)) else ()
        # A plain string is searched for the device type as a substring, as the loader does.
        devices = [d for d in devices if (_names(d, catalog) & _listed(d, listed, catalog) != set()) == keep]
    lazy = argument(instantiation, "include_lazy")
    if lazy is not None and (lazy.value or not lazy.known):
        devices.append("lazy")
        exact = exact and lazy.known
    return DeviceSet(tuple(devices), exact)


def _names(device: str, catalog: Catalog) -> set[str]:
    """The names a device goes by in ``only_for``: PrivateUse1 is also called by its back end's name."""
    if device != "privateuse1":
        return {device}
    return {"privateuse1", *catalog.private_use_names}


def _listed(device: str, listed: tuple[object, ...] | str, catalog: Catalog) -> set[str]:
    return {name for name in _names(device, catalog) if name in listed}
