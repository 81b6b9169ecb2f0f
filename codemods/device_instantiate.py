"""The call of instantiate_device_type_tests: where it stands, and what may not use the class's name any more."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked
from codemods.edit import BLANK, SourceFile, Splice, blocks, first_line, statements
from codemods.super_calls import bare_super, super_calls
from hwlint.scan.facts import Span
from hwlint.scan.names import dotted, span_of

FUNCTION = "instantiate_device_type_tests"


def own_name_splices(file: SourceFile, cls: ast.ClassDef, replaced: Span | None) -> list[Splice]:
    """What the class's own methods write in place of its name, which is gone once it is instantiated.

    ``super(T, self)`` becomes ``super()``, and ``T.Inner`` becomes ``self.Inner`` for what the body of the class
    defines: the loader copies it. What the methods set as ``T.count`` they set as ``type(self).count``: each class for
    a device counts for itself. Raises Blocked for any other use in the module (``replaced`` apart).
    """
    supers = list(super_calls(cls))
    members = list(_member_names(file, cls))
    done = {(call.args[0].lineno, call.args[0].col_offset) for call in supers}
    done |= {(name.lineno, name.col_offset) for name, _ in members}
    check_names_in(file, cls, replaced, done)
    found = [Splice(*file.node_range(name), text) for name, text in members]
    return [*found, *bare_super(file, [span_of(call) for call in supers])] if supers else found


def _member_names(file: SourceFile, cls: ast.ClassDef) -> Iterator[tuple[ast.Name, str]]:
    """The ``T`` of each ``T.Inner`` in a method, where ``self`` means the test and Inner is no method of it, and what
    takes its place.
    """
    if not any(isinstance(node, ast.Name) for node in file.mentions.get(cls.name, ())):
        return
    assigned = {t.id for s in cls.body if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)}
    inner = {s.name for s in cls.body if isinstance(s, ast.ClassDef)} | assigned
    # Static methods become ordinary ones (codemods.device_members).
    inner |= {s.name for s in cls.body if isinstance(s, ast.FunctionDef) and _is_static(s)}
    set_here = [n for n in ast.walk(cls) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)]
    # What some method sets on the test itself would be found first.
    others = {n.attr for n in set_here if dotted(n.value) != cls.name or isinstance(n.ctx, ast.Del)}
    counted = ({n.attr for n in set_here} & assigned) - others
    inner -= {n.attr for n in set_here} - counted
    for method in cls.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or method.args.args[:1] == []:
            continue
        if method.args.args[0].arg != "self" or any(dotted(d) == "staticmethod" for d in method.decorator_list):
            continue
        tree = FunctionTree(file, method)
        for node in (n for statement in method.body for n in ast.walk(statement)):
            parent = tree.parent(node)
            if not (isinstance(node, ast.Name) and node.id == cls.name and isinstance(parent, ast.Attribute)):
                continue
            nested = any(isinstance(scope, ast.ClassDef) for scope in tree.scopes_between(node))
            if parent.attr in inner and not nested:
                if not tree.binds_again("self") and not tree.is_shadowed("self", node):
                    yield node, "type(self)" if parent.attr in counted else "self"


def _is_static(node: ast.FunctionDef) -> bool:
    return [dotted(d) for d in node.decorator_list] == ["staticmethod"]


def check_names_in(
    file: SourceFile, cls: ast.ClassDef, replaced: Span | None, done: Collection[tuple[int, int]] = ()
) -> None:
    """Raise Blocked where the module uses the name of the class, which is gone afterwards.

    ``replaced`` and the names at the places ``done`` (line, column) go as well.
    """
    for node in file.mentions.get(cls.name, ()):
        if (
            isinstance(node, ast.Name)
            and (node.lineno, node.col_offset) not in done
            and not (replaced is not None and replaced.holds(span_of(node)))
        ):
            raise Blocked("name-used-later", f"`{cls.name}` is used on line {node.lineno}", span_of(node))
        if isinstance(node, ast.Constant) and (node.lineno, node.col_offset) not in done:
            raise Blocked("name-used-later", f"`{cls.name}` is named in a string on line {node.lineno}", span_of(node))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            raise Blocked("name-used-later", f"`{cls.name}` is declared global (line {node.lineno})")
    for statement in cls.body:
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and isinstance(statement.value, ast.Call):
            if dotted(statement.value.func) in ("staticmethod", "classmethod"):
                raise Blocked(
                    "class-member", f"the class has a {dotted(statement.value.func)} (line {statement.lineno})"
                )


def call_splices(
    file: SourceFile, cls: ast.ClassDef, arguments: str, replaced: Span | None, above: str = ""
) -> list[Splice]:
    """The call: in the place of the one at ``replaced``, beside those that are there, or right below the class.

    ``above`` is a statement that stands above it.
    """
    text = f"{FUNCTION}({cls.name}, globals(){arguments})"
    if above:
        line = replaced.line if replaced is not None else first_line(cls)
        text = f"{above}{file.line_break(cls.lineno)}{file.indent_of(line)}{text}"
    if replaced is not None:
        start, end = file.range_of(replaced)
        if "#" in file.text[start:end]:
            raise Blocked("layout", f"a comment stands in the call on line {replaced.line}", replaced)
        return [Splice(start, end, text)]
    body = _block_of(file, cls)
    beside = _grouped(body, cls)
    if beside is not None:
        line = beside.end_lineno or beside.lineno
        _alone(file, beside)
        at = file.line_end(line)
        return [Splice(at, at, f"{file.line_break(line)}{file.indent_of(beside.lineno)}{text}")]
    last = _last_line(file, cls)
    line_break = file.line_break(last)
    at = file.line_end(last)
    indent = file.indent_of(first_line(cls))
    gap = line_break * (2 if not indent else 1)
    following = "" if last + 1 > file.line_count or file.is_blank(last + 1) else gap
    return [Splice(at, at, f"{line_break}{gap}{indent}{text}{following}")]


def _block_of(file: SourceFile, cls: ast.ClassDef) -> list[ast.stmt]:
    if cls in file.tree.body:
        return file.tree.body
    for node in statements(file.tree.body):
        for block in blocks(node):
            if cls in block:
                return block
    raise Blocked("layout", f"the block of the class on line {cls.lineno} is not found")


def _grouped(body: list[ast.stmt], cls: ast.ClassDef) -> ast.stmt | None:
    """The last call of several that stand together behind all classes of the block: the new one goes behind it."""
    calls = [n for n in body if _is_call(n)]
    classes = [n for n in body if isinstance(n, ast.ClassDef)]
    if not calls or calls[0].lineno < max(c.lineno for c in classes):
        return None
    return calls[-1]


def _is_call(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and dotted(node.value.func).rpartition(".")[2]
        in (
            FUNCTION,
            "instantiate_parametrized_tests",
        )
    )


def _alone(file: SourceFile, node: ast.stmt) -> None:
    start, end = file.node_range(node)
    rest = file.text[end : file.line_end(file.line_of(end))].strip(BLANK)
    if not file.starts_line(start) or (rest and not rest.startswith("#")):
        raise Blocked("layout", f"the line {node.lineno} is shared")


def _last_line(file: SourceFile, cls: ast.ClassDef) -> int:
    """The last line of the class, with the comments below it that are indented as its body is."""
    last = cls.end_lineno or cls.lineno
    rest = file.text[file.node_range(cls)[1] : file.line_end(last)].strip(BLANK)
    if rest and not rest.startswith("#"):
        raise Blocked("layout", f"the last line of the class is shared (line {last})")
    outer = len(file.indent_of(first_line(cls)))
    line = last + 1
    while line <= file.line_count and (file.is_blank(line) or file.is_comment(line)):
        if file.is_comment(line) and not file.is_blank(line):
            if len(file.indent_of(line)) <= outer:
                break
            last = line
        line += 1
    return last
