from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.project import Project
from tests.gitrepo import Repository
from tests.progress.invented import Truth, sixty_commits

CONFIG = '[tool.hwlint]\nallowlist = "allowlist.json"\ncache-dir = "cache"\n'


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Project(tmp_path, capsys)


@pytest.fixture(scope="session")
def moved_suite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Repository, list[Truth]]]:
    """The repository of 60 commits, with its configuration beside it, and the truth at each commit."""
    repository, truths = sixty_commits(tmp_path_factory.mktemp("moved") / "suite")
    (repository.root / ".git" / "info" / "exclude").write_text("pyproject.toml\ncache/\n")
    (repository.root / "pyproject.toml").write_text(CONFIG)
    yield repository, truths
