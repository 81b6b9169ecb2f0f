"""Whether a function works on tensors that are not there: then the device it names need not be there either.

``with torch.device("meta"):`` only makes the model without memory; what names an accelerator beside it runs there.
Under ``FakeTensorMode`` a test that names CUDA runs on a host without it: it may change only where a gate keeps it off
such hosts, and no device is named inside the mode itself.
"""

from __future__ import annotations

import ast

from codemods.device_nodes import made_device
from codemods.device_values import Blocked
from codemods.edit import SourceFile
from hwlint.scan.facts import Function
from hwlint.scan.names import dotted
from hwlint.suite.reach import Reach


def check_fakes(file: SourceFile, reach: Reach, gated: bool) -> None:
    """Raise Blocked where something that a test reaches is under a fake mode; ``gated``: a gate keeps the test off
    hosts without an accelerator.
    """
    for reached in reach.functions:
        function, here = reached.function, reached.path == file.path
        if "fake_mode" not in function.flags:
            continue
        real = here and (gated or _is_meta_alone(file, function))
        if not real or _has_fake_devices(function):
            raise Blocked("fake-mode", f"{reached.symbol} uses a fake mode", function.span if here else None)


def _has_fake_devices(function: Function) -> bool:
    """Whether it names an accelerator under a fake mode."""
    return any(u.role == "fake" and u.device.partition(":")[0] not in ("cpu", "meta", "") for u in function.uses)


def _is_meta_alone(file: SourceFile, function: Function) -> bool:
    """Whether ``torch.device("meta")`` is all that made the scan see a fake mode."""
    node = file.function_at(function.line)
    if any("fake" in word.lower() for child in ast.walk(node) for word in _words(child)):
        return False
    contexts = (i.context_expr for n in ast.walk(node) if isinstance(n, (ast.With, ast.AsyncWith)) for i in n.items)
    return any(
        isinstance(c, ast.Call)
        and dotted(c.func) == "torch.device"
        and isinstance(made := made_device(c), ast.Constant)
        and made.value == "meta"
        for c in contexts
    )


def _words(node: ast.AST) -> tuple[str, ...]:
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    return tuple(a.name for a in node.names) if isinstance(node, (ast.Import, ast.ImportFrom)) else ()
