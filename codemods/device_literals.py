"""Literals and moves that put something on a device, in the words of the device under test."""

from __future__ import annotations

import ast
import re

from codemods.device_assertions import check_asserted
from codemods.device_nodes import (
    check_index,
    check_not_optional,
    check_visible,
    conditional,
    is_rank,
    literal_at,
    made_device,
    no_comment,
    statement_out,
    whole,
)
from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Spot
from codemods.edit import SourceFile, Splice
from hwlint.catalog import load_catalog
from hwlint.scan.names import dotted


def value_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``"cuda"`` or ``GPU_TYPE`` -> ``device``."""
    node = literal_at(tree, spot)
    check_visible(tree, node, value)
    parent = tree.parent(node)
    if isinstance(parent, ast.FormattedValue):
        return [whole(file, node, _in_f_string(tree, parent, node, file, value))]
    choice = conditional(tree, node)
    if choice is not None:
        made = "" if choice.body is node else dotted(parent.func) if isinstance(parent, ast.Call) else ""
        return [whole(file, choice, f"{made}({value.place_text})" if made else value.place_text)]
    check_not_optional(tree, node)
    if isinstance(parent, ast.Call) and dotted(parent.func) == "torch.device" and node in parent.args[:1]:
        index = (
            parent.args[1]
            if len(parent.args) > 1
            else next((k.value for k in parent.keywords if k.arg == "index"), None)
        )
        if index is not None:
            check_index(index)
            return [whole(file, node, value.type_text)]
        if _is_first(node, value):
            return [whole(file, node, f"{value.type_text}, 0")]
    if isinstance(parent, ast.BinOp):
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    text = f'f"{{{value.type_text}}}:0"' if _is_first(node, value) else value.place_text
    return [whole(file, node, text)]


def _is_first(node: ast.expr, value: DeviceValue) -> bool:
    """Whether ``"cuda:0"`` would lose its index: a device with one is not equal to the same without."""
    indexed = isinstance(node, ast.Constant) and str(node.value).endswith(":0")
    return indexed and (value.is_type or value.per_rank)


def type_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """A literal where a bare type is asked for."""
    node = literal_at(tree, spot)
    check_visible(tree, node, value)
    if isinstance(node, ast.Constant) and ":" in str(node.value):
        raise Blocked("comparison", f"a type with an index stands on line {node.lineno}")
    parent = tree.parent(node)
    if isinstance(parent, (ast.FormattedValue, ast.BinOp)):
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    choice = conditional(tree, node)
    gone = choice if choice is not None and choice.body is node else node
    check_not_optional(tree, gone)
    around = tree.parent(gone)
    if isinstance(around, ast.Assign) and [dotted(target) for target in around.targets] == [value.text]:
        return [statement_out(file, tree.node, around)]  # The loader sets self.device_type itself.
    return [whole(file, gone, value.type_text)]


def _in_f_string(
    tree: FunctionTree, field: ast.FormattedValue, node: ast.expr, file: SourceFile, value: DeviceValue
) -> str:
    """``f"{GPU_TYPE}"`` and ``f"{GPU_TYPE}:{rank}"``: what joins an index wants the bare type."""
    text = file.text[slice(*file.node_range(node))]
    if ast.unparse(node) != text:
        raise Blocked("layout", f"an f-string cannot be read exactly (line {node.lineno})")
    if field.conversion != -1 or field.format_spec is not None:
        raise Blocked("layout", f"the device is formatted (line {node.lineno})")
    joined = tree.parent(field)
    assert isinstance(joined, ast.JoinedStr)
    after = joined.values[joined.values.index(field) + 1 :]
    if joined.values[0] is not field:
        raise Blocked("golden-text", f"the device is part of a text (line {node.lineno})")
    if after and not (isinstance(after[0], ast.Constant) and re.fullmatch(r":0?", str(after[0].value))):
        raise Blocked("golden-text", f"the device is part of a text (line {node.lineno})")
    return value.type_text if after else value.place_text


def prefix_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``f"cuda:{rank}"`` -> ``f"{torch.device(device).type}:{rank}"``: the index stays, the text stays a string."""
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    if spot.note == "asserted":
        check_asserted(tree, node, spot)
    if not isinstance(node, ast.JoinedStr) or not isinstance(node.values[0], ast.Constant):
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    if not str(node.values[0].value).startswith(f"{spot.old}:") or len(node.values) != 2:
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    if str(node.values[0].value) != f"{spot.old}:":
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    start, end = file.node_range(node)
    match = re.match(r"""[fF]('''|\"\"\"|'|")""" + re.escape(spot.old), file.text[start:end])
    if match is None:
        raise Blocked("layout", f"the f-string has several parts (line {node.lineno})")
    at = start + match.end() - len(spot.old)
    return [Splice(at, at + len(spot.old), f"{{{value.type_text}}}")]


def per_rank_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``"rank:1/cuda:1"`` -> ``f"rank:1/{torch.device(device).type}:1"``, in a spec or an assertion."""
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    parent = tree.parent(node)
    if isinstance(parent, ast.Compare) or isinstance(parent, ast.Call) and dotted(parent.func) == "self.assertNotEqual":
        raise Blocked("comparison", f"the device is compared (line {node.lineno})", spot.span)
    start, end = file.node_range(node)
    match = re.fullmatch(r"""([fF]?)("|')(rank:[^"'\\]*/)cuda(:[^"'\\]*)\2""", file.text[start:end])
    if match is None or not match[1] and "{" in match[0]:
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    at = start + match.end(3)
    prefix = [] if match[1] else [Splice(start, start, "f")]
    return [*prefix, Splice(at, at + len("cuda"), f"{{{value.type_text}}}")]


def move_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``x.cuda()`` -> ``x.to(device)``, further arguments kept."""
    call = tree.calls_at(spot.span, spot.old)
    check_visible(tree, call, value)
    func = call.func
    assert isinstance(func, ast.Attribute)
    end = file.node_range(func)[1]
    name = Splice(end - len(spot.old), end, "to")
    close = file.node_range(call)[1] - 1
    opened = file.text.index("(", end)
    if file.text[end:opened].strip():
        raise Blocked("layout", f"a comment or line break stands before the arguments (line {call.lineno})")
    if any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords):
        raise Blocked("layout", f"arguments are unpacked (line {call.lineno})")
    check_not_optional(tree, call, direct=False)
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "device"), None)
    if given is None and not call.keywords:
        no_comment(file, opened, close)
        return [name, Splice(opened + 1, close, value.place_text)]
    if given is None:
        return [name, Splice(opened + 1, opened + 1, f"{value.place_text}, ")]
    inner = made_device(given)
    text = given if inner is None else inner
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return [name]  # A device of its own, and a spot of its own.
    if inner is not None and _holds_device(inner):
        return [name, whole(file, inner, value.place_text)]
    if isinstance(given, ast.Constant):
        check_index(given)
        place = f"torch.device({value.type_text}, 0)" if value.per_rank else value.place_text
        return [name, whole(file, given, place)]
    if is_rank(given):
        start, stop = file.node_range(given)
        return [name, Splice(start, start, f"torch.device({value.type_text}, "), Splice(stop, stop, ")")]
    raise Blocked("device-count", f"the device is computed (line {call.lineno})", spot.span)


def _holds_device(node: ast.expr) -> bool:
    """Whether it is one of PyTorch's constants that hold a device."""
    flag = load_catalog().flags.get(dotted(node))
    return flag is not None and flag.is_device_value


def tensor_type_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``x.type(torch.cuda.FloatTensor)`` -> ``x.to(device, torch.float32)``, ``FloatTensor([1])`` -> ``tensor([1])``.

    Any other argument may be a size as well as data: that is left.
    """
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    call = tree.parent(node)
    method = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "type"
    data = (
        call.args[0]
        if isinstance(call, ast.Call) and call.func is node and len(call.args) == 1 and not call.keywords
        else None
    )
    if isinstance(data, (ast.List, ast.Tuple)) and spot.new and not any(isinstance(e, ast.Starred) for e in data.elts):
        end = file.node_range(data)[1]
        assert isinstance(call, ast.Call)
        return [whole(file, node, "torch.tensor"), Splice(end, end, f", dtype={spot.new}, device={value.place_text}")]
    if not isinstance(call, ast.Call) or not method or call.args != [node] or call.keywords or not spot.new:
        raise Blocked(
            "vendor-api", f"`{spot.old}` stands for a device and a dtype in one (line {node.lineno})", spot.span
        )
    assert isinstance(call.func, ast.Attribute)
    end = file.node_range(call.func)[1]
    return [Splice(end - 4, end, "to"), whole(file, node, f"{value.place_text}, {spot.new}")]
