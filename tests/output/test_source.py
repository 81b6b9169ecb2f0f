from __future__ import annotations

import ast
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.output.source import Sources
from hwlint.scan.facts import Span


@pytest.mark.parametrize(
    "data",
    [
        b"a = 1\nx = 2\n",
        b"a = 1\r\nx = 2\r\n",
        b"a = 1\rx = 2\r",
        b"\xef\xbb\xbfa = 1\nx = 2\n",
        b"a = 1\n\x0cx = 2\n",
        b"# coding: latin-1\nx = '\xe9'\n",
    ],
)
def test_lines_end_where_python_ends_them(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "t.py").write_bytes(data)
    node = ast.parse(data).body[-1]
    assert isinstance(node, ast.Assign)
    line = Sources(tmp_path).line("t.py", node.lineno)
    assert line.encode()[node.col_offset :].startswith(b"x = ")


@given(st.text(st.characters(exclude_characters="\r\n\x00'\\", exclude_categories=["Cs"]), max_size=20))
def test_columns_are_characters(text: str) -> None:
    source = f"f('{text}', here)"
    call = ast.parse(source).body[0].value  # type: ignore[attr-defined]
    argument = call.args[1]
    span = Span(argument.lineno, argument.col_offset, argument.end_lineno, argument.end_col_offset)
    at = Sources(Path(), {"t.py": source.encode()}).region("t.py", span)
    assert source[at.column - 1 : at.end_column - 1] == "here"


def test_what_cannot_be_read_has_no_lines(tmp_path: Path) -> None:
    sources = Sources(tmp_path)
    assert sources.line("none.py", 1) == ""
    assert sources.region("none.py", Span(0, 0, 0, 0)) == (1, 1, 1, 1)


def test_unknown_encoding_is_shown_as_well_as_it_goes(tmp_path: Path) -> None:
    (tmp_path / "t.py").write_bytes(b"# coding: nonsense\nx = '\xff'\n")
    assert Sources(tmp_path).line("t.py", 2) == "x = '\ufffd'"
