"""Reads the TOML tables beside this module.

A table is a list of groups: entries that share all but their names, so that a fact is written once. Values that
hold several words (``names``, ``modules``, ``devices``) are space-separated. ``[since]`` and ``[until]`` map a
version to the names that came with it, or were last seen in it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@functools.cache
def read(table: str) -> Mapping[str, Any]:
    """Content of ``<table>.toml``. Raises FileNotFoundError for a table that is not in the package."""
    return tomllib.loads((Path(__file__).parent / f"{table}.toml").read_text(encoding="utf-8"))


def versions(table: Mapping[str, Any], key: str) -> dict[str, str]:
    """``[since]`` or ``[until]`` turned round: name -> version."""
    return {name: version for version, names in table.get(key, {}).items() for name in names.split()}


def entries(table: Mapping[str, Any], group: str) -> Iterator[dict[str, Any]]:
    """Keyword arguments of every entry of the groups ``[[group]]``: ``name`` and what the group says.

    ``{name}`` in a replacement stands for the entry's name.
    """
    for fields in table.get(group, ()):
        shared = {key: value for key, value in fields.items() if key != "names"}
        template = str(shared.get("replacement", ""))
        for name in fields["names"].split():
            if "{name}" in template:
                shared["replacement"] = template.replace("{name}", name)
            yield {"name": name, **shared}


def words(fields: dict[str, Any], *keys: str) -> dict[str, Any]:
    """``fields`` with the space-separated values under ``keys`` made tuples."""
    for key in keys:
        if key in fields:
            fields[key] = tuple(fields[key].split())
    return fields
