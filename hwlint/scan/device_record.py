"""Device uses while a body is read: their roles may still depend on what follows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hwlint.scan.device_places import UNKNOWN, Place, by_name
from hwlint.scan.facts import Construct, DeviceUse, Role, Span

STRENGTH = (
    "placement",
    "backend",
    "parametrization",
    "profiler",
    "api",
    "key",
    "comparison",
    "fake",
    "text",
    "unknown",
)
"""Of several roles of one literal, the first here is what it is reported with."""


@dataclass(slots=True)
class Record:
    """A use that may yet change: its role follows from the loads of the local name that it is bound to."""

    span: Span
    construct: Construct
    device: str
    name: str
    place: Place
    via: str = ""
    owners: tuple[str, ...] = ()
    """Local functions and classes it stands in, outermost first."""
    traced: bool = False


@dataclass(slots=True)
class Recorder:
    """The uses found so far, and where each local name goes."""

    records: list[Record] = field(default_factory=list)
    loads: dict[str, list[Place]] = field(default_factory=dict)
    """Local name bound to a device -> the places it is read in."""
    conditions: set[str] = field(default_factory=set)
    """Names read in conditions."""
    traced_names: set[str] = field(default_factory=set)
    """Local functions and classes that are handed to a tracer."""
    instances: dict[str, str] = field(default_factory=dict)
    """Local name -> local class or function it was made from."""

    def finish(self) -> tuple[DeviceUse, ...]:
        """The uses in source order, with the roles that the whole body gives them."""
        traced = self.traced_names | {self.instances[n] for n in self.traced_names if n in self.instances}
        resolved = {name: self._resolve(name, frozenset()) for name in self.loads}
        found: dict[tuple[Span, str], DeviceUse] = {}
        for record in self.records:
            place = record.place
            via = record.via
            if place.local:
                if record.construct == "api" and place.local in self.conditions and is_question(record.name):
                    continue
                via = via or place.local
                found_place = resolved.get(place.local, UNKNOWN)
                own = place.role != "unknown"
                place = place if own and (found_place.role == "unknown" or not found_place.sure) else found_place
            if place.role == "ignored":
                continue
            is_api = record.construct == "api"
            use = DeviceUse(
                record.span,
                "api" if is_api else place.role,
                record.construct,
                record.device,
                record.name,
                place.context,
                via,
                record.traced or any(owner in traced for owner in record.owners),
                place.sure or is_api,
            )
            found.setdefault((use.span, use.construct), use)
        return _after_fakes(tuple(sorted(found.values(), key=lambda use: use.span)))

    def _resolve(self, name: str, seen: frozenset[str]) -> Place:
        """The strongest role among the loads of ``name``; by the name itself where there is none."""
        best: Place | None = None
        for place in self.loads[name]:
            if place.local:
                if place.local in seen or place.local not in self.loads:
                    continue
                place = self._resolve(place.local, seen | {name})
            if place.role != "ignored" and (best is None or _strength(place) < _strength(best)):
                best = place
        if best is not None and best.role != "unknown":
            return best
        if best is None and self.loads[name]:
            return Place("ignored")
        named = by_name(name, f"{name} =")
        if named is UNKNOWN:
            return best or UNKNOWN
        return named._replace(sure=False)


def _strength(place: Place) -> tuple[int, bool]:
    role: str = place.role
    return (STRENGTH.index(role), not place.sure)


def is_question(name: str) -> bool:
    """An API that only asks what is there: what tests it is a gate."""
    return name.rpartition(".")[2] in ("is_available", "device_count", "is_initialized", "is_bf16_supported")


def _after_fakes(uses: tuple[DeviceUse, ...]) -> tuple[DeviceUse, ...]:
    """Comparisons of what was only ever made under a fake mode are fake as well."""
    fake = {use.device.partition(":")[0] for use in uses if use.role == "fake"}
    if not fake:
        return uses
    fake -= {use.device.partition(":")[0] for use in uses if use.role in ("placement", "parametrization")}
    if not fake:
        return uses
    return tuple(
        _replace_role(use, "fake") if use.role == "comparison" and use.device.partition(":")[0] in fake else use
        for use in uses
    )


def _replace_role(use: DeviceUse, role: Role) -> DeviceUse:
    return DeviceUse(use.span, role, use.construct, use.device, use.name, use.context, use.via, use.traced, use.sure)


def device_attributes(self_devices: Mapping[str, str]) -> dict[str, str]:
    """Attribute -> device, whether the names come as 'device' or as 'self.device'."""
    return {name.removeprefix("self.").removeprefix("cls."): device for name, device in self_devices.items()}
