"""The real lintrunner, with the stanza that the README shows."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hwlint.output.lintrunner import CODE
from tests.cli.project import TAGGED, UNTAGGED
from tests.gitrepo import Repository

SOURCE = Path(__file__).resolve().parents[2]
LINTRUNNER = shutil.which("lintrunner", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")

pytestmark = pytest.mark.skipif(LINTRUNNER is None, reason="lintrunner is not installed (the dev extra has it)")


def stanza() -> str:
    """The one in the README, with this interpreter in place of the user's."""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    match = re.search(r"```toml\n(\[\[linter\]\]\n.*?)```", text, re.DOTALL)
    assert match is not None
    assert f"code = '{CODE}'" in match[1]
    assert "'python3'" in match[1]
    return match[1].replace("'python3'", f"'{sys.executable}'")


@pytest.fixture
def tree(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "tree")
    repository.commit(
        {
            ".lintrunner.toml": stanza(),
            "test/test_bad.py": UNTAGGED.format(name="BadTest"),
            "test/test_good.py": TAGGED.format(name="GoodTest"),
            "test/nested/test_deep.py": UNTAGGED.format(name="DeepTest"),
        }
    )
    return repository


def lint(tree: Repository, *arguments: str, folder: str = ".") -> tuple[int, list[dict[str, Any]], str]:
    """Exit status, the lints as lintrunner passes them on, and all it printed."""
    assert LINTRUNNER is not None
    command = [LINTRUNNER, "--output", "json", "--config", str(tree.root / ".lintrunner.toml")]
    command += ["--data-path", str(tree.root / ".lint"), *arguments]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(
        command, cwd=tree.root / folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, lines, done.stdout + done.stderr


def test_findings_reach_lintrunner(tree: Repository) -> None:
    status, lints, printed = lint(tree, "test/test_bad.py", "test/test_good.py")
    assert status == 1, printed
    found, fix = sorted(lints, key=lambda one: one["line"] is None)
    assert fix["replacement"] == TAGGED.format(name="BadTest")
    assert Path(found["path"]) == tree.root / "test/test_bad.py"
    assert (found["line"], found["char"], found["code"], found["severity"]) == (4, 1, "HWLINT", "error")
    assert found["name"] == "[HW101] missing-classification"
    assert "--hw-classification" in found["description"]


def test_lintrunner_applies_the_safe_changes(tree: Repository) -> None:
    lint(tree, "--apply-patches", "test/test_bad.py")
    assert (tree.root / "test/test_bad.py").read_text() == TAGGED.format(name="BadTest")
    status, lints, printed = lint(tree, "test/test_bad.py")
    assert (status, lints) == (0, []), printed


def test_clean_files_pass(tree: Repository) -> None:
    status, lints, printed = lint(tree, "test/test_good.py")
    assert (status, lints) == (0, []), printed


def test_it_works_from_another_folder(tree: Repository) -> None:
    status, lints, printed = lint(tree, "test_deep.py", folder="test/nested")
    assert status == 1, printed
    assert {Path(one["path"]).name for one in lints} == {"test_deep.py"}


def test_a_configuration_that_is_wrong_is_seen(tree: Repository) -> None:
    tree.write({"pyproject.toml": "[tool.hwlint]\nlevl = 'full'\n"})
    status, lints, printed = lint(tree, "test/test_good.py")
    assert status == 1, printed
    assert lints[0]["name"] == "Linter failed"
    assert "did you mean 'level'" in lints[0]["description"]
