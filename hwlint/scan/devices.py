"""Device uses of expressions and of statements outside functions.

Spans: a string, f-string, constant or API is where it stands as a whole; a method (``x.cuda()``) and an attribute
(``x.is_cuda``) run from the name behind the dot to the end, so that a chain over several lines is reported where the
device is named.
"""

from __future__ import annotations

import ast

from hwlint.scan.context import ScanContext
from hwlint.scan.device_places import UNKNOWN, Place, by_name
from hwlint.scan.device_statements import StatementWalker
from hwlint.scan.device_values import device_of
from hwlint.scan.device_words import hit_lines
from hwlint.scan.facts import DeviceUse, Role

__all__ = ["device_of", "expression_uses", "hit_lines"]


def expression_uses(
    node: ast.expr | ast.stmt, context: ScanContext, role_hint: Role = "unknown", name: str = ""
) -> tuple[DeviceUse, ...]:
    """Device uses of a class attribute, a module-level statement, a constant's value or a decorator, in source order.

    ``role_hint`` is the role of a device that is the expression's own value; 'unknown' takes a plain device for a
    placement that is not sure, and a list of devices for a parametrization; ``name`` is the name it is bound to, which
    tells of a back end, or of a list that filters devices.
    """
    walker = StatementWalker(context)
    walker.read_all = True
    if isinstance(node, ast.stmt):
        walker.visit_block([node])
    elif role_hint != "unknown":
        walker.visit(node, Place(role_hint, "value"))
    elif name and by_name(name, name).role in ("key", "backend"):
        walker.visit(node, by_name(name, f"{name} ="))
    elif isinstance(node, ast.Call) or not device_of(node, context):
        walker.visit(node, UNKNOWN)
    elif isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        walker.visit(node, Place("parametrization", "list", False))
    else:
        walker.visit(node, Place("placement", "value", False))
    return walker.recorder.finish()
