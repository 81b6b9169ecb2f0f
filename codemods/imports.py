"""Imports, added and taken away in the order and style that a file already has.

The house style of PyTorch's test files (usort and ruff format, as its ``lintrunner`` runs them): names of one
``from`` import sorted without regard to case, one name a line with a trailing comma once the line gets longer than 88
columns. Older files are left in theirs: packed lists stay packed, an unsorted list gets the new name at its end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from codemods.edit import BLANK, LINE_LENGTH, LONGEST_LINE, SourceFile, Splice, blocks, first_line
from codemods.plan import CannotEdit, Import
from hwlint.scan.facts import ModuleFacts
from hwlint.scan.module import module_name
from hwlint.scan.names import read_import


def is_taken(module: ModuleFacts, one: Import) -> bool:
    """Whether the module binds the name of ``one`` to something else than that."""
    name = one.name or one.module.partition(".")[0]
    bound = dict(module.imports).get(name)
    if bound is not None:
        return bound != qualified(one)
    defined = {
        *(c.name for c in module.classes),
        *(c.name for c in module.constants),
        *(f.name for f in module.functions),
    }
    return name in defined


def qualified(one: Import) -> str:
    return f"{one.module}.{one.name}" if one.name else one.module.partition(".")[0]


def add_imports(file: SourceFile, wanted: Iterable[Import], before: int) -> list[Splice]:
    """Splices that make the names of ``wanted`` known at module level above line ``before``.

    Names that an import above it brings in already, by themselves or with '*', are passed over.
    """
    nodes = _top_imports(file, before)
    # One in a block (``try``, ``if``) brings the name in as well as the file itself needs it.
    all_nodes = [
        n
        for n in _module_statements(file.tree.body)
        if isinstance(n, (ast.Import, ast.ImportFrom)) and n.lineno < before
    ]
    missing = [one for one in dict.fromkeys(wanted) if not _is_there(file, all_nodes, one)]
    found: list[Splice] = []
    groups: dict[str, list[str]] = {}
    for one in missing:
        if one.name:
            groups.setdefault(one.module, []).append(one.name)
        else:
            found.append(_new_import(file, f"import {one.module}", nodes, before))
    for module, names in groups.items():
        target = _statement_of(nodes, module)
        if target is None:
            found.append(
                _new_import(file, f"from {module} import {', '.join(sorted(names, key=str.lower))}", nodes, before)
            )
        else:
            found.extend(_merge(file, target, names))
    return found


def _top_imports(file: SourceFile, before: int) -> list[ast.Import | ast.ImportFrom]:
    return [n for n in file.tree.body if isinstance(n, (ast.Import, ast.ImportFrom)) and n.lineno < before]


def _module_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the module does, those of its blocks included."""
    for node in body:
        yield node
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            for inner in blocks(node):
                yield from _module_statements(inner)


def _is_there(file: SourceFile, nodes: Sequence[ast.Import | ast.ImportFrom], one: Import) -> bool:
    for node in nodes:
        names, stars = read_import(node, module_name(file.path), file.path.endswith("/__init__.py"))
        if one.name and (names.get(one.name) == qualified(one) or one.module in stars):
            return True
        if (
            not one.name
            and isinstance(node, ast.Import)
            and any(a.name == one.module and not a.asname for a in node.names)
        ):
            return True
    return False


def _statement_of(nodes: Sequence[ast.Import | ast.ImportFrom], module: str) -> ast.ImportFrom | None:
    """The ``from module import`` with the most names."""
    found = [n for n in nodes if isinstance(n, ast.ImportFrom) and n.module == module and not n.level]
    found = [n for n in found if n.names[0].name != "*"]
    return max(found, key=lambda n: len(n.names)) if found else None


# A name more in a list


def _merge(file: SourceFile, node: ast.ImportFrom, names: Sequence[str]) -> list[Splice]:
    order = _order(node)
    places = sorted((_place(node, name, order), order_key(name, order), name) for name in names)
    if _one_name_a_line(file, node):
        return [_own_line(file, node, at, name) for at, _, name in places]
    splices = [_in_line(file, node, at, name) for at, _, name in places]
    if not _too_long(file, node, splices):
        return splices
    if node.lineno == node.end_lineno:
        return _exploded(file, node, names, order)
    return [_packed(file, node, at, name) for at, _, name in places]


def order_key(name: str, order: str) -> tuple[object, ...]:
    if order == "type":  # isort's: constants, classes, the rest.
        kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
        return (kind, name)
    return (name,) if order == "case" else (name.lower(), name)


def _order(node: ast.ImportFrom) -> str:
    """How the names are sorted: 'lower', 'type', 'case', or '' for not at all."""
    names = [alias.name for alias in node.names]
    for order in ("lower", "type", "case"):
        if names == sorted(names, key=lambda n: order_key(n, order)):
            return order
    return ""


def _place(node: ast.ImportFrom, name: str, order: str) -> int:
    """Index of the name that the new one stands before."""
    if not order:
        return len(node.names)
    key = order_key(name, order)
    return next((i for i, alias in enumerate(node.names) if order_key(alias.name, order) > key), len(node.names))


def _one_name_a_line(file: SourceFile, node: ast.ImportFrom) -> bool:
    lines = [alias.lineno for alias in node.names]
    own = all(file.starts_line(file.node_range(alias)[0]) for alias in node.names)  # type: ignore[arg-type]
    return own and len(set(lines)) == len(lines)


def alias_range(file: SourceFile, alias: ast.alias) -> tuple[int, int]:
    """Where a name of an import stands, with what it is imported as."""
    return file.node_range(alias)  # type: ignore[arg-type]


def _own_line(file: SourceFile, node: ast.ImportFrom, at: int, name: str) -> Splice:
    """``    Name,`` on a line of its own."""
    if at < len(node.names):
        line = node.names[at].lineno
        while line - 1 > node.lineno and file.is_comment(line - 1):
            line -= 1  # Comments above a name are about that name.
        start = file.line_start(line)
        return Splice(start, start, f"{file.indent_of(node.names[at].lineno)}{name},{file.line_break(line)}")
    last = node.names[-1]
    end, line = alias_range(file, last)[1], last.end_lineno or last.lineno
    indent, line_break = file.indent_of(last.lineno), file.line_break(line)
    rest = file.text[end : file.line_end(line)]
    comma = rest.lstrip(BLANK)[:1]
    if comma == ",":
        start = file.line_start(line + 1)
        return Splice(start, start, f"{indent}{name},{line_break}")
    if comma == "#":
        raise CannotEdit("a comment stands after the last name of the import, which has no comma")
    return Splice(end, end, f",{line_break}{indent}{name}")


def _in_line(file: SourceFile, node: ast.ImportFrom, at: int, name: str) -> Splice:
    if at < len(node.names):
        start = alias_range(file, node.names[at])[0]
        return Splice(start, start, f"{name}, ")
    end = alias_range(file, node.names[-1])[1]
    return Splice(end, end, f", {name}")


def _too_long(file: SourceFile, node: ast.ImportFrom, splices: Sequence[Splice]) -> bool:
    """Whether a line would get longer than the file's import lines are."""
    widths = {line: len(file.line_text(line)) for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    limit = LONGEST_LINE if max(widths.values()) > LINE_LENGTH else file.line_length
    for one in splices:
        widths[file.line_of(one.start)] += len(one.text)
    return any(widths[file.line_of(one.start)] > limit for one in splices)


def _packed(file: SourceFile, node: ast.ImportFrom, at: int, name: str) -> Splice:
    """In a list of several names a line whose line is full: on a line of its own, within the parentheses or with
    backslashes.
    """
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    slash = (
        " \\" if any(file.line_text(line).endswith("\\") for line in lines) and not _has_parentheses(file, node) else ""
    )
    if at < len(node.names):
        start = alias_range(file, node.names[at])[0]
        indent = _continuation(file, node, node.names[at].lineno)
        before = file.text[file.line_start(node.names[at].lineno) : start]
        if file.starts_line(start):
            return Splice(start, start, f"{name},{slash}{file.line_break(node.lineno)}{before}")
        kept = len(before) - len(before.rstrip(BLANK))
        return Splice(start - kept, start, f"{slash}{file.line_break(node.lineno)}{indent}{name}, ")
    end = alias_range(file, node.names[-1])[1]
    indent = _continuation(file, node, node.names[-1].lineno)
    return Splice(end, end, f",{slash}{file.line_break(node.lineno)}{indent}{name}")


def _has_parentheses(file: SourceFile, node: ast.ImportFrom) -> bool:
    start = file.node_range(node)[0]
    return "(" in file.text[start : alias_range(file, node.names[0])[0]].partition("#")[0]


def _continuation(file: SourceFile, node: ast.ImportFrom, line: int) -> str:
    """The white space that a further line of the list starts with."""
    for alias in node.names:
        start = alias_range(file, alias)[0]
        if alias.lineno != node.names[0].lineno and file.text[file.line_start(alias.lineno) : start].strip(BLANK) == "":
            return file.indent_of(alias.lineno)
    start = alias_range(file, node.names[0])[0]
    return " " * (start - file.line_start(node.names[0].lineno))


def _exploded(file: SourceFile, node: ast.ImportFrom, names: Sequence[str], order: str) -> list[Splice]:
    """A one-line import of ``names`` as well, with one name a line."""
    texts = [(alias.name, file.text[slice(*alias_range(file, alias))]) for alias in node.names]
    entries = [(order_key(name, order or "lower"), text) for name, text in (*texts, *((n, n) for n in names))]
    if order:
        entries.sort()
    return [one_name_a_line(file, node, [text for _, text in entries])]


def one_name_a_line(file: SourceFile, node: ast.ImportFrom, entries: Sequence[str]) -> Splice:
    """A one-line import with ``entries``, one a line, in place of its names; a comment at its end goes behind the
    parenthesis, where formatters put it. Raises CannotEdit where something else stands on the line.
    """
    start, end = file.node_range(node)
    rest = file.text[end : file.line_end(node.lineno)].strip(BLANK)
    if rest and not rest.startswith("#"):
        raise CannotEdit("another statement stands on the line of the import")
    line_break, indent = file.line_break(node.lineno), file.indent_of(node.lineno)
    comment = f"  {rest}" if rest else ""
    body = "".join(f"{indent}    {entry},{line_break}" for entry in entries)
    return Splice(start, file.line_end(node.lineno), f"from {node.module} import ({comment}{line_break}{body}{indent})")


# A new statement


def _new_import(file: SourceFile, text: str, nodes: Sequence[ast.Import | ast.ImportFrom], before: int) -> Splice:
    """``text`` as a statement of its own, where an import sorter would have put it."""
    key = _statement_key(text)
    here = [n for n in _first_section(file, nodes) if _is_alone(file, n)]
    future = [n for n in here if _module_of(n) == "__future__"]
    section = [n for n in here if _is_torch(_module_of(n)) == _is_torch(key[1]) and n not in future]
    alike = [n for n in section if _statement_key(_head(n))[0] == key[0]] or section
    smaller = [n for n in alike if _statement_key(_head(n)) <= key]
    greater = [n for n in alike if _statement_key(_head(n)) > key]
    if not smaller and greater and not file.is_comment(greater[0].lineno - 1):
        at = file.line_start(greater[0].lineno)
        return Splice(at, at, f"{text}{file.line_break(greater[0].lineno)}")
    if section:
        return _below(file, smaller[-1] if smaller else section[-1], text)
    if here and (_is_torch(key[1]) or future):
        return _below(file, here[-1] if _is_torch(key[1]) else future[-1], text, apart=True)
    return _at_top(file, text, before)


def _is_torch(module: str) -> bool:
    return module.partition(".")[0] == "torch"


def _statement_key(text: str) -> tuple[int, str]:
    """Where usort puts it within a block: plain imports first, then by module without regard to case."""
    kind, module = text.split(" ")[:2]
    return (0 if kind == "import" else 1, module.lower())


def _head(node: ast.Import | ast.ImportFrom) -> str:
    return f"{'from' if isinstance(node, ast.ImportFrom) else 'import'} {_module_of(node)}"


def _module_of(node: ast.Import | ast.ImportFrom) -> str:
    if isinstance(node, ast.ImportFrom):
        return "." * node.level + (node.module or "")
    return node.names[0].name


def _first_section(
    file: SourceFile, nodes: Sequence[ast.Import | ast.ImportFrom]
) -> Sequence[ast.Import | ast.ImportFrom]:
    """The imports at the head of the file, up to the first other statement; those further down where there are
    none.
    """
    found: list[ast.Import | ast.ImportFrom] = []
    for node in file.tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if node in nodes:
                found.append(node)
        elif any(_is_torch(_module_of(n)) for n in found):
            break
    return found


def _is_alone(file: SourceFile, node: ast.stmt) -> bool:
    """Whether the statement shares no line with another."""
    start, end = file.node_range(node)
    rest = file.text[end : file.line_end(file.line_of(end))].strip(BLANK)
    return file.starts_line(start) and (not rest or rest.startswith("#"))


def _below(file: SourceFile, node: ast.stmt, text: str, apart: bool = False) -> Splice:
    line = node.end_lineno or node.lineno
    line_break = file.line_break(line)
    blank = line_break if apart else ""
    at = file.line_end(line)
    return Splice(at, at, f"{line_break}{blank}{text}")


def _at_top(file: SourceFile, text: str, before: int) -> Splice:
    """Below the module's docstring, comments and ``from __future__`` lines, above the first other statement."""
    first = next((n for n in file.tree.body if not _is_docstring_of(file, n)), None)
    if first is None or first_line(first) > before:
        raise CannotEdit("there is no place for an import")
    line = first_line(first)
    if not file.starts_line(
        file.line_start(line) + len(file.line_text(line)) - len(file.line_text(line).lstrip(BLANK))
    ):
        raise CannotEdit("there is no place for an import")
    if first is not file.tree.body[0] and line == (file.tree.body[0].end_lineno or 0):
        raise CannotEdit("there is no place for an import")
    top = line
    while top > 1 and file.is_comment(top - 1):
        top -= 1
    line = top if top > 1 else line  # Comments that reach up to the first line are the file's own.
    at = file.line_start(line)
    return Splice(at, at, f"{text}{file.line_break(line)}{file.line_break(line)}")


def _is_docstring_of(file: SourceFile, node: ast.stmt) -> bool:
    return node is file.tree.body[0] and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


# A name less


def remove_names(file: SourceFile, node: ast.ImportFrom | ast.Import, names: Iterable[str]) -> list[Splice]:
    """Splices that take the local ``names`` out of an import, the whole statement if none is left.

    Raises CannotEdit where a comment would go with them.
    """
    gone = set(names)
    kept = [a for a in node.names if (a.asname or a.name) not in gone]
    if len(kept) == len(node.names):
        return []
    if not kept:
        return [_whole_statement(file, node)]
    last_kept = max(i for i, a in enumerate(node.names) if a in kept)
    found = [_name_out(file, node, i) for i, a in enumerate(node.names) if a not in kept and i < last_kept]
    trailing = range(last_kept + 1, len(node.names))
    if trailing and all(_on_own_line(file, node, i) for i in trailing):
        found += [_name_out(file, node, i) for i in trailing]
    elif trailing:
        start, end = alias_range(file, node.names[last_kept])[1], alias_range(file, node.names[-1])[1]
        found.append(_without_comment(file, Splice(start, end, "")))
    return found


def _whole_statement(file: SourceFile, node: ast.stmt) -> Splice:
    first, last = node.lineno, node.end_lineno or node.lineno
    text = file.text[file.line_start(first) : file.line_end(last)]
    if not _is_alone(file, node) or "#" in text:
        raise CannotEdit("the import that is no longer used shares its lines with a comment or a statement")
    if (first == 1 or file.is_blank(first - 1)) and last < file.line_count and file.is_blank(last + 1):
        last += 1  # It was a group by itself.
    return Splice(file.line_start(first), file.line_start(last + 1), "")


def _on_own_line(file: SourceFile, node: ast.ImportFrom | ast.Import, index: int) -> bool:
    start, end = alias_range(file, node.names[index])
    line = node.names[index].lineno
    rest = file.text[end : file.line_end(line)].strip(BLANK)
    alone = rest == "," or (rest == "" and index == len(node.names) - 1)
    return file.starts_line(start) and alone and line != node.lineno


def _name_out(file: SourceFile, node: ast.ImportFrom | ast.Import, index: int) -> Splice:
    if _on_own_line(file, node, index):
        line = node.names[index].lineno
        return Splice(file.line_start(line), file.line_start(line + 1), "")
    start, following = alias_range(file, node.names[index])[0], alias_range(file, node.names[index + 1])[0]
    return _without_comment(file, Splice(start, following, ""))


def _without_comment(file: SourceFile, one: Splice) -> Splice:
    if "#" in file.text[one.start : one.end]:
        raise CannotEdit("a comment stands beside the name that is no longer imported")
    return one
