"""The part of a suite that one file's links, rules and verdicts look at, so that it can be linked anew after each
change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from weakref import WeakKeyDictionary

from hwlint.scan.facts import ModuleFacts
from hwlint.suite.imports import candidate_paths
from hwlint.suite.link import link
from hwlint.suite.model import Suite


class Neighbourhood:
    """One module of a suite with all that it reaches and all that derives from it."""

    def __init__(self, suite: Suite, path: str) -> None:
        self.catalog = suite.catalog
        self.path = path
        self.importers = importers(suite).get(path, {})
        """Files that import a name from this one, by name; '*' for all names."""
        self.modules = {m.path: m for m in _closure(suite, path)}

    def link_with(self, module: ModuleFacts) -> Suite:
        """The small suite with ``module`` in place of the file's facts."""
        return link((module if m.path == self.path else m for m in self.modules.values()), self.catalog)


def importers(suite: Suite) -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """For each module and name in it, the other modules of the suite that import it. Made once for a suite.

    Who imports a module as a whole may read any of its names: '*', as for ``from module import *``.
    """
    known = _IMPORTERS.get(suite)
    if known is None:
        found: dict[str, dict[str, tuple[str, ...]]] = {}
        for module in suite.modules.values():
            names = [*(name for _, name in module.imports), *(f"{star}.*" for star in module.star_imports)]
            read = [full.rpartition(".")[::2] for full in names]
            read += [(name, "*") for _, name in module.imports]
            for head, name in dict.fromkeys(read):
                path = next((p for p in candidate_paths(head, module.path) if p in suite.modules), "")
                if path and path != module.path:
                    by_name = found.setdefault(path, {})
                    by_name[name] = (*by_name.get(name, ()), module.path)
        known = _IMPORTERS[suite] = found
    return known


_IMPORTERS: WeakKeyDictionary[Suite, Mapping[str, Mapping[str, tuple[str, ...]]]] = WeakKeyDictionary()


def _closure(suite: Suite, path: str) -> Iterator[ModuleFacts]:
    """The module itself, those of its classes' subclasses and instantiations, and what any of these import."""
    start = {path: None}
    for cls in suite.classes_in(path):
        start.update((other.path, None) for other in cls.subclasses())
        start.update((other, None) for other, _ in cls.foreign_instantiations)
    seen: dict[str, None] = {}
    queue = list(start)
    while queue:
        one = queue.pop()
        module = suite.modules.get(one)
        if module is None or one in seen:
            continue
        seen[one] = None
        yield module
        queue.extend(_imported(suite, module))
        queue.extend(base.path for cls in suite.classes_in(one) for base in cls.mro[1:])


def _imported(suite: Suite, module: ModuleFacts) -> Iterable[str]:
    names: dict[str, None] = dict.fromkeys(module.star_imports)
    for _, name in module.imports:
        names[name] = None
        names[name.rpartition(".")[0]] = None
    for name in names:
        for path in candidate_paths(name, module.path):
            if path in suite.modules:
                yield path
                break
