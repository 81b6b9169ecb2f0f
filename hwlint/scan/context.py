"""What the readers of one module share: its names, its constants, and the lines that are worth a look."""

from __future__ import annotations

import ast
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

from hwlint.catalog import Catalog
from hwlint.scan.facts import Constant
from hwlint.scan.names import Names


@dataclass(frozen=True, slots=True)
class ScanContext:
    """Passed to every reader of a module's functions and expressions."""

    names: Names
    catalog: Catalog
    constants: dict[str, Constant] = field(default_factory=dict)
    """Module-level names that hold a device or are a gate, filled before any function is read."""
    helper_parameters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Parameters of the module's functions by name, and of its methods as 'Class.name'."""
    hit_lines: tuple[int, ...] = ()
    """Lines with a word that can name a device or a gate, sorted."""
    call_lines: tuple[int, ...] = ()
    """Lines that name a device module after a dot, sorted."""
    tree: ast.Module | None = None
    """The module, for the few questions about all of it."""
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What readers ask of the module again and again. Here, and so gone with the module: its tree is freed before the
    next one is made, while it is in the processor's caches.
    """

    def has_hit(self, first: int, last: int) -> bool:
        """Whether any of the lines ``first`` to ``last`` is worth reading for devices."""
        at = bisect_left(self.hit_lines, first)
        return at < len(self.hit_lines) and self.hit_lines[at] <= last
