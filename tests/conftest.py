"""Fixtures for what not every machine has: an interpreter with torch, the PyTorch test trees, chromium.

A test that asks for one is skipped with the reason where it is missing, and fails under HWLINT_REQUIRE_ALL=1, as
.ci/run sets it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import settings

# The same examples on every run of CI, new ones on every run by hand.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def _missing(what: str) -> NoReturn:
    if os.environ.get("HWLINT_REQUIRE_ALL") == "1":
        pytest.fail(what, pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def torch_python() -> Path:
    """An interpreter that has torch 2.14: HWLINT_TORCH_PYTHON."""
    given = os.environ.get("HWLINT_TORCH_PYTHON", "")
    if not given or not Path(given).exists():
        _missing("HWLINT_TORCH_PYTHON names no interpreter with torch")
    return Path(given)


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The tree of PyTorch 2.6.0, with its test/ and torch/testing/: HWLINT_CORPUS."""
    given = os.environ.get("HWLINT_CORPUS", "")
    if not given or not (Path(given) / "test").is_dir():
        _missing("HWLINT_CORPUS names no PyTorch 2.6.0 source tree")
    return Path(given)


@pytest.fixture(scope="session")
def chromium() -> str:
    """A Chromium that runs headless: HWLINT_CHROMIUM, else the one on the path."""
    given = os.environ.get("HWLINT_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or ""
    if not given or shutil.which(given) is None:
        _missing("there is no chromium (HWLINT_CHROMIUM)")
    return given
