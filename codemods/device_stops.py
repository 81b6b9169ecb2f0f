"""Tests that ask what CUDA can do: the question stays in the body, as a skip would in a decorator.

``if not SM80OrLater: self.skipTest(...)`` asks CUDA, so that no other accelerator gets by it. ``@onlyAccelerator``
keeps the CPU variant out, which on a host with CUDA it would let through: where the test asks at its very start, it did
nothing without CUDA; where it asks later, or in a helper, something else has to keep it off the CPU. So too where it
only chooses (``n = 1 if torch.version.hip else 2``): on the devices it ran on it chooses as it did.
"""

from __future__ import annotations

import ast

from codemods.device_values import AVAILABLE
from codemods.edit import SourceFile, is_docstring
from hwlint.catalog.claims import gate_claim
from hwlint.scan.facts import Function, Gate, Span
from hwlint.scan.names import dotted, span_of

FORMS = ("skip_call", "raise_skip", "early_return", "setup")
KINDS = ("device", "accelerator", "capability", "library", "unknown")
CHOICES = frozenset(("device", "accelerator", "capability", "platform"))


def asks_capability(gate: Gate) -> bool:
    """Whether the gate ends the function where CUDA, or some capability of it, is not there, and asks for nothing that
    is another vendor's.
    """
    if gate.form not in FORMS or not gate.blocking or gate.combine not in ("", "all"):
        return False
    asked = gate.requirements
    if any(r.absent or r.kind not in KINDS for r in asked):
        return False
    devices = {r.value for r in asked if r.kind in ("device", "accelerator")}
    other = any(r.kind == "unknown" and gate_claim().search(r.value) for r in asked)
    return any(r.kind == "capability" for r in asked) and devices <= {*AVAILABLE} and not other


def is_choice(gate: Gate) -> bool:
    """Whether a part of the function hangs on a capability of CUDA, or on its being ROCm's, and on nothing else."""
    if gate.form != "if_block" or gate.blocking:
        return False
    kinds = {r.kind for r in gate.requirements}
    build = any(r.kind == "platform" and r.value == "rocm" for r in gate.requirements)
    devices = {r.value for r in gate.requirements if r.kind in ("device", "accelerator")}
    if any(r.kind == "platform" and r.value != "rocm" for r in gate.requirements):
        return False
    return ("capability" in kinds or build) and kinds <= CHOICES and devices <= {*AVAILABLE}


def leading_stops(file: SourceFile, function: Function) -> frozenset[Span]:
    """The conditions of the ``if`` statements at the start of the function that end it, and do nothing else."""
    found = set()
    for statement in file.function_at(function.line).body:
        if is_docstring(statement) or isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        if not isinstance(statement, ast.If) or statement.orelse or not _ends(statement.body):
            break
        found.add(span_of(statement.test))
    return frozenset(found)


def _ends(body: list[ast.stmt]) -> bool:
    """Whether the block is ``return``, ``raise ...`` or ``self.skipTest(...)``."""
    if len(body) != 1:
        return False
    call = body[0].value if isinstance(body[0], ast.Expr) else None
    skips = isinstance(call, ast.Call) and dotted(call.func) == "self.skipTest"
    bare = isinstance(body[0], ast.Return) and body[0].value is None
    return skips or bare or isinstance(body[0], ast.Raise)
