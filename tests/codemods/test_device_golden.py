"""device_parameter: output that is held against a recorded text."""

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing import FileCheck
from torch.testing._internal.common_utils import TEST_CUDA, TestCase

EXPECTED = "a"


class CodeTest(TestCase):
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_code(self):
        x = torch.ones(3).cuda()
"""


def source(*lines: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in lines)


@pytest.mark.parametrize(
    "line",
    [
        "self.assertExpectedInline(str(count(x)), '''12''')",
        "self.assertExpectedInline(code(x), '''def forward(self, x):\\n    return x + 1''')",
        "FileCheck().check('extern_kernels.mm').check_count('wait', 2, exactly=True).run(code(x))",
        "FileCheck().check_not('clone').run(code(x))",
    ],
)
def test_a_text_without_a_word_for_a_device_is_the_same_on_each(line: str) -> None:
    outcome = migrate(source(line), NAME)
    check_invariants(outcome, NAME)
    assert "    @onlyAccelerator\n    def test_code(self, device):\n" in outcome.after.decode()
    assert f"        x = torch.ones(3).to(device)\n        {line}\n" in outcome.after.decode()


@pytest.mark.parametrize(
    "lines",
    [
        ("self.assertExpectedInline(str(x), '''tensor([1.], device='cuda:0')''')",),
        ("self.assertExpectedInline(str(x), '''get_device''')",),
        ("self.assertExpectedInline(code(x), EXPECTED)",),
        ("self.assertExpectedInline(code(x), f'{x}')",),
        ("self.assertExpectedInline(code(x), str(x.size()))",),
        ("FileCheck().check('empty_strided_cuda').run(code(x))",),
        ("FileCheck().check('a' + suffix).run(code(x))",),
        ("FileCheck().check('a').run(code(x))", "run('cuda', x)"),
        ("def check():", "    FileCheck().check(name).run(code(x))", "check()"),
    ],
)
def test_any_other_recorded_text_keeps_the_test(lines: tuple[str, ...]) -> None:
    outcome = migrate(source(*lines), NAME, unsafe=True)
    assert not outcome.changed
    assert reasons(outcome) == {"CodeTest": "golden-text"}


def test_a_docstring_is_no_recorded_text() -> None:
    text = source("FileCheck().check('a').run(code(x))")
    text = text.replace("        x = torch", '        """On CUDA."""\n        x = torch', 1)
    assert "def test_code(self, device):" in migrated(text, NAME)
