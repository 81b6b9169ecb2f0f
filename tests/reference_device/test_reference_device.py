"""Each test of the files under data/, run with torch on the reference device, is one test here."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"


def names() -> list[str]:
    return [
        f"{file.stem}::{node.name}"
        for file in sorted(DATA.glob("check_*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


@pytest.mark.torch
@pytest.mark.parametrize("name", names())
def test_on_reference_device(name: str, outcomes: dict[str, tuple[str, str]]) -> None:
    outcome, detail = outcomes.get(name, ("not run", ""))
    assert outcome == "passed", detail


def test_every_replacement_of_the_catalog_is_called() -> None:
    """What the catalog offers in place of ``torch.cuda.…`` is called on the reference device at least once."""
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 has tomllib")
    catalog = tomllib.loads((ROOT / "hwlint" / "catalog" / "device_apis.toml").read_text(encoding="utf-8"))
    offered = catalog["accelerator"]["names"].split()
    called = (DATA / "check_device_module.py").read_text(encoding="utf-8")
    missing = [name for name in offered if f"{name.removeprefix('torch.')}(" not in called]
    assert offered and not missing


def run_alone(python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "hwlint.reference_device", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.torch
def test_runs_a_script(torch_python: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, torch\n"
        "print(torch.ones(2, device='toy:2').device, torch.toy.device_count(), sys.argv[1:], __name__)\n"
    )
    done = run_alone(str(torch_python), "--name", "toy", "--device-count", "3", str(script), "an", "argument")
    assert done.stdout.splitlines() == ["toy:2 3 ['an', 'argument'] __main__"]
    assert done.returncode == 0


def test_refuses_bad_arguments_without_torch() -> None:
    for arguments in ([], ["no-such-script.py"], ["--no-such-option", "x.py"], ["--device-count", "x", "y.py"]):
        done = run_alone(sys.executable, *arguments)
        assert done.returncode == 2
        assert "usage" in done.stderr
    assert run_alone(sys.executable, "--help").returncode == 0
