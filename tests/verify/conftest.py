"""What the tests of ``hwlint verify`` share: a torch to run with, real or made up, and a way to call the command."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hwlint.cli.verify import verify

# The environment that hwlint's developers keep. The fixture ``torch_python`` of tests/conftest.py reads the variable.
_developers = Path("~/.cache/hwlint/torch-2.14.1/bin/python").expanduser()
if _developers.is_file():
    os.environ.setdefault("HWLINT_TORCH_PYTHON", str(_developers))

FAKE_TORCH = Path(__file__).parent / "data" / "fake_torch"


@dataclass(frozen=True)
class Called:
    """How a call of the command ended; ``report`` is its JSON output, where there is any."""

    status: int
    report: dict[str, Any]
    errors: str

    def outcomes(self, device: str = "cpu", side: str = "after") -> dict[str, str]:
        return {
            test["name"]: test["outcome"]
            for run in self.report["runs"]
            if (run["device"], run["side"]) == (device, side)
            for test in run["tests"]
        }

    def kinds(self, device: str = "cpu") -> dict[str, str]:
        return {
            change["after"] or change["before"]: change["kind"]
            for comparison in self.report["comparisons"]
            if comparison["device"] == device
            for change in comparison["changes"]
        }


def call(*arguments: object) -> Called:
    """Call ``hwlint verify`` with ``--format json``."""
    result = CliRunner().invoke(verify, [*map(str, arguments), "--format", "json"])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    report = json.loads(result.stdout) if result.stdout.startswith("{") else {}
    return Called(result.exit_code, report, result.stderr)


@pytest.fixture
def fake_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a stand-in for torch on ``PYTHONPATH`` for the interpreter of these tests: old, and with the CPU alone."""
    monkeypatch.setenv("PYTHONPATH", str(FAKE_TORCH))
