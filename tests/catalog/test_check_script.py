"""tools/check_catalog.py against an installed torch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DEFAULT = Path.home() / ".cache" / "hwlint" / "torch-2.14.1" / "bin" / "python"


@pytest.fixture(scope="module")
def torch_python() -> str:
    given = os.environ.get("HWLINT_TORCH_PYTHON")
    if given:
        return given
    if DEFAULT.exists():
        return str(DEFAULT)
    pytest.skip(f"no torch to compare with: set HWLINT_TORCH_PYTHON, or make {DEFAULT}")


def run(python: str, root: Path) -> subprocess.CompletedProcess[str]:
    script = root / "tools" / "check_catalog.py"
    return subprocess.run([python, str(script)], capture_output=True, text=True, check=False)


@pytest.mark.torch
def test_the_catalog_matches_torch(torch_python: str) -> None:
    done = run(torch_python, ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("0 differences\n")


@pytest.mark.torch
def test_differences_are_told(torch_python: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "hwlint" / "catalog", tmp_path / "hwlint" / "catalog")
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    changes = {
        "device_apis": [
            ("names = 'is_available device_count'", "names = 'is_available device_tally'"),
            ("replacement = 'torch.accelerator.get_memory_info'", "replacement = 'torch.accelerator.no_such_name'"),
            ("'2.12' = 'torch.accelerator.Graph", "'2.99' = 'torch.accelerator.Graph"),
        ],
        "decorators": [("names = 'onlyCUDA'", "names = 'onlyCUDAS'")],
        "flags": [
            ("names = 'TEST_CUDA'", "names = 'TEST_CUDAS'"),
            ("lazy = true\nnames = 'TEST_ACCELERATOR'", "names = 'TEST_ACCELERATOR'"),
        ],
        "framework_bases": [
            ("names = 'torch._inductor.test_case.TestCase'", "names = 'torch._inductor.test_case.Case'")
        ],
        "device_types": [("is_attribute = 'is_xpu'", "is_attribute = 'is_xpus'")],
        "profiler": [("names = 'ProfilerActivity.MTIA'", "names = 'ProfilerActivity.MTIAS'")],
        "tensor_types": [("Float = 'torch.float32'", "Float = 'torch.float64'")],
        "distributed": [("devices = 'xpu'", "devices = 'cuda'")],
    }
    for table, pairs in changes.items():
        path = tmp_path / "hwlint" / "catalog" / f"{table}.toml"
        text = path.read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    done = run(torch_python, tmp_path)
    assert done.returncode == 1
    for line in (
        "api: torch.cuda.device_tally: missing",
        "unlisted: torch.cuda.device_count",
        "unlisted: torch.xpu.device_count",
        "replacement: torch.accelerator.no_such_name: missing",
        "replacement: torch.accelerator.Graph: there, against its since or until",
        "decorator: onlyCUDAS: missing",
        "unlisted: common_device_type.onlyCUDA",
        "flag: TEST_CUDAS: missing",
        "flag: TEST_ACCELERATOR: lazy differs",
        "base: torch._inductor.test_case.Case: missing",
        "device: xpu: is_xpus differs",
        "profiler: ProfilerActivity.MTIA differs",
        "tensor type: torch.cuda.FloatStorage: torch.float32",
        "collective: xccl: devices are ['xpu']",
    ):
        assert line in done.stdout.splitlines(), (line, done.stdout)


def test_without_torch_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not here')\n", encoding="utf-8")
    script = ROOT / "tools" / "check_catalog.py"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 2
    assert "no torch" in done.stderr


@pytest.mark.torch
def test_another_interpreter_can_be_given(torch_python: str) -> None:
    script = ROOT / "tools" / "check_catalog.py"
    command = [sys.executable, str(script), "--python", torch_python]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
