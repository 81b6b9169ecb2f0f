"""Removes imports that the other codemods left without a use; never one that was unused before."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from codemods.edit import SourceFile, Splice, statements
from codemods.imports import remove_names
from codemods.plan import CannotEdit, Change, Codemod, Context, Plan, PlanBuilder
from hwlint.scan.names import span_of

WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True, kw_only=True)
class TidyChange(Change):
    """Names that go out of the import at ``span``."""

    names: tuple[str, ...]


class TidyImports(Codemod):
    name = "tidy_imports"
    summary = "Removes imports that the other codemods left unused."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        file, original = context.file, context.original
        if file is None or original is None or file is original:
            return plan.done()
        fewer = _fewer_words(original.text, file.text) & {local for local, _ in context.module.imports}
        if not fewer:
            return plan.done()
        unused = (used_names(original.tree) - used_names(file.tree)) - _exported(file.tree)
        for node in statements(file.tree.body):
            if isinstance(node, (ast.Import, ast.ImportFrom)) and not _is_future(node):
                names = tuple(name for name in map(_local_name, node.names) if name in unused & fewer)
                if names and (node not in file.tree.body or "noqa" in file.line_text(node.lineno)):
                    text = f"{', '.join(names)} is no longer used; its import stands in a block, or is marked `noqa`"
                    plan.refuse("", "layout", text, span_of(node))
                elif names:
                    plan.add(
                        TidyChange(
                            codemod=self.name,
                            symbol="",
                            span=span_of(node),
                            description=f"no longer import {', '.join(names)}",
                            names=names,
                        )
                    )
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        nodes = {span_of(n): n for n in file.tree.body}
        for change in changes:
            node = nodes.get(change.span)
            if not isinstance(change, TidyChange) or not isinstance(node, (ast.Import, ast.ImportFrom)):
                raise CannotEdit("the import is not where it was")
            found.extend(remove_names(file, node, change.names))
        return found


def _fewer_words(before: str, after: str) -> set[str]:
    """Words that ``after`` has less often: only those can have lost their last use."""
    return set(Counter(WORD.findall(before)) - Counter(WORD.findall(after)))


def used_names(tree: ast.AST) -> set[str]:
    """Names that are read, assigned or deleted anywhere but in an import; for ``a.b.c``, 'a'."""
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        # Names in quoted annotations and the like.
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found.add(node.value)
    return found


def _exported(tree: ast.Module) -> set[str]:
    """Names in ``__all__``."""
    found: set[str] = set()
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
        if any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets):
            found |= {n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return found


def _local_name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _is_future(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"
