"""Splices in and around a class: a first statement, a statement below it, a parameter more.

Each gives the text the place and the blank lines that PyTorch's formatted test files have, whatever the file's
indentation and line ends. A layout in which the new text has no such place raises CannotEdit.
"""

from __future__ import annotations

import ast
import re

from codemods.edit import BLANK, SourceFile, Splice, first_line, is_docstring
from codemods.plan import CannotEdit
from hwlint.scan.facts import Span

RULER = re.compile(r"#[ #=*~-]{3,}")
"""A line of a comment that draws a line: the comment is a heading of what follows."""


def insert_first(file: SourceFile, class_line: int, statement: str) -> Splice:
    """``statement`` as the first of a class body, below the docstring, with blank lines around it as PyTorch has
    them.

    A comment right above the first statement stays with that, and so does a section heading; another one that a blank
    line parts from it stays with the class. A lone ``pass`` is replaced. Raises CannotEdit for layouts in which a new
    line has no place.
    """
    node = file.class_at(class_line)
    first = node.body[0]
    start, end = file.node_range(first)
    if first_line(first) < first.lineno:  # Decorated: the statement starts with the '@' above.
        start = file.line_start(first_line(first)) + _leading(file, first_line(first))
    if not file.starts_line(start) or first_line(first) == node.lineno:
        return _open_one_line_class(file, node, statement)
    if is_docstring(first):
        return _insert_below(file, first, statement)
    indent = file.indent_of(first_line(first))
    if len(node.body) == 1 and isinstance(first, ast.Pass) and file.line_text(first.lineno).strip(BLANK) == "pass":
        return Splice(start, end, statement)
    header_end = _header_end(file, node, first)
    comments = [n for n in range(header_end + 1, first_line(first)) if file.is_comment(n)]
    heading = any(RULER.fullmatch(file.line_text(n).strip(BLANK)) for n in comments)
    apart = bool(comments) and not heading and file.is_blank(first_line(first) - 1)
    above = first_line(first) - 1 if apart else header_end
    line_break = file.line_break(header_end)
    following = "" if file.is_blank(above + 1) else line_break
    at = file.line_start(above + 1)
    return Splice(at, at, f"{indent}{statement}{line_break}{following}")


def _leading(file: SourceFile, line: int) -> int:
    text = file.line_text(line)
    return len(text) - len(text.lstrip(BLANK))


def _header_end(file: SourceFile, node: ast.ClassDef, first: ast.stmt) -> int:
    """The line that the class's header ends on."""
    line = first_line(first) - 1
    while line > node.lineno and (file.is_blank(line) or file.is_comment(line)):
        line -= 1
    # Whatever is code above the first statement of the body is the header.
    return line


def _insert_below(file: SourceFile, docstring: ast.stmt, statement: str) -> Splice:
    end = file.node_range(docstring)[1]
    line = file.line_of(end)
    rest = file.text[end : file.line_end(line)].strip(BLANK)
    if rest and not rest.startswith("#"):
        raise CannotEdit("another statement stands on the docstring's line")
    indent, line_break = file.indent_of(docstring.lineno), file.line_break(line)
    at = file.line_end(line)
    following = "" if line + 1 > file.line_count or file.is_blank(line + 1) else line_break
    return Splice(at, at, f"{line_break}{line_break}{indent}{statement}{following}")


def _open_one_line_class(file: SourceFile, node: ast.ClassDef, statement: str) -> Splice:
    """``class A(B): x = 1`` with the statement and the old body on lines of their own."""
    first = node.body[0]
    start = file.node_range(first)[0]
    line = file.line_of(start)
    before = file.text[file.line_start(line) : start].rstrip(BLANK)
    header = file.line_start(node.lineno)
    if not before.endswith(":") or is_docstring(first) or not file.starts_line(header + _leading(file, node.lineno)):
        raise CannotEdit("the class stands on one line in a way that cannot be opened")
    outer = file.indent_of(node.lineno)
    indent = outer + ("\t" if outer.endswith("\t") else "    ")
    line_break = file.line_break(line)
    colon = file.line_start(line) + len(before)
    if len(node.body) == 1 and isinstance(first, ast.Pass):
        return Splice(colon, file.node_range(first)[1], f"{line_break}{indent}{statement}")
    return Splice(colon, start, f"{line_break}{indent}{statement}{line_break}{line_break}{indent}")


# Below a class


def insert_below_class(file: SourceFile, class_line: int, statement: str) -> Splice:
    """``statement`` in the block that the class stands in, right below it."""
    node = file.class_at(class_line)
    indent = file.indent_of(first_line(node))
    end = file.node_range(node)[1]
    last = file.line_of(end)
    rest = file.text[end : file.line_end(last)].strip(BLANK)
    if rest and not rest.startswith("#"):
        raise CannotEdit("another statement stands on the last line of the class")
    line = last + 1
    while file.is_blank(line) or file.is_comment(line):
        if file.is_comment(line):
            if len(file.indent_of(line)) <= len(indent):
                break
            last = line  # A comment at the end of the class body.
        line += 1
    line_break = file.line_break(last)
    at = file.line_end(last)
    blank = 0
    while file.is_blank(last + 1 + blank) and last + 1 + blank < file.line_count:
        blank += 1
    apart = 1 if indent else min(max(blank, 1), 2)  # As many blank lines as the file has below its classes.
    return Splice(at, at, f"{line_break * (apart + 1)}{indent}{statement}")


# Parameters


def add_parameter(file: SourceFile, function_line: int, name: str = "device") -> Splice:
    """``name`` as the parameter behind the first (``self``) of the function at ``function_line``."""
    node = file.function_at(function_line)
    arguments = (*node.args.posonlyargs, *node.args.args)
    if not arguments or len(node.args.defaults) == len(arguments):
        raise CannotEdit("the function has no `self` to put a parameter behind")
    first = arguments[0]
    end = file.range_of(span_of_argument(first))[1]
    following = arguments[1] if len(arguments) > 1 else None
    if (
        following is not None
        and following.lineno > first.lineno
        and file.starts_line(file.offset(following.lineno, following.col_offset))
    ):
        return Splice(end, end, f",{file.line_break(first.lineno)}{file.indent_of(following.lineno)}{name}")
    return Splice(end, end, f", {name}")


def span_of_argument(node: ast.arg) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
