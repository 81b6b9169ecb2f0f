"""device_parameter, where a test ends itself if CUDA lacks a capability, or does something else then."""

from __future__ import annotations

import pytest

from tests.codemods.harness import checked, migrate, reasons

NAME = "device_parameter"
HEAD = """\
import unittest
import torch
from torch.testing._internal.common_cuda import PLATFORM_SUPPORTS_FLASH_ATTENTION, TEST_CUDA
from torch.testing._internal.common_utils import TestCase

HAS_DOT = True


class T(TestCase):
    def _skip(self):
        if not PLATFORM_SUPPORTS_FLASH_ATTENTION:
            self.skipTest("old")

"""
GATE = '    @unittest.skipIf(not TEST_CUDA, "no CUDA")\n'


def source_with(body: str, gate: str = "") -> str:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    return f'{HEAD}{gate}    def test_t(self):\n        """Adds."""\n{lines}'


@pytest.mark.parametrize(
    "stop",
    [
        'if not PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    self.skipTest("old")',
        "if not (TEST_CUDA and PLATFORM_SUPPORTS_FLASH_ATTENTION and HAS_DOT):\n    return",
        'import math\nif not PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    raise unittest.SkipTest("old")',
    ],
)
def test_a_question_at_the_start_stays_and_keeps_the_cpu_out(stop: str) -> None:
    text = checked(source_with(f"{stop}\ntorch.ones(2).cuda()"), NAME, unsafe=True)
    lines = "".join(f"        {line}\n" for line in stop.split("\n"))
    assert f'    @onlyAccelerator\n    def test_t(self, device):\n        """Adds."""\n{lines}' in text
    assert text.count("PLATFORM_SUPPORTS_FLASH_ATTENTION") == HEAD.count(
        "PLATFORM_SUPPORTS_FLASH_ATTENTION"
    ) + stop.count("PLATFORM_SUPPORTS_FLASH_ATTENTION")


@pytest.mark.parametrize(
    "body",
    [
        'x = torch.ones(2)\nif not PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    self.skipTest("old")\nx.cuda()',
        "self._skip()\ntorch.ones(2).cuda()",
        "if not PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    print('old')\n    return\ntorch.ones(2).cuda()",
    ],
)
def test_a_question_elsewhere_stays_where_the_test_has_a_gate(body: str) -> None:
    """Without one the CPU variant would run what stands in front, or behind it on a host with CUDA."""
    assert "    @onlyAccelerator\n    def test_t(self, device):\n" in checked(
        source_with(body, GATE), NAME, unsafe=True
    )
    outcome = migrate(source_with(body), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "unknown-gate"}


@pytest.mark.parametrize(
    "stop",
    [
        "if PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    return",
        "if not SM80OrLater:\n    return",
        "if not torch.version.hip:\n    return",
        "if PLATFORM_SUPPORTS_FLASH_ATTENTION and not TEST_CUDA:\n    return",
    ],
)
def test_what_asks_otherwise_stays(stop: str) -> None:
    outcome = migrate(source_with(f"{stop}\ntorch.ones(2).cuda()", GATE), NAME, unsafe=True)
    assert not outcome.changed and set(reasons(outcome).values()) <= {"unknown-gate", "device-claim"}


@pytest.mark.parametrize(
    "choice",
    [
        "eps = 1e-3 if PLATFORM_SUPPORTS_FLASH_ATTENTION else 1e-5",
        "if not PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    eps = 1e-3\nelse:\n    eps = 1e-5",
        "sizes = (1, 2) if torch.version.hip else (1, 4)",
    ],
)
def test_a_choice_stays_where_the_test_has_a_gate(choice: str) -> None:
    """On the devices that it ran on it chooses as it did; the CPU variant would choose by what CUDA can do."""
    source = source_with(f"{choice}\ntorch.ones(2).cuda()", GATE)
    lines = "".join(f"        {line}\n" for line in choice.split("\n"))
    text = checked(source, NAME, unsafe=True)
    assert f'    @onlyAccelerator\n    def test_t(self, device):\n        """Adds."""\n{lines}' in text
    outcome = migrate(source.replace(GATE, ""), NAME, unsafe=True)
    assert not outcome.changed and reasons(outcome) == {"T": "unknown-gate"}


@pytest.mark.parametrize(
    "choice",
    [
        "if IS_WINDOWS and PLATFORM_SUPPORTS_FLASH_ATTENTION:\n    return",
        "n = 1 if TEST_MPS else 2",
        "n = 1 if SM80OrLater else 2",  # a claim about NVIDIA's processors
    ],
)
def test_a_choice_by_something_else_stays(choice: str) -> None:
    imported = "from torch.testing._internal.common_utils import IS_WINDOWS, TEST_MPS\n"
    source = source_with(f"{choice}\ntorch.ones(2).cuda()", GATE).replace(
        "TEST_CUDA\n", f"SM80OrLater, TEST_CUDA\n{imported}"
    )
    assert not migrate(source, NAME, unsafe=True).changed
