"""The nodes of one function by place, with what is around each, and the names that it binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from codemods.device_values import Blocked
from codemods.edit import FunctionNode, SourceFile
from hwlint.scan.facts import Span
from hwlint.scan.names import span_of

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class FunctionTree:
    """One function of a file, its decorators left out."""

    def __init__(self, file: SourceFile, node: FunctionNode) -> None:
        self.file = file
        self.node = node
        self.parents: dict[int, ast.AST] = {}
        self.by_span: dict[Span, list[ast.expr]] = {}
        stack: list[ast.AST] = [*node.body, node.args]
        for child in stack:
            self.parents[id(child)] = node
        while stack:
            one = stack.pop()
            if isinstance(one, ast.expr):
                self.by_span.setdefault(span_of(one), []).append(one)
            for child in ast.iter_child_nodes(one):
                self.parents[id(child)] = one
                stack.append(child)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.parents.get(id(node))

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What is around ``node``, from the inside out; the function itself is the last."""
        up = self.parents.get(id(node))
        while up is not None:
            yield up
            up = self.parents.get(id(up))

    def at(self, span: Span) -> ast.expr:
        """The outermost expression with exactly that span. Raises Blocked."""
        found = self.by_span.get(span)
        if not found:
            raise Blocked("layout", f"nothing is where it was (line {span.line})", span)
        return min(found, key=lambda n: sum(1 for _ in self.ancestors(n)))

    def nodes_at(self, span: Span) -> list[ast.expr]:
        """The expressions with exactly that span."""
        return self.by_span.get(span, [])

    def calls_at(self, span: Span, name: str) -> ast.Call:
        """The call of the method ``name`` whose name starts and whose arguments end at ``span``."""
        for nodes in self.by_span.values():
            for node in nodes:
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
                    end = span_of(node.func)
                    start = (end.end_line, end.end_column - len(name.encode()))
                    whole = span_of(node)
                    if start == (span.line, span.column) and (whole.end_line, whole.end_column) == (
                        span.end_line,
                        span.end_column,
                    ):
                        return node
        raise Blocked("layout", f"no call of .{name}() is where it was (line {span.line})", span)

    def scopes_between(self, node: ast.AST) -> Iterator[Scope]:
        """Nested functions, lambdas and classes that ``node`` stands in, from the inside out."""
        for up in self.ancestors(node):
            if up is not self.node and isinstance(up, SCOPES):
                yield up

    @cached_property
    def _bindings(self) -> dict[int, set[str]]:
        """Names bound in each scope, by the identity of its node."""
        found: dict[int, set[str]] = {id(self.node): arguments_of(self.node)}
        pending: list[tuple[ast.AST, int]] = [(child, id(self.node)) for child in self.node.body]
        while pending:
            one, scope = pending.pop()
            names = found.setdefault(scope, set())
            inner = scope
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                names.add(one.name)
            if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                found[id(one)] = arguments_of(one)
                inner = id(one)
            elif isinstance(one, ast.ClassDef):
                inner = id(one)
            elif isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load):
                names.add(one.id)
            elif isinstance(one, ast.ExceptHandler) and one.name:
                names.add(one.name)
            elif isinstance(one, (ast.Import, ast.ImportFrom)):
                names.update((a.asname or a.name).partition(".")[0] for a in one.names)
            elif isinstance(one, (ast.Global, ast.Nonlocal)):
                names.update(one.names)
            elif isinstance(one, (ast.MatchAs, ast.MatchStar)) and one.name:
                names.add(one.name)
            elif isinstance(one, ast.MatchMapping) and one.rest:
                names.add(one.rest)
            for child in ast.iter_child_nodes(one):
                pending.append((child, inner))
        return found

    def binds(self, name: str) -> bool:
        """Whether the function binds ``name`` in its own scope, parameters included."""
        return name in self._bindings[id(self.node)]

    def hides_module(self, name: str, node: ast.AST) -> bool:
        """Whether ``name``, that of a module, may mean something else at ``node``, or nothing yet.

        The function may import the module itself: ``import torch`` above ``node``, under no condition.
        """
        if self.is_shadowed(name, node):
            return True
        if not self.binds(name):
            return False
        imported = [
            s.end_lineno or s.lineno
            for s in self.node.body
            if isinstance(s, ast.Import) and any(a.name.partition(".")[0] == name and a.asname is None for a in s.names)
        ]
        return not imported or self._times_bound(name) > len(imported) or min(imported) >= getattr(node, "lineno", 0)

    def _times_bound(self, name: str) -> int:
        """In how many places the function may bind ``name``; every import of a part of the module is one."""
        count = int(name in arguments_of(self.node))
        for node in (n for statement in self.node.body for n in ast.walk(statement)):
            if isinstance(node, ast.Name):
                count += node.id == name and not isinstance(node.ctx, ast.Load)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                count += any((a.asname or a.name).partition(".")[0] == name for a in node.names)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)):
                count += node.name == name
            elif isinstance(node, (ast.Global, ast.Nonlocal)):
                count += name in node.names
            elif isinstance(node, (ast.MatchAs, ast.MatchStar)):
                count += node.name == name
            elif isinstance(node, ast.MatchMapping):
                count += node.rest == name
        return count

    def reads_outer(self, name: str) -> bool:
        """Whether it reads ``name`` as what stands outside of the function: a parameter of that name would hide it."""
        nodes = [n for statement in self.node.body for n in ast.walk(statement)]
        if any(isinstance(n, ast.Global) and name in n.names for n in nodes):
            return True
        within = [n for n in nodes if isinstance(n, COMPREHENSIONS) and name in _targets(n)]
        if self.binds(name) and self._times_bound(name) > sum(_targets(n).count(name) for n in within):
            return False
        inside = {id(n) for one in within for n in ast.walk(one)}
        loads = (n for n in nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load))
        return any(id(n) not in inside and not self.is_shadowed(name, n) for n in loads)

    def binds_again(self, name: str) -> bool:
        """Whether the function binds ``name`` in its own scope beside a parameter of that name."""
        inner = {id(n) for n in ast.walk(self.node) if isinstance(n, SCOPES)}
        inner.discard(id(self.node))
        for node in ast.walk(self.node):
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                if not any(id(up) in inner for up in self.ancestors(node)):
                    return True
        return False

    def binds_inside(self, name: str) -> bool:
        """Whether any scope inside it binds ``name``."""
        return any(name in names for key, names in self._bindings.items() if key != id(self.node))

    def is_shadowed(self, name: str, node: ast.AST) -> bool:
        """Whether a scope between ``node`` and the function binds ``name``: there it means something else."""
        return any(name in self._bindings.get(id(scope), ()) for scope in self.scopes_between(node))


def _targets(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[str]:
    """The names that a comprehension binds, each as often as it does."""
    return [n.id for part in node.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)]


def arguments_of(node: FunctionNode | ast.Lambda) -> set[str]:
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {a.arg for a in every if a is not None}
