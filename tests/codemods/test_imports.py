"""Imports added and taken away, byte for byte."""

from __future__ import annotations

import pytest

from codemods.edit import SourceFile, splice
from codemods.imports import add_imports, remove_names
from codemods.plan import CannotEdit, Import

CU = "torch.testing._internal.common_utils"
ENUM = Import(CU, "HardwareClassification")


def added(text: str, *wanted: Import, before: int = 1000) -> str:
    file = SourceFile.read(text.encode(), "test/test_a.py")
    return splice(text, add_imports(file, wanted or (ENUM,), before))


MERGED = {
    "one line": (
        f"from {CU} import TestCase\n",
        f"from {CU} import HardwareClassification, TestCase\n",
    ),
    "at the end": (
        f"from {CU} import freeze\n",
        f"from {CU} import freeze, HardwareClassification\n",
    ),
    "too long for one line": (
        f"from {CU} import run_tests, TestCase\n",
        f"from {CU} import (\n    HardwareClassification,\n    run_tests,\n    TestCase,\n)\n",
    ),
    "the comment goes where formatters put it": (
        f"from {CU} import run_tests, TestCase  # noqa: F401\n",
        f"from {CU} import (  # noqa: F401\n    HardwareClassification,\n    run_tests,\n    TestCase,\n)\n",
    ),
    "one name a line": (
        f"from {CU} import (\n    freeze_rng_state,\n    run_tests,\n    TestCase,\n)\n",
        f"from {CU} import (\n    freeze_rng_state,\n    HardwareClassification,\n    run_tests,\n    TestCase,\n)\n",
    ),
    "first of one name a line": (
        f"from {CU} import (\n    # the runner\n    run_tests,\n    TestCase,  # the base\n)\n",
        f"from {CU} import (\n    HardwareClassification,\n    # the runner\n    run_tests,\n"
        "    TestCase,  # the base\n)\n",
    ),
    "last of one name a line": (
        f"from {CU} import (\n    freeze,\n    gradcheck,  # slow\n)\n",
        f"from {CU} import (\n    freeze,\n    gradcheck,  # slow\n    HardwareClassification,\n)\n",
    ),
    "last, without a comma": (
        f"from {CU} import (\n    freeze,\n    gradcheck\n)\n",
        f"from {CU} import (\n    freeze,\n    gradcheck,\n    HardwareClassification\n)\n",
    ),
    "behind a comment": (
        f"from {CU} import (\n    freeze,  # first\n    # then\n    run_tests,\n)\n",
        f"from {CU} import (\n    freeze,  # first\n    HardwareClassification,\n    # then\n    run_tests,\n)\n",
    ),
    "unsorted": (
        f"from {CU} import b, a\n",
        f"from {CU} import b, a, HardwareClassification\n",
    ),
    "sorted by kind": (
        f"from {CU} import (\n    IS_LINUX,\n    TestCase,\n    freeze,\n)\n",
        f"from {CU} import (\n    IS_LINUX,\n    HardwareClassification,\n    TestCase,\n    freeze,\n)\n",
    ),
    "alias": (
        f"from {CU} import TestCase as T\n",
        f"from {CU} import HardwareClassification, TestCase as T\n",
    ),
    "packed": (
        f"from {CU} import \\\n    (TestCase, run_tests)\n",
        f"from {CU} import \\\n    (HardwareClassification, TestCase, run_tests)\n",
    ),
    "backslashes": (
        f"from {CU} import b, \\\n    a\n",
        f"from {CU} import b, \\\n    a, HardwareClassification\n",
    ),
    "packed and full": (
        f"from {CU} import (b, a, {'x' * 60},\n    {'y' * 100})\n",
        f"from {CU} import (b, a, {'x' * 60},\n    {'y' * 100},\n    HardwareClassification)\n",
    ),
    "packed, sorted and full": (
        f"from {CU} import (TestCase, run_tests, {'x' * 30},\n    {'y' * 60})\n",
        f"from {CU} import (\n    HardwareClassification, TestCase, run_tests, {'x' * 30},\n    {'y' * 60})\n",
    ),
    "windows line ends": (
        f"from {CU} import (\r\n    run_tests,\r\n)\r\n",
        f"from {CU} import (\r\n    HardwareClassification,\r\n    run_tests,\r\n)\r\n",
    ),
    "the longest of several": (
        f"from {CU} import TestCase\nfrom {CU} import (\n    gradcheck,\n    run_tests,\n)\n",
        f"from {CU} import TestCase\nfrom {CU} import (\n    gradcheck,\n    HardwareClassification,\n"
        "    run_tests,\n)\n",
    ),
}


@pytest.mark.parametrize("name", MERGED)
def test_merged(name: str) -> None:
    before, after = MERGED[name]
    assert added(before) == after


NEW = {
    "between its neighbours": (
        "import torch\nfrom torch.fx import Graph\nfrom torch.testing._internal.jit_utils import JitTestCase\n",
        f"import torch\nfrom torch.fx import Graph\nfrom {CU} import HardwareClassification\n"
        "from torch.testing._internal.jit_utils import JitTestCase\n",
    ),
    "below plain imports": (
        "import os\n\nimport torch\n\n\nx = 1\n",
        f"import os\n\nimport torch\nfrom {CU} import HardwareClassification\n\n\nx = 1\n",
    ),
    "apart from other packages": (
        "import os\n\nx = 1\n",
        f"import os\n\nfrom {CU} import HardwareClassification\n\nx = 1\n",
    ),
    "no import at all": (
        '"""Doc."""\nx = 1\n',
        f'"""Doc."""\nfrom {CU} import HardwareClassification\n\nx = 1\n',
    ),
    "below the file's own comments": (
        '#!/usr/bin/env python3\n# Owner(s): ["module: x"]\nx = 1\n',
        f'#!/usr/bin/env python3\n# Owner(s): ["module: x"]\nfrom {CU} import HardwareClassification\n\nx = 1\n',
    ),
    "only in a try block": (
        f"try:\n    from {CU} import TestCase\nexcept ImportError:\n    pass\nimport torch\n",
        f"try:\n    from {CU} import TestCase\nexcept ImportError:\n    pass\nimport torch\n"
        f"from {CU} import HardwareClassification\n",
    ),
    "a future import stays first": (
        "from __future__ import annotations\n\nx = 1\n",
        f"from __future__ import annotations\n\nfrom {CU} import HardwareClassification\n\nx = 1\n",
    ),
    "a section further down": (
        "import sys\nsys.path.append('x')\nimport torch\nx = 1\n",
        f"import sys\nsys.path.append('x')\nimport torch\nfrom {CU} import HardwareClassification\nx = 1\n",
    ),
}


@pytest.mark.parametrize("name", NEW)
def test_new(name: str) -> None:
    before, after = NEW[name]
    assert added(before) == after


@pytest.mark.parametrize(
    "text",
    [
        f"from {CU} import *\n",
        f"from {CU} import HardwareClassification\n",
        f"import torch\nfrom {CU} import (\n    HardwareClassification,  # here\n)\n",
    ],
)
def test_nothing_to_add(text: str) -> None:
    assert added(text) == text


def test_an_import_below_the_place_does_not_count() -> None:
    text = f"import torch\nclass A: pass\nfrom {CU} import HardwareClassification\n"
    assert added(text, before=2).startswith(f"import torch\nfrom {CU} import HardwareClassification\n")


def test_several_names_at_once() -> None:
    text = f"from {CU} import TestCase\n"
    wanted = (Import(CU, "run_tests"), ENUM, Import(CU, "run_tests"), Import("unittest"))
    assert added(text, *wanted) == (
        f"import unittest\n\nfrom {CU} import (\n    HardwareClassification,\n    run_tests,\n    TestCase,\n)\n"
    )


def test_a_standard_module_goes_to_the_standard_modules() -> None:
    text = "import os\nimport zlib\n\nimport torch\n"
    assert added(text, Import("unittest")) == "import os\nimport unittest\nimport zlib\n\nimport torch\n"


def removed(text: str, *names: str) -> str:
    file = SourceFile.read(text.encode(), "test/test_a.py")
    return splice(text, remove_names(file, file.tree.body[0], names))  # type: ignore[arg-type]


REMOVED = {
    "first": ("from m import a, b, c\n", ("a",), "from m import b, c\n"),
    "last": ("from m import a, b, c\n", ("c",), "from m import a, b\n"),
    "last two": ("from m import a, b, c\n", ("b", "c"), "from m import a\n"),
    "first and last": ("from m import a, b, c\n", ("a", "c"), "from m import b\n"),
    "all": ("from m import a, b\nx = 1\n", ("a", "b"), "x = 1\n"),
    "module": ("import m\nx = 1\n", ("m",), "x = 1\n"),
    "one name a line": ("from m import (\n    a,\n    b,\n    c,\n)\n", ("b", "c"), "from m import (\n    a,\n)\n"),
    "alias": ("from m import a as b, c\n", ("b",), "from m import c\n"),
    "another's comment stays": (
        "from m import (\n    a,  # first\n    b,\n)\n",
        ("b",),
        "from m import (\n    a,  # first\n)\n",
    ),
    "not there": ("from m import a\n", ("x",), "from m import a\n"),
}


@pytest.mark.parametrize("name", REMOVED)
def test_removed(name: str) -> None:
    before, names, after = REMOVED[name]
    assert removed(before, *names) == after


@pytest.mark.parametrize(
    "text", ["from m import a  # why\n", "import m; x = 1\n", "from m import (  # why\n    a\n)\n"]
)
def test_a_comment_or_a_neighbour_keeps_the_import(text: str) -> None:
    with pytest.raises(CannotEdit):
        removed(text, "a", "m")
