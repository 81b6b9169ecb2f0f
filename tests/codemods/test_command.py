"""The codemods as LibCST codemod commands."""

from __future__ import annotations

from pathlib import Path

import libcst as cst
import pytest
from libcst.codemod import CodemodContext

import codemods.command as commands
from codemods.registry import all_codemods

SOURCE = """\
from torch.testing._internal.common_utils import TestCase


class A(TestCase):  # é
    def test_a(self):
        pass


class B(TestCase):
    def test_b(self, device):
        pass
"""


def test_a_command_changes_what_the_codemod_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "test_a.py"
    file.write_text(SOURCE)
    context = CodemodContext(filename=str(file))
    command = commands.TagClass(context)  # type: ignore[attr-defined]
    result = command.transform_module(cst.parse_module(SOURCE.encode())).code
    assert "class A(TestCase):  # é\n    hw_classification = HardwareClassification.GENERIC\n" in result
    assert file.read_text() == SOURCE
    assert any("B" in warning for warning in context.warnings)


def test_a_command_without_anything_to_do_gives_the_module_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tree = cst.parse_module("x = 1\n")
    command = commands.SuperCalls(CodemodContext(filename="test_a.py"))  # type: ignore[attr-defined]
    assert command.transform_module(tree).code == "x = 1\n"


def test_there_is_a_command_for_each_codemod() -> None:
    for codemod in (c for c in all_codemods() if not c.follows):  # A command sees one file.
        command = getattr(commands, codemod.__name__)
        assert command.codemod == codemod.name
        assert command.DESCRIPTION == codemod.summary
