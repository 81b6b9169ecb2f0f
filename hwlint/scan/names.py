"""What a dotted name in a module means, as far as its imports tell."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from hwlint.scan.facts import Span


def span_of(node: ast.expr | ast.stmt | ast.excepthandler) -> Span:
    """The node's own stretch of source, as ``ast`` positions it."""
    return Span(
        node.lineno,
        node.col_offset,
        node.lineno if node.end_lineno is None else node.end_lineno,
        node.col_offset if node.end_col_offset is None else node.end_col_offset,
    )


def dotted(node: ast.AST) -> str:
    """'a.b.c' for a chain of attributes on a name, '' for anything else."""
    if isinstance(node, ast.Name):
        return node.id
    tail = ""
    while isinstance(node, ast.Attribute):
        tail = f".{node.attr}{tail}"
        node = node.value
    return node.id + tail if isinstance(node, ast.Name) else ""


def source_of(node: ast.expr) -> str:
    """What ``ast.unparse`` gives for an expression; the plain ones, as most are, at a small part of its price."""
    atom = _atom(node)
    if atom:
        return atom
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        operand = _atom(node.operand)
        if operand:
            return f"not {operand}"
    elif isinstance(node, ast.BoolOp):
        values = [_atom(value) for value in node.values]
        if all(values):
            return (" and " if isinstance(node.op, ast.And) else " or ").join(values)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = _atom(node.left), _atom(node.comparators[0])
        symbol = _COMPARISONS.get(node.ops[0].__class__)
        if left and right and symbol:
            return f"{left} {symbol} {right}"
    return ast.unparse(node)


_COMPARISONS: dict[type, str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
_REPR_IS_SOURCE = (str, int, bool, type(None))


def _atom(node: ast.expr) -> str:
    """The source of a name, a literal or a call, which no operator around it puts in parentheses; '' for the rest."""
    if isinstance(node, ast.Constant):
        return repr(node.value) if node.kind is None and node.value.__class__ in _REPR_IS_SOURCE else ""
    if isinstance(node, (ast.Name, ast.Attribute)):
        return dotted(node)
    if isinstance(node, ast.List):
        return f"[{', '.join(map(source_of, node.elts))}]"
    if isinstance(node, ast.Tuple) and node.elts:
        return f"({', '.join(map(source_of, node.elts))}{',' if len(node.elts) == 1 else ''})"
    if isinstance(node, ast.Set):
        return f"{{{', '.join(map(source_of, node.elts))}}}"
    if isinstance(node, ast.Dict) and None not in node.keys:
        pairs = [f"{source_of(k)}: {source_of(v)}" for k, v in zip(node.keys, node.values) if k is not None]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(node, ast.Call):
        name = dotted(node.func)
        if name:
            arguments = [source_of(a) for a in node.args]
            arguments += [(f"{k.arg}=" if k.arg else "**") + source_of(k.value) for k in node.keywords]
            return f"{name}({', '.join(arguments)})"
    return ""


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a module's imports bring in, wherever in the file the import stands."""

    module: str
    imports: dict[str, str] = field(default_factory=dict)
    star_imports: tuple[str, ...] = ()

    def qualify(self, node: ast.AST) -> str:
        """The dotted name of ``node`` with the import of its head applied: ``F.relu`` -> 'torch.nn.functional.relu'.

        A head that no import binds stays as it is; '' where ``node`` is no dotted name.
        """
        return self.qualify_name(dotted(node))

    def qualify_name(self, name: str) -> str:
        head, dot, rest = name.partition(".")
        return self.imports.get(head, head) + dot + rest


def read_import(
    node: ast.Import | ast.ImportFrom, module: str, is_package: bool = False
) -> tuple[dict[str, str], list[str]]:
    """Local name -> qualified name, and the modules of ``from x import *``, of one import statement.

    Relative imports are made absolute against ``module``; where they climb out of it, the dots are kept.
    """
    names: dict[str, str] = {}
    stars: list[str] = []
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.asname:
                names[alias.asname] = alias.name
            else:
                head = alias.name.partition(".")[0]
                names[head] = head
        return names, stars
    source = node.module or ""
    if node.level:
        package = module.split(".")
        keep = len(package) - node.level + (1 if is_package else 0)
        prefix = ".".join(package[:keep]) if keep > 0 else "." * node.level
        source = f"{prefix}.{source}" if source and keep > 0 else prefix + source
    for alias in node.names:
        if alias.name == "*":
            stars.append(source)
        else:
            names[alias.asname or alias.name] = f"{source}.{alias.name}" if source else alias.name
    return names, stars
