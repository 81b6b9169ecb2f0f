"""Changes to a class that other files import: it is taken apart, or instantiation takes its name away.

A file that collects the tests of others (``from jit.test_hash import TestHash``, as test/test_jit.py does) imports what
comes of the class instead, in the same run (codemods/imported_classes.py). Of a class that is instantiated these are
the classes that the loader makes, which are there only where their device is, and where nobody leaves it out
(``PYTORCH_TESTING_DEVICE_ONLY_FOR``): the file that makes them binds their names to None first, as upstream's
test/jit/test_dtype_analysis.py does for ``TestDtypeCustomRulesCPU``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from codemods.device_values import Blocked
from codemods.importers import Replacement
from codemods.plan import Change, Context, ImportedChange
from hwlint.catalog import Catalog
from hwlint.scan.spans import class_span
from hwlint.suite.ids import generated_classes, suffix
from hwlint.suite.model import LinkedClass, Suite


def importers_of(context: Context, cls: LinkedClass) -> tuple[str, ...]:
    """Files that import ``cls`` by its name, all of which can import something else instead. Raises Blocked.

    One that imports all there is in the module gets what comes of the class without a change. Of a class that is
    instantiated others can only import what the loader makes: nothing else takes the place of that.
    """
    for name, _ in generated_classes(cls) if cls.is_instantiated else ():
        if paths := _importing(context, name):
            raise Blocked("imported-elsewhere", f"{paths[0]} imports {name}", class_span(cls.facts))
    found = _importing(context, cls.name)
    hidden = context.others.hidden_importer(context.path, cls.name)
    if hidden:
        raise Blocked("imported-elsewhere", f"{hidden} imports it, in an unusual way", class_span(cls.facts))
    for path in found:
        obstacle = context.others.obstacle(path, context.path, cls.name)
        if obstacle:
            raise Blocked("imported-elsewhere", f"{path} imports it, {obstacle}", class_span(cls.facts))
    return found


def _importing(context: Context, name: str) -> tuple[str, ...]:
    """Files that would have to import something else in place of ``name``."""
    everywhere = dict.fromkeys(context.imported_by(name))
    if not everywhere:
        return ()
    listed = "__all__" in context.source().text
    return tuple(p for p in everywhere if listed or context.others.needs_change(p, context.path, name))


def bound_first(
    context: Context, cls: LinkedClass, devices: Sequence[str], name: str = ""
) -> tuple[str, tuple[str, ...]]:
    """A statement to stand above the instantiation of ``cls`` for ``devices``, and the files that it is for.

    Nothing where no other file imports the class, or the one that it came out of. ``name`` is that of a class that
    comes out of ``cls``.
    """
    paths = importers_of(context, cls) or _heirs(context.made).get(cls.name, ())
    made = [device for device in devices if _is_collected(context.catalog, device)]
    names = [(name or cls.name) + suffix(device) for device in made]
    if not paths or not names:
        return "", paths
    return f"{' = '.join(names)} = None  # {', '.join(paths)} imports {'them' if len(names) > 1 else 'it'}", paths


def replacements(changes: Iterable[Change], suite: Suite, path: str) -> tuple[Replacement, ...]:
    """What other files import in place of classes of ``path`` after ``changes``; ``suite`` is the one afterwards."""
    changes = tuple(changes)
    names: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        if isinstance(change, ImportedChange):
            for importer in change.importers:
                names.setdefault((importer, change.cls), [change.cls])
    for known in names.values():
        for change in changes:
            if isinstance(change, ImportedChange) and change.cls in known:
                at = known.index(change.cls)
                known[at : at + 1] = [name for name in change.becomes if name not in known or name == change.cls]
    classes = {cls.name: cls for cls in suite.classes_in(path)}
    return tuple(
        Replacement(importer, path, name, tuple(n for one in known if one in classes for n in _collected(classes[one])))
        for (importer, name), known in names.items()
    )


def _heirs(changes: Iterable[Change]) -> dict[str, tuple[str, ...]]:
    """The importers of each class that has come out of an imported one."""
    found: dict[str, tuple[str, ...]] = {}
    for change in changes:
        if isinstance(change, ImportedChange):
            paths = change.importers or found.get(change.cls, ())
            if paths:
                found.update(dict.fromkeys(change.becomes, paths))
    return found


def _collected(cls: LinkedClass) -> tuple[str, ...]:
    """Names by which another file gets to the tests of ``cls``."""
    if not cls.is_instantiated:
        return (cls.name,)
    return tuple(name for name, device in generated_classes(cls) if _is_collected(cls.suite.catalog, device))


def _is_collected(catalog: Catalog, device: str) -> bool:
    """Whether other files import the classes for ``device``, which has a label of its own: the tests ran there, under a
    gate or without. What the loader makes for others is new, and runs with the file that makes it.
    """
    return bool(catalog.backends[device].hw_classification)
