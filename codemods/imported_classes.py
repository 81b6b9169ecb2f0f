"""A file that imports a test class from another imports what the same run has made of that class."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from codemods.edit import BLANK, SourceFile, Splice
from codemods.importers import Replacement, import_of
from codemods.imports import alias_range, one_name_a_line
from codemods.plan import CannotEdit, Change, Codemod, Context, Plan, PlanBuilder
from hwlint.scan.names import span_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedClassesChange(Change):
    replacement: Replacement


class ImportedClasses(Codemod):
    name = "imported_classes"
    summary = "Imports what a change to another file of the run has made of a class."
    follows = True

    def enabled(self, context: Context) -> bool:
        return bool(context.replacements)

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        file = context.source()
        bound = {name for name, _ in context.module.imports}
        for one in context.replacements:
            found = import_of(file.tree, one.importer, one.path, one.name)
            missing = [name for name in one.names if name not in bound]
            if found is None or not missing:
                continue
            gone = "" if one.name in one.names else f" in place of {one.name}"
            plan.add(
                ImportedClassesChange(
                    codemod=self.name,
                    symbol="",
                    span=span_of(found[0]),
                    description=f"import {', '.join(missing)}{gone} from {one.path}",
                    applicability="unsafe",
                    replacement=one,
                )
            )
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        statements: dict[int, ast.ImportFrom] = {}
        names: dict[int, dict[str, tuple[str, ...]]] = {}
        for one in (change.replacement for change in changes if isinstance(change, ImportedClassesChange)):
            found = import_of(file.tree, one.importer, one.path, one.name)
            if found is None:
                raise CannotEdit(f"the import of {one.name} is not where it was")
            statements[found[0].lineno] = found[0]
            names.setdefault(found[0].lineno, {})[one.name] = one.names
        return [s for line, node in statements.items() for s in _splices(file, node, names[line])]


def _splices(file: SourceFile, node: ast.ImportFrom, names: Mapping[str, tuple[str, ...]]) -> list[Splice]:
    """The new names in the places of the old ones, in the layout of the list: one name a line where the line would
    get too long. Raises CannotEdit.
    """
    if node.lineno == node.end_lineno:
        longer = sum(len(", ".join(new)) - len(old) for old, new in names.items())
        if len(file.line_text(node.lineno).rstrip("\r\n")) + longer > file.line_length:
            entries: list[str] = []
            for alias in node.names:
                entries += names.get(alias.name, (file.text[slice(*alias_range(file, alias))],))
            return [one_name_a_line(file, node, entries)]
    return [_in_place(file, alias, names[alias.name]) for alias in node.names if alias.name in names]


def _in_place(file: SourceFile, alias: ast.alias, names: Sequence[str]) -> Splice:
    start, end = alias_range(file, alias)
    line = file.line_text(alias.lineno).rstrip("\r\n").strip(BLANK)
    alone = line.rstrip(",") == file.text[start:end]
    between = f",{file.line_break(alias.lineno)}{file.indent_of(alias.lineno)}" if alone else ", "
    return Splice(start, end, between.join(names))
