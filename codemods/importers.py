"""The files of a run that import classes from one another, and whether they can import something else instead."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field

from codemods.importing_files import HiddenImport
from hwlint.suite.imports import candidate_paths


@dataclass(frozen=True, slots=True)
class Replacement:
    """What ``importer`` imports in place of the class ``name`` of ``path``; ``names`` has that name if it stays."""

    importer: str
    path: str
    name: str
    names: tuple[str, ...]


@dataclass
class Importers:
    """The files that a run may change, as those that import from one another."""

    paths: Collection[str] = ()
    read: Callable[[str], ast.Module | None] = field(default=lambda path: None)
    """The syntax tree of a file, None where it cannot be read."""
    denied: Collection[tuple[str, str]] = ()
    """(path, class) of what an importer could not follow after all."""
    hidden: Mapping[str, tuple[HiddenImport, ...]] = field(default_factory=dict)
    """Imports by path of what they import from, beside those that are statements of a module."""
    known: dict[str, _Module | None] = field(default_factory=dict)

    def hidden_importer(self, path: str, name: str) -> str:
        """A file that imports the class, or all of its module, where it is not seen how; '' for none."""
        found = (one.importer for one in self.hidden.get(path, ()) if one.names is None or name in one.names)
        return next((p for p in found if not self._at_module_level(p, path, name)), "")

    def _at_module_level(self, importer: str, path: str, name: str) -> bool:
        """A ``try`` or ``if`` of the module is no function."""
        module = self._module(importer)
        return module is not None and import_of(module.tree, importer, path, name) is not None

    def needs_change(self, importer: str, path: str, name: str) -> bool:
        """Whether ``importer`` names the class; ``from module import *`` takes what is there, and ``import module`` of
        which nothing is read takes nothing.
        """
        module = self._module(importer)
        if module is None or name in module.names:
            return True
        return not (_imports_all(module.tree, importer, path) or _only_runs(module, importer, path))

    def obstacle(self, importer: str, path: str, name: str) -> str:
        """Why ``importer`` cannot import something else in place of the class ``name`` of ``path``; '' where it can.

        It must do no more with the class than to import it, by its own name, at module level: what unittest collects.
        """
        if importer not in self.paths:
            return "and would have to be migrated in the same run"
        if (path, name) in self.denied:
            return "and its import could not be changed"
        module = self._module(importer)
        if module is None or import_of(module.tree, importer, path, name) is None:
            return "in an unusual way"
        return "and uses it" if name in module.names else ""

    def _module(self, path: str) -> _Module | None:
        if path not in self.known:
            tree = self.read(path)
            self.known[path] = _named(tree) if tree is not None else None
        return self.known[path]


@dataclass(frozen=True, slots=True)
class _Module:
    tree: ast.Module
    names: frozenset[str]
    """All that its code names, but for imports: names, attributes and texts."""


def _named(tree: ast.Module) -> _Module:
    names: set[str] = set()
    for node in ast.walk(tree):
        for said in (getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "value", None)):
            if isinstance(said, str):
                names.add(said)
    return _Module(tree, frozenset(names))


def import_of(tree: ast.Module, importer: str, path: str, name: str) -> tuple[ast.ImportFrom, ast.alias] | None:
    """The one statement of ``importer`` that imports the class, by its own name, and the name in it."""
    found = [
        (statement, alias)
        for statement in ast.walk(tree)
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if name in (alias.name, alias.asname)
    ]
    if len(found) != 1:
        return None
    statement, alias = found[0]
    plain = not statement.level and alias.name == name and alias.asname in (None, name)
    if not plain or statement not in _module_imports(tree):
        return None
    return (statement, alias) if path in candidate_paths(statement.module or "", importer) else None


def _imports_all(tree: ast.Module, importer: str, path: str) -> bool:
    """Whether it has ``from module import *`` at module level."""
    return any(
        not statement.level
        and statement.names[0].name == "*"
        and path in candidate_paths(statement.module or "", importer)
        for statement in _module_imports(tree)
    )


def _only_runs(module: _Module, importer: str, path: str) -> bool:
    """Whether it imports the module as a whole and nothing of it, and never says its name again."""
    taken = False
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom) and path in candidate_paths(node.module or "", importer):
            return False
        if isinstance(node, ast.ImportFrom):
            folder = f"{node.module}." if node.module else ""
            names = {a.asname or a.name: folder + a.name for a in node.names}
        elif isinstance(node, ast.Import):
            names = {a.asname or a.name: a.name for a in node.names}
        else:
            continue
        local = next((bound for bound, name in names.items() if path in candidate_paths(name, importer)), "")
        taken = taken or bool(local)
        if local and (local in module.names or "." in local):
            return False
    return taken


def _module_imports(tree: ast.Module) -> Iterator[ast.ImportFrom]:
    """The ``from ... import`` statements that run with the module, in its blocks too."""
    pending: list[ast.AST] = [*tree.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.ImportFrom):
            yield node
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.expr)):
            pending += ast.iter_child_nodes(node)
