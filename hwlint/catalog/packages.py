"""Packages whose functions are no helpers of a test suite."""

from __future__ import annotations

import functools
import sys

from hwlint.catalog.tables import read


@functools.lru_cache(maxsize=1)
def foreign_packages() -> frozenset[str]:
    """Top-level names: the standard library's and those of packages.toml."""
    return frozenset(str(read("packages")["third_party"]).split()) | sys.stdlib_module_names


@functools.lru_cache(maxsize=1)
def _no_hardware() -> tuple[str, ...]:
    return tuple(str(read("packages")["no_hardware"]).split())


def touches_no_hardware(qualified: str) -> bool:
    """Whether a dotted name lies in a module that is known to use no device, should it not be in the tree."""
    return any(qualified == name or qualified.startswith(f"{name}.") for name in _no_hardware())
