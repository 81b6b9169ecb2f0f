"""``super(T, self)`` -> ``super()`` in a class whose name instantiation takes out of the module.

``instantiate_device_type_tests(T, globals())`` deletes ``T`` from the module
(torch/testing/_internal/common_device_type.py), so that any later read of the name is a NameError. The bare form
reads no name and means the same in a method of ``T`` itself.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from codemods.edit import SourceFile, Splice, rewrite
from codemods.plan import Change, Codemod, Context, Plan, PlanBuilder
from hwlint.scan.facts import Span
from hwlint.scan.names import span_of


class SuperCalls(Codemod):
    name = "super_calls"
    summary = "Writes `super(T, self)` as `super()` where T is instantiated, and its name therefore gone."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.classes():
            if not cls.is_instantiated or not _mentions_super(context.source(), cls.name):
                continue
            calls = list(super_calls(context.source().class_at(cls.facts.line)))
            for call in calls:
                plan.add(
                    Change(
                        codemod=self.name,
                        symbol=_owner(context.source(), cls.facts.line, call, cls.facts.qualname),
                        span=span_of(call),
                        description=f"write `{ast.unparse(call)}` in line {call.lineno} as `super()`",
                    )
                )
            inside = {(c.lineno, c.col_offset) for c in calls}
            for call in _all_super_calls(context.source().class_at(cls.facts.line), cls.name):
                if (call.lineno, call.col_offset) not in inside:
                    text = f"`{ast.unparse(call)}` reads a name that is gone; `super()` would mean something else there"
                    plan.refuse(cls.facts.qualname, "name-used-later", text, span_of(call))
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        return bare_super(file, [change.span for change in changes])


def bare_super(file: SourceFile, spans: Iterable[Span]) -> list[Splice]:
    """Splices that write the calls at ``spans`` without arguments."""
    import libcst as cst

    def without_arguments(node: cst.BaseExpression) -> cst.BaseExpression:
        return node.with_changes(args=(), whitespace_before_args=cst.SimpleWhitespace(""))

    return rewrite(file, [(span, without_arguments) for span in spans])


def _mentions_super(file: SourceFile, name: str) -> bool:
    return re.search(rf"super\s*\(\s*{re.escape(name)}\b", file.text) is not None


def _all_super_calls(node: ast.ClassDef, cls: str) -> Iterator[ast.Call]:
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "super" and child.args:
            if isinstance(child.args[0], ast.Name) and child.args[0].id == cls:
                yield child


def super_calls(node: ast.ClassDef) -> Iterator[ast.Call]:
    """Calls ``super(T, self)`` in methods of the class ``T`` that ``super()`` can stand for.

    Those in nested functions, lambdas and comprehensions have another first argument, or none, and are not among
    them.
    """
    for method in node.body:
        if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = (*method.args.posonlyargs, *method.args.args)
            static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in method.decorator_list)
            if arguments and not static:
                yield from _calls(method.body, node.name, arguments[0].arg)


def _calls(nodes: Sequence[ast.AST], cls: str, first: str) -> Iterator[ast.Call]:
    scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
    comprehensions = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for node in nodes:
        if isinstance(node, (*scopes, *comprehensions)):
            continue
        if _is_super(node, cls, first) and isinstance(node, ast.Call):
            yield node
        else:
            yield from _calls(list(ast.iter_child_nodes(node)), cls, first)


def _is_super(node: ast.AST, cls: str, first: str) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "super"
        and not node.keywords
        and len(node.args) == 2
        and all(isinstance(a, ast.Name) for a in node.args)
        and [a.id for a in node.args if isinstance(a, ast.Name)] == [cls, first]
    )


def _owner(file: SourceFile, class_line: int, call: ast.Call, qualname: str) -> str:
    for method in file.class_at(class_line).body:
        if method.lineno <= call.lineno <= (method.end_lineno or method.lineno):
            return f"{qualname}.{getattr(method, 'name', '')}"
    return qualname
