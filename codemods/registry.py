"""The codemods, in the order they run."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from importlib import import_module

from codemods.plan import Codemod
from hwlint.errors import UsageError

ORDER = (
    ("test_base", "TestBase"),
    ("super_calls", "SuperCalls"),
    ("split_class", "SplitClass"),
    ("device_parameter", "DeviceParameter"),
    ("skip_gates", "SkipGates"),
    ("accelerator_api", "AcceleratorApi"),
    ("profiler_activities", "ProfilerActivities"),
    ("distributed_backend", "DistributedBackend"),
    ("split_devices", "SplitDevices"),
    ("class_for_device", "ClassForDevice"),
    ("contract_device", "ContractDevice"),
    ("tag_class", "TagClass"),
    ("imported_classes", "ImportedClasses"),
    ("tidy_imports", "TidyImports"),
)
"""Module and class. What changes how a class is instantiated comes before its tag; imports are tidied last."""


class UnknownCodemod(UsageError):
    """No codemod has that name."""


@cache
def all_codemods() -> tuple[type[Codemod], ...]:
    """Every codemod in the order they run."""
    found: list[type[Codemod]] = []
    for module, name in ORDER:
        codemod: type[Codemod] = getattr(import_module(f"codemods.{module}"), name)
        if codemod.name != module:
            raise ValueError(f"{name} of codemods.{module} is called {codemod.name!r}")
        found.append(codemod)
    return tuple(found)


def chosen(only: Iterable[str] = (), skip: Iterable[str] = ()) -> tuple[type[Codemod], ...]:
    """The codemods of ``only`` (all where it is empty) without those of ``skip``. Raises UnknownCodemod."""
    known = {codemod.name: codemod for codemod in all_codemods()}
    wanted, unwanted = _names(only, known), _names(skip, known)
    return tuple(c for c in all_codemods() if (not wanted or c.name in wanted) and c.name not in unwanted)


def _names(given: Iterable[str], known: dict[str, type[Codemod]]) -> set[str]:
    names = {part.strip().replace("-", "_") for text in given for part in text.split(",") if part.strip()}
    for name in sorted(names - set(known)):
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean {near[0]}?" if near else "; `hwlint migrate --list` has them all"
        raise UnknownCodemod(f"there is no codemod {name!r}{hint}")
    return names
