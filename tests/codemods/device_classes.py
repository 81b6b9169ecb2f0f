"""Files with a class ``T`` that device_parameter changes, or leaves."""

from __future__ import annotations

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_utils import TEST_CUDA, TestCase
"""
GATE = '@unittest.skipIf(not TEST_CUDA, "no CUDA")'


def change(before: str, **options: object) -> str:
    return checked(before, NAME, unsafe=True, **options)


def refusal(source: str, **options: object) -> str:
    """The reason why the class `T`, or a test of it, is left as it is."""
    outcome = migrate(source, NAME, unsafe=True, **options)  # type: ignore[arg-type]
    assert not outcome.changed
    return next((reason for symbol, reason in reasons(outcome).items() if symbol.partition(".")[0] == "T"), "")


def class_with(body: str, before: str = "", after: str = "") -> str:
    """The file with a class ``T`` whose one test has the body."""
    lines = "".join(f"        {line}\n" if line else "\n" for line in body.split("\n"))
    return f"{HEAD}{before}\n\nclass T(TestCase):\n    {GATE}\n    def test_t(self):\n{lines}{after}"


def body_after(body: str, before: str = "") -> str:
    """What becomes of the body of the one test of class ``T``."""
    text = change(class_with(body, before))
    assert f"{before}\n\nclass T(TestCase):\n    @onlyAccelerator\n    def test_t(self, device):\n" in text, text
    rest = text.partition("def test_t(self, device):\n")[2].partition(
        "\n\n\ninstantiate_device_type_tests(T, globals()"
    )[0]
    return "\n".join(line.removeprefix("        ") for line in rest.split("\n"))
