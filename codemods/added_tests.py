"""``add_tests(T)``, by which a function of the module puts further tests into a class before that is instantiated.

They are not seen, and stay with the class: so may do the call, where the function does nothing else with the class.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemods.edit import SourceFile
from hwlint.scan.names import dotted


def adding_calls(file: SourceFile, cls: str, line: int, moved: Collection[str]) -> set[tuple[int, int]]:
    """Line and column of each ``T`` in a call of the module, above ``line``, that only adds tests to the class.

    The function may not name any of the members ``moved``, which leave the class.
    """
    functions = {n.name: n for n in file.tree.body if isinstance(n, ast.FunctionDef)}
    found = set()
    for node in file.tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        if not isinstance(call, ast.Call) or call.lineno >= line or len(call.args) != 1 or call.keywords:
            continue
        function = functions.get(dotted(call.func))
        if function is not None and dotted(call.args[0]) == cls and _only_adds(function, moved):
            found.add((call.args[0].lineno, call.args[0].col_offset))
    return found


def _only_adds(function: ast.FunctionDef, moved: Collection[str]) -> bool:
    arguments = function.args
    plain = arguments.args
    if len(plain) != 1 or arguments.posonlyargs or arguments.kwonlyargs or arguments.vararg or arguments.kwarg:
        return False
    if function.decorator_list:
        return False
    parameter = plain[0].arg
    allowed = {id(name) for name in _harmless(function, parameter)}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == parameter and id(node) not in allowed:
            return False
        if isinstance(node, ast.arg) and node.arg == parameter and node is not plain[0]:
            return False
        word = node.attr if isinstance(node, ast.Attribute) else node.value if isinstance(node, ast.Constant) else ""
        if isinstance(word, str) and word in moved:
            return False
        if isinstance(node, (ast.Global, ast.Nonlocal)) or dotted(node) in ("eval", "exec", "locals", "vars"):
            return False
    return True


def _harmless(function: ast.FunctionDef, parameter: str) -> Iterator[ast.Name]:
    """Places of the parameter that add a test, make sure that none is there yet, or say what the class is called."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and node.attr in ("__name__", "__qualname__"):
            if isinstance(node.value, ast.Name):
                yield node.value
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not):
            yield from _first(node.test.operand, "hasattr")
        if isinstance(node, ast.Call) and len(node.args) == 3 and _is_test_name(function, node.args[1]):
            yield from _first(node, "setattr")


def _first(node: ast.expr, callee: str) -> Iterator[ast.Name]:
    if isinstance(node, ast.Call) and dotted(node.func) == callee and node.args and isinstance(node.args[0], ast.Name):
        yield node.args[0]


def _is_test_name(function: ast.FunctionDef, node: ast.expr) -> bool:
    """Whether the text begins with 'test', written there or bound to the name that stands there."""
    if isinstance(node, ast.Name):
        bound = [n for n in ast.walk(function) if isinstance(n, ast.Name) and n.id == node.id]
        values = [
            n.value
            for n in ast.walk(function)
            if isinstance(n, ast.Assign) and [dotted(target) for target in n.targets] == [node.id]
        ]
        stored = sum(not isinstance(n.ctx, ast.Load) for n in bound)
        return bool(values) and stored == len(values) and all(_is_test_name(function, value) for value in values)
    if isinstance(node, ast.JoinedStr):
        return bool(node.values) and _is_test_name(function, node.values[0])
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("test")
