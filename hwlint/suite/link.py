"""ModuleFacts of many files -> Suite: every base and every instantiation resolved as far as the tree tells."""

from __future__ import annotations

from collections.abc import Iterable

from hwlint.catalog import Catalog, FrameworkBase
from hwlint.scan.facts import Class, ModuleFacts
from hwlint.suite.imports import candidate_paths
from hwlint.suite.model import Base, LinkedClass, Suite

MAX_HOPS = 12
"""Re-exports followed before a name is given up as opaque."""


def link(modules: Iterable[ModuleFacts], catalog: Catalog) -> Suite:
    """Link the classes of ``modules``. A base outside of them is a framework base of the catalog, or opaque."""
    suite = Suite(catalog, sorted(modules, key=lambda m: m.path))
    for module in suite.modules.values():
        suite.classes[module.path] = [LinkedClass(suite, module, facts) for facts in module.classes]
    linker = _Linker(suite)
    for module in suite.modules.values():
        for cls in suite.classes[module.path]:
            cls.bases = tuple(linker.base(module, cls, at) for at in range(len(cls.facts.bases)))
    for module in suite.modules.values():
        linker.attach_instantiations(module)
        linker.attach_templates(module)
    return suite


class _Linker:
    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.catalog = suite.catalog

    def base(self, module: ModuleFacts, cls: LinkedClass, at: int) -> Base:
        name = cls.facts.bases[at]
        text = cls.facts.base_texts[at]
        if not name:
            return Base(text)
        found = self.resolve(module, name, before=cls.facts, hops=0)
        if isinstance(found, LinkedClass):
            return Base(name, target=found)
        if found is not None:
            return Base(found.name, framework=found)
        return Base(name)

    def resolve(
        self, module: ModuleFacts, name: str, before: Class | None, hops: int
    ) -> LinkedClass | FrameworkBase | None:
        """The class that ``name``, already qualified by the module's imports, means in ``module``."""
        if hops > MAX_HOPS:
            return None
        if "." not in name:
            local = self.local_class(module, name, before)
            if local is not None:
                return local
            imported = dict(module.imports).get(name)
            if imported is not None and imported != name:
                return self.resolve(module, imported, None, hops + 1)
            for star in module.star_imports:
                found = self.member(module, star, name, hops + 1)
                if found is not None:
                    return found
            return None
        framework = self.catalog.find_base(name)
        if framework is not None:
            return framework
        head, _, member = name.rpartition(".")
        found = self.member(module, head, member, hops + 1)
        if found is None:
            found = self.local_class(module, name, before)
        return found

    def member(self, importer: ModuleFacts, source: str, name: str, hops: int) -> LinkedClass | FrameworkBase | None:
        """The class ``name`` of the module ``source``, followed through what that module imports itself."""
        framework = self.catalog.find_base(f"{source}.{name}")
        if framework is not None:
            return framework
        for path in candidate_paths(source, importer.path):
            target = self.suite.modules.get(path)
            if target is not None and target.path != importer.path:
                return self.resolve(target, name, None, hops + 1)
        return None

    def local_class(self, module: ModuleFacts, name: str, before: Class | None) -> LinkedClass | None:
        """The module's class of that name: the last one above ``before``, else the last at all."""
        candidates = [c for c in self.suite.classes[module.path] if name in (c.facts.qualname, c.name)]
        candidates = [c for c in candidates if c.facts is not before]
        top = [c for c in candidates if not any(b.keyword in ("def", "class") for b in c.facts.blocks)]
        if before is not None:
            above = [c for c in candidates if c.facts.line < before.line]
            # 'Outer.Inner' says itself where it stands.
            scoped = [c for c in above if c in top or _same_scope(c.facts, before) or "." in name]
            return scoped[-1] if scoped else None
        return top[-1] if top else None

    def attach_templates(self, module: ModuleFacts) -> None:
        imports = dict(module.imports)
        for graft in module.grafts:
            target = self.local_class(module, graft.target, None)
            head, dot, rest = graft.template.partition(".")
            template = self.resolve(module, imports.get(head, head) + dot + rest, None, 0)
            if target is not None and isinstance(template, LinkedClass):
                target.templates = (*target.templates, (template, graft.suffix))

    def attach_instantiations(self, module: ModuleFacts) -> None:
        for one in module.instantiations:
            if not one.target:
                continue
            local = [
                c for c in self.suite.classes[module.path] if c.name == one.target and c.facts.line <= one.line + 1
            ]
            if one.form == "decorator":
                local = [c for c in local if c.facts.span.line <= one.line <= c.facts.line] or local
            if local:
                # Of two classes in the branches of one ``if``, the one whose branch the call stands in.
                same = [c for c in local if c.facts.blocks == one.blocks]
                target = (same or local)[-1]
                target.instantiations = (*target.instantiations, one)
                for twin in local:
                    if twin is not target and twin.facts.blocks and not one.blocks:
                        twin.instantiations = (*twin.instantiations, one)
                continue
            found = self.resolve(module, dict(module.imports).get(one.target, one.target), None, 0)
            if isinstance(found, LinkedClass):
                found.foreign_instantiations = (*found.foreign_instantiations, (module.path, one))


def _same_scope(one: Class, other: Class) -> bool:
    return one.qualname.rpartition(".")[0] == other.qualname.rpartition(".")[0]
