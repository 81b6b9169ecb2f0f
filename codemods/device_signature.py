"""The head of a function: its parameters and decorators, and the calls that hand the device on."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from codemods.class_edits import span_of_argument
from codemods.device_defaults import default_out, pass_splices
from codemods.device_edits import spot_splices
from codemods.device_loops import loop_splices
from codemods.device_nodes import conditional, statement_out
from codemods.device_tree import SCOPES, FunctionTree, arguments_of
from codemods.device_values import Blocked, DeviceValue, FunctionEdit, Passed, Spot
from codemods.edit import BLANK, FunctionNode, SourceFile, Splice, first_line, is_docstring
from hwlint.scan.facts import Span
from hwlint.scan.names import dotted, span_of


def function_splices(file: SourceFile, edit: FunctionEdit) -> list[Splice]:
    """All that is done to one function. Raises Blocked, or CannotEdit."""
    node = file.function_at(edit.line)
    tree = FunctionTree(file, node)
    found: list[Splice] = []
    spots = edit.spots
    if edit.loop is not None:
        if edit.value.per_rank or edit.parameter != edit.loop.name and tree.binds(edit.parameter):
            raise Blocked("name-taken", f"`{edit.parameter}` is a name of the function's own (line {node.lineno})")
        found += loop_splices(file, tree, edit.loop, edit.parameter)
        found += _parameter(file, node, edit.parameter)
    elif edit.parameter:
        dropped, spots = _own_name(file, tree, edit)
        found += dropped
        found += _parameter(file, node, edit.parameter)
    elif edit.value.text == "device" and (spots or edit.pass_to) and tree.binds_again("device"):
        raise Blocked("name-taken", f"`device` is bound anew in the function (line {node.lineno})")
    value = edit.value
    if _wants_alias(tree, edit, spots) and not _mentions(tree, ALIAS):
        alias = _first_statement(file, node, f"{ALIAS} = {value.type_text}")
        if alias is not None:
            found.append(alias)
            value = DeviceValue(ALIAS, is_type=True)
    for spot in spots:
        found += spot_splices(file, tree, spot, value)
    named = {passed.callee: passed for passed in edit.passed}
    for callee in edit.pass_to:
        found += _pass(file, tree, callee, value, named.get(callee))
    if edit.required:
        found.append(default_out(file, node))
    found += decorator_splices(file, node, edit.removed, edit.swapped, edit.added)
    if edit.rename:
        found.append(_rename(file, node, edit.rename))
    return found


ALIAS = "device_type"
"""Local name for the bare type, in tests whose processes have a device each, and for classes inside a method."""


def _wants_alias(tree: FunctionTree, edit: FunctionEdit, spots: Sequence[Spot]) -> bool:
    """Whether the bare type is asked for more than once, or where ``self`` is the object of another class."""
    if edit.parameter and edit.value.per_rank:
        several = len(spots) + _times(tree, edit.pass_to) > 1 or any(s.action == "backend_map" for s in spots)
        return (several or _is_read_late(tree, edit)) and not tree.binds("torch")
    owner, dot, _ = edit.value.text.partition(".")
    if not dot or tree.binds_again(owner):
        return False
    inner = [n for n in ast.walk(tree.node) if isinstance(n, SCOPES) and n is not tree.node]
    others = [n for n in inner if isinstance(n, ast.ClassDef) or owner in arguments_of(n)]
    return any(span_of(n).holds(spot.span) for n in others for spot in spots)


def _times(tree: FunctionTree, callees: Sequence[str]) -> int:
    """How often the function names one of the callees."""
    return sum(1 for n in ast.walk(tree.node) if isinstance(n, (ast.Name, ast.Attribute)) and dotted(n) in callees)


def _mentions(tree: FunctionTree, name: str) -> bool:
    return (
        tree.binds(name)
        or tree.binds_inside(name)
        or any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(tree.node))
    )


def _first_statement(file: SourceFile, node: FunctionNode, statement: str) -> Splice | None:
    """``statement`` on a line of its own below the docstring; None where there is no place for it."""
    first = next((s for s in node.body if not is_docstring(s)), None)
    if first is None:
        return None
    line = first_line(first)
    indent = file.indent_of(line)
    while line > node.lineno + 1 and file.is_comment(line - 1) and file.indent_of(line - 1) == indent:
        line -= 1  # A comment belongs to the statement below it.
    at = file.line_start(line)
    own = file.line_text(line)
    if not file.starts_line(at + len(own) - len(own.lstrip(BLANK))) or line == node.lineno or "\f" in own:
        return None
    return Splice(at, at, f"{file.indent_of(line)}{statement}{file.line_break(line)}")


# A local name that was the device


def _own_name(file: SourceFile, tree: FunctionTree, edit: FunctionEdit) -> tuple[list[Splice], tuple[Spot, ...]]:
    """What becomes of a local name like the parameter's: ``device = "cuda"`` goes, its readers get the parameter.

    Gives the splices, and the spots that are left. Raises Blocked where the name means anything else in the function.
    """
    name = edit.parameter
    if not tree.binds(name) or not (edit.spots or edit.pass_to) and _is_bound_first(tree, name):
        return [], edit.spots
    if _is_read_late(tree, edit) and not _mentions(tree, ALIAS) and _first_statement(file, tree.node, "") is not None:
        return [], edit.spots
    named = [n for n in ast.walk(tree.node) if isinstance(n, ast.Name) and n.id == name]
    chosen = next((spot.span for spot in edit.spots if spot.action == "choice" and spot.old == name), None)
    if chosen is not None and all(_is_behind(n, chosen) and (_reads(n) or chosen.holds(span_of(n))) for n in named):
        return [], edit.spots  # if TEST_CUDA: device = "cuda": it is made from the parameter, at the same place.
    stores = [n for n in named if not _reads(n)]
    assigned = tree.parent(stores[0]) if len(stores) == 1 else None
    if not isinstance(assigned, ast.Assign) or len(assigned.targets) != 1 or tree.parent(assigned) is not tree.node:
        raise Blocked("name-taken", f"`{name}` is a name of the function's own (line {tree.node.lineno})")
    own = {span_of(assigned.value)}
    if isinstance(assigned.value, ast.IfExp) and conditional(tree, assigned.value.body) is assigned.value:
        own = {span_of(assigned.value.body)}  # The choice between CUDA and the CPU, which gives way as a whole.
    if any(spot.span in own and spot.action in ("value", "type") for spot in edit.spots):
        if edit.value.per_rank:
            return [], edit.spots  # device = "cuda": the parameter has an index, that of the first process.
        used_before = any(
            isinstance(n, ast.Name) and n.id == name and n.lineno < assigned.lineno
            for n in ast.walk(tree.node)
            if n is not stores[0]
        )
        if used_before:
            raise Blocked("name-taken", f"`{name}` is a name of the function's own (line {assigned.lineno})")
        return [statement_out(file, tree.node, assigned)], tuple(s for s in edit.spots if s.span not in own)
    if any(span_of(assigned.value).holds(spot.span) for spot in edit.spots):
        return [], edit.spots  # device = torch.device("cuda"): it stays, made from the parameter.
    raise Blocked("name-taken", f"`{name}` is a name of the function's own (line {assigned.lineno})")


def _reads(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_behind(node: ast.Name, span: Span) -> bool:
    """Whether the name stands in what is at ``span``, or below."""
    return (node.lineno, node.col_offset) >= (span.line, span.column)


def _is_bound_first(tree: FunctionTree, name: str) -> bool:
    """Whether the function binds ``name`` before it reads it, whatever happens: what came in is not read."""
    named = [n for n in ast.walk(tree.node) if isinstance(n, ast.Name) and n.id == name]
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in ast.walk(tree.node)):
        return False
    first = min(named, key=lambda n: (n.lineno, n.col_offset), default=None)
    around = tree.parent(first) if first is not None else None
    if not isinstance(around, ast.Assign) or tree.parent(around) is not tree.node or first not in around.targets:
        return False
    return not any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(around.value))


def _is_read_late(tree: FunctionTree, edit: FunctionEdit) -> bool:
    """Whether a test whose processes have a device each binds the name of its parameter to something else first: what
    it names afterwards is asked for above that.
    """
    if not edit.value.per_rank or not _is_bound_first(tree, edit.parameter) or tree.binds("torch"):
        return False
    stores = [n for n in ast.walk(tree.node) if isinstance(n, ast.Name) and n.id == edit.parameter]
    first = tree.parent(min(stores, key=lambda n: (n.lineno, n.col_offset)))
    assert isinstance(first, ast.Assign)
    return not any(span_of(first).holds(spot.span) for spot in edit.spots)


# Parameters and arguments


def _parameter(file: SourceFile, node: FunctionNode, name: str) -> list[Splice]:
    """``name`` right after ``self``, or first where there is none."""
    given = node.args
    positional = [*given.posonlyargs, *given.args]
    if name in {a.arg for a in (*positional, *given.kwonlyargs)}:
        raise Blocked("name-taken", f"there is a parameter `{name}` already (line {node.lineno})")
    is_method = bool(positional) and positional[0].arg in ("self", "cls")
    if is_method:
        owner = positional[0]
        if owner.annotation is not None or owner in given.posonlyargs:
            raise Blocked("layout", f"`{owner.arg}` is declared in an unusual way (line {node.lineno})")
        if len(positional) - len(given.defaults) < 1:
            raise Blocked("layout", f"`{owner.arg}` has a default (line {node.lineno})")
        end = file.offset(owner.end_lineno or owner.lineno, owner.end_col_offset or 0)
        line = file.line_of(end)
        rest = file.text[end : file.line_end(line)].strip(BLANK)
        if file.starts_line(file.offset(owner.lineno, owner.col_offset)) and rest == ",":  # One parameter a line.
            at = file.line_end(line)
            return [Splice(at, at, f"{file.line_break(line)}{file.indent_of(line)}{name},")]
        return _on_lines_of_its_own(file, node, Splice(end, end, f", {name}"))
    if given.posonlyargs:
        raise Blocked("layout", f"there are positional-only parameters (line {node.lineno})")
    return [first_parameter(file, node, name)]


def first_parameter(file: SourceFile, node: FunctionNode, name: str) -> Splice:
    """``name`` in front of all parameters, on a line of its own where they start on the next line."""
    given = node.args
    opened = _opening(file, node)
    rest = file.text[opened : file.line_end(file.line_of(opened))].strip(BLANK)
    first = min((a.lineno for a in (*given.args, *given.kwonlyargs)), default=0)
    if not rest and first:
        at = file.line_start(first)
        return Splice(at, at, f"{file.indent_of(first)}{name},{file.line_break(first)}")
    return Splice(
        opened, opened, f"{name}{', ' if given.args or given.kwonlyargs or given.vararg or given.kwarg else ''}"
    )


def _on_lines_of_its_own(file: SourceFile, node: FunctionNode, added: Splice) -> list[Splice]:
    """``added``, with the line breaks that a formatter makes where the head of one line so far gets too long by it."""
    given, text = node.args, file.line_text(node.lineno).rstrip()
    if not len(text) <= file.line_length < len(text) + len(added.text) or not text.endswith(":"):
        return [added]
    ends = [span_of_argument(a) for a in given.args] + [span_of(d) for d in given.defaults]
    stop = max(file.range_of(span)[1] for span in ends)
    opened, closed = _opening(file, node), file.text.find(")", stop)
    indent, line_break = file.indent_of(node.lineno), file.line_break(node.lineno)
    width = len(indent) + 4 + closed - opened + len(added.text)
    others = given.kwonlyargs or given.vararg or given.kwarg or given.posonlyargs or "(" in file.text[opened:closed]
    if others or file.text[stop:closed].strip(BLANK) or width > file.line_length:
        return [added]
    head = Splice(opened, opened, f"{line_break}{indent}    ")
    if closed == added.start:
        return [head, Splice(closed, closed, f"{added.text}{line_break}{indent}")]
    return [head, added, Splice(closed, closed, f"{line_break}{indent}")]


def _opening(file: SourceFile, node: FunctionNode) -> int:
    """Offset behind the '(' of the parameter list."""
    start = file.node_range(node)[0]
    match = re.compile(r"(?:async[ \t\f]+)?def[ \t\f]+" + re.escape(node.name) + r"[ \t\f]*\(").match(file.text, start)
    if match is None:
        raise Blocked("layout", f"the head of `{node.name}` cannot be read (line {node.lineno})")
    return match.end()


def _rename(file: SourceFile, node: FunctionNode, name: str) -> Splice:
    opened = _opening(file, node)
    start = file.text.rindex(node.name, file.node_range(node)[0], opened)
    return Splice(start, start + len(node.name), name)


def _pass(file: SourceFile, tree: FunctionTree, callee: str, value: DeviceValue, named: Passed | None) -> list[Splice]:
    """``self._p(x)`` -> ``self._p(device, x)``, wherever it is called. Raises Blocked where it is not just called.

    ``named``: it has a parameter for the device, and gets it in its own way.
    """
    found = []
    for node in ast.walk(tree.node):
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            continue
        by_name = callee.startswith(".") and isinstance(node, ast.Attribute) and node.attr == callee[1:]
        if not by_name and dotted(node) != callee:
            continue
        if tree.parents.get(id(node)) is None:
            raise Blocked("unknown-caller", f"`{callee}` is used at the head of the function (line {node.lineno})")
        parent = tree.parent(node)
        if isinstance(parent, ast.Attribute) and not by_name:
            continue
        if not isinstance(parent, ast.Call) or parent.func is not node:
            raise Blocked("unknown-caller", f"`{callee}` is handed on without being called (line {node.lineno})")
        if tree.is_shadowed(value.text.partition(".")[0], node):
            raise Blocked(
                "name-taken", f"the device has another meaning where `{callee}` is called (line {node.lineno})"
            )
        end = file.node_range(node)[1]
        opened = file.text.index("(", end)
        if file.text[end:opened].strip(BLANK):
            raise Blocked("layout", f"the call of `{callee}` is spread out (line {node.lineno})")
        if named is not None:
            found += pass_splices(file, tree, parent, named, value)
            continue
        found.append(_first_argument(file, parent, opened + 1, value.place_text))
    return found


def _first_argument(file: SourceFile, call: ast.Call, at: int, text: str) -> Splice:
    """``text`` as the first argument; on a line of its own where the arguments start on the next line."""
    given: list[ast.expr] = [*call.args, *(k.value for k in call.keywords)]
    line = file.line_of(at)
    rest = file.text[at : file.line_end(line)].strip(BLANK)
    if given and (not rest or rest.startswith("#")):
        first = min([(a.lineno, a.col_offset) for a in call.args] + [(k.lineno, k.col_offset) for k in call.keywords])
        start = file.offset(*first)
        if file.starts_line(start) and first[0] > line:
            begin = file.line_start(first[0])
            if sum(1 for a in given if a.lineno == first[0]) > 1:
                return Splice(start, start, f"{text}, ")
            return Splice(begin, begin, f"{file.text[begin:start]}{text},{file.line_break(first[0])}")
        raise Blocked("layout", f"the arguments on line {line} are spread out")
    return Splice(at, at, f"{text}{', ' if given else ''}")


# Decorators


def decorator_splices(
    file: SourceFile,
    node: FunctionNode | ast.ClassDef,
    removed: Sequence[Span],
    swapped: Sequence[tuple[Span, str]],
    added: Iterable[str],
) -> list[Splice]:
    """Decorators taken away, replaced and put above the others. Raises Blocked where a comment would go with them."""
    spans = {span_of(d): d for d in node.decorator_list}
    for span in (*removed, *(s for s, _ in swapped)):
        if span not in spans:
            raise Blocked("layout", f"a decorator is not where it was (line {span.line})", span)
    found = list(_decorators_out(file, removed))
    for span, text in swapped:
        start, end = file.range_of(span)
        if "#" in file.text[start:end]:
            raise Blocked("layout", f"a comment stands in a decorator (line {span.line})", span)
        found.append(Splice(start, end, _with_reason(file, spans[span], text)))
    texts = [f"@{text}" for text in added]
    if texts:
        line = first_line(node)
        at = file.line_start(line)
        own = file.line_text(line)
        if not file.starts_line(at + len(own) - len(own.lstrip(BLANK))):
            raise Blocked("layout", f"the line of the definition is shared (line {line})")
        indent, line_break = file.indent_of(line), file.line_break(line)
        if own[: len(own) - len(own.lstrip(BLANK))] != indent:
            raise Blocked("layout", f"the line of the definition starts in an unusual way (line {line})")
        found.insert(0, Splice(at, at, "".join(f"{indent}{text}{line_break}" for text in texts)))
    return found


def _with_reason(file: SourceFile, node: ast.expr, text: str) -> str:
    """``text`` with the source of the reason that the decorator gives, as it is written, for '{reason}'."""
    if "{reason}" not in text:
        return text
    reason = None
    if isinstance(node, ast.Call):
        named = next((k.value for k in node.keywords if k.arg in ("reason", "msg")), None)
        reason = named or (node.args[-1] if node.args else None)
    if reason is None:
        raise Blocked("layout", f"the reason of the decorator on line {node.lineno} cannot be found")
    return text.replace("{reason}", file.text[slice(*file.node_range(reason))])


def _decorators_out(file: SourceFile, removed: Iterable[Span]) -> Iterator[Splice]:
    for span in removed:
        start, end = file.range_of(span)
        line, last = span.line, span.end_line
        before = file.text[file.line_start(line) : start].strip(BLANK)
        rest = file.text[end : file.line_end(last)].strip(BLANK)
        if before != "@" or rest or "#" in file.text[start:end]:
            raise Blocked("layout", f"a decorator shares its lines with a comment (line {line})", span)
        if file.line_text(line - 1).endswith("\\"):
            raise Blocked("layout", f"a decorator shares its lines (line {line})", span)
        yield Splice(file.line_start(line), file.line_start(last + 1), "")
