"""The decorator that asks for the same thing on any accelerator, in the place of one that asks for it on CUDA.

``@requires_cuda`` of triton_utils -> ``@requires_gpu_and_triton``, ``skipIf(not TEST_MULTIGPU, ...)`` -> ``skipIf(not
TEST_MULTIACCELERATOR, ...)``: the pairs are the catalog's. What a name of the file stands for is taken from its
facts: a ``TEST_MULTIGPU`` that the file defines itself, and that asks for four devices, has no such form.
"""

from __future__ import annotations

import ast

from codemods.plan import Context, Import
from hwlint.catalog import Flag, load_catalog
from hwlint.scan.device_places import CONDITIONAL
from hwlint.scan.facts import Decorator, Gate, Requirement
from hwlint.scan.gate_conditions import device_requirement, flag_requirements
from hwlint.scan.names import dotted
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach, Reached

TRITON_UTILS = "torch.testing._internal.triton_utils"
TRITON_ON_CUDA = frozenset((Requirement("device", "cuda"), Requirement("library", "triton")))
TRITON_ANYWHERE = Import(TRITON_UTILS, "requires_gpu_and_triton")


def compiles(context: Context, cls: LinkedClass, reached: Reach) -> bool:
    """Whether what a test of ``cls`` reaches goes through a compiler that needs triton, in a program that stands in a
    text as well.
    """
    if any(base.kind == "inductor" for base in cls.framework_bases):
        return True
    return any("traced" in r.function.flags or _compiles_in_text(context, r) for r in reached.functions)


def _compiles_in_text(context: Context, reached: Reached) -> bool:
    """Whether the function, of the module, holds a text such as ``run = "@torch.compile() ..."``."""
    if reached.path != context.path:
        return False
    nodes = ast.walk(context.source().function_at(reached.function.line))
    return any(isinstance(n, ast.Constant) and "torch.compile(" in str(n.value) for n in nodes)


def asks_triton(gate: Gate, decorator: Decorator | None) -> bool:
    """Whether the gate asks for triton; what triton_utils defines does, whatever its name says."""
    named = decorator is not None and decorator.qualified.startswith(f"{TRITON_UTILS}.")
    return named or Requirement("library", "triton") in gate.requirements


def generic_gate(gate: Gate, decorator: Decorator | None) -> tuple[str, tuple[Import, ...]] | None:
    """The text of the decorator, '{reason}' for its reason, and what it imports; None where there is none."""
    if decorator is None:
        return None
    entry = load_catalog().find_decorator(decorator.qualified)
    if entry is not None and entry.library_form and not decorator.called and asks_triton(gate, decorator):
        return entry.library_form, (Import(TRITON_UTILS, entry.library_form),)
    if decorator.qualified.rpartition(".")[2] in CONDITIONAL:
        return _condition(gate, decorator)
    if "." not in decorator.qualified and not decorator.arguments and TRITON_ON_CUDA == set(gate.requirements):
        return TRITON_ANYWHERE.name, (TRITON_ANYWHERE,)  # A name of the file for skipUnless(HAS_CUDA, ...).
    return None


def _condition(gate: Gate, decorator: Decorator) -> tuple[str, tuple[Import, ...]] | None:
    """``skipIf(not TEST_MULTIGPU, reason)``, ``skipIf(torch.cuda.device_count() < 2, reason)``."""
    if len(decorator.arguments) != 2:
        return None
    text = decorator.arguments[0].text
    asked = ast.parse(text, mode="eval").body
    if isinstance(asked, ast.UnaryOp) and isinstance(asked.op, ast.Not):
        asked = asked.operand
    if isinstance(asked, ast.Compare) and len(asked.ops) == 1 and isinstance(asked.comparators[0], ast.Constant):
        asked = asked.left
    if isinstance(asked, ast.Call):
        asked = asked.func if not asked.args and not asked.keywords else asked
    name = dotted(asked)
    flag = load_catalog().flags.get(name)
    generic = load_catalog().flags.get(flag.generic_form) if flag is not None else None
    if flag is None or generic is None or not _stands_for(flag, gate):
        return None
    new = text.replace(name, generic.name)
    needed = () if generic.callable else (Import(generic.modules[0], generic.name),)
    return f"{decorator.name}({new}, {{reason}})", needed


def _stands_for(flag: Flag, gate: Gate) -> bool:
    """Whether the gate asks for what the flag of the catalog asks for; of a count, whatever the number."""
    asked = set(gate.requirements)
    if flag.callable:
        return flag.asks == "count" and {r for r in asked if r.kind != "count"} == set(device_requirement(flag.device))
    return asked == set(flag_requirements(flag))
