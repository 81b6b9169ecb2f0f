"""What an ``if`` of the module decides that asks for a device when the file is imported, and who reads it.

``if HAS_CUDA: import triton`` and ``if bf16: CONFIGS.append(...)`` matter to those classes alone that read the names
which are bound or changed there, or what the module makes of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from codemods.edit import SourceFile
from codemods.plan import Context
from hwlint.scan.facts import Span
from hwlint.scan.names import dotted, span_of
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach

CHANGING = frozenset("append extend insert add update remove discard pop setdefault".split())
"""Methods of lists, sets and dicts that change them and nothing else."""


def unread_gates(context: Context, cls: LinkedClass, reaches: Iterable[Reach]) -> frozenset[Span]:
    """The conditions of the module that decide on nothing that the tests of ``cls`` reach."""
    file = context.source()
    used = {cls.name}
    for reach in reaches:
        used |= {(r.owner.name if r.owner is not None else r.function.name) for r in reach.functions}
        used |= {other.name for other in reach.classes}
    found = set()
    for node in file.tree.body:
        if isinstance(node, ast.If) and any(g.span == span_of(node.test) for g in context.module.gates):
            decided = _decided(node)
            made = _made_of(file, node, decided) if decided is not None else None
            if made is not None and not made & used:
                found.add(span_of(node.test))
    return frozenset(found)


def _decided(node: ast.If) -> set[str] | None:
    """The names that the ``if`` binds or changes; None where it does more than that."""
    names: set[str] = set()
    for statement in (*node.body, *node.orelse):
        bound = _bound(statement)
        if bound is None:
            return None
        names |= bound
    return names


def _bound(statement: ast.stmt) -> set[str] | None:
    """What a statement binds or changes; None where that cannot be told."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        names = {(a.asname or a.name).partition(".")[0] for a in statement.names}
        return None if "*" in names else names
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        names = {head for target in targets for head in _heads(target)}
        return names if "" not in names else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        head, _, rest = dotted(statement.value.func).rpartition(".")
        if f"{head}.".startswith(("torch.cuda.", "torch.xpu.")):
            return set()  # A setting of that device's own, which its tests find as before.
        return {head.partition(".")[0]} if head and rest in CHANGING else None
    if isinstance(statement, ast.If):
        return _decided(statement)
    return set() if isinstance(statement, ast.Pass) else None


def _heads(target: ast.expr) -> Iterator[str]:
    """The names that a target binds, or whose objects it changes; '' for what has none."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _heads(element)
    else:
        inner: ast.expr = target
        while isinstance(inner, (ast.Attribute, ast.Subscript, ast.Starred)):
            inner = inner.value
        yield inner.id if isinstance(inner, ast.Name) else ""


def _made_of(file: SourceFile, gate: ast.If, names: set[str]) -> set[str] | None:
    """``names``, and all that the module makes of them, functions and classes that read them included; None where
    something is done with them that cannot be told.
    """
    found = set(names)
    size = -1
    while size != len(found):
        size = len(found)
        for statement in file.tree.body:
            if statement is gate or not found & _read(statement) or _runs_tests(statement):
                continue
            bound = _bound(statement)
            if bound is None:
                return None
            found |= bound
    return found


def _runs_tests(statement: ast.stmt) -> bool:
    """``instantiate_...(T)``, ``if __name__ == "__main__":``."""
    if isinstance(statement, ast.If):
        return any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(statement.test))
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2].startswith("instantiate_")


def _read(statement: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
