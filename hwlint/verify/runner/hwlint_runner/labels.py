"""``--hw-classification`` as the running torch applies it. Standard library only; used inside the runner."""

from __future__ import annotations

import contextlib
import enum
import importlib
import io
import types
import unittest
from typing import Any

from . import identity

LABELS = ("GENERIC", "ACCELERATOR", "CPU", "CUDA", "MPS", "XPU")
"""The members of ``torch.testing._internal.common_utils.HardwareClassification`` (pytorch PR #186918)."""


def stand_in() -> bool:
    """Give a torch without ``HardwareClassification`` one that test files can import. Returns whether that was
    needed."""
    common_utils: Any = importlib.import_module("torch.testing._internal.common_utils")
    if hasattr(common_utils, "HardwareClassification"):
        return False
    make_enum: Any = enum.Enum
    common_utils.HardwareClassification = make_enum("HardwareClassification", {name: name.lower() for name in LABELS})
    return True


def write_selections(module: types.ModuleType, journal: Any) -> None:
    """Write to the journal which tests of ``module`` each label selects, one ``selected`` line a label.

    With a torch that has it, the choice is made by torch's ``HardwareClassificationTestLoader``, the loader that
    ``run_tests`` uses for ``--hw-classification``; else by the class attribute alone.
    """
    common_utils: Any = importlib.import_module("torch.testing._internal.common_utils")
    loader_type = getattr(common_utils, "HardwareClassificationTestLoader", None)
    for label in LABELS:
        member = getattr(common_utils.HardwareClassification, label, None)
        if member is None:
            continue
        try:
            # torch prints a line for each filter it applies, which belongs to no test's output.
            with contextlib.redirect_stdout(io.StringIO()):
                cases = _select(module, member, loader_type)
        except TypeError as error:  # torch refuses a hw_classification that is no member of the enum
            journal.write("selected", label=label, tests=[], error=str(error))
            continue
        journal.write("selected", label=label, tests=[case.id() for case in cases], error="")


def _select(module: types.ModuleType, member: Any, loader_type: Any) -> list[Any]:
    if loader_type is not None:
        return list(identity.iterate(loader_type({member}).loadTestsFromModule(module)))
    cases = identity.iterate(unittest.defaultTestLoader.loadTestsFromModule(module))
    return [case for case in cases if getattr(case, "hw_classification", None) is member]
