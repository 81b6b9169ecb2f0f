"""A small project, and the command line run in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwlint.cli import run
from tests.gitrepo import Repository

UNTAGGED = """\
from torch.testing._internal.common_utils import TestCase


class {name}(TestCase):
    def test_empty(self):
        self.assertEqual([], [])
"""
TAGGED = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class {name}(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual([], [])
"""


class Project:
    """Files below a folder that is the current one."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self.capsys = capsys
        self.out = self.err = ""

    def write(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def read(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def untagged(self, path: str, name: str = "ParserTest") -> Path:
        return self.write(path, UNTAGGED.format(name=name))

    def tagged(self, path: str, name: str = "ParserTest") -> Path:
        return self.write(path, TAGGED.format(name=name))

    def hwlint(self, *arguments: str) -> int:
        """The exit status; what was printed is in ``out`` and ``err``."""
        self.capsys.readouterr()
        status = run(list(arguments))
        self.out, self.err = self.capsys.readouterr()
        return status

    def concise(self, *arguments: str) -> list[str]:
        """``path:line: CODE`` of what ``check`` reports."""
        self.hwlint("check", "--format", "concise", *arguments)
        return [
            f"{path}:{line}: {rest.split()[0]}"
            for path, line, _, rest in (row.split(":", 3) for row in self.out.splitlines())
        ]

    def git(self, *arguments: str) -> None:
        Repository(self.root).git(*arguments)

    def commit(self) -> None:
        Repository(self.root).commit()
