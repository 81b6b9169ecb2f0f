"""Recorded texts (expecttest's ``assertExpected...``, ``FileCheck``) that the device does not show in.

What a test prints, counts or generates names its device, or it does not. Where no text of the function has a word for a
device, and each expected text stands in it word for word, the output is the same for ``"cuda"`` and ``"cuda:0"``.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence

from codemods.device_values import Blocked
from codemods.edit import FunctionNode, code_of
from hwlint.scan.device_places import GOLDEN
from hwlint.scan.facts import DeviceUse, Span
from hwlint.scan.names import span_of
from hwlint.scan.programs import DEVICE_WORD


def check_golden(node: FunctionNode, uses: Sequence[DeviceUse], symbol: str) -> None:
    """Raise Blocked where ``node``, which holds output against a recorded text, may have its device in it.

    ``uses`` are the function's own: the places that are rewritten are no texts.
    """
    rewritten = {use.span for use in uses if use.role in ("placement", "comparison")}
    body = [child for statement in code_of(node) for child in ast.walk(statement)]
    for child in body:
        if isinstance(child, ast.Call) and _is_golden(child):
            _check_expected(child, symbol)
    for text, at in _texts(body, rewritten):
        if DEVICE_WORD.search(text):
            said = f"{symbol} holds output against a recorded text, and {text[:40]!r} may name a device"
            raise Blocked("golden-text", said, at)


def _check_expected(call: ast.Call, symbol: str) -> None:
    """Raise Blocked where what is looked for is computed: all arguments but the output itself, which comes first."""
    expected = call.args[1:] if _name(call).startswith("assert") else call.args
    for argument in (*expected, *(k.value for k in call.keywords)):
        if not isinstance(argument, ast.Constant):
            text = f"{symbol} holds output against a recorded text, which is computed (line {argument.lineno})"
            raise Blocked("golden-text", text, span_of(argument))


def _is_golden(call: ast.Call) -> bool:
    """``self.assertExpectedInline(...)``, and the links of a chain that begins with ``FileCheck()``."""
    name = _name(call)
    if name not in GOLDEN:
        return False
    if name.startswith("assert"):
        return True
    start: ast.expr = call
    while isinstance(start, (ast.Attribute, ast.Call)):
        start = start.value if isinstance(start, ast.Attribute) else start.func
    return isinstance(start, ast.Name) and start.id != "self"


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _texts(body: Sequence[ast.AST], rewritten: Container[Span]) -> Iterator[tuple[str, Span]]:
    for child in body:
        if isinstance(child, ast.Constant) and isinstance(child.value, str) and span_of(child) not in rewritten:
            yield child.value, span_of(child)
