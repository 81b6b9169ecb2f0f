"""The text of one file, its places, and splices of it.

Facts carry the positions of ``ast`` (lines from 1, columns in UTF-8 bytes); a :class:`SourceFile` turns them into
offsets of the text. Whole lines are inserted as splices. An expression is rewritten with libcst by :func:`rewrite`,
which parses only the statement it stands in, so that a change of one line costs the same in a file of any size.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from codemods.plan import CannotEdit
from hwlint.scan.facts import Problem, Span
from hwlint.scan.names import span_of
from hwlint.scan.reading import NEWLINE, SourceText, parse, read_source

if TYPE_CHECKING:
    import libcst as cst

    Replacement = tuple[Span, Callable[[cst.BaseExpression], cst.BaseExpression]]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
BLANK = " \t\f"
LINE_LENGTH, LONGEST_LINE = 88, 120


class Splice(NamedTuple):
    """``text`` in place of ``source[start:end]``; offsets count characters."""

    start: int
    end: int
    text: str


class Overlap(ValueError):
    """Two splices of one file meet."""


def splice(text: str, splices: Iterable[Splice]) -> str:
    """``text`` with all splices applied; insertions at one place stay in their order. Raises Overlap."""
    parts: list[str] = []
    at = 0
    for one in sorted(splices, key=lambda s: (s.start, s.end)):
        if one.start < at:
            raise Overlap(f"two changes meet at offset {one.start}")
        parts += (text[at : one.start], one.text)
        at = one.end
    return "".join((*parts, text[at:]))


def _words_of(node: ast.AST) -> Sequence[str]:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    if isinstance(node, ast.Constant):
        return (node.value,) if isinstance(node.value, str) else ()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return (node.name,)
    return node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else ()


class SourceFile:
    """A file's text with what an edit asks of it. Made from text that ``ast`` parses."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.text = source.text
        self.starts = [0, *(m.end() for m in NEWLINE.finditer(source.text))]

    @classmethod
    def read(cls, data: bytes, path: str) -> SourceFile:
        """Raises CannotEdit for what cannot be decoded and encoded back to the same bytes."""
        source = read_source(data, path)
        if isinstance(source, Problem):
            raise CannotEdit(source.message)
        file = cls(source)
        if file.encode(source.text) != data:
            raise CannotEdit(f"its encoding {source.encoding!r} does not give the same bytes back")
        if source.newline == "\r" or (source.newline == "mixed" and re.search("\r(?!\n)", source.text)):
            raise CannotEdit("it has lines that end in a lone carriage return")
        return file

    @property
    def path(self) -> str:
        return self.source.path

    def encode(self, text: str) -> bytes:
        """The bytes of ``text`` in the file's encoding. Raises CannotEdit where it has no place there."""
        name = self.source.encoding.lower().replace("_", "-")
        codec = "utf-8" if name == "utf-8" or name.startswith("utf-8-") else self.source.encoding
        try:
            data = text.encode(codec)
        except (UnicodeError, LookupError) as error:
            raise CannotEdit(f"cannot be encoded as {self.source.encoding!r}: {error}") from None
        return b"\xef\xbb\xbf" + data if self.source.bom else data

    @cached_property
    def tree(self) -> ast.Module:
        tree = parse(self.source)
        if isinstance(tree, Problem):
            raise CannotEdit(f"line {tree.line}: {tree.message}")
        return tree

    @cached_property
    def mentions(self) -> Mapping[str, Sequence[ast.AST]]:
        """The nodes that hold a word, in the order of ``ast.walk``: names, attributes, definitions of functions, whole
        strings, ``global`` and ``nonlocal`` statements. Made once, since many questions about a file are of this kind.
        """
        found: dict[str, list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            for word in _words_of(node):
                found.setdefault(word, []).append(node)
        return found

    # Places

    def offset(self, line: int, column: int) -> int:
        """Offset in the text of a position of ``ast``."""
        start = self.starts[line - 1]
        text = self.text[start : start + column]
        if text.isascii():
            return start + column
        return start + len(self.line_text(line).encode("utf-8")[:column].decode("utf-8"))

    def range_of(self, span: Span) -> tuple[int, int]:
        return self.offset(span.line, span.column), self.offset(span.end_line, span.end_column)

    def slice(self, span: Span) -> str:
        start, end = self.range_of(span)
        return self.text[start:end]

    def node_range(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        return self.range_of(span_of(node))

    @property
    def line_count(self) -> int:
        return len(self.starts)

    def line_of(self, offset: int) -> int:
        return bisect_right(self.starts, offset)

    def line_start(self, line: int) -> int:
        """Offset of the first character of ``line``; the end of the text for the line after the last."""
        return self.starts[line - 1] if line <= len(self.starts) else len(self.text)

    def line_end(self, line: int) -> int:
        """Offset of the line's end, its line break left out."""
        end = self.line_start(line + 1)
        while end > self.line_start(line) and self.text[end - 1] in "\r\n":
            end -= 1
        return end

    def line_text(self, line: int) -> str:
        """The line without its line break; '' beyond the last."""
        return self.text[self.line_start(line) : self.line_end(line)] if line <= len(self.starts) else ""

    def line_break(self, line: int) -> str:
        r"""How ``line`` ends; for a last line without one, how the others of the file end ('\n' where there is
        none).
        """
        found = self.text[self.line_end(line) : self.line_start(line + 1)]
        return found or ("\r\n" if "\r\n" in self.text else "\n")

    def is_blank(self, line: int) -> bool:
        """Whether the line is there and has nothing on it."""
        return line <= len(self.starts) and not self.line_text(line).strip(BLANK)

    def is_comment(self, line: int) -> bool:
        return self.line_text(line).lstrip(BLANK).startswith("#")

    def indent_of(self, line: int) -> str:
        """The white space that the line starts with, as far as it counts (a form feed starts it anew)."""
        text = self.line_text(line)
        return text[: len(text) - len(text.lstrip(BLANK))].rpartition("\f")[2]

    def starts_line(self, offset: int) -> bool:
        """Whether nothing but white space stands before it on its line, which continues none."""
        line = self.line_of(offset)
        if self.text[self.line_start(line) : offset].strip(BLANK):
            return False
        return line == 1 or not self.line_text(line - 1).endswith("\\")

    @cached_property
    def line_length(self) -> int:
        """What a new line may take: 88, as PyTorch's formatter has it, or its flake8's 120 in a file not so formatted.

        The imports tell: a formatter breaks a long one into one name a line, and leaves no backslash.
        """
        for node in self.tree.body:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                first, last = node.lineno, node.end_lineno or node.lineno
                lines = [self.line_text(n).partition("#")[0].rstrip() for n in range(first, last + 1)]
                packed = len(lines) > 1 and len(lines) != len(node.names) + 2 and "#" not in self.slice(span_of(node))
                if packed or any(len(line) > LINE_LENGTH and "," in line for line in lines):
                    return LONGEST_LINE
        return LINE_LENGTH

    # Nodes

    @cached_property
    def _definitions(self) -> dict[int, ast.ClassDef | FunctionNode]:
        found: dict[int, ast.ClassDef | FunctionNode] = {}
        for node in statements(self.tree.body):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                found.setdefault(node.lineno, node)
        return found

    def class_at(self, line: int) -> ast.ClassDef:
        """The class whose ``class`` stands on ``line`` (``Class.line``). Raises CannotEdit where there is none."""
        node = self._definitions.get(line)
        if not isinstance(node, ast.ClassDef):
            raise CannotEdit(f"line {line} does not start a class")
        return node

    def function_at(self, line: int) -> FunctionNode:
        """The function whose ``def`` stands on ``line`` (``Function.line``). Raises CannotEdit where there is
        none.
        """
        node = self._definitions.get(line)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            raise CannotEdit(f"line {line} does not start a function")
        return node

    def enclosing_lines(self, span: Span) -> tuple[int, int]:
        """First and last line of the fewest whole statements of one block that hold ``span``.

        Raises CannotEdit where there are none.
        """
        best: tuple[int, int] | None = None
        inner: Iterable[list[ast.stmt]] = [self.tree.body]
        while True:
            found = next(((b, i) for b in inner for i, n in enumerate(b) if _holds(n, span)), None)
            if found is None:
                break
            best = self._whole_lines(*found) or best
            inner = list(blocks(found[0][found[1]]))
        if best is None:
            raise CannotEdit("no statement there has its lines for itself")
        return best

    def _whole_lines(self, block: list[ast.stmt], at: int) -> tuple[int, int] | None:
        """The lines of the statement and of those that share lines with it; None where the block's header does too."""
        first, last = at, at
        while first > 0 and block[first - 1].end_lineno == first_line(block[first]):
            first -= 1
        while last + 1 < len(block) and first_line(block[last + 1]) == block[last].end_lineno:
            last += 1
        node, line = block[first], first_line(block[first])
        text = self.line_text(line)
        decorated = line < node.lineno
        start = self.line_start(line) + len(text) - len(text.lstrip(BLANK)) if decorated else self.node_range(node)[0]
        return (line, block[last].end_lineno or line) if self.starts_line(start) else None


def _holds(node: ast.stmt, span: Span) -> bool:
    """Whether ``span`` lies in the statement, decorators included."""
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    start = (first_line(node), 0 if first_line(node) < node.lineno else node.col_offset)
    return start <= (span.line, span.column) and (span.end_line, span.end_column) <= end


def first_line(node: ast.stmt) -> int:
    """The line of the first decorator, or of the statement itself."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(d.lineno for d in decorators)])


def blocks(node: ast.stmt | ast.excepthandler | ast.match_case) -> Iterator[list[ast.stmt]]:
    """The statement lists of a compound statement, in source order."""
    for name in ("body", "handlers", "cases", "orelse", "finalbody"):
        inner = getattr(node, name, None)
        if not isinstance(inner, list):  # The body of a lambda is an expression.
            continue
        if name in ("handlers", "cases"):
            for handler in inner:
                yield from blocks(handler)
        elif inner:
            yield inner


def statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements of ``body`` and of what is nested in it, in source order."""
    for node in body:
        yield node
        for inner in blocks(node):
            yield from statements(inner)


def is_docstring(node: ast.stmt) -> bool:
    """Whether the statement, first in its body, is a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def code_of(node: FunctionNode) -> list[ast.stmt]:
    """The statements of a function below its docstring."""
    return node.body[1:] if is_docstring(node.body[0]) else node.body


# Expressions


def rewrite(file: SourceFile, replacements: Iterable[Replacement]) -> list[Splice]:
    """Splices that put, for each (span of an expression, function), what the function makes of that expression.

    The functions get libcst nodes; an expression inside another is replaced first. Only the lines that change are in
    the splices. Raises CannotEdit where no expression has exactly that span.
    """
    from codemods.chunk import rewrite_chunk

    found: list[Splice] = []
    for (first, last), wanted in _groups(file, replacements):
        start, end = file.line_start(first), file.line_end(last)
        old = file.text[start:end]
        positions = {}
        for span, function in wanted:
            low, high = file.range_of(span)
            positions[low - start, high - start] = function
        found.extend(shrink(Splice(start, end, rewrite_chunk(old, positions)), old))
    return found


def _groups(file: SourceFile, replacements: Iterable[Replacement]) -> list[tuple[tuple[int, int], list[Replacement]]]:
    """Replacements by the lines of the statements that they stand in; nested statements count as their outermost."""
    found: list[tuple[tuple[int, int], list[Replacement]]] = []
    placed = [(file.enclosing_lines(one[0]), one) for one in replacements]
    for lines, one in sorted(placed, key=lambda p: (p[0][0], -p[0][1])):
        if found and lines[0] <= found[-1][0][1]:
            outer = found[-1][0]
            found[-1] = ((outer[0], max(outer[1], lines[1])), [*found[-1][1], one])
        else:
            found.append((lines, [one]))
    return found


def shrink(one: Splice, old: str) -> Iterator[Splice]:
    """The parts, line by line where lines correspond, in which ``one`` really differs from ``old``, the text before."""
    before, after = old.splitlines(keepends=True), one.text.splitlines(keepends=True)
    if len(before) != len(after):
        before, after = [old], [one.text]
    at = one.start
    for left, right in zip(before, after):
        if left != right:
            head = _common(left, right)
            tail = _common(left[head:][::-1], right[head:][::-1])
            yield Splice(at + head, at + len(left) - tail, right[head : len(right) - tail])
        at += len(left)


def _common(left: str, right: str) -> int:
    count = 0
    for a, b in zip(left, right):
        if a != b:
            break
        count += 1
    return count
