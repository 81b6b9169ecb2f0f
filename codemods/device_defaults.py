"""Helpers that take the device already, and have one to fall back on: ``def ones(*size, device="cuda")``.

The default goes, and each call that left it to the helper passes the device under test: no call can forget it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Passed, Spot
from codemods.edit import BLANK, FunctionNode, SourceFile, Splice
from codemods.plan import Context
from hwlint.scan.facts import Function
from hwlint.scan.names import dotted, span_of
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach, ReachedUse

NAME = "device"


def default_of(node: FunctionNode) -> tuple[ast.arg, ast.expr] | None:
    """The parameter of that name with its default, None where it has none."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    with_default = positional[len(positional) - len(given.defaults) :]
    pairs = [*zip(with_default, given.defaults), *zip(given.kwonlyargs, given.kw_defaults)]
    return next(((arg, default) for arg, default in pairs if arg.arg == NAME and default is not None), None)


def passed_to(file: SourceFile, function: Function, spots: Iterable[Spot], callee: str) -> Passed | None:
    """How a call passes the device to a function whose default is all that names one; None where that cannot go."""
    node = file.function_at(function.line)
    found = default_of(node)
    if found is None:
        return None
    arg, default = found
    made = isinstance(default, ast.Call) and dotted(default.func) == "torch.device" and len(default.args) == 1
    value = default.args[0] if isinstance(default, ast.Call) and made and not default.keywords else default
    if any(spot.action != "value" or spot.span != span_of(value) for spot in spots):
        return None
    if node.args.posonlyargs:
        return None
    if arg in node.args.args and node.args.args[len(node.args.args) - len(node.args.defaults)] is not arg:
        return None  # Behind a parameter that has a default each has one.
    return Passed(callee, _position(node, arg), "torch.device({})" if value is not default else "{}")


def _position(node: FunctionNode, arg: ast.arg) -> int:
    positional = [a for a in node.args.args if a.arg != "self"]
    return positional.index(arg) if arg in positional else -1


def idle_defaults(context: Context, cls: LinkedClass, reached: Reach) -> frozenset[ReachedUse]:
    """The uses that are defaults, on which no call in what is reached falls back."""
    file = context.source()
    own = [one for one in reached.functions if one.path == context.path]
    trees = [FunctionTree(file, file.function_at(one.function.line)) for one in own]
    found: set[ReachedUse] = set()
    for one, tree in zip(own, trees):
        default = default_of(tree.node) if NAME in one.function.parameters else None
        if default is None or tree.node.args.posonlyargs:
            continue
        callee = one.function.name if one.owner is None else f"self.{one.function.name}"
        if one.owner is not None and one.owner not in cls.mro:
            callee = one.owner.name if one.function.name == "__init__" else ""
        passed = Passed(callee, _position(tree.node, default[0]), "{}")
        if callee and all(_always_told(other, passed) for other in trees):
            span = span_of(default[1])
            found.update(use for use in reached.uses if use.path == context.path and span.holds(use.use.span))
    return frozenset(found)


def _always_told(tree: FunctionTree, passed: Passed) -> bool:
    """Whether the function does no more with the callee than to call it with a device."""
    name = passed.callee.rpartition(".")[2]
    for node in (n for statement in tree.node.body for n in ast.walk(statement)):
        if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node).rpartition(".")[2] == name:
            call = tree.parent(node)
            try:
                told = isinstance(call, ast.Call) and call.func is node and is_given(call, passed)
            except Blocked:
                return False
            if dotted(node) != passed.callee or not told:
                return False
    return True


def default_out(file: SourceFile, node: FunctionNode) -> Splice:
    """``device="cuda"`` -> ``device`` among the parameters of the function. Raises Blocked."""
    found = default_of(node)
    if found is None:
        raise Blocked("layout", f"the default of `{NAME}` is not where it was (line {node.lineno})")
    arg, default = found
    start = file.offset(arg.end_lineno or arg.lineno, arg.end_col_offset or 0)
    end = file.node_range(default)[1]
    if "#" in file.text[start:end] or not file.text[start:end].lstrip(BLANK).startswith("="):
        raise Blocked("layout", f"the default of `{NAME}` is written in an unusual way (line {arg.lineno})")
    return Splice(start, end, "")


def is_given(call: ast.Call, passed: Passed) -> bool:
    """Whether the call says which device it means. Raises Blocked where that cannot be told."""
    if any(k.arg == NAME for k in call.keywords):
        return True
    unpacked = any(k.arg is None for k in call.keywords)
    if unpacked or passed.position >= 0 and any(isinstance(a, ast.Starred) for a in call.args):
        raise Blocked("unknown-caller", f"what `{passed.callee}` is called with on line {call.lineno} cannot be told")
    return 0 <= passed.position < len(call.args)


def pass_splices(
    file: SourceFile, tree: FunctionTree, call: ast.Call, passed: Passed, value: DeviceValue
) -> list[Splice]:
    """``ones(2)`` -> ``ones(2, device=device)``, where the call does not say it. Raises Blocked."""
    if is_given(call, passed):
        return []
    text = passed.form.format(value.place_text)
    if "torch." in text and tree.hides_module("torch", call):
        raise Blocked("name-taken", "`torch` means something else in the function")
    close = file.node_range(call)[1] - 1
    given = [*call.args, *(k.value for k in call.keywords)]
    last = max(given, key=lambda n: (n.end_lineno or 0, n.end_col_offset or 0), default=None)
    end = file.node_range(last)[1] if last is not None else close
    if isinstance(last, ast.GeneratorExp) or file.text[end:close].strip(f"{BLANK},\r\n"):
        raise Blocked("layout", f"the arguments of `{passed.callee}` are spread out (line {call.lineno})")
    line = file.line_of(end)
    if line > call.lineno and file.text[end : file.line_end(line)].strip(BLANK) == ",":
        at = file.line_end(line)
        return [Splice(at, at, f"{file.line_break(line)}{file.indent_of(line)}{NAME}={text},")]
    return [Splice(end, end, f"{', ' if given else ''}{NAME}={text}")]
