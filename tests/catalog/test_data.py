"""The tables agree with themselves and with each other."""

from __future__ import annotations

import dataclasses
import re
import types
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

import hwlint.catalog
from hwlint.catalog import ANY_ACCELERATOR, load_catalog
from hwlint.catalog.tables import read

CATALOG = load_catalog()
TABLES = (
    "decorators",
    "device_apis",
    "device_types",
    "distributed",
    "flags",
    "framework_bases",
    "namekeys",
    "profiler",
    "tensor_types",
)
VERSION = re.compile(r"2\.\d+")


def entries() -> list[Any]:
    tables = (
        CATALOG.backends,
        CATALOG.apis,
        CATALOG.api_prefixes,
        CATALOG.accelerator_apis,
        CATALOG.decorators,
        CATALOG.flags,
        CATALOG.framework_bases,
        CATALOG.profiler,
        CATALOG.collectives,
        CATALOG.tensor_types,
    )
    found = [entry for table in tables for entry in table.values()]
    return found + list(CATALOG.skip_replacements) + list(CATALOG.name_keys)


def test_every_value_is_one_its_type_allows() -> None:
    for entry in entries():
        hints = get_type_hints(type(entry))
        for field in dataclasses.fields(entry):
            value, hint = getattr(entry, field.name), hints[field.name]
            choices = get_args(hint)
            if hint in (str, bool, int):
                assert type(value) is hint, (entry, field.name)
            elif isinstance(value, tuple):
                listed = Ellipsis in choices or any(Ellipsis in get_args(choice) for choice in choices)
                assert listed and all(type(item) is str for item in value), (entry, field.name)
            elif isinstance(hint, types.UnionType):
                assert type(value) in choices, (entry, field.name)
            else:
                assert value in choices, (entry, field.name)


def test_versions_are_versions() -> None:
    for entry in entries():
        for name in ("since", "until", "introduced"):
            version = getattr(entry, name, "")
            assert version == "" or VERSION.fullmatch(version), entry


@pytest.mark.parametrize("table", TABLES)
def test_each_table_names_its_sources_and_no_group_repeats_a_name(table: str) -> None:
    text = (Path(hwlint.catalog.__file__).parent / f"{table}.toml").read_text(encoding="utf-8")
    head = text[: text.index("\n\n")]
    assert all(line.startswith("#") for line in head.splitlines())
    assert "Facts from" in text[: text.index("\n[")]
    for key, groups in read(table).items():
        if not isinstance(groups, list):
            continue
        seen: set[tuple[str, str]] = set()
        for group in groups:
            places = group.get("modules", group.get("module", "")).split() or [""]
            for name in group.get("names", "").split():
                for place in places:
                    mark = (f"{place} {group.get('kind', '') if table == 'tensor_types' else ''}", name)
                    assert mark not in seen, (table, key, mark)
                    seen.add(mark)


@pytest.mark.parametrize("table", ["decorators", "flags", "framework_bases"])
def test_versions_are_given_to_names_of_the_table(table: str) -> None:
    data = read(table)
    names = {
        n for groups in data.values() if isinstance(groups, list) for g in groups for n in g.get("names", "").split()
    }
    for key in ("since", "until"):
        dated = [name for listed in data.get(key, {}).values() for name in listed.split()]
        assert set(dated) <= names
        assert len(dated) == len(set(dated))


def test_apis_have_the_replacement_their_kind_asks_for() -> None:
    for api in (*CATALOG.apis.values(), *CATALOG.api_prefixes.values()):
        if api.kind == "vendor_only":
            assert not api.replacement and not api.drop_in, api
            continue
        assert api.replacement.startswith("torch."), api
        last = api.replacement.rpartition(".")[2]
        if api.kind == "same":
            assert last == api.name.rpartition(".")[2], api
        elif api.kind == "renamed":
            assert "get_device_module" not in api.replacement, api
        if api.replacement.startswith("torch.accelerator."):
            entry = CATALOG.accelerator_apis[api.replacement]
            assert not entry.deprecated_for, api
            assert api.since == entry.since != ""
            assert api.raises_without_accelerator == entry.raises_without_accelerator
        if api.drop_in:
            assert not api.returns_differ, api


def test_submodule_names_belong_to_a_device_module() -> None:
    data = read("device_apis")
    modules = set(CATALOG.device_modules)
    for module in data["aliases"]["modules"].split():
        parent, _, name = module.rpartition(".")
        assert parent in modules
        assert data["aliases"][name]


def test_devices_are_known() -> None:
    allowed = CATALOG.device_types | {ANY_ACCELERATOR, ""}
    for decorator in CATALOG.decorators.values():
        assert set(decorator.devices) <= allowed, decorator
    for flag in CATALOG.flags.values():
        assert set(flag.device.split("|")) <= allowed, flag
    for base in CATALOG.framework_bases.values():
        assert base.device in allowed, base
    for name in CATALOG.profiler.values():
        assert name.device in allowed, name
    for collective in CATALOG.collectives.values():
        assert {*collective.devices, *collective.default_for, collective.vendor} <= allowed, collective
    for tensor_type in CATALOG.tensor_types.values():
        assert tensor_type.device in allowed


def test_names_that_refer_to_decorators_and_bases_find_them() -> None:
    decorators = set(CATALOG.decorators)
    assert {d.generic_form for d in CATALOG.decorators.values()} <= decorators | {""}
    assert {c.decorator for c in CATALOG.collectives.values()} <= decorators | {""}
    assert {b for backend in CATALOG.backends.values() for b in backend.decorators} <= decorators
    for replacement in CATALOG.skip_replacements:
        target = CATALOG.decorators[replacement.decorator]
        assert target.device_aware, replacement
        assert target.parameter == replacement.parameter, replacement
        assert replacement.since == target.since if replacement.since else target.since < "2.13", replacement
        if "{reason}" in replacement.replacement:
            assert target.takes_reason, replacement
        known = CATALOG.decorators if replacement.form == "decorator" else CATALOG.flags
        assert replacement.source in known, replacement
    for base in CATALOG.framework_bases.values():
        for parent in base.bases:
            assert parent in CATALOG.framework_bases, base


def test_bases_below_a_test_case_are_test_cases() -> None:
    for base in CATALOG.framework_bases.values():
        above = [CATALOG.framework_bases[name] for name in base.bases]
        root = base.name == "torch.testing._internal.common_utils.TestCase"
        assert base.is_test_case == (root or any(parent.is_test_case for parent in above)), base
        assert base.is_test_case == (base.kind not in ("mixin", "unittest")), base


def test_collective_of_each_backend_is_in_the_table() -> None:
    for backend in CATALOG.backends.values():
        if backend.collective:
            assert backend.name in CATALOG.collectives[backend.collective].default_for, backend


def test_only_the_declared_flags_are_values() -> None:
    values = {flag.name for flag in CATALOG.flags.values() if flag.is_device_value}
    assert {"GPU_TYPE", "DEVICE_TYPE", "PG_BACKEND", "CUDA_DEVICE"} <= values
    assert not values & {"TEST_CUDA", "HAS_GPU", "torch.cuda.is_available"}
