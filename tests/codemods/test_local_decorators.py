"""Decorators that a file makes for itself: those whose source shows that they pass everything on, and the others."""

# ruff: noqa: E501  # Rows are read side by side.

from __future__ import annotations

import textwrap

import pytest

from tests.codemods.harness import migrate, migrated, reasons

SOURCE = """\
import functools
import unittest.mock
import torch
from functools import wraps
from torch._inductor import config
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase, parametrize
from unittest.mock import patch

{}


class T(TestCase):
    @mine
    def test_a(self{}):
        torch.ones(2, device=self.device_type)


instantiate_device_type_tests(T, globals())
"""
WRAPPER = """
def mine(fn):
    {}
    def inner({}):
        torch.manual_seed(1)
        return {}

    return inner
"""


def source(decorator: str, parameters: str = "") -> str:
    return SOURCE.format(textwrap.dedent(decorator).strip("\n"), parameters)


@pytest.mark.parametrize(
    "decorator",
    [
        WRAPPER.format("@functools.wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs)"),
        WRAPPER.format("@wraps(fn)", "self, *args, **kwargs", "fn(self, *args, **kwargs)"),
        "def mine(fn):\n    return config.patch(debug=True)(fn)",
        "def mine(fn):\n    fn = config.patch(debug=True)(fn)\n    return fn",
        "def mine(fn):\n    '''Doc.'''\n    return fn",
        WRAPPER.format("for one in [config.patch(x=1), patch.object(config, 'y', 1)]:\n        fn = one(fn)\n\n    @wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs)"),
    ],
)  # fmt: skip
def test_what_hands_everything_on(decorator: str) -> None:
    assert "test_a(self, device)" in migrated(source(decorator), "contract_device")


def test_a_parametrization_under_a_name() -> None:
    text = migrated(source("mine = parametrize('n', [1, 2])", ", n"), "contract_device")
    assert "test_a(self, device, n)" in text


@pytest.mark.parametrize(
    "decorator",
    [
        WRAPPER.format("", "*args, **kwargs", "fn(*args, **kwargs)"),
        WRAPPER.format("@wraps(print)", "*args, **kwargs", "fn(*args, **kwargs)"),
        WRAPPER.format("@functools.lru_cache", "*args, **kwargs", "fn(*args, **kwargs)"),
        WRAPPER.format("@wraps(fn)", "self", "fn(self)"),
        WRAPPER.format("@wraps(fn)", "*args", "fn(*args)"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "fn(args[0])"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs, x=1)"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "(kwargs.pop('device'), fn(*args, **kwargs))"),
        WRAPPER.format("@wraps(fn)", "self, device, *args, **kwargs", "fn(self, device, *args, **kwargs)"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "None"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs)").replace("    return inner", "    inner = 1\n    return inner"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs)").replace("    return inner", "    if fn:\n        return inner"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs)").replace("mine(fn)", "mine(fn, n=1)"),
        WRAPPER.format("@wraps(fn)", "*args, **kwargs", "fn(*args, **kwargs)").replace("inner(*", "inner(*") + "\n\nmine = print",
        "def mine(fn):\n    return patch.object(config, 'y')(fn)",
        "def mine(fn):\n    return other(fn)",
        "def mine(fn):\n    for one in [other(1)]:\n        fn = one(fn)\n    return fn",
        "def mine(fn):\n    fn = print\n    return fn",
        "def mine(fn):\n    return unittest.skip('why')",
        "mine = parametrize('n', [1])\nmine = print",
        "if torch.version.hip:\n    mine = print\nelse:\n    mine = parametrize('n', [1])",
        "class mine:\n    def __init__(self, fn):\n        self.fn = fn",
    ],
)  # fmt: skip
def test_what_may_not(decorator: str) -> None:
    outcome = migrate(source(decorator), "contract_device")
    assert not outcome.changed
    assert reasons(outcome) == {"T": "unknown-name"}
