"""Calls of device modules in a class body, as upstream's linter looks for them in a GENERIC class.

It reads ``torch....()`` with the name of a device module between two dots, whatever the call does; so do we.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from hwlint.catalog.upstream_linter import upstream_linters
from hwlint.scan.device_words import lines_at, one_newline
from hwlint.scan.facts import AcceleratorCall
from hwlint.scan.names import source_of, span_of

MODULES = frozenset(word for linter in upstream_linters().values() for word in linter.call_modules)
_AFTER_A_DOT = re.compile(rf"\.(?:{'|'.join(sorted(MODULES))})")


def call_lines(text: str) -> tuple[int, ...]:
    """Numbers of the lines that name a device module after a dot, sorted."""
    text = one_newline(text)
    return lines_at([match.start() for match in _AFTER_A_DOT.finditer(text)], text)


def accelerator_calls(body: Iterable[ast.stmt], lines: Sequence[int]) -> Iterator[AcceleratorCall]:
    """The calls in the statements of a class body, where they touch one of ``lines``."""
    for statement in body:
        owner = statement.name if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) else ""
        stack: list[ast.AST] = [statement]
        while stack:
            node = stack.pop()
            first = getattr(node, "lineno", None)
            if first is not None:
                decorators = getattr(node, "decorator_list", ())
                first = min([first, *(d.lineno for d in decorators)]) if decorators else first
                at = bisect_left(lines, first)
                if at == len(lines) or lines[at] > node.end_lineno:  # type: ignore[attr-defined]
                    continue
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _starts_at_torch(node.func):
                name = source_of(node.func)
                if not MODULES.isdisjoint(name.split(".")):
                    yield AcceleratorCall(span_of(node), name, owner)
            stack.extend(ast.iter_child_nodes(node))


def _starts_at_torch(node: ast.expr) -> bool:
    """Whether the text of the expression begins with ``torch.``."""
    while isinstance(node, (ast.Attribute, ast.Call, ast.Subscript)):
        inner = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(inner, ast.Name):
            return inner.id == "torch" and isinstance(node, ast.Attribute)
        node = inner
    return False
