"""Every odd file is read as CPython reads it, or is a Problem that says why not."""

from __future__ import annotations

import ast
import codecs
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.scan.facts import Problem
from hwlint.scan.reading import SourceText, parse, read_file, read_source

BOM = codecs.BOM_UTF8

READABLE = {
    "empty": b"",
    "one line": b"a = 1",
    "crlf": b"a = 1\r\nb = 2\r\n",
    "lone cr": b"a = 1\rb = 2\r",
    "mixed": b"a = 1\r\nb = 2\n",
    "bom": BOM + b"a = 1\n",
    "bom and crlf": BOM + b"a = 1\r\n",
    "bom and cookie": BOM + b"# coding: UTF-8\na = 1\n",
    "latin-1 cookie": b"# coding: latin-1\na = '\xe9'\n",
    "cp1252 cookie in line 2": b"#!/usr/bin/env python\n# -*- coding: cp1252 -*-\na = '\x80'\n",
    "cookie behind lone cr": b"#!x\r# coding: latin-1\ra = '\xe9'\r",
    "utf8 without the dash": b"# coding: utf8\na = '\xc3\xa9'\n",
    "tabs": b"if 1:\n\ta = 1\n",
    "form feed": b"a = 1\n\x0c\nb = 2\n",
    "blanks at the end": b"a = 1\n   ",
    "cookie too late": b"\n\n# coding: no-such-codec\n",
    "cookie behind code": b"a = 1\n# coding: no-such-codec\n",
    "unicode name": "é = 1\n".encode(),
    "invalid escape": b"a = '\\('\n",
    "nested lists": b"a = " + b"[" * 90 + b"]" * 90 + b"\n",
    "match": b"match 1:\n    case 1: pass\n",
}

UNREADABLE = {
    "latin-1 comment, no cookie": (b"a = 1\nb = 2  # \xe9\n", "encoding", (2, 9), "byte 0xe9 is not valid utf-8"),
    "surrogate in utf-8": (b"a = '\xed\xa0\x80'\n", "encoding", (1, 5), "byte 0xed is not valid utf-8"),
    "unknown cookie": (b"\n# coding: foo-bar\n", "encoding", (2, 0), "unknown encoding 'foo-bar'"),
    "no text codec": (b"# coding: rot13\na = 1\n", "encoding", (1, 0), "cannot be decoded as 'rot13'"),
    "utf-16": ("a = 1\n".encode("utf-16"), "encoding", (1, 0), "the file is UTF-16"),
    "utf-32": ("a = 1\n".encode("utf-32"), "encoding", (1, 0), "the file is UTF-32"),
    "utf-16 cookie": (b"# coding: utf-16\na = 1\n\n\n", "encoding", None, "not valid utf-16"),
    "bom against cookie": (BOM + b"# coding: latin-1\na = 1\n", "encoding", (1, 0), "yet says it is 'latin-1'"),
    "nul": (b"a = 1\n  \0\n", "syntax", (2, 2), "NUL byte"),
    "tab and blanks": (b"if 1:\n\ta = 1\n        b = 2\n", "syntax", (3, 0), "inconsistent use of tabs"),
    "backslash at the end": (b"a = 1\\", "syntax", (1, 6), "unexpected EOF"),
    "not closed": (b"def f(:\n", "syntax", (1, 6), "invalid syntax"),
    "behind two-byte letters": ("é = 'é' )\n".encode(), "syntax", (1, 10), "unmatched ')'"),
    "print statement": (b"print 'x'\n", "syntax", (1, 0), "this looks like Python 2"),
    "old except": (b"try: pass\nexcept E, e: pass\n", "syntax", (2, 7), "this looks like Python 2"),
    "old octal": (b"a = 0777\n", "syntax", (1, 4), "this looks like Python 2"),
    "old long": (b"a = 0xFFL\n", "syntax", (1, 7), "this looks like Python 2"),
    "old inequality": (b"if 1 <> 2: pass\n", "syntax", (1, 5), "this looks like Python 2"),
    "old raise": (b"raise E, 'x'\n", "syntax", (1, 7), "this looks like Python 2"),
    "deep parentheses": (b"a = " + b"(" * 3000 + b")" * 3000, "syntax", None, "too many nested parentheses"),
    "deep signs": (b"a = " + b"-" * 100_000 + b"1\n", "syntax", None, "nested too deeply"),
}


def read(data: bytes) -> SourceText | ast.Module | Problem:
    source = read_source(data, "test_x.py")
    return source if isinstance(source, Problem) else parse(source)


@pytest.mark.parametrize("name", READABLE)
def test_what_python_reads_is_read(name: str, tmp_path: Path) -> None:
    assert isinstance(read(READABLE[name]), ast.Module)
    (tmp_path / "x.py").write_bytes(READABLE[name])
    done = subprocess.run([sys.executable, "-W", "ignore", "x.py"], cwd=tmp_path, capture_output=True)
    assert b"SyntaxError" not in done.stderr


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_python_refuses_is_a_problem(name: str, tmp_path: Path) -> None:
    data, kind, position, words = UNREADABLE[name]
    problem = read(data)
    assert isinstance(problem, Problem)
    assert problem.kind == kind
    assert words in problem.message
    assert position is None or (problem.line, problem.column) == position
    if name == "nul" and sys.version_info < (3, 11):
        return  # That Python reads such a line up to the byte.
    (tmp_path / "x.py").write_bytes(data)
    assert subprocess.run([sys.executable, "x.py"], cwd=tmp_path, capture_output=True).returncode != 0


NEWER = {
    (3, 12): [
        (b"x = {'k': 1}\na = f'{x['k']}'\n", "a nested f-string (Python 3.12)"),
        (b"def f[T](x: T): pass\n", "type parameters (Python 3.12)"),
        (b"class A[T]: pass\n", "type parameters (Python 3.12)"),
        (b"type X = int\n", "a type statement (Python 3.12)"),
    ],
    (3, 14): [
        (b"try: pass\nexcept ValueError, TypeError: pass\n", "except without parentheses (Python 3.14)"),
        (b"a = t'{1}'\n", "a template string (Python 3.14)"),
    ],
    (3, 15): [(b"lazy import os\n", "a lazy import (Python 3.15)")],
}


@pytest.mark.parametrize(
    "since, data, what", [(since, *case) for since, cases in NEWER.items() for case in cases], ids=lambda v: str(v)[:24]
)
def test_newer_syntax_is_called_that(since: tuple[int, int], data: bytes, what: str) -> None:
    if sys.version_info >= since:
        pytest.skip(f"this Python reads it: {sys.version_info}")
    problem = read(data)
    assert isinstance(problem, Problem)
    assert problem.kind == "newer-syntax"
    assert problem.message.startswith("the syntax is newer than the running Python ")
    assert problem.message.endswith(what)


@pytest.mark.parametrize("data", [b"def f[T](:\n", b"type X == int\n", b"a = t't\n", b"lazy = = 1\n"])
def test_a_slip_in_such_a_line_is_a_plain_error(data: bytes) -> None:
    problem = read(data)
    assert isinstance(problem, Problem)
    assert problem.kind == "syntax"


@pytest.mark.parametrize(
    "data, encoding, bom, newline",
    [
        (b"a\n", "utf-8", False, "\n"),
        (b"a\r\nb", "utf-8", False, "\r\n"),
        (b"a\rb", "utf-8", False, "\r"),
        (b"a\rb\n", "utf-8", False, "mixed"),
        (BOM + b"a", "utf-8", True, ""),
        (b"# coding: latin-1\n", "latin-1", False, "\n"),
    ],
)
def test_what_an_editor_must_keep(data: bytes, encoding: str, bom: bool, newline: str) -> None:
    source = read_source(data, "x.py")
    assert isinstance(source, SourceText)
    assert (source.encoding, source.bom, source.newline) == (encoding, bom, newline)
    assert (BOM if bom else b"") + source.text.encode(encoding) == data


def test_lines_are_those_of_ast() -> None:
    source = read_source("a = 1\x0c\rb = '\x0b\u2028'\r\nc = 3".encode(), "x.py")
    assert isinstance(source, SourceText)
    assert source.lines() == ["a = 1\x0c", "b = '\x0b\u2028'", "c = 3"]
    tree = parse(source)
    assert isinstance(tree, ast.Module)
    assert [node.lineno for node in tree.body] == [1, 2, 3]


def test_warnings_about_the_code_stay_quiet() -> None:
    source = read_source(b"a = '\\('\nassert (1, 'x')\nb = 1 is 1\n", "x.py")
    assert isinstance(source, SourceText)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(parse(source), ast.Module)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "loop.py").symlink_to("loop.py")
    for name, words in (("none.py", "No such file"), ("loop.py", "symbolic links"), (".", "Is a directory")):
        problem = read_file(tmp_path / name, name)
        assert isinstance(problem, Problem)
        assert problem.kind == "read"
        assert words in problem.message


@given(st.binary(max_size=200))
def test_no_bytes_make_it_raise(data: bytes) -> None:
    result = read(data)
    assert isinstance(result, (ast.Module, Problem))
    if isinstance(result, Problem):
        assert result.line >= 1 and result.column >= 0 and result.message


@given(st.text(alphabet="abf(){}[]:=\n\r\t'\"\\ é#@,0123", max_size=80))
def test_no_text_makes_it_raise(text: str) -> None:
    result = read(text.encode())
    assert isinstance(result, (ast.Module, Problem))
    if isinstance(result, Problem):
        assert result.line <= text.count("\n") + text.count("\r") + 1
