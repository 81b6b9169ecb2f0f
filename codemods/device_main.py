"""``if HAS_GPU: run_tests()`` at the end of a file keeps tests that ask for nothing off hosts without accelerator.

PyTorch's own CI runs each file as a script (test/run_test.py), so that there no test of the file ran. pytest does not
come by here, which is why it takes somebody's word.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.plan import Context
from hwlint.scan.facts import Gate
from hwlint.scan.names import dotted, span_of


def main_gate(context: Context) -> Gate | None:
    """The condition in the ``__main__`` block that asks for an accelerator before any test runs."""
    main = context.module.main
    if main is None:
        return None
    gates = {gate.span: gate for gate in context.module.gates if _asks(gate)}
    if not gates:
        return None
    file = context.source()
    block = next((n for n in file.tree.body if isinstance(n, ast.If) and span_of(n).line == main.line), None)
    if block is None or block.orelse:
        return None
    gated = [n for n in block.body if isinstance(n, ast.If) and span_of(n.test) in gates and not n.orelse]
    inside = {id(call) for gate in gated for statement in gate.body for call in _runs(statement)}
    runs = [call for statement in block.body for call in _runs(statement)]
    elsewhere = sum(1 for _ in _runs(file.tree)) != len(runs)
    if not runs or elsewhere or any(id(call) not in inside for call in runs):
        return None
    return gates[span_of(gated[0].test)]


def _asks(gate: Gate) -> bool:
    """Whether the condition holds only where there is an accelerator."""
    present = [r for r in gate.requirements if r.kind in ("device", "accelerator") and r.value != "cpu"]
    return bool(present) and not any(r.absent for r in present) and gate.combine in ("", "all")


def _runs(node: ast.AST) -> Iterator[ast.Call]:
    """The calls that run the tests of the file."""
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and dotted(child.func) in (
            "run_tests",
            "unittest.main",
            "common_utils.run_tests",
        ):
            yield child
