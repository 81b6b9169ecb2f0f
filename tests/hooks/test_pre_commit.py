"""The real pre-commit, on a copy of this project and a small project that uses it.

pre-commit installs the hook into an environment of its own, so these take a while and need the package index.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.project import TAGGED, UNTAGGED
from tests.gitrepo import Repository

SOURCE = Path(__file__).resolve().parents[2]
SHIPPED = ("hwlint", "codemods", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
CONFIG = """\
repos:
  - repo: {repository}
    rev: {revision}
    hooks:
      - id: hwlint-check
"""

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed (the dev extra has it)"
)


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository with what a release of hwlint holds."""
    repository = Repository(tmp_path_factory.mktemp("hook") / "hwlint")
    for name in SHIPPED:
        place = SOURCE / name
        if place.is_dir():
            shutil.copytree(place, repository.root / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, repository.root / name)
    repository.commit()
    return repository


@pytest.fixture
def user(tmp_path: Path) -> Repository:
    repository = Repository(tmp_path / "user")
    repository.commit({"pyproject.toml": '[tool.hwlint]\nexclude = ["vendored"]\n'})
    return repository


def pre_commit(user: Repository, home: Path, *arguments: str) -> tuple[int, str]:
    environment = {**os.environ, "PRE_COMMIT_HOME": str(home), "GIT_CONFIG_GLOBAL": os.devnull, "NO_COLOR": "1"}
    environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-m", "pre_commit", *arguments]
    done = subprocess.run(
        command, cwd=user.root, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_try_repo(hook: Repository, user: Repository, tmp_path: Path) -> None:
    user.write({"test_good.py": TAGGED.format(name="GoodTest"), "test_bad.py": UNTAGGED.format(name="BadTest")})
    user.git("add", "-A")
    status, printed = pre_commit(user, tmp_path / "home", "try-repo", str(hook.root), "hwlint-check", "--all-files")
    assert status == 1, printed
    assert "hwlint check" in printed and "Failed" in printed
    assert "HW101 test class 'BadTest' has no hw_classification" in printed
    assert "GoodTest" not in printed


def test_a_commit_is_stopped_and_let_through(hook: Repository, user: Repository, tmp_path: Path) -> None:
    revision = hook.git("rev-parse", "HEAD").strip()
    user.commit({".pre-commit-config.yaml": CONFIG.format(repository=hook.root, revision=revision)})
    user.write({"test_new.py": UNTAGGED.format(name="NewTest"), "notes.txt": "no Python"})
    user.write({"vendored/test_old.py": UNTAGGED.format(name="OldTest")})
    user.git("add", "-A")
    status, printed = pre_commit(user, tmp_path / "home", "run")
    assert status == 1, printed
    assert "test_new.py" in printed
    assert "test_old.py" not in printed, "the configuration's exclude holds for files that pre-commit names"
    user.write({"test_new.py": TAGGED.format(name="NewTest")})
    user.git("add", "-A")
    status, printed = pre_commit(user, tmp_path / "home", "run")
    assert status == 0, printed
    user.commit({"notes.txt": "still no Python"})
    user.write({"notes.txt": "nothing to check"})
    user.git("add", "-A")
    status, printed = pre_commit(user, tmp_path / "home", "run")
    assert status == 0, printed
    assert "no files to check" in printed


def test_the_migrate_hook_makes_the_safe_changes_on_staged_files(
    hook: Repository, user: Repository, tmp_path: Path
) -> None:
    user.write(
        {"test_bad.py": UNTAGGED.format(name="BadTest"), "vendored/test_old.py": UNTAGGED.format(name="OldTest")}
    )
    user.git("add", "-A")
    status, printed = pre_commit(user, tmp_path / "home", "try-repo", str(hook.root), "hwlint-migrate")
    assert status == 1 and "files were modified by this hook" in printed, printed
    assert (user.root / "test_bad.py").read_text() == TAGGED.format(name="BadTest")
    assert (user.root / "vendored/test_old.py").read_text() == UNTAGGED.format(name="OldTest")
    user.git("add", "-A")
    status, printed = pre_commit(user, tmp_path / "home", "try-repo", str(hook.root), "hwlint-migrate")
    assert status == 0, printed
