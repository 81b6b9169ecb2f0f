"""A test that is one loop over the devices of the host: the loader makes a test for each of them instead.

``for device in get_all_device_types():`` goes, and its body moves to the left. That is the same where the loop is all
of the test, but for definitions and constants above it; no turn of it hands anything on to the next; and its variable
is used as a device only: the loader passes 'cuda:0' where the loop had 'cuda' (pytorch/pytorch#184737, #196976).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from codemods.device_passed import other_use
from codemods.device_questions import Question, is_plain
from codemods.device_tree import FunctionTree
from codemods.device_values import MEANT, Blocked, Loop
from codemods.edit import BLANK, SourceFile, Splice, is_docstring
from codemods.plan import Context
from hwlint.scan.bindings import additions_to
from hwlint.scan.facts import DeviceUse, Function, Span
from hwlint.scan.names import dotted, span_of


def device_loop(
    context: Context, function: Function, gone: Collection[Span] = ()
) -> tuple[Loop, tuple[Question, ...]] | None:
    """The loop over devices that is all of the test, and what its list asks the host; None where it has none.

    What stands at ``gone`` does not count, nor does the CPU in ``for other in [device, "cpu"]:``, which stays.
    Raises Blocked where it is more than a loop over the devices that there are.
    """
    listed_uses = (use for use in function.uses if use.role == "parametrization" and use.context == "for")
    over = [use for use in listed_uses if not any(span.holds(use.span) for span in gone)]
    if all(use.device == "cpu" for use in over):
        return None
    file = context.source()
    tree = FunctionTree(file, file.function_at(function.line))
    body = [s for s in tree.node.body if not is_docstring(s)]
    loop = body[-1]
    if not isinstance(loop, ast.For) or loop.orelse or not isinstance(loop.target, ast.Name):
        raise _blocked("the loop over devices is not all of the test", over[0])
    made = _made_above(tree, body[:-1], loop)
    above = body[: len(body) - len(made) - 1]
    if any(not _is_definition(function, tree, statement, loop) for statement in above):
        raise _blocked("the loop over devices is not all of the test", over[0])
    asked = _devices(function, made, loop, over)
    _check_body(tree, loop)
    name = loop.target.id
    bound = (n for n in _names_of(loop, name) if not isinstance(n.ctx, ast.Load) and not tree.is_shadowed(name, n))
    line = next((n.lineno for n in bound), 0) or other_use(context, tree, name)
    if line:
        raise Blocked("loop", f"`{name}` is used as more than a device (line {line})")
    first = (*made, loop)[0]
    span = Span(first.lineno, first.col_offset, loop.iter.end_lineno or 0, loop.iter.end_col_offset or 0)
    return Loop(span, name), asked


def _blocked(text: str, use: DeviceUse) -> Blocked:
    return Blocked("loop", text, use.span)


def _made_above(tree: FunctionTree, above: Sequence[ast.stmt], loop: ast.For) -> tuple[ast.stmt, ...]:
    """The statements above the loop that make its list, which nothing else reads: ``devices = ["cpu"]``, and
    ``if TEST_CUDA: devices.append("cuda")``.
    """
    if not isinstance(loop.iter, ast.Name):
        return ()
    name, times = loop.iter.id, sum(isinstance(n, ast.Name) and n.id == dotted(loop.iter) for n in ast.walk(tree.node))
    for made in (tuple(above[-1:]), tuple(above[-2:])):
        added = additions_to(name, made[1:])
        assigned = bool(made) and isinstance(made[0], ast.Assign) and [dotted(t) for t in made[0].targets] == [name]
        if assigned and len(added) == len(made) - 1 and times == len(made) + 1:
            return made
    return ()


def _devices(
    function: Function, made: Sequence[ast.stmt], loop: ast.For, over: list[DeviceUse]
) -> tuple[Question, ...]:
    """The question in a list of the CPU, and an accelerator where there is one. Raises Blocked for any other list."""
    first = made[0] if made else None
    listed = first.value if isinstance(first, ast.Assign) else loop.iter
    if isinstance(listed, ast.Call) and not listed.args and not listed.keywords and len(made) < 2:
        types = {kind for use in over if use.span == span_of(listed) for kind in use.device.split("|")}
        if "cpu" in types and types & set(MEANT):
            return ()
    test, with_one, without = _choice(made, loop, listed)
    gate = next((g for g in function.gates if test is not None and g.span == span_of(test)), None)
    if gate is not None and is_plain(gate):
        if gate.requirements[0].absent:
            with_one, without = without, with_one
        if without == ["cpu"] and sorted(with_one) == ["cpu", "cuda"]:
            return (Question(gate.span, "", None, names_cuda=True),)
    raise _blocked("the loop runs over more than the CPU, and an accelerator where there is one", over[0])


def _choice(made: Sequence[ast.stmt], loop: ast.For, listed: ast.expr) -> tuple[ast.expr | None, list[str], list[str]]:
    """What a list hangs on, and what it holds then and otherwise."""
    if isinstance(listed, ast.IfExp):
        return listed.test, _names(listed.body), _names(listed.orelse)
    for one in additions_to(dotted(loop.iter), made[1:]):
        return one.test, [*_names(listed), *_names(one.value)], _names(listed)
    return None, [], []


def _is_definition(function: Function, tree: FunctionTree, statement: ast.stmt, loop: ast.For) -> bool:
    """Whether a statement above the loop only defines what its turns use, and leave as it is."""
    last = statement.end_lineno or statement.lineno
    if any(statement.lineno <= use.span.line <= last and use.device != "cpu" for use in function.uses):
        return False
    nodes = list(ast.walk(statement))
    if any(isinstance(n, ast.Name) and n.id == dotted(loop.target) and not tree.is_shadowed(n.id, n) for n in nodes):
        return False
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return True
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return not any(isinstance(n, (ast.Global, ast.Nonlocal)) or _sets_outer(tree, n) for n in nodes)
    if not isinstance(statement, ast.Assign) or not all(isinstance(t, ast.Name) for t in statement.targets):
        return False
    names = {dotted(t) for t in statement.targets}
    if any(isinstance(n, ast.Nonlocal) and names & set(n.names) for n in ast.walk(tree.node)):
        return False
    if isinstance(statement.value, ast.List):
        reads = (n for n in ast.walk(tree.node) if isinstance(n, ast.Name) and n.id in names)
        if any(isinstance(n.ctx, ast.Load) and not _is_run_over(tree, n) for n in reads):
            return False
    return all(isinstance(n, CONSTANTS) or dotted(n).startswith("torch.") for n in _parts(statement.value))


CONSTANTS = (ast.Constant, ast.Tuple, ast.List, ast.UnaryOp, ast.unaryop, ast.expr_context)


def _parts(value: ast.expr) -> Iterator[ast.AST]:
    """The nodes of an expression, a dotted name as one."""
    yield value
    if not dotted(value):
        for child in ast.iter_child_nodes(value):
            yield from _parts(child) if isinstance(child, ast.expr) else (child,)


def _is_run_over(tree: FunctionTree, name: ast.Name) -> bool:
    """``for x in name``, which leaves a list as it is."""
    parent = tree.parent(name)
    return isinstance(parent, (ast.For, ast.comprehension)) and parent.iter is name


def _sets_outer(tree: FunctionTree, node: ast.AST) -> bool:
    """Whether a definition changes what stands outside of it: ``Net.calls += 1``."""
    if not isinstance(node, (ast.Attribute, ast.Subscript)) or isinstance(node.ctx, ast.Load):
        return False
    root: ast.AST = node
    while isinstance(root, (ast.Attribute, ast.Subscript)):
        root = root.value
    return not isinstance(root, ast.Name) or not tree.is_shadowed(root.id, root)


def _names(node: ast.expr) -> list[str]:
    """The strings of a list."""
    elements = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
    return [str(e.value) if isinstance(e, ast.Constant) else "" for e in elements]


# What its body may do


def _check_body(tree: FunctionTree, loop: ast.For) -> None:
    """Raise Blocked where a turn of the loop ends early, or hands something on to the next."""
    for node in _own_nodes(loop.body):
        if isinstance(node, (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)):
            raise Blocked("loop", f"a turn of the loop ends early (line {node.lineno})")
        if isinstance(node, (ast.Break, ast.Continue)) and _loop_of(tree, node) is loop:
            raise Blocked("loop", f"a turn of the loop ends early (line {node.lineno})")
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            raise Blocked("loop", f"a turn of the loop may hand something on (line {node.lineno})")
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            raise Blocked("loop", f"a turn of the loop may hand something on (line {node.lineno})")
    for name in {n.id for n in _own_nodes(loop.body) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}:
        if not _is_bound_anew(loop, name):
            raise Blocked("loop", f"`{name}` may be handed on to the next turn of the loop (line {loop.lineno})")


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a block, those of nested functions and classes left out."""
    stack: list[ast.AST] = list(body)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def _loop_of(tree: FunctionTree, node: ast.AST) -> ast.AST | None:
    return next((up for up in tree.ancestors(node) if isinstance(up, (ast.For, ast.AsyncFor, ast.While))), None)


def _is_bound_anew(loop: ast.For, name: str) -> bool:
    """Whether each turn binds ``name`` before anything reads it."""
    places = [
        (node.lineno, node.col_offset, isinstance(node.ctx, ast.Store), index)
        for index, statement in enumerate(loop.body)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and node.id == name
    ]
    statements = {index for *_, index in places}
    first = loop.body[min(statements)]
    if isinstance(first, (ast.Assign, ast.AnnAssign)):
        inside = [n for n in ast.walk(first) if isinstance(n, ast.Name) and n.id == name]
        return all(isinstance(n.ctx, ast.Store) for n in inside)
    # A name of a nested block (its loop variable, say) is read there alone, below where it is bound.
    return len(statements) == 1 and min(places)[2] and not isinstance(first, ast.AugAssign)


def _names_of(loop: ast.For, name: str) -> Iterator[ast.Name]:
    """Each place in the body of the loop where the name stands."""
    for statement in loop.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == name:
                yield node


# The edit


def loop_splices(file: SourceFile, tree: FunctionTree, loop: Loop, parameter: str) -> list[Splice]:
    """The loop taken away, its body moved to the left, its variable called ``parameter``. Raises Blocked."""
    node = next((s for s in tree.node.body if isinstance(s, ast.For) and span_of(s.iter)[2:] == loop.span[2:]), None)
    if node is None:
        raise Blocked("layout", f"the loop is not where it was (line {loop.span.line})", loop.span)
    start, end = file.range_of(loop.span)
    line = file.line_of(end)
    rest = file.text[end : file.line_end(line)].strip(BLANK)
    if rest != ":" or not file.starts_line(start) or "#" in file.text[start:end] or node.body[0].lineno <= line:
        raise Blocked("layout", f"the loop shares its lines with something that stays (line {node.lineno})")
    first = line + 1
    if not file.line_text(loop.span.line - 1).strip():  # One blank line is enough where two would meet.
        first = next(n for n in range(first, node.body[0].lineno + 1) if file.line_text(n).strip())
    found = [Splice(file.line_start(loop.span.line), file.line_start(first), "")]
    found += _to_the_left(file, node, first)
    if loop.name == parameter:
        return found
    for name in _names_of(node, loop.name):
        if tree.is_shadowed(loop.name, name):
            continue
        if tree.is_shadowed(parameter, name):
            raise Blocked("name-taken", f"`{parameter}` means something else in a nested scope (line {name.lineno})")
        found.append(Splice(*file.node_range(name), parameter))
    return found


def _to_the_left(file: SourceFile, loop: ast.For, first: int) -> Iterator[Splice]:
    """The lines of the body with the indentation of the loop."""
    outer, inner = file.indent_of(loop.lineno), file.indent_of(loop.body[0].lineno)
    last = loop.end_lineno or loop.lineno
    for node in ast.walk(loop):
        is_text = isinstance(node, ast.JoinedStr) or isinstance(getattr(node, "value", None), (str, bytes))
        if is_text and isinstance(node, ast.expr) and node.lineno != node.end_lineno:
            raise Blocked("layout", f"a text of several lines stands in the loop (line {node.lineno})")
    for line in range(first, last + 1):
        own = file.line_text(line)
        if own.startswith(inner) and inner.startswith(outer):
            start = file.line_start(line)
            yield Splice(start + len(outer), start + len(inner), "")
        elif own.strip():
            raise Blocked("layout", f"a line in the loop is indented in an unusual way (line {line})")
