"""A file that imports a test class from another imports what the same run has made of that class."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from codemods.edit import BLANK, SourceFile, Splice
from codemods.importers import Replacement, import_of
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
        return [_splice(file, change.replacement) for change in changes if isinstance(change, ImportedClassesChange)]


def _splice(file: SourceFile, one: Replacement) -> Splice:
    """The new names in the place of the old one, and in the layout of the list. Raises CannotEdit."""
    found = import_of(file.tree, one.importer, one.path, one.name)
    if found is None:
        raise CannotEdit(f"the import of {one.name} is not where it was")
    statement, alias = found
    start = file.offset(alias.lineno, alias.col_offset)
    end = file.offset(alias.end_lineno or alias.lineno, alias.end_col_offset or alias.col_offset)
    line = file.line_text(alias.lineno)
    alone = line.strip(BLANK).rstrip("\r\n").rstrip(",") == file.text[start:end] and _is_spread(statement)
    between = f",{file.line_break(alias.lineno)}{file.indent_of(alias.lineno)}" if alone else ", "
    return Splice(start, end, between.join(one.names))


def _is_spread(statement: ast.ImportFrom) -> bool:
    return statement.lineno != statement.end_lineno
