"""What a device type means to the loader: whether a class is instantiated for it, and whether a gate lets it pass.

Facts from torch/testing/_internal/common_device_type.py (torch 2.14.1): get_desired_device_type_test_bases and
filter_desired_device_types for the device set; a PrivateUse1 back end goes by its own name or by 'privateuse1' in
``only_for`` and ``except_for``, its tests are called ``<test>_<back end>``, and its classes ``<Name>PRIVATEUSE1`` until
the first test that takes a device is made in the process, ``<Name><BACK END>`` afterwards
(PrivateUse1TestBase.setUpClass, which that calls, puts the back end's name in the place of 'privateuse1').
"""

from __future__ import annotations

from dataclasses import dataclass

from hwlint.catalog import Backend, Catalog
from hwlint.scan.facts import Gate, Instantiation, Requirement
from hwlint.suite.devices import argument

SLOT = "privateuse1"
ALLOW = {"allow_mps": "allow_mps", "allow_xpu": "allow_xpu", "include_lazy": "include_lazy"}


@dataclass(frozen=True, slots=True)
class Device:
    """One device type, with what the catalog knows of it."""

    name: str
    backend: Backend

    @classmethod
    def of(cls, name: str, catalog: Catalog) -> Device:
        """A device that the catalog does not know stands in the PrivateUse1 slot."""
        known = catalog.backends.get(name)
        return cls(name, known if known is not None else Backend(name))

    @property
    def private(self) -> bool:
        return self.backend.private_use

    @property
    def slot(self) -> str:
        """The device type that the loader makes classes for."""
        return SLOT if self.private else self.name

    def suffix(self, first: bool = True) -> str:
        """Of a generated class; ``first``: of the first one in the process (see above)."""
        if self.private:
            return self.slot.upper() if first else self.name.upper()
        return self.backend.suffix or self.name.upper()

    def named(self, listed: object) -> bool:
        """Whether ``only_for`` or ``except_for`` names it; a plain string is searched, as the loader does."""
        if isinstance(listed, str):
            text = listed.replace(self.name, SLOT) if self.private else listed
            return self.slot in text
        return isinstance(listed, tuple) and (self.name in listed or self.slot in listed)


@dataclass(frozen=True, slots=True)
class Answer:
    """Yes, no or not known (None), and why where it is not a plain yes."""

    value: bool | None
    why: str = ""


def instantiated_for(device: Device, instantiation: Instantiation) -> Answer:
    """Whether one ``instantiate_device_type_tests`` makes a class for the device, on a host that has it."""
    if any(a.name in ("*", "**") for a in instantiation.arguments):
        return Answer(None, "arguments of the instantiation are unpacked")
    inclusion = device.backend.inclusion
    if inclusion == "never":
        return Answer(False, f"no class is ever made for {device.name}")
    unsure = ""
    if inclusion in ALLOW:
        given = argument(instantiation, ALLOW[inclusion])
        if given is None or (given.known and not given.value):
            return Answer(False, f"{ALLOW[inclusion]} is not given")
        if not given.known:
            unsure = f"{ALLOW[inclusion]}={given.text}"
    # The lazy device is added after the others are cut down.
    for name, keep in () if inclusion == "include_lazy" else (("except_for", False), ("only_for", True)):
        given = argument(instantiation, name)
        if given is None or (given.known and not given.value):
            continue
        if not given.known:
            unsure = f"{name}={given.text}"
        elif device.named(given.value) != keep:
            return Answer(False, f"{name}={given.text}")
    return Answer(None, f"{unsure} cannot be read") if unsure else Answer(True)


def passes(device: Device, gate: Gate) -> Answer:
    """Whether a gate lets a test run on a host that has the CPU, the device and no other; None where that hangs on
    more.
    """
    answers = [_holds(device, one) for one in gate.requirements]
    values = [answer.value for answer in answers]
    if gate.combine == "any":
        value = True if True in values else None if None in values else False
    elif gate.combine == "mixed":
        value = True if all(values) else None
    else:
        value = False if False in values else None if None in values else True
    if value is None:
        return Answer(None, "; ".join(dict.fromkeys(a.why for a in answers if a.value is None)) or gate.name)
    return Answer(value, gate.name)


def _holds(device: Device, requirement: Requirement) -> Answer:
    if requirement.kind == "device":
        there: bool | None = requirement.value in (device.name, device.slot)
    elif requirement.kind == "accelerator":
        there = device.backend.accelerator
    else:
        return Answer(None, f"{'no ' if requirement.absent else ''}{_described(requirement)}")
    return Answer(there != requirement.absent)


def _described(requirement: Requirement) -> str:
    """What the host must have, in words: '2 devices', 'sm_80', 'magma'."""
    if requirement.kind == "count":
        return f"{requirement.value} devices"
    return requirement.value or requirement.kind
