"""A second count of test classes, made without hwlint: straight from ``ast``, with bases found by name."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

STOPPED = ("property", "staticmethod", "classmethod", "cached_property")


@dataclass
class Count:
    files: int = 0
    classes_with_tests: int = 0
    tests: int = 0
    tagged: Counter[str] = field(default_factory=Counter)
    """Classes with tests of their own and a tag of their own, by label."""


def is_test_file(path: Path) -> bool:
    return fnmatch(path.name, "test_*.py") or fnmatch(path.name, "*_test.py")


def count(root: Path) -> Count:
    """Classes and tests of the test files below ``root``."""
    found = Count()
    for path in sorted(root.rglob("*.py")):
        if not is_test_file(path):
            continue
        found.files += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # An escape sequence that is none, say.
            tree = ast.parse(path.read_bytes())
        for cls in classes(tree):
            tests = {m.name for m in methods(cls.body)}
            if not tests:
                continue
            found.classes_with_tests += 1
            found.tests += len(tests)
            for node in cls.body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "hw_classification":
                    found.tagged[ast.unparse(node.value).rpartition(".")[2]] += 1
    return found


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """Classes anywhere but inside functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from classes(node)


def methods(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Test methods, also those below an ``if`` of the class body."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name.startswith("test") and not any(ast.unparse(d) in STOPPED for d in node.decorator_list):
                yield node
        elif not isinstance(node, ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                yield from methods(getattr(node, part, []))
