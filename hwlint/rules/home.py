"""Which device a class is for, and what ties a test to one.

A device use is right at *home*, in a class for that very device. A test is *kept* on a device where a gate lets nothing
else pass and it reaches an API that only this device has: then its literals are the least of what binds it.
"""

from __future__ import annotations

from functools import cache

from hwlint.catalog import SETTINGS_PREFIXES, Catalog
from hwlint.scan.facts import DeviceUse, Function, Gate
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import all_tests, class_reach, reach


@cache
def device_type(device: str) -> str:
    """'cuda' for 'cuda:1', and for 'cuda|cpu': of several devices the first that is not the CPU's."""
    types = [part.partition(":")[0] for part in device.split("|")]
    return next((t for t in types if t not in ("cpu", "meta")), types[0])


@cache
def is_binding(device: str, catalog: Catalog) -> bool:
    """Whether naming ``device`` ties code to one kind of accelerator; 'cpu' and 'meta' are in every torch."""
    name = device_type(device)
    if name == "accelerator" or name in catalog.private_use_names:
        return True
    backend = catalog.backends.get(name)
    return backend is not None and backend.accelerator and bool(backend.module or backend.private_use)


def home_device(cls: LinkedClass) -> str:
    """The one device type the class is for: by its classification, else by ``only_for``; '' for none or several."""
    if cls.label:
        return "" if cls.label in ("GENERIC", "ACCELERATOR") else cls.label.lower()
    if cls.is_instantiated and cls.devices.exact and len(cls.devices.devices) == 1:
        return cls.devices.devices[0]
    return ""


def is_home(cls: LinkedClass, device: str, catalog: Catalog) -> bool:
    home = home_device(cls)
    name = device_type(device)
    if not home or home == name:
        return bool(home)
    if name == "accelerator":
        return home != "cpu"
    return home == "privateuse1" and name in catalog.private_use_names


def is_generic(cls: LinkedClass) -> bool:
    """Said to be device-generic: classified GENERIC or ACCELERATOR, or instantiated for more than one device."""
    if cls.label:
        return cls.label in ("GENERIC", "ACCELERATOR")
    return cls.is_instantiated and not home_device(cls)


def vendor_device(use: DeviceUse, catalog: Catalog) -> str:
    """The device type that a vendor-only API or process group ties its test to, '' for any other use."""
    if use.construct == "backend" and use.name.startswith("ProcessGroup"):
        return device_type(use.device)
    if use.construct != "api" or use.role in ("text", "fake", "key") or use.name.startswith(SETTINGS_PREFIXES):
        return ""
    entry = catalog.find_api(use.name)
    return device_type(use.device) if entry is not None and entry.kind == "vendor_only" else ""


def gate_devices(gate: Gate) -> frozenset[str]:
    """Device types without which the gate lets nothing pass."""
    if not gate.blocking or gate.combine in ("any", "mixed"):
        return frozenset()
    return frozenset(r.value for r in gate.requirements if r.kind == "device" and not r.absent)


def gate_vendors(gate: Gate, catalog: Catalog) -> frozenset[str]:
    """:func:`gate_devices`, and the device of a collective library that the gate asks for."""
    devices = gate_devices(gate)
    if gate.blocking and gate.combine in ("", "all"):
        for requirement in gate.requirements:
            collective = catalog.collectives.get(requirement.value) if requirement.kind == "library" else None
            if collective is not None and collective.vendor and not requirement.absent:
                devices |= {collective.vendor}
    return devices


def kept_devices(cls: LinkedClass, test: Function) -> frozenset[str]:
    """Devices that the test is rightly tied to: it has a gate for the device, and reaches an API that only it has."""
    return _kept_tests(cls).get(id(test), _NONE)


def is_kept(cls: LinkedClass, function: Function, device: str) -> bool:
    """Whether every test of ``cls`` that gets to ``function`` is kept on ``device``."""
    kept = _kept_tests(cls)
    return any(device in devices for devices in kept.values()) and id(function) not in _loose_functions(cls, device)


_NONE: frozenset[str] = frozenset()


def _kept_tests(cls: LinkedClass) -> dict[int, frozenset[str]]:
    """By the identity of the test; tests that are tied to nothing are left out."""
    memo: dict[int, dict[int, frozenset[str]]] = vars(cls.suite).setdefault("_kept_tests", {})
    found = memo.get(id(cls))
    if found is None:
        found = memo[id(cls)] = {}
        catalog = cls.suite.catalog
        every = class_reach(cls)
        vendors = {vendor_device(use.use, catalog) for use in every.uses if use.use.construct in ("api", "backend")}
        gated = {d for gate in every.gates for d in gate_vendors(gate.gate, catalog)}
        if (vendors & gated) - {""}:
            for _, test in all_tests(cls):
                reached = reach(cls, test)
                gates = {d for g in reached.gates if g.scope != "helper" for d in gate_vendors(g.gate, catalog)}
                if gates:
                    devices = gates.intersection(vendor_device(use.use, catalog) for use in reached.uses)
                    if devices:
                        found[id(test)] = frozenset(devices)
    return found


def _loose_functions(cls: LinkedClass, device: str) -> frozenset[int]:
    """Identities of the functions that some test of ``cls`` gets to without being kept on ``device``."""
    memo: dict[tuple[int, str], frozenset[int]] = vars(cls.suite).setdefault("_loose_functions", {})
    key = (id(cls), device)
    found = memo.get(key)
    if found is None:
        kept = _kept_tests(cls)
        loose = (test for _, test in all_tests(cls) if device not in kept.get(id(test), _NONE))
        found = memo[key] = frozenset(id(r.function) for test in loose for r in reach(cls, test).functions)
    return found
