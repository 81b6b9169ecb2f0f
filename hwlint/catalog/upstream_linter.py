"""The versions of PyTorch's own test linter, as data: upstream_linters.toml."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from hwlint.catalog.tables import read

LINTER_PATH = "tools/linter/adapters/test_linter.py"
"""Where a PyTorch checkout has its copy."""


LinterName = Literal["proposed", "current"]


@dataclass(frozen=True, slots=True)
class UpstreamLinter:
    """What one version asks; the fields are explained at the head of the table."""

    name: LinterName
    scope: Literal["module", "blocks"]
    tests: str
    async_tests: bool
    device_specific: bool
    only_decorators: frozenset[str]
    call_modules: frozenset[str]
    passed_over: tuple[str, ...]
    marker: str

    def forbids(self, decorator: str) -> bool:
        """Whether a test of an ACCELERATOR class may not have the decorator of that (last) name."""
        if self.only_decorators:
            return decorator in self.only_decorators
        return decorator.startswith("only") and decorator != "onlyAccelerator"


@functools.cache
def upstream_linters() -> Mapping[str, UpstreamLinter]:
    """By name, the oldest first."""
    return {
        name: UpstreamLinter(
            name=cast(LinterName, name),
            scope=fields["scope"],
            tests=fields["tests"],
            async_tests=fields["async_tests"],
            device_specific=fields["device_specific"],
            only_decorators=frozenset(fields["only_decorators"].split()),
            call_modules=frozenset(fields["call_modules"].split()),
            passed_over=tuple(fields["passed_over"].split()),
            marker=fields["marker"],
        )
        for name, fields in read("upstream_linters").items()
    }


def linter_of(text: str) -> LinterName:
    """The name of the version that ``text``, a copy of the linter, is: the newest whose marker it has."""
    newest_first = reversed(tuple(upstream_linters().values()))
    return next(linter.name for linter in newest_first if linter.marker in text)
