"""The source text around findings, and columns as people count them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hwlint.scan.facts import Problem, Span
from hwlint.scan.reading import NEWLINE, read_source

_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), "\N{REPLACEMENT CHARACTER}") | {ord("\t"): "    "}


class Region(NamedTuple):
    """A stretch of text as shown: lines and columns from 1, columns in characters, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


_HELD = 4
"""Files whose lines are kept. Findings come file by file, with a few related ones elsewhere."""


class Sources:
    """Reads files when a line of them is asked for; a file that cannot be read has no lines."""

    def __init__(self, root: Path, contents: Mapping[str, bytes] | None = None) -> None:
        self._root = root
        self._contents = contents or {}
        self._lines: dict[str, list[str]] = {}
        self._plain: dict[str, bool] = {}
        """Whether a file is all ASCII: then bytes are characters, and its lines need not be read to count them."""

    def line(self, path: str, number: int) -> str:
        """Line ``number`` of the file without its end, '' where there is none."""
        lines = self._read(path)
        return lines[number - 1] if 0 < number <= len(lines) else ""

    def column(self, path: str, line: int, byte_column: int) -> int:
        """The 1-based character column of an offset in UTF-8 bytes, as ``ast`` counts them."""
        if self._is_plain(path):
            return byte_column + 1
        text = self.line(path, line)
        if not text or text.isascii():
            return byte_column + 1
        return len(text.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "replace")) + 1

    def region(self, path: str, span: Span) -> Region:
        """The span as it is shown; lines before the first (of a whole-file finding) count as the first."""
        line, end_line = max(span.line, 1), max(span.end_line, span.line, 1)
        column, end_column = max(span.column, 0), max(span.end_column, 0)
        if self._is_plain(path):
            column, end_column = column + 1, end_column + 1
        else:
            column, end_column = self.column(path, line, column), self.column(path, end_line, end_column)
        if (end_line, end_column) < (line, column):
            end_line, end_column = line, column
        return Region(line, column, end_line, end_column)

    def _read(self, path: str) -> list[str]:
        if path not in self._lines:
            if len(self._lines) >= _HELD:
                del self._lines[next(iter(self._lines))]
            self._lines[path] = _lines(self._bytes(path), path)
        return self._lines[path]

    def _is_plain(self, path: str) -> bool:
        if path not in self._plain:
            self._plain[path] = self._bytes(path).isascii()
        return self._plain[path]

    def _bytes(self, path: str) -> bytes:
        data = self._contents.get(path)
        if data is None:
            try:
                data = (self._root / path).read_bytes()
            except (OSError, ValueError):
                data = b""
        return data


def visible(text: str) -> str:
    """The text without control characters: it stays on its line, does nothing to a terminal, and a tab is four wide."""
    return text if text.isprintable() else text.translate(_CONTROL)


def _lines(data: bytes, path: str) -> list[str]:
    """The lines as Python reads them; what cannot be decoded is replaced, since it is only shown."""
    source = read_source(data, path)
    return NEWLINE.split(data.decode("utf-8", "replace")) if isinstance(source, Problem) else source.lines()
