"""Packages whose functions are no helpers of a test suite."""

from __future__ import annotations

import functools
import sys

from hwlint.catalog.tables import read


@functools.lru_cache(maxsize=1)
def foreign_packages() -> frozenset[str]:
    """Top-level names: the standard library's and those of packages.toml."""
    return frozenset(str(read("packages")["third_party"]).split()) | sys.stdlib_module_names
