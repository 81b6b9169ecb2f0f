"""Which decorators hand on a ``device`` that a test newly takes, against torch's own source."""

from __future__ import annotations

import ast
import subprocess
from functools import cache
from pathlib import Path

import pytest

from hwlint.catalog import load_catalog
from hwlint.catalog.tables import read

FIND = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"


@pytest.fixture(scope="module")
def torch_folder(torch_python: Path) -> Path:
    done = subprocess.run([torch_python, "-c", FIND], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip()).parent


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def obstacles(definition: ast.AST) -> list[str]:
    """What in a decorator's source keeps a parameter from the test, or asks for it."""
    returned = {
        node.value.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name)
    }
    found = []
    for inner in ast.walk(definition):
        if isinstance(inner, ast.FunctionDef) and inner is not definition and inner.name in returned:
            is_wrapper = inner.args.vararg is not None or [a.arg for a in inner.args.args] == ["self"]
            wraps = any("wraps" in ast.unparse(d) for d in inner.decorator_list)
            if is_wrapper and not (wraps and inner.args.kwarg):
                found.append(f"{inner.name} hides the parameters")
    text = ast.unparse(definition)
    if "signature(" in text or "'device' in kwargs" in text:
        found.append("looks for the parameter")
    return found


@pytest.mark.torch
def test_decorators_that_depend_on_the_parameters_are_marked(torch_folder: Path) -> None:
    marked, unmarked = {}, {}
    for entry in {id(e): e for e in load_catalog().decorators.values()}.values():
        for module in entry.modules:
            path = torch_folder / f"{module.replace('.', '/')}.py"
            if not path.exists():
                continue
            for node in ast.walk(tree_of(path)):
                if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == entry.name:
                    (marked if entry.own_signature else unmarked)[f"{module}.{entry.name}"] = obstacles(node)
    assert {name: found for name, found in unmarked.items() if found} == {}
    assert sum(1 for found in marked.values() if found) >= 7, marked
    assert len(unmarked) > 100


def test_members_of_the_loaders_own_bases_are_those_of_torch(torch_python: Path) -> None:
    """Both ways: split_devices asks this list what a member that moves to a base would be hidden by."""
    program = (
        "import unittest\n"
        "import torch.testing._internal.common_device_type as c\n"
        "bases = [v for v in vars(c).values() if isinstance(v, type) and issubclass(v, c.DeviceTypeTestBase)]\n"
        "names = {n for b in bases for n in vars(b) if not n.startswith('__')}\n"
        "print(*sorted(names - {'_classSetupFailed', '_class_cleanups'}))\n"
    )
    run = subprocess.run([torch_python, "-c", program], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == set(read("framework_bases")["device_members"].split())
