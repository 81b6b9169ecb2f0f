"""A small suite with one of everything that a report speaks of."""

from __future__ import annotations

from pathlib import Path

from tests.gitrepo import Repository

IMPORTS = """\
import unittest
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import HardwareClassification, TestCase, TEST_CUDA
"""

FILES = {
    "pyproject.toml": '[tool.hwlint]\nallowlist = "lists/open.json"\n\n[tool.hwlint.progress]\ndepth = 1\n',
    ".github/CODEOWNERS": "test/  @testers\ntest/nn/  @nn @testers\n",
    "lists/open.json": '["test/nn/test_plain.py", "test/test_done.py", "test/test_gone.py", "test/test_mixed.py"]\n',
    "test/shared_cases.py": IMPORTS
    + """

class SharedCases(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_shared(self):
        self.assertEqual(1, 1)
""",
    # Nothing left to do, and still on the allowlist.
    "test/test_done.py": '# Owner(s): ["module: sorting"]\n'
    + IMPORTS
    + """
from shared_cases import SharedCases


class Direct(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_sum(self, device):
        self.assertEqual(torch.ones(2, device=device).sum(), 2)

    def test_max(self, device):
        self.assertEqual(torch.ones(2, device=device).max(), 1)


class Inheriting(SharedCases):
    hw_classification = HardwareClassification.GENERIC

    def test_own(self):
        self.assertEqual(2, 2)


instantiate_device_type_tests(Direct, globals())
""",
    # A subclass that has its label and a test from a base in another file.
    "test/test_inherit.py": '# Owner(s): ["module: sorting", "module: nn"]\n'
    + IMPORTS
    + """
from shared_cases import SharedCases


class OnlyInherited(SharedCases):
    pass


def test_function():
    pass
""",
    # Tagged for every device, and bound to one.
    "test/test_bound.py": IMPORTS
    + """

class Bound(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_sum(self, device):
        self.assertEqual(torch.ones(2, device="cuda").sum(), 2)

    def test_wait(self, device):
        torch.cuda.synchronize()
        self.assertEqual(torch.ones(2, device=device).sum(), 2)


instantiate_device_type_tests(Bound, globals())
""",
    # Every test of one label, so that a tag is all it takes.
    "test/nn/test_plain.py": '# Owner(s): ["module: nn"]\n'
    + IMPORTS
    + """

class Parser(TestCase):
    def test_empty(self):
        self.assertEqual([], [])

    def test_full(self):
        self.assertEqual([1], [1])
""",
    # Tests of several labels.
    "test/test_mixed.py": IMPORTS
    + """

class Mixed(TestCase):
    def test_parse(self):
        self.assertEqual([], [])

    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_graph(self):
        pool = torch.cuda.graph_pool_handle()
        self.assertEqual(len(pool), 2)


class Tagged(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_parse(self):
        self.assertEqual([], [])
""",
    "test/test_broken.py": "def broken(:\n",
    "test/helper.py": "class NoTests:\n    pass\n",
}


def write_sample(root: Path) -> Repository:
    """The suite in one commit of a fixed date at ``root``."""
    repository = Repository(root)
    repository.write(FILES)
    repository.git("add", "-A")
    import os
    import subprocess

    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in WHO.items()},
    }
    subprocess.run(["git", "-C", str(root), "commit", "-q", "-m", "m"], env=environment, check=True)
    return repository


WHO = {"NAME": "a", "EMAIL": "a@example.org", "DATE": "2026-08-22T10:00:00+00:00"}
