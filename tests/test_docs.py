"""What README and docs say, held against what the program does."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from hwlint.cli import COMMANDS, run
from hwlint.config import Settings
from hwlint.output import FORMATS

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHECK = (ROOT / "docs/check.md").read_text(encoding="utf-8")


def test_the_output_in_the_readme_is_what_the_sample_suite_gives(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert run(["check", "examples/sample_suite", "--no-cache", "--no-color"]) == 1
    (shown,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    assert shown in capsys.readouterr().out


def test_the_sample_suite_shows_clean_and_unclean_classes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    run(["check", "examples/sample_suite", "--no-cache", "--format", "json"])
    findings = json.loads(capsys.readouterr().out)["findings"]
    by_file: dict[str, set[str]] = {}
    for finding in findings:
        by_file.setdefault(Path(finding["path"]).name, set()).add(finding["code"])
    assert "test_sorting.py" not in by_file
    assert by_file["test_options.py"] == {"HW101"}
    assert by_file["test_graph_pool.py"] == {"HW106"}
    assert by_file["test_pointwise.py"] == {"HW601"}
    assert {"HW101", "HW201", "HW202", "HW401", "HW502"} <= by_file["test_window.py"]
    assert "HW301" in by_file["test_profile.py"]
    assert {"HW701", "HW703"} <= by_file["test_all_reduce.py"]


def test_every_command_is_in_the_readme() -> None:
    assert [name for name in COMMANDS if f"| `hwlint {name}" not in README] == []


def test_every_format_and_setting_is_documented() -> None:
    assert [name for name in FORMATS if f"| `{name}` |" not in CHECK] == []
    keys = [field.name.replace("_", "-") for field in fields(Settings) if "read" in field.metadata]
    assert [key for key in keys if f"`{key}`" not in CHECK] == []


def test_the_documented_json_has_the_keys_of_the_real_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (text,) = re.findall(r"```json\n(.*?)```", (ROOT / "docs/json.md").read_text(encoding="utf-8"), re.DOTALL)
    documented = json.loads(text)
    monkeypatch.chdir(ROOT)
    run(["check", "examples/sample_suite", "--no-cache", "--format", "json"])
    real = json.loads(capsys.readouterr().out)
    assert set(documented) - {"revision"} == set(real)
    assert set(documented["summary"]) == set(real["summary"])
    assert set(documented["findings"][0]) == set(real["findings"][0])
    (fix,) = {frozenset(f["fix"]) for f in real["findings"] if f["fix"]}
    assert set(documented["findings"][0]["fix"]) == fix
    (related,) = {frozenset(r) for f in real["findings"] for r in f["related"]}
    assert set(documented["findings"][0]["related"][0]) == related
