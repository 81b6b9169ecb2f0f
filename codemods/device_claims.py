"""Words by which a test says something about one vendor's numerics, kernels or libraries: it stays where it is.

What reviewers keep CUDA-specific: NaN propagation, rounding, determinism, precision modes, names of kernels and
libraries, allocator and driver errors.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.device_values import Blocked
from codemods.edit import FunctionNode, code_of
from hwlint.catalog.claims import claim, helper_keywords, profiled_claim, registrations, vendor_members
from hwlint.scan.names import dotted

_REGISTRATIONS = tuple(f".{name}" for name in registrations())
MAKE_GROUPS = ("init_process_group", "new_group")


def check_members(node: FunctionNode) -> None:
    """Raise Blocked where the function uses such a member, passes a stream to ``__dlpack__``, whose numbers are CUDA's,
    or registers something for the CPU and CUDA.
    """
    for child in (inner for statement in node.body for inner in ast.walk(statement)):
        if isinstance(child, ast.Attribute) and child.attr in vendor_members():
            raise Blocked("vendor-api", f"`.{child.attr}` on line {child.lineno} is a member of one vendor's class")
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == "__dlpack__":
            if child.args or child.keywords:
                raise Blocked("device-claim", f"the stream that `__dlpack__` gets on line {child.lineno} is CUDA's")
        if isinstance(child, ast.Call) and f".{dotted(child.func)}".endswith(_REGISTRATIONS):
            text = f"`{dotted(child.func)}` on line {child.lineno} registers for the CPU and CUDA"
            raise Blocked("device-claim", text)


def check_claims(node: FunctionNode) -> None:
    """Raise Blocked where the function's names, or texts that are no docstring, hold such a word, and as
    check_members. The back end that a process group is made with is none: it is judged where it is rewritten. Nor is an
    assertion that a result has no NaN: it holds of every device, while where NaNs are to be depends on it.
    """
    check_members(node)
    none = (_backends, _seeds, _absences)
    harmless = {id(one) for statement in node.body for find in none for one in find(statement)}
    for child in (inner for statement in code_of(node) for inner in ast.walk(statement)):
        text = ""
        if isinstance(child, ast.Name):
            text = child.id
        elif isinstance(child, ast.Attribute) and id(child) not in harmless:
            text = child.attr
        elif isinstance(child, ast.keyword) and id(child) not in harmless:
            text = child.arg or ""
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            text = "" if id(child) in harmless else child.value
        if text and claim().search(text):
            shown = text if len(text) <= 40 else f"{text[:37]}..."
            raise Blocked(
                "device-claim",
                f"`{shown}` on line {getattr(child, 'lineno', node.lineno)} is about one vendor's device",
            )
    if claim().search(node.name):
        raise Blocked("device-claim", f"`{node.name}` is about one vendor's device")


def _backends(statement: ast.stmt) -> Iterator[ast.expr]:
    """``"nccl"`` in ``dist.init_process_group("nccl")``, and in a statement ``return "cpu:gloo,cuda:nccl"``."""
    for child in ast.walk(statement):
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in MAKE_GROUPS:
            yield from (child.args[:1] + [k.value for k in child.keywords if k.arg == "backend"])
        elif isinstance(child, ast.Return) and isinstance(child.value, ast.Constant):
            if re.fullmatch(r"\w+:\w+,\w+:\w+", str(child.value.value)):
                yield child.value


def _seeds(statement: ast.stmt) -> Iterator[ast.keyword]:
    """``deterministic=True`` for a model of a suite."""
    for child in ast.walk(statement):
        if isinstance(child, ast.Call) and dotted(child.func).partition(".")[0] not in ("torch", "nn", "F", ""):
            yield from (k for k in child.keywords if k.arg in helper_keywords())


def _absences(statement: ast.stmt) -> Iterator[ast.expr]:
    """``torch.isnan`` in ``self.assertFalse(torch.isnan(y).any())`` and in ``assert not y.isnan().any()``."""
    for child in ast.walk(statement):
        denied = _denied(child)
        asked = _without(denied, "any") if denied is not None else None
        if isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and asked.func.attr == "isnan":
            yield asked.func


def _denied(node: ast.AST) -> ast.expr | None:
    """What an assertion says is false."""
    said: ast.expr | None = None
    if isinstance(node, ast.Assert):
        said = node.test
    elif isinstance(node, ast.Call) and node.args and dotted(node.func) in ("self.assertFalse", "self.assertTrue"):
        said = node.args[0]
        if dotted(node.func) == "self.assertFalse":
            return _without(said, "item") or said
    if isinstance(said, ast.UnaryOp) and isinstance(said.op, ast.Not):
        return _without(said.operand, "item") or said.operand
    return None


def _without(node: ast.expr, method: str) -> ast.expr | None:
    """``x`` of ``x.method()``."""
    if isinstance(node, ast.Call) and not node.args and not node.keywords and isinstance(node.func, ast.Attribute):
        return node.func.value if node.func.attr == method else None
    return None


def check_profiled(node: FunctionNode) -> None:
    """Raise Blocked where a test that profiles looks for CUDA's own events: a text in an assertion that names them."""
    for said in (inner for statement in node.body for inner in ast.walk(statement) if _is_assertion(inner)):
        for child in ast.walk(said):
            if (
                isinstance(child, ast.Constant)
                and isinstance(child.value, str)
                and profiled_claim().search(child.value)
            ):
                raise Blocked(
                    "device-claim", f"{child.value[:40]!r} on line {child.lineno} is an event of one vendor's runtime"
                )


def _is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else node.func.id
            if isinstance(node.func, ast.Name)
            else ""
        )
        return name.startswith(("assert", "check"))
    return isinstance(node, (ast.Compare, ast.Assert))
