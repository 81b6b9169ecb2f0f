"""A file that imports a test class from another imports what the same run has made of that class."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
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
            return [_spread(file, node, names)]
    return [_in_place(file, alias, names[alias.name]) for alias in node.names if alias.name in names]


def _in_place(file: SourceFile, alias: ast.alias, names: Sequence[str]) -> Splice:
    start, end = _range(file, alias)
    line = file.line_text(alias.lineno).rstrip("\r\n").strip(BLANK)
    alone = line.rstrip(",") == file.text[start:end]
    between = f",{file.line_break(alias.lineno)}{file.indent_of(alias.lineno)}" if alone else ", "
    return Splice(start, end, between.join(names))


def _spread(file: SourceFile, node: ast.ImportFrom, names: Mapping[str, tuple[str, ...]]) -> Splice:
    """The statement with a name a line; a comment at its end goes behind the parenthesis, where formatters put it."""
    start, end = file.node_range(node)
    rest = file.text[end : file.line_end(node.lineno)].strip(BLANK)
    if rest and not rest.startswith("#"):
        raise CannotEdit("another statement stands on the line of the import")
    comment = f"  {rest}" if rest else ""
    line_break, indent = file.line_break(node.lineno), file.indent_of(node.lineno)
    entries: list[str] = []
    for alias in node.names:
        entries += names.get(alias.name, (file.text[slice(*_range(file, alias))],))
    body = "".join(f"{indent}    {entry},{line_break}" for entry in entries)
    text = f"from {node.module} import ({comment}{line_break}{body}{indent})"
    return Splice(start, file.line_end(node.lineno), text)


def _range(file: SourceFile, alias: ast.alias) -> tuple[int, int]:
    end_line, end_column = alias.end_lineno or alias.lineno, alias.end_col_offset or alias.col_offset
    return file.offset(alias.lineno, alias.col_offset), file.offset(end_line, end_column)
