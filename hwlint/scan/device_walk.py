"""Walks expressions from the outside in: each place tells what the values that stand in it are for."""

from __future__ import annotations

import ast
from collections.abc import Callable

from hwlint.scan.device_places import (
    CONDITIONAL,
    CONTAINERS,
    DEVICE_NAME,
    FAKE_CALLS,
    FAKE_CONTEXTS,
    FAKE_NAME,
    GOLDEN,
    IGNORED,
    TRACERS,
    UNKNOWN,
    Place,
    argument_place,
    by_name,
    keyword_place,
)
from hwlint.scan.device_record import Record
from hwlint.scan.device_strings import ValueReader
from hwlint.scan.device_values import device_of
from hwlint.scan.device_words import device_of_flag
from hwlint.scan.facts import Span
from hwlint.scan.names import dotted


class ExpressionWalker(ValueReader):
    """Records the device uses of expressions."""

    # -- visiting ---------------------------------------------------------------------------------------------------

    def visit(self, node: ast.expr, place: Place = UNKNOWN) -> None:
        """Record what ``node`` names, its value going to ``place``."""
        visitor = VISITORS.get(node.__class__)
        if visitor is not None:
            visitor(self, node, place)
            return
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.visit(child)

    def ask(self, node: ast.expr) -> None:
        """Visit a condition: what only asks whether a device is there is a gate and no use."""
        self.asked.append(node)
        self.asking += 1
        self.visit(node, Place("comparison", "if", False))
        self.asking -= 1

    def visit_all(self, nodes: list[ast.expr], place: Place = UNKNOWN) -> None:
        for node in nodes:
            self.visit(node, place)

    # -- calls ------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call, place: Place) -> None:
        func = node.func
        names = self.context.names
        written = dotted(func)
        qualified = names.qualify_name(written) if written else ""
        last = func.attr if isinstance(func, ast.Attribute) else qualified.rpartition(".")[2]
        if last == "format" and self.template(node, place):
            return
        short = written if written and len(written) < 40 else f".{last}" if last else "call"
        if last in GOLDEN and (last.startswith("assertExpected") or self._is_file_check(func)):
            self.flags.add("golden")
        moved = isinstance(func, ast.Attribute) and last in self.words.methods and not self.words.module_of(qualified)
        if moved and len(node.args) <= 2 and written.partition(".")[0] not in ("torch", "F"):
            self.record(node, "method", self.words.methods[last], last, Place("placement", f".{last}()"))
            self.visit(func.value)  # type: ignore[attr-defined]
            for argument in node.args:
                self.visit(argument, Place("placement", f".{last}()"))
            return
        asked = self.words.device_values.get(qualified)
        if asked is not None and asked.callable:  # get_all_device_types()
            self.record(node, "constant", device_of_flag(asked), last, place)
            return
        if last in CONDITIONAL and node.args:  # a function that makes a skip decorator
            self.ask(node.args[0])
            return
        tracer = self._is_tracer(node, qualified)
        self._callee(func, written, place)
        fake = last in FAKE_CALLS
        self.fake += fake
        self._arguments(node, qualified, last, short, place, tracer)
        self.fake -= fake

    def _is_file_check(self, func: ast.expr) -> bool:
        while isinstance(func, (ast.Attribute, ast.Call)):
            func = func.value if isinstance(func, ast.Attribute) else func.func
        return isinstance(func, ast.Name) and func.id == "FileCheck"

    def _callee(self, func: ast.expr, written: str, place: Place) -> None:
        if isinstance(func, ast.Name):
            if func.id in self.known.modules or func.id in self.recorder.loads:
                self.name(func, Place("api", "call"))
            return
        if isinstance(func, ast.Attribute):
            if not written:
                passes = func.attr in CONTAINERS or func.attr in ("startswith", "endswith")
                inner = Place("comparison", f".{func.attr}()") if func.attr in ("startswith", "endswith") else place
                self.visit(func.value, inner if passes else UNKNOWN)
                return
            if func.attr in ("append", "extend", "add", "insert"):
                return
            called = Place("api", "call", local=place.local)
            self.attribute(func, place if func.attr in ("upper", "lower") else called, written)
            return
        self.visit(func)

    def _arguments(self, node: ast.Call, qualified: str, last: str, short: str, place: Place, tracer: bool) -> None:
        first = node.args[0] if node.args else None
        first_text = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
        parameters = self._parameters(node.func)
        names_nothing = self._names_nothing
        appended = last in ("append", "extend", "insert", "add", "update") and isinstance(node.func, ast.Attribute)
        carrier = dotted(node.func.value) if appended else ""  # type: ignore[attr-defined]
        for at, argument in enumerate(node.args):
            if names_nothing(argument) and not (tracer and at == 0):
                continue
            if isinstance(argument, ast.Starred):
                self.visit(argument.value)
                continue
            where = argument_place(qualified, last, short, at, first_text, place)
            if carrier in self.recorder.loads:
                where = Place("unknown", "", False, carrier)
            elif (carrier in self.known.devices and carrier not in self.bound) or DEVICE_NAME.search(carrier):
                where = Place("parametrization", f"{carrier}.{last}()", False)
            elif last == "getattr" and at == 1 and isinstance(first, ast.Name) and first.id == "torch":
                where = Place("api", "getattr(torch, )")
            elif last == "setattr" and at == 2:
                where = _attribute_place(node.args)
            elif where.role == "unknown" and parameters is not None and at < len(parameters):
                named = by_name(parameters[at], f"{short}({parameters[at]})")
                where = where if named is UNKNOWN else named
            if tracer and at == 0:
                self._trace(argument)
            else:
                self.visit(argument, where)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.visit(keyword.value)
                continue
            if keyword.arg in self.words.profiler_arguments and "." not in keyword.arg:
                self._profiler_argument(keyword, last)
            if not names_nothing(keyword.value):
                self.visit(keyword.value, keyword_place(last, short, keyword.arg, place))

    def _names_nothing(self, node: ast.expr) -> bool:
        """Whether an argument can be passed over: a number, or a name that carries no device."""
        if isinstance(node, ast.Constant):
            return node.value.__class__ is not str
        if isinstance(node, ast.Name):
            return not (self.asking or node.id in self.known.carriers or node.id in self.recorder.loads)
        return False

    def _profiler_argument(self, keyword: ast.keyword, last: str) -> None:
        if last in ("profile", "emit_nvtx", "_enable_profiler", "ProfilerConfig") and isinstance(
            keyword.value, ast.Constant
        ):
            name = keyword.arg or ""
            if keyword.value.value is False:
                return
            span = Span(keyword.lineno, keyword.col_offset, keyword.end_lineno or 0, keyword.end_col_offset or 0)
            place = Place("profiler", f"{last}({name}=)")
            device = self.words.profiler_arguments[name]
            self.recorder.records.append(
                Record(span, "profiler_field", device, name, place, "", self.owners, self.traced > 0)
            )

    def _parameters(self, func: ast.expr) -> tuple[str, ...] | None:
        """Parameters of a function of the module or class, without ``self``."""
        helpers = self.context.helper_parameters
        if isinstance(func, ast.Name):
            found = self.local_parameters.get(func.id) or helpers.get(func.id)
            if found is None:
                made = helpers.get(f"{func.id}.__init__")
                return made[1:] if made else None
            return found
        if isinstance(func, ast.Attribute) and dotted(func.value) in ("self", "cls", self.class_name):
            found = helpers.get(f"{self.class_name}.{func.attr}")
            if found and found[0] in ("self", "cls"):
                return found[1:]
            return found
        return None

    # -- traced code ------------------------------------------------------------------------------------------------

    def _is_tracer(self, node: ast.Call, qualified: str) -> bool:
        """Whether the call's first argument is a function that is traced."""
        func = node.func
        if isinstance(func, ast.Call):  # torch._dynamo.optimize("eager")(fn)
            inner = self.context.names.qualify(func.func)
            return bool(TRACERS.match(inner)) and not (func.args and isinstance(func.args[0], (ast.Name, ast.Lambda)))
        return bool(node.args) and bool(TRACERS.match(qualified))

    def _trace(self, node: ast.expr) -> None:
        self.flags.add("traced")
        inner = node.func if isinstance(node, ast.Call) else node
        if isinstance(inner, ast.Name):
            self.recorder.traced_names.add(inner.id)
        if isinstance(node, ast.Lambda):
            self.traced += 1
            self.visit(node)
            self.traced -= 1
        else:
            self.visit(node)

    def is_fake_context(self, node: ast.expr) -> bool:
        """``FakeTensorMode()``, ``fake_mode``, ``self.fake_mode``, ``torch.device("meta")``."""
        name = dotted(node.func if isinstance(node, ast.Call) else node)
        last = name.rpartition(".")[2]
        if isinstance(node, ast.Call) and last == "device" and node.args:
            return device_of(node.args[0], self.context) == "meta" or getattr(node.args[0], "value", "") == "meta"
        return last in FAKE_CONTEXTS or bool(FAKE_NAME.search(last))

    # -- compound expressions ---------------------------------------------------------------------------------------

    def compare(self, node: ast.Compare, place: Place) -> None:
        operands = [node.left, *node.comparators]
        symbol = SYMBOLS.get(node.ops[0].__class__, "compare")
        text_in = isinstance(node.ops[0], (ast.In, ast.NotIn)) and isinstance(node.left, ast.Constant)
        injected = [self.is_injected(operand) for operand in operands]
        bare = any(injected) and not (text_in and injected[-1])
        for operand, is_injected in zip(operands, injected):
            before = self.bare
            self.bare = bare and not is_injected
            self.visit(operand, Place("comparison", symbol))
            self.bare = before

    def if_expression(self, node: ast.IfExp, place: Place) -> None:
        self.ask(node.test)
        self.visit(node.body, place)
        self.visit(node.orelse, place)

    def bool_operation(self, node: ast.BoolOp, place: Place) -> None:
        self.visit_all(node.values, place)

    def elements(self, node: ast.List | ast.Tuple | ast.Set, place: Place) -> None:
        self.visit_all(node.elts, place)

    def starred(self, node: ast.Starred, place: Place) -> None:
        self.visit(node.value, place)

    def dictionary(self, node: ast.Dict, place: Place) -> None:
        moves = place.role == "unknown" and all(self._is_device_text(key) for key in node.keys)
        for key, value in zip(node.keys, node.values):
            where = place if place.role in ("parametrization", "placement", "ignored", "text") else UNKNOWN
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                named = by_name(key.value, f"{{{key.value!r}:}}")
                where = named if named is not UNKNOWN else where
                if moves:
                    where = Place("placement", f"{{{key.value!r}:}}")
            if key is not None:
                self.visit(key, IGNORED if place.role == "ignored" else Place("key", "dict key", False))
            self.visit(value, where)

    def _is_device_text(self, node: ast.expr | None) -> bool:
        """Whether the key of a dict is a device: in ``{"cpu": "cuda:0"}`` what is on the one goes to the other."""
        text = node.value if isinstance(node, ast.Constant) else None
        return isinstance(text, str) and bool(self.words.device_of_text(text))

    def subscript(self, node: ast.Subscript, place: Place) -> None:
        if isinstance(node.value, ast.Dict):
            for key in node.value.keys:
                if key is not None:
                    self.bare = self.is_injected(node.slice)
                    self.visit(key, Place("comparison", "dict lookup"))
                    self.bare = False
            self.visit_all(node.value.values, place)
        else:
            self.visit(node.value, place)
        self.visit(node.slice, Place("key", "[]", False))

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, place: Place) -> None:
        for generator in node.generators:
            self.iterate(generator.iter)
            for test in generator.ifs:
                self.ask(test)
        if isinstance(node, ast.DictComp):
            self.visit(node.key, Place("key", "dict key", False))
            self.visit(node.value)
        else:
            self.visit(node.elt, place)

    def iterate(self, node: ast.expr) -> None:
        """Visit what a loop runs over."""
        self.visit(node, Place("parametrization", "for"))

    def lambda_(self, node: ast.Lambda, place: Place) -> None:
        self.defaults(node.args)
        self.visit(node.body)

    def named(self, node: ast.NamedExpr, place: Place) -> None:
        self.visit(node.value, place)

    def defaults(self, arguments: ast.arguments) -> None:
        """Default values of parameters."""
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults))
        pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None]
        for argument, default in pairs:
            self.visit(default, by_name(argument.arg, f"{argument.arg}="))


def _attribute_place(arguments: list[ast.expr]) -> Place:
    """Where the value of ``setattr(owner, name, value)`` goes: where that of ``owner.name = value`` does."""
    name = arguments[1].value if isinstance(arguments[1], ast.Constant) else ""
    owner = dotted(arguments[0])
    return by_name(name, f"{owner}.{name} =" if owner else f"{name} =") if isinstance(name, str) else UNKNOWN


SYMBOLS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}

VISITORS: dict[type, Callable[..., None]] = {
    ast.Constant: ExpressionWalker.constant,
    ast.JoinedStr: ExpressionWalker.joined,
    ast.BinOp: ExpressionWalker.binary,
    ast.Name: ExpressionWalker.name,
    ast.Attribute: ExpressionWalker.attribute,
    ast.Call: ExpressionWalker.call,
    ast.Compare: ExpressionWalker.compare,
    ast.IfExp: ExpressionWalker.if_expression,
    ast.BoolOp: ExpressionWalker.bool_operation,
    ast.List: ExpressionWalker.elements,
    ast.Tuple: ExpressionWalker.elements,
    ast.Set: ExpressionWalker.elements,
    ast.Starred: ExpressionWalker.starred,
    ast.Dict: ExpressionWalker.dictionary,
    ast.Subscript: ExpressionWalker.subscript,
    ast.ListComp: ExpressionWalker.comprehension,
    ast.SetComp: ExpressionWalker.comprehension,
    ast.GeneratorExp: ExpressionWalker.comprehension,
    ast.DictComp: ExpressionWalker.comprehension,
    ast.Lambda: ExpressionWalker.lambda_,
    ast.NamedExpr: ExpressionWalker.named,
}
