"""Statements below classes and parameters more, byte for byte."""

from __future__ import annotations

import pytest

from codemods.class_edits import add_parameter, insert_below_class
from codemods.edit import SourceFile, rewrite, splice
from codemods.plan import CannotEdit
from hwlint.scan.facts import Span

BELOW = {
    "two blank lines": ("class A:\n    x = 1\n\n\ny = 2\n", "class A:\n    x = 1\n\n\nCALL\n\n\ny = 2\n"),
    "one blank line, as the file has it": ("class A:\n    x = 1\n\ny = 2\n", "class A:\n    x = 1\n\nCALL\n\ny = 2\n"),
    "at the end": ("class A:\n    x = 1\n", "class A:\n    x = 1\n\nCALL\n"),
    "without a last newline": ("class A:\n    x = 1", "class A:\n    x = 1\n\nCALL"),
    "comments of the body": (
        "class A:\n    x = 1\n\n    # y = 2\n    # z = 3\n\n\n# of B\nclass B: pass\n",
        "class A:\n    x = 1\n\n    # y = 2\n    # z = 3\n\n\nCALL\n\n\n# of B\nclass B: pass\n",
    ),
    "in a block": (
        "if x:\n    class A:\n        y = 1\n\n    z = 1\n",
        "if x:\n    class A:\n        y = 1\n\n    CALL\n\n    z = 1\n",
    ),
    "windows": ("class A:\r\n    x = 1\r\n", "class A:\r\n    x = 1\r\n\r\nCALL\r\n"),
    "one line": ("class A: pass  # why\n", "class A: pass  # why\n\nCALL\n"),
}


@pytest.mark.parametrize("name", BELOW)
def test_below_a_class(name: str) -> None:
    before, after = BELOW[name]
    file = SourceFile.read(before.encode(), "a.py")
    line = next(n for n, text in enumerate(before.splitlines(), 1) if "class A" in text)
    assert splice(before, [insert_below_class(file, line, "CALL")]) == after


PARAMETERS = {
    "alone": ("def f(self): pass\n", "def f(self, device): pass\n"),
    "before others": ("def f(self, n, *a): pass\n", "def f(self, device, n, *a): pass\n"),
    "annotated": ("def f(self: int, n=1) -> None: pass\n", "def f(self: int, device, n=1) -> None: pass\n"),
    "trailing comma": ("def f(self,): pass\n", "def f(self, device,): pass\n"),
    "one a line": (
        "def f(\n    self,  # me\n    n,\n): pass\n",
        "def f(\n    self,\n    device,  # me\n    n,\n): pass\n",
    ),
    "next to it": ("def f(self, n,\n      m): pass\n", "def f(self, device, n,\n      m): pass\n"),
    "positional only": ("def f(self, /, n): pass\n", "def f(self, device, /, n): pass\n"),
    "async": ("async def f(self): pass\n", "async def f(self, device): pass\n"),
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_more(name: str) -> None:
    before, after = PARAMETERS[name]
    assert splice(before, [add_parameter(SourceFile.read(before.encode(), "a.py"), 1)]) == after


@pytest.mark.parametrize("text", ["def f(): pass\n", "def f(*args): pass\n", "def f(self=None): pass\n"])
def test_no_place_for_a_parameter(text: str) -> None:
    with pytest.raises(CannotEdit):
        add_parameter(SourceFile.read(text.encode(), "a.py"), 1)


REWRITTEN = {
    "argument": ('f( "cuda" , # why\n  b)\n', '"cuda"', "f( X , # why\n  b)\n"),
    "behind wide characters": ('é = "😀"; f("cuda")\n', '"cuda"', 'é = "😀"; f(X)\n'),
    "in a method": (
        'class A:\n\tdef f(self):\n\t\treturn g("cuda")  # x\n',
        '"cuda"',
        "class A:\n\tdef f(self):\n\t\treturn g(X)  # x\n",
    ),
    "in a decorator": ('@deco("cuda")\ndef f(): pass\n', '"cuda"', "@deco(X)\ndef f(): pass\n"),
    "a call in parentheses": ("y = (a *\n     b).cuda()\n", "(a *\n     b).cuda()", "y = X\n"),
    "on one line with others": ('if x: f("cuda"); g()\n', '"cuda"', "if x: f(X); g()\n"),
    "windows": ('f(\r\n  "cuda",\r\n)\r\n', '"cuda"', "f(\r\n  X,\r\n)\r\n"),
    "between long strings": ('x = """\n cuda\n"""; f("cuda")\n', '"cuda"', 'x = """\n cuda\n"""; f(X)\n'),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_an_expression_is_replaced_where_it_stands(name: str) -> None:
    import libcst as cst

    before, part, after = REWRITTEN[name]
    file = SourceFile.read(before.encode(), "a.py")
    start = before.index(part)
    line, end_line = file.line_of(start), file.line_of(start + len(part))

    def column(offset: int, at: int) -> int:
        return len(before[file.line_start(at) : offset].encode())

    span = Span(line, column(start, line), end_line, column(start + len(part), end_line))
    assert splice(before, rewrite(file, [(span, lambda node: cst.Name("X"))])) == after


def test_an_expression_that_is_not_there_is_refused() -> None:
    import libcst as cst

    file = SourceFile.read(b"f(1)\n", "a.py")
    with pytest.raises(CannotEdit):
        rewrite(file, [(Span(1, 1, 1, 4), lambda node: cst.Name("X"))])
