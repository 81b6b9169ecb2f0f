"""The catalog as one object."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeVar

from hwlint.catalog.model import (
    AcceleratorApi,
    Backend,
    Collective,
    Decorator,
    DeviceApi,
    Flag,
    FrameworkBase,
    NameKey,
    ProfilerName,
    SkipReplacement,
    TensorType,
)
from hwlint.catalog.tables import entries, read, versions, words

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Catalog:
    """All tables; ``extra_backends`` are those of the configuration.

    Small enough to be sent to worker processes: the tables are read, once a process, by the properties.
    """

    extra_backends: tuple[Backend, ...] = ()

    @property
    def backends(self) -> Mapping[str, Backend]:
        """By device type, the configured ones included (they win over those in the table)."""
        return _backends(self.extra_backends)

    @property
    def non_accelerators(self) -> frozenset[str]:
        """Device types that onlyAccelerator keeps out: what names them asks for no accelerator."""
        return _non_accelerators(self.extra_backends)

    @property
    def private_use_names(self) -> frozenset[str]:
        """Device types that stand in the PrivateUse1 slot: the configured ones and the well-known names."""
        return _private_use_names(self.extra_backends)

    @property
    def device_types(self) -> frozenset[str]:
        """Every name that is a device type in a device string."""
        return _device_types(self.extra_backends)

    @property
    def device_modules(self) -> Mapping[str, Backend]:
        """By module, ``torch.cuda``."""
        return _device_modules(self.extra_backends)

    @property
    def apis(self) -> Mapping[str, DeviceApi]:
        """By qualified name, the configured back ends' modules included as far as torch.cuda has the name."""
        return _apis(self.extra_backends)

    @property
    def api_prefixes(self) -> Mapping[str, DeviceApi]:
        """By prefix: what holds for all names below it that ``apis`` does not have."""
        return _api_prefixes()

    @property
    def accelerator_apis(self) -> Mapping[str, AcceleratorApi]:
        """Names of torch.accelerator by qualified name."""
        return _accelerator_apis()

    @property
    def decorators(self) -> Mapping[str, Decorator]:
        """By bare and by qualified name; a bare name two modules share is the first one's."""
        return _decorators(self.extra_backends)

    @property
    def skip_replacements(self) -> tuple[SkipReplacement, ...]:
        return _skip_replacements()

    @property
    def flags(self) -> Mapping[str, Flag]:
        """Constants, and the test support's calls, by bare and by qualified name; other calls by qualified name."""
        return _flags(self.extra_backends)

    @property
    def framework_bases(self) -> Mapping[str, FrameworkBase]:
        """By qualified name, aliases included."""
        return _framework_bases()

    @property
    def profiler(self) -> Mapping[str, ProfilerName]:
        """By name: ``ProfilerActivity.CUDA``, ``use_cuda``, ``cuda_time_total``."""
        return _profiler()

    @property
    def collectives(self) -> Mapping[str, Collective]:
        """By back-end name, ``nccl``."""
        return _collectives(self.extra_backends)

    @property
    def name_keys(self) -> tuple[NameKey, ...]:
        return _name_keys()

    @property
    def tensor_types(self) -> Mapping[str, TensorType]:
        """By qualified name, ``torch.cuda.FloatTensor``."""
        return _tensor_types()

    def find_api(self, qualified: str) -> DeviceApi | None:
        """The entry for a qualified name: the exact one, else that of its longest prefix, else None."""
        exact = self.apis.get(qualified)
        if exact is not None or not qualified.startswith("torch"):
            return exact
        prefix = qualified
        while prefix:
            entry = self.api_prefixes.get(prefix)
            if entry is not None:
                return entry
            prefix = prefix.rpartition(".")[0]
        return next((e for p, e in self.api_prefixes.items() if p[-1] == "*" and qualified.startswith(p[:-1])), None)

    def find_decorator(self, qualified: str) -> Decorator | None:
        """The decorator by its qualified name; where a test-support module only re-exports it, by its bare name."""
        return _find(self.decorators, qualified)

    def find_flag(self, qualified: str) -> Flag | None:
        """The flag by its qualified name; where a test-support module only re-exports it, by its bare name."""
        return _find(self.flags, qualified)

    def find_base(self, qualified: str) -> FrameworkBase | None:
        """The base by its qualified name; where a test-support module only re-exports it, by its bare name."""
        found = self.framework_bases.get(qualified)
        if found is None and qualified.startswith(_SUPPORT):
            found = _bare_bases().get(qualified.rpartition(".")[2])
        return found


@functools.cache
def load_catalog(extra_backends: tuple[Backend, ...] = ()) -> Catalog:
    """The catalog with the back ends of the configuration added."""
    return Catalog(extra_backends)


_SUPPORT = ("torch.testing.", "torch._dynamo.", "torch._inductor.", "torch.utils._triton.")


def _find(table: Mapping[str, _T], qualified: str) -> _T | None:
    found = table.get(qualified)
    if found is None and qualified.startswith(_SUPPORT):
        found = table.get(qualified.rpartition(".")[2])
    return found


def _with_versions(fields: dict[str, Any], since: Mapping[str, str], until: Mapping[str, str]) -> dict[str, Any]:
    name = fields["name"]
    return {"since": since.get(name, ""), "until": until.get(name, ""), **fields}


@functools.cache
def _backends(extra: tuple[Backend, ...]) -> Mapping[str, Backend]:
    found = {}
    for name, fields in read("device_types").items():
        if name != "known_out_of_tree":
            found[name] = Backend(name=name, **{"in_tree": True, **words(dict(fields), "decorators")})
    for backend in extra:
        found[backend.name] = _completed(backend, found.get(backend.name))
    return MappingProxyType(found)


def _completed(backend: Backend, known: Backend | None) -> Backend:
    """A configured back end, filled up from the table, or with what a PrivateUse1 back end has by default."""
    if known is not None:
        return replace(
            known,
            module=backend.module or known.module,
            decorators=tuple(dict.fromkeys(known.decorators + backend.decorators)),
            collective=backend.collective or known.collective,
        )
    return replace(
        backend,
        module=backend.module or f"torch.{backend.name}",
        suffix=backend.suffix or ("PRIVATEUSE1" if backend.private_use else backend.name.upper()),
        profiler_activity=backend.profiler_activity or "PrivateUse1",
        dispatch_key=backend.dispatch_key or "PrivateUse1",
        tensor_module=backend.tensor_module or f"torch.{backend.name}",
        tensor_method=backend.tensor_method or backend.name,
        is_attribute=backend.is_attribute or f"is_{backend.name}",
    )


@functools.cache
def _non_accelerators(extra: tuple[Backend, ...]) -> frozenset[str]:
    return frozenset(name for name, backend in _backends(extra).items() if not backend.accelerator)


@functools.cache
def _private_use_names(extra: tuple[Backend, ...]) -> frozenset[str]:
    known = set(read("device_types")["known_out_of_tree"]["names"].split())
    return frozenset(known | {b.name for b in _backends(extra).values() if b.private_use})


@functools.cache
def _device_types(extra: tuple[Backend, ...]) -> frozenset[str]:
    return _private_use_names(extra) | frozenset(_backends(extra))


@functools.cache
def _device_modules(extra: tuple[Backend, ...]) -> Mapping[str, Backend]:
    found = {backend.module: backend for backend in _backends(extra).values() if backend.module}
    # An out-of-tree package registers its module under torch as well: torch_npu.npu is torch.npu.
    for backend in extra:
        found.setdefault(f"torch.{backend.name}", found[_backends(extra)[backend.name].module])
    return MappingProxyType(found)


@functools.cache
def _apis(extra: tuple[Backend, ...]) -> Mapping[str, DeviceApi]:
    table = read("device_apis")
    since = versions(table, "since")
    introduced = versions(table, "introduced")
    until = versions(table, "until")
    raising = frozenset(table["accelerator"]["raises_without_accelerator"].split())
    positional = frozenset(table["accelerator"]["positional_only"].split())
    found: dict[str, DeviceApi] = {}

    def add(module: str, fields: dict[str, Any]) -> None:
        name = f"{module}.{fields['name']}"
        replacement = fields.get("replacement", "")
        found[name] = DeviceApi(
            **{
                "since": since.get(replacement, ""),
                "drop_in": fields["kind"] == "same",
                "raises_without_accelerator": replacement in raising,
                "positional_only": replacement in positional,
                "introduced": introduced.get(name, ""),
                "until": until.get(name, ""),
                **fields,
                "name": name,
            }
        )

    cuda = {fields["name"]: fields for fields in entries(table, "cuda")}
    for fields in cuda.values():
        add("torch.cuda", fields)
    for module, names in table["shared"].items():
        for name in names.split():
            add(f"torch.{module}", cuda[name])
        for fields in entries(table, module):
            add(f"torch.{module}", fields)
    for module, backend in _device_modules(extra).items():
        if not backend.in_tree and backend.name != "xla":
            for fields in cuda.values():
                if fields["kind"] != "vendor_only":
                    add(module, fields)
    for alias in table["aliases"]["modules"].split():
        target, _, submodule = alias.rpartition(".")
        for name in table["aliases"][submodule].split():
            entry = found.get(f"{target}.{name}")
            if entry is not None:
                found.setdefault(f"{alias}.{name}", replace(entry, name=f"{alias}.{name}"))
    return MappingProxyType(found)


@functools.cache
def _api_prefixes() -> Mapping[str, DeviceApi]:
    return MappingProxyType({f["name"]: DeviceApi(**f) for f in entries(read("device_apis"), "prefix")})


@functools.cache
def _accelerator_apis() -> Mapping[str, AcceleratorApi]:
    table = read("device_apis")
    accelerator = table["accelerator"]
    since = versions(table, "since")
    raising = frozenset(accelerator["raises_without_accelerator"].split())
    positional = frozenset(accelerator["positional_only"].split())
    deprecated = accelerator["deprecated"]
    return _by_name(
        AcceleratorApi(name, since.get(name, ""), name in raising, name in positional, deprecated.get(name, ""))
        for name in accelerator["names"].split()
    )


@functools.cache
def _decorators(extra: tuple[Backend, ...]) -> Mapping[str, Decorator]:
    table = read("decorators")
    since, until = versions(table, "since"), versions(table, "until")
    found: dict[str, Decorator] = {}
    for fields in entries(table, "decorator"):
        entry = Decorator(**_with_versions(words(fields, "modules", "devices"), since, until))
        found.setdefault(entry.name, entry)
        found.update({f"{module}.{entry.name}": entry for module in entry.modules})
    for backend in extra:
        for name in backend.decorators:
            found.setdefault(
                name,
                Decorator(name, (), "whitelist", (backend.name,), device_aware=True, generic_form="onlyAccelerator"),
            )
    return MappingProxyType(found)


@functools.cache
def _skip_replacements() -> tuple[SkipReplacement, ...]:
    return tuple(SkipReplacement(**fields) for fields in read("decorators")["replacement"])


@functools.cache
def _flags(extra: tuple[Backend, ...]) -> Mapping[str, Flag]:
    table = read("flags")
    since, until = versions(table, "since"), versions(table, "until")
    found: dict[str, Flag] = {}
    for fields in entries(table, "flag"):
        held = fields.pop("holds", None)
        fields["holds"] = tuple(held) if isinstance(held, list) else held
        entry = Flag(**_with_versions(words(fields, "modules"), since, until))
        found.setdefault(entry.name, entry)
        found.update({f"{module}.{entry.name}": entry for module in entry.modules})
    for fields in entries(table, "call"):
        entry = Flag(callable=True, **_with_versions(fields, since, until))
        found[entry.name] = entry
        if entry.name.startswith(_SUPPORT):
            found.setdefault(entry.name.rpartition(".")[2], entry)
    for module, backend in _device_modules(extra).items():
        available, count = f"{module}.is_available", f"{module}.device_count"
        found.setdefault(available, Flag(available, "device", device=backend.name, callable=True))
        found.setdefault(count, Flag(count, "count", device=backend.name, callable=True))
    return MappingProxyType(found)


@functools.cache
def _framework_bases() -> Mapping[str, FrameworkBase]:
    table = read("framework_bases")
    since, until = versions(table, "since"), versions(table, "until")
    found: dict[str, FrameworkBase] = {}
    for fields in entries(table, "base"):
        aliases = fields.pop("aliases", "").split()
        entry = FrameworkBase(**_with_versions(words(fields, "bases", "members", "decides"), since, until))
        found[entry.name] = entry
        found.update(dict.fromkeys(aliases, entry))
    return MappingProxyType(found)


@functools.cache
def _bare_bases() -> Mapping[str, FrameworkBase]:
    """By bare name; of several of one name (``TestCase``) the first in the file, that of common_utils."""
    found: dict[str, FrameworkBase] = {}
    for name, base in _framework_bases().items():
        if name.startswith(_SUPPORT):
            found.setdefault(name.rpartition(".")[2], base)
    return MappingProxyType(found)


@functools.cache
def _profiler() -> Mapping[str, ProfilerName]:
    return _by_name(ProfilerName(**fields) for fields in entries(read("profiler"), "name"))


@functools.cache
def _collectives(extra: tuple[Backend, ...]) -> Mapping[str, Collective]:
    found = {}
    for fields in entries(read("distributed"), "backend"):
        found[fields["name"]] = Collective(**words(fields, "devices", "default_for"))
    for backend in extra:
        if backend.collective:
            new = Collective(backend.collective, (), vendor=backend.name, in_tree=False)
            old = found.get(backend.collective, new)
            found[backend.collective] = replace(
                old,
                devices=_added(old.devices, backend.name),
                default_for=_added(old.default_for, backend.name),
                # A library that two back ends ship under one name is bound to the one this configuration is about.
                vendor=backend.name if old.vendor else "",
            )
    return MappingProxyType(found)


@functools.cache
def _name_keys() -> tuple[NameKey, ...]:
    return tuple(NameKey(**fields) for fields in read("namekeys")["place"])


@functools.cache
def _tensor_types() -> Mapping[str, TensorType]:
    table = read("tensor_types")
    found = []
    for group in table["types"]:
        for stem in group["names"].split():
            name = f"{group['module']}.{stem}{'Storage' if group['kind'] == 'storage' else 'Tensor'}"
            found.append(TensorType(name, group["kind"], group["device"], table["dtypes"][stem]))
    return _by_name(found)


def _added(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    return names if name in names else (*names, name)


def _by_name(items: Iterable[Any]) -> Mapping[str, Any]:
    return MappingProxyType({item.name: item for item in items})
