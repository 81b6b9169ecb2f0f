"""Dotted names, and the source of expressions."""

from __future__ import annotations

import ast

import pytest

from hwlint.scan.names import dotted, source_of


@pytest.mark.parametrize("text", ["a", "a.b", "a.b.c.d"])
def test_a_chain_of_attributes_on_a_name_is_dotted(text: str) -> None:
    assert dotted(ast.parse(text, mode="eval").body) == text


@pytest.mark.parametrize("text", ["a().b", "a[0].b", "'a'.b", "a + b", "1"])
def test_anything_else_is_not(text: str) -> None:
    assert dotted(ast.parse(text, mode="eval").body) == ""


EXPRESSIONS = (
    "name",
    "a.b.c",
    "'cuda'",
    '"it\'s"',
    '"a\\n\\\\b"',
    "u'text'",
    "b'bytes'",
    "f'{a}:0'",
    "1",
    "-1",
    "1.5",
    "1e999",
    "2j",
    "True",
    "None",
    "...",
    "[]",
    "[a, 'b', (1, 2), [3]]",
    "()",
    "(1,)",
    "(a, b)",
    "{1, 2}",
    "{'a': 1}",
    "f()",
    "f(a, *b, c=1, **d)",
    "f(x for x in y)",
    "f((yield))",
    "f(a := 1)",
    "[a := 1, (b := 2)]",
    "a.b(c.d('x'), e=lambda: 1)",
    "f(a)(b)",
    "f()[0]",
    "'a'.join(b)",
    "not a",
    "not not a",
    "not a == b",
    "not (a and b)",
    "a and b",
    "a or b.c or f(1)",
    "a and not b and not c",
    "a or b and c",
    "(a or b) and c",
    "a == 'b'",
    "a.b(1) >= 2",
    "a != -1",
    "a is None",
    "a not in (1, 2)",
    "a < b < c",
    "(a == b) == c",
    "a if b else c",
    "a + b * c",
    "(a,)",
    "{a, *b}",
    "{'a': b == c, d: (1, 2), 'e': {}}",
    "{**a, 'b': lambda: c}",
    "a in {1: (b := 2)}",
    "await_ == (yield_)",
)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_the_source_of_an_expression_is_as_unparse_writes_it(text: str) -> None:
    for node in ast.walk(ast.parse(text, mode="eval")):
        if isinstance(node, ast.expr):
            assert source_of(node) == ast.unparse(node)
