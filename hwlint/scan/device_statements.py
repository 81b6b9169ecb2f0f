"""Walks statements: assignments and loops bind names, ``with`` opens fake modes, local functions may be traced."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from hwlint.scan.device_places import DEVICE_NAME, IGNORED, PARAMETRIZE, TRACERS, UNKNOWN, Place, by_name
from hwlint.scan.device_walk import ExpressionWalker
from hwlint.scan.names import dotted

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class StatementWalker(ExpressionWalker):
    """Records the device uses of statements. Lines without a hit are passed over until a name carries a device."""

    read_all = False
    """Whether lines without a hit are read as well: some name of the module or of ``self`` holds a device."""
    function_name = ""

    def visit_block(self, statements: Sequence[ast.stmt]) -> None:
        has_hit = self.context.has_hit
        for node in statements:
            if not (self.read_all or self.recorder.loads or self.inner_uses):
                first = node.lineno
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.decorator_list:
                    first = node.decorator_list[0].lineno
                if not has_hit(first, node.end_lineno or first):
                    self._note_parameters(node)
                    continue
            visitor = STATEMENTS.get(node.__class__)
            if visitor is not None:
                visitor(self, node)
            else:
                self._other(node)

    def _other(self, node: ast.stmt) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.visit(child)

    # -- binding ----------------------------------------------------------------------------------------------------

    def assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._bind(target, node.value, last=target is node.targets[-1])

    def annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, node.value)

    def augmented(self, node: ast.AugAssign) -> None:
        self._bind(node.target, node.value)

    def _bind(self, target: ast.expr, value: ast.expr, last: bool = True) -> None:
        """``value`` is visited once, for the last of several targets."""
        if isinstance(target, ast.Name):
            if last:
                self._bind_name(target.id, value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
                for one, part in zip(target.elts, value.elts):
                    self._bind(one, part, last)
            elif last:
                self.visit(value)
        elif isinstance(target, ast.Attribute):
            self.visit(target, IGNORED if dotted(target.value) in ("self", "cls") else Place("api", "="))
            if last:
                self._bind_attribute(target, value)
        elif isinstance(target, ast.Subscript):
            self.visit(target.value)
            key = target.slice
            self.visit(key, Place("key", "[]", False))
            text = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
            if last:
                self.visit(value, by_name(text, f"[{text!r}] ="))
        elif last:
            self.visit(value)

    def _bind_name(self, name: str, value: ast.expr) -> None:
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            self.recorder.instances[name] = value.func.id
        before = len(self.recorder.records)
        is_new = name not in self.recorder.loads
        self.visit(value, Place("unknown", "", False, name))
        if is_new and any(r.place.local == name for r in self.recorder.records[before:]):
            self.recorder.loads[name] = []
        elif is_new and isinstance(value, ast.Name) and value.id in self.recorder.loads:
            self.recorder.loads[name] = []

    def _bind_attribute(self, target: ast.Attribute, value: ast.expr) -> None:
        owner = dotted(target.value)
        name = f"{owner}.{target.attr}" if owner else target.attr
        place = by_name(target.attr, f"{name} =")
        before = len(self.recorder.records)
        self.visit(value, place)
        if owner in ("self", "cls"):
            for record in self.recorder.records[before:]:
                if record.place == place:
                    record.via = record.via or name

    # -- compound statements ----------------------------------------------------------------------------------------

    def expression(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.visit(node.value)

    def if_(self, node: ast.If) -> None:
        self.ask(node.test)
        self.visit_block(node.body)
        self.visit_block(node.orelse)

    def while_(self, node: ast.While) -> None:
        self.ask(node.test)
        self.visit_block(node.body)
        self.visit_block(node.orelse)

    def for_(self, node: ast.For | ast.AsyncFor) -> None:
        self.iterate(node.iter)
        self.visit_block(node.body)
        self.visit_block(node.orelse)

    def with_(self, node: ast.With | ast.AsyncWith) -> None:
        fakes = 0
        for item in node.items:
            self.visit(item.context_expr)
            if self.is_fake_context(item.context_expr):
                fakes += 1
                self.flags.add("fake_mode")
            if item.optional_vars is not None and not isinstance(item.optional_vars, ast.Name):
                self.visit(item.optional_vars, IGNORED)
        self.fake += fakes
        self.visit_block(node.body)
        self.fake -= fakes

    def try_(self, node: ast.Try) -> None:
        self.visit_block(node.body)
        for handler in node.handlers:
            self.visit_block(handler.body)
        self.visit_block(node.orelse)
        self.visit_block(node.finalbody)

    def match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        for case in node.cases:
            for pattern in ast.walk(case.pattern):
                if isinstance(pattern, ast.MatchValue):
                    self.visit(pattern.value, Place("comparison", "case"))
            if case.guard is not None:
                self.ask(case.guard)
            self.visit_block(case.body)

    def return_(self, node: ast.Return) -> None:
        if node.value is not None:
            named = by_name(self.owners[-1] if self.owners else self.function_name, "return")
            self.visit(node.value, named if named is not UNKNOWN else Place("unknown", "return", False))

    def raise_(self, node: ast.Raise) -> None:
        if node.exc is not None:
            self.visit(node.exc, IGNORED)

    def assert_(self, node: ast.Assert) -> None:
        self.visit(node.test)

    def delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self.visit(target, IGNORED)

    def import_(self, node: ast.stmt) -> None:
        """An import alone uses nothing."""

    def _note_parameters(self, node: ast.stmt) -> None:
        """Parameters of a local function, or of a local class's ``__init__``, without ``self``."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.local_parameters[node.name] = _parameters(node)
        elif isinstance(node, ast.ClassDef):
            for child in node.body:
                if isinstance(child, ast.FunctionDef) and child.name == "__init__":
                    self.local_parameters[node.name] = _parameters(child)[1:]

    # -- definitions ------------------------------------------------------------------------------------------------

    def function(self, node: FunctionNode) -> None:
        """A local function: its default values and body; traced where a decorator says so."""
        self._note_parameters(node)
        traced = False
        for decorator in node.decorator_list:
            target = decorator.func if isinstance(decorator, ast.Call) else decorator
            traced = traced or bool(TRACERS.match(self.context.names.qualify(target)))
            self.decorator(decorator)
        self.defaults(node.args)
        self.flags.update(("traced",) if traced else ())
        self.owners += (node.name,)
        self.traced += traced
        injected = self.injected
        parameters = {a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        self.injected = injected - parameters
        self.visit_block(node.body)
        self.injected = injected
        self.traced -= traced
        self.owners = self.owners[:-1]

    def class_(self, node: ast.ClassDef) -> None:
        self._note_parameters(node)
        self.owners += (node.name,)
        for decorator in node.decorator_list:
            self.decorator(decorator)
        self.visit_block(node.body)
        self.owners = self.owners[:-1]

    def decorator(self, node: ast.expr) -> None:
        """A decorator's arguments: ``@parametrize("device", ["cpu", "cuda"])``, ``@torch.autocast("cuda")``."""
        if not isinstance(node, ast.Call):
            self.visit(node)
            return
        last = dotted(node.func).rpartition(".")[2]
        if last in PARAMETRIZE:
            first = node.args[0] if node.args else None
            names = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            parts = [n.strip() for n in names.split(",")]
            place = Place("parametrization", f"{last}({names!r})", any(bool(DEVICE_NAME.search(n)) for n in parts))
            for argument in node.args[1:] or node.args:
                self.visit(argument, place)
            for keyword in node.keywords:
                if keyword.arg != "name_fn":
                    self.visit(keyword.value, place)
            return
        self.visit(node)


def _parameters(node: FunctionNode) -> tuple[str, ...]:
    return tuple(a.arg for a in (*node.args.posonlyargs, *node.args.args))


STATEMENTS: dict[type, Callable[..., None]] = {
    ast.Assign: StatementWalker.assign,
    ast.AnnAssign: StatementWalker.annotated,
    ast.AugAssign: StatementWalker.augmented,
    ast.Expr: StatementWalker.expression,
    ast.If: StatementWalker.if_,
    ast.While: StatementWalker.while_,
    ast.For: StatementWalker.for_,
    ast.AsyncFor: StatementWalker.for_,
    ast.With: StatementWalker.with_,
    ast.AsyncWith: StatementWalker.with_,
    ast.Try: StatementWalker.try_,
    ast.Match: StatementWalker.match,
    ast.Return: StatementWalker.return_,
    ast.Raise: StatementWalker.raise_,
    ast.Assert: StatementWalker.assert_,
    ast.Delete: StatementWalker.delete,
    ast.Import: StatementWalker.import_,
    ast.ImportFrom: StatementWalker.import_,
    ast.FunctionDef: StatementWalker.function,
    ast.AsyncFunctionDef: StatementWalker.function,
    ast.ClassDef: StatementWalker.class_,
}
if hasattr(ast, "TryStar"):
    STATEMENTS[ast.TryStar] = StatementWalker.try_
