"""What the tests share: small sources in, suites and findings out."""

from __future__ import annotations

import importlib
import os
import subprocess
import textwrap
from collections.abc import Mapping
from pathlib import Path

from hwlint.catalog import load_catalog
from hwlint.config import Settings
from hwlint.findings import Finding
from hwlint.rules.base import Rule, RuleContext
from hwlint.scan.facts import ModuleFacts
from hwlint.scan.module import scan_module
from hwlint.suite import LinkedClass, Suite, link

PATH = "test/test_sample.py"
HEADER = """\
import unittest
import torch
from torch.testing._internal import common_device_type, common_utils
from torch.testing._internal.common_device_type import (
    dtypes, instantiate_device_type_tests, onlyAccelerator, onlyCPU, onlyCUDA, ops,
)
from torch.testing._internal.common_utils import (
    HardwareClassification, TestCase, instantiate_parametrized_tests, parametrize, run_tests,
)
"""


def source(text: str, header: bool = True) -> str:
    """The text without its indentation, below the imports that a test file usually has."""
    return (HEADER if header else "") + textwrap.dedent(text)


def scan(text: str, path: str = PATH, header: bool = True) -> ModuleFacts:
    return scan_module(source(text, header).encode(), path, load_catalog())


def suite_of(files: Mapping[str, str] | str, header: bool = True) -> Suite:
    """A suite of the files given by path, or of the one source given as text."""
    if isinstance(files, str):
        files = {PATH: files}
    return link([scan(text, path, header) for path, text in files.items()], load_catalog())


def get_class(suite: Suite, name: str, path: str = PATH) -> LinkedClass:
    found = suite.find_class(path, name)
    assert found is not None, f"no class {name}"
    return found


def check(
    rules: str, files: Mapping[str, str] | str, settings: Settings | None = None, header: bool = True, path: str = ""
) -> list[Finding]:
    """The findings of one rules module, or of one rule ('instantiation.HW601'), on the files (on ``path`` only, if
    given).
    """
    module, _, code = rules.partition(".")
    chosen: list[type[Rule]] = [
        rule for rule in importlib.import_module(f"hwlint.rules.{module}").RULES if code in ("", rule.code)
    ]
    assert chosen, f"no rule {rules}"
    settings = settings or Settings()
    suite = suite_of(files, header)
    found: list[Finding] = []
    for one in suite.modules.values():
        if path in ("", one.path):
            context = RuleContext(one, suite, suite.catalog, settings)
            for rule in chosen:
                if settings.level in rule.levels:
                    found.extend(rule().check(context))
    return sorted(found, key=lambda f: f.sort_key)


def codes(findings: list[Finding]) -> list[str]:
    return [f.code for f in findings]


def run_torch_tests(python: Path, file: Path) -> subprocess.CompletedProcess[str]:
    """The tests of a file, run by torch's own run_tests as on a machine that is no CI: there it writes XML."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    command = [str(python), str(file), "-v"]
    return subprocess.run(command, cwd=file.parent, capture_output=True, text=True, env=environment, check=False)
