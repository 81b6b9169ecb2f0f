"""Runs the files under data/ with an interpreter that has torch, once each, and hands out the outcome of each test."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hwlint.verify.runs import runner_environment

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"

# The environment that hwlint's developers keep. The fixture ``torch_python`` of tests/conftest.py reads the variable.
_developers = Path("~/.cache/hwlint/torch-2.14.1/bin/python").expanduser()
if _developers.is_file():
    os.environ.setdefault("HWLINT_TORCH_PYTHON", str(_developers))


@pytest.fixture(scope="session")
def outcomes(torch_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, str]]:
    """Test name -> (outcome, detail) of all files under data/, each run in a process of its own."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted(DATA.glob("check_*.py")):
        journal = tmp_path_factory.mktemp("journal") / "journal.jsonl"
        command = [
            str(torch_python), "-m", "hwlint_runner", str(file), "--journal", str(journal), "--device", "reference",
            "--reference-package", str(ROOT / "hwlint" / "reference_device"),
        ]  # fmt: skip
        done = subprocess.run(
            command, env=runner_environment(), capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:] + journal.read_text()[-3000:]
        for line in journal.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["event"] == "end":
                name = event["id"].rpartition(".")[2].removesuffix("_refdev")
                found[f"{file.stem}::{name}"] = event["outcome"], event["detail"]
    return found
