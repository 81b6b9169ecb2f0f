"""``@skipOps("T", "test_a", ...)`` above ``test_a`` of ``T``: entries of OpInfo that say for which class they are.

They follow the test into another class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from codemods.edit import SourceFile, Splice
from hwlint.catalog.tables import read
from hwlint.scan.names import dotted

WRITERS = frozenset(read("namekeys")["writers"].split())
"""Decorators whose first two arguments are the class and the test that the entries are made for."""


def own_entries(cls: ast.ClassDef) -> Iterator[tuple[str, ast.Constant]]:
    """Each test of ``cls`` that has such a decorator, with the class's name as it stands there, in plain quotes."""
    for method in cls.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        for call in method.decorator_list:
            if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in WRITERS and len(call.args) > 1:
                named, test = call.args[:2]
                if isinstance(named, ast.Constant) and isinstance(test, ast.Constant):
                    plain = (named.end_col_offset or 0) - named.col_offset == len(cls.name) + len("''")
                    if plain and (named.value, test.value) == (cls.name, method.name):
                        yield method.name, named


def places(cls: ast.ClassDef) -> set[tuple[int, int]]:
    """Line and column of each name that follows its test."""
    return {(constant.lineno, constant.col_offset) for _, constant in own_entries(cls)}


def following(file: SourceFile, cls: ast.ClassDef, owners: Mapping[str, str]) -> Iterator[Splice]:
    """The splices that give the entries the class that their test goes to."""
    for test, constant in own_entries(cls):
        start, end = file.node_range(constant)
        if owners.get(test, cls.name) != cls.name:
            yield Splice(start + 1, end - 1, owners[test])
