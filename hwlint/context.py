"""Which other modules a file's classes and tests hang on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hwlint.catalog import Catalog
from hwlint.scan.facts import ModuleFacts


def wanted_modules(modules: Iterable[ModuleFacts], catalog: Catalog) -> Iterator[tuple[str, str]]:
    """(module, path of the importing file) for what must be looked at, if it is in the tree, to link ``modules``.

    That is where their bases and the classes they instantiate come from, unless the catalog knows those; and where the
    helpers their tests call come from, PyTorch's own packages and the standard library aside.
    """
    from hwlint.suite.reach import FOREIGN

    for facts in modules:
        wanted: dict[str, None] = {}
        for name in _class_names(facts):
            if name in catalog.framework_bases:
                continue
            head = name.rpartition(".")[0]
            if head:
                wanted[head] = None
            else:
                wanted.update(dict.fromkeys(facts.star_imports))
        for local, name in facts.imports:
            if name.partition(".")[0] in FOREIGN:
                continue
            wanted[name] = None
            if "." in name and name != local:
                wanted[name.rpartition(".")[0]] = None
        wanted.update(dict.fromkeys(s for s in facts.star_imports if s.partition(".")[0] not in FOREIGN))
        for module in wanted:
            yield module, facts.path


def _class_names(facts: ModuleFacts) -> Iterator[str]:
    """Qualified names of bases and instantiated classes that the module does not define."""
    local = {c.name for c in facts.classes}
    imports = dict(facts.imports)
    for cls in facts.classes:
        yield from (base for base in cls.bases if base and base not in local)
    for one in facts.instantiations:
        if one.target and one.target not in local:
            yield imports.get(one.target, one.target)
