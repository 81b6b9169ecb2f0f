"""Decorators that a test file makes for itself, where their source shows that they hand on what they are called with.

Three forms: ``sizes = parametrize("n", [1, 2])``; ``def patched(fn): return config.patch(x=1)(fn)``; and a wrapper with
``functools.wraps`` that takes and passes ``*args, **kwargs`` and does nothing else with them.
"""

from __future__ import annotations

import ast
import re

from codemods.plan import Context
from hwlint.scan.facts import Decorator
from hwlint.scan.names import dotted

SETTINGS = re.compile(
    r"torch\.(no_grad|enable_grad|inference_mode|set_grad_enabled|autograd\.set_detect_anomaly"
    r"|backends\.[\w.]+\.flags|(_dynamo|_inductor|_functorch)\.config\.patch"
    r"|_dynamo\.utils\.disable_cache_limit|_inductor\.utils\.fresh(_inductor)?_cache"
    r"|_disable_dynamo|fx\._lazy_graph_module\._force_skip_lazy_graph_module"
    r"|distributed\.c10d_logger\._exception_logger)"
)
"""Decorators of torch, most of them context managers too: each wraps with ``functools.wraps`` and hands on all that it
gets."""


def made_by(context: Context, decorator: Decorator) -> str:
    """What the decorator is: its own qualified name, or that of the call in ``sizes = parametrize(...)``."""
    if decorator.called or "." in decorator.qualified or context.file is None:
        return decorator.qualified
    tree = context.source().tree
    bound = [
        statement.value
        for statement in tree.body
        if isinstance(statement, ast.Assign) and any(_binds(target, decorator.name) for target in statement.targets)
    ]
    if len(bound) != 1 or not isinstance(bound[0], ast.Call):
        return decorator.qualified
    if sum(1 for node in ast.walk(tree) if _binds(node, decorator.name)) > 1:
        return decorator.qualified
    return _qualified(context, bound[0].func)


def is_transparent(context: Context, decorator: Decorator) -> bool:
    """Whether the decorator is a function of the file that hands on all it is called with, and shows the parameters."""
    if decorator.called or "." in decorator.qualified or context.file is None:
        return False
    found = [n for n in ast.walk(context.source().tree) if _binds(n, decorator.name)]
    node = found[0] if len(found) == 1 else None
    if not isinstance(node, ast.FunctionDef) or node not in context.source().tree.body or node.decorator_list:
        return False
    given = node.args
    if len(given.args) != 1 or given.vararg or given.kwarg or given.kwonlyargs or given.posonlyargs or given.defaults:
        return False
    return _Body(context, node, given.args[0].arg).is_transparent()


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return node.name == name
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


def _reads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _qualified(context: Context, node: ast.expr) -> str:
    head, dot, rest = dotted(node).partition(".")
    return dict(context.module.imports).get(head, head) + dot + rest


class _Body:
    """The body of one decorator, whose parameter is ``name``: each statement must be one that is understood."""

    def __init__(self, context: Context, node: ast.FunctionDef, name: str) -> None:
        self.context = context
        self.node = node
        self.name = name
        self.wrappers: set[str] = set()
        """Functions in it that do as the test does."""
        self.settings: set[str] = set()
        """Loop variables over calls that only change settings."""

    def is_transparent(self) -> bool:
        *body, last = self.node.body
        if not isinstance(last, ast.Return) or last.value is None:
            return False
        if not all(self._is_understood(statement) for statement in body):
            return False
        return self._is_the_test(last.value)

    def _is_the_test(self, node: ast.expr) -> bool:
        """Whether it is the decorated test, or what does as that does."""
        if isinstance(node, ast.Name):
            return node.id == self.name or node.id in self.wrappers
        one = isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords
        return one and self._changes_settings(node.func) and self._is_the_test(node.args[0])  # type: ignore[attr-defined]

    def _changes_settings(self, node: ast.expr) -> bool:
        """Whether it is a decorator that changes a setting while the test runs, and hands on everything."""
        if isinstance(node, ast.Name):
            return node.id in self.settings
        if not isinstance(node, ast.Call) or self._mentions(node):
            return False
        called = _qualified(self.context, node.func)
        if called == "unittest.mock.patch.object":
            return len(node.args) >= 3  # Else the test is passed a mock.
        return SETTINGS.fullmatch(called) is not None

    def _is_understood(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.For):
            calls = statement.iter.elts if isinstance(statement.iter, (ast.List, ast.Tuple)) else []
            if not isinstance(statement.target, ast.Name) or not all(self._changes_settings(c) for c in calls):
                return not self._mentions(statement)
            self.settings.add(statement.target.id)
            return bool(calls) and not statement.orelse and all(self._is_understood(s) for s in statement.body)
        if isinstance(statement, ast.Assign) and [dotted(t) for t in statement.targets] == [self.name]:
            return self._is_the_test(statement.value)
        if isinstance(statement, ast.FunctionDef) and statement.name not in self.wrappers and self._mentions(statement):
            self.wrappers.add(statement.name)
            return self._wraps(statement)
        known = {self.name, *self.wrappers, *self.settings}
        simple = isinstance(statement, (ast.FunctionDef, ast.Expr, ast.Assign))
        return simple and not any(
            _binds(n, name) or _reads(n, self.name) for n in ast.walk(statement) for name in known
        )

    def _mentions(self, node: ast.AST) -> bool:
        return any(_reads(n, self.name) or _binds(n, self.name) for n in ast.walk(node))

    def _wraps(self, inner: ast.FunctionDef) -> bool:
        """Whether ``inner`` shows the test's parameters, and passes on all of its own, unread."""
        given = inner.args
        if given.vararg is None or given.kwarg is None or given.kwonlyargs or given.defaults or given.posonlyargs:
            return False
        above = inner.decorator_list[0] if len(inner.decorator_list) == 1 else None
        if not isinstance(above, ast.Call) or [ast.unparse(a) for a in above.args] != [self.name] or above.keywords:
            return False
        if _qualified(self.context, above.func) != "functools.wraps":
            return False
        owner = [a.arg for a in given.args]
        passed = [*owner, f"*{given.vararg.arg}", f"**{given.kwarg.arg}"]
        calls = [
            n
            for n in ast.walk(inner)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == self.name
        ]
        names = [n.id for s in inner.body for n in ast.walk(s) if isinstance(n, ast.Name)]
        return (
            bool(calls)
            and owner in ([], ["self"])
            and all(ast.unparse(call) == f"{self.name}({', '.join(passed)})" for call in calls)
            and names.count(self.name) == names.count(given.vararg.arg) == names.count(given.kwarg.arg) == len(calls)
        )
