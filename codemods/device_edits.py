"""Spots of one function -> splices, each held against the node that stands there.

What is spliced is the name, the literal or the argument itself and nothing around it, so that comments, parentheses
and line ends of the expression stay as they are. What a spot expects and does not find raises Blocked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Spot
from codemods.edit import BLANK, FunctionNode, SourceFile, Splice
from hwlint.catalog import load_catalog
from hwlint.catalog.claims import gate_claim
from hwlint.scan.names import dotted

STREAM_MEMBERS = frozenset("wait_stream wait_event record_event synchronize query device stream_id".split())
"""Members of torch.Stream that torch.cuda.Stream has as well."""
TAKES_STREAM = frozenset("wait_stream record_stream record wait_event wait set_stream".split())
DEVICE_MODULE = "torch.get_device_module(device)"


def spot_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """The splices of one spot. Raises Blocked."""
    return ACTIONS[spot.action](file, tree, spot, value)


def _whole(file: SourceFile, node: ast.expr, text: str) -> Splice:
    """``text`` in place of ``node``; no comment may stand in it."""
    start, end = file.node_range(node)
    _no_comment(file, start, end)
    return Splice(start, end, text)


def _no_comment(file: SourceFile, start: int, end: int) -> None:
    old = file.text[start:end]
    if "\n" in old and "#" in old:
        raise Blocked("layout", f"a comment stands inside an expression that goes (line {file.line_of(start)})")


def _visible(tree: FunctionTree, node: ast.AST, value: DeviceValue) -> None:
    """Raise Blocked where the name that ``value`` starts with, or ``torch``, means something else at ``node``."""
    head = value.text.partition(".")[0]
    if any(up is tree.node.args for up in tree.ancestors(node)):
        raise Blocked("unknown-caller", f"a default value names a device (line {tree.node.lineno})")
    if tree.is_shadowed(head, node):
        raise Blocked("name-taken", f"`{head}` means something else in a nested scope")
    if value.needs_torch and (tree.binds("torch") or tree.is_shadowed("torch", node)):
        raise Blocked("name-taken", "`torch` means something else in the function")
    for scope in tree.scopes_between(node):
        if isinstance(scope, ast.ClassDef) and value.text.startswith(("self.", "cls.")):
            raise Blocked("name-taken", "a nested class has a `self` of its own")


def _literal(tree: FunctionTree, spot: Spot) -> ast.expr:
    node = tree.at(spot.span)
    if spot.note == "constant":
        if dotted(node) != spot.old and dotted(node).rpartition(".")[2] != spot.old:
            raise Blocked("layout", f"`{spot.old}` is not where it was", spot.span)
    elif not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    return node


def value_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``"cuda"`` or ``GPU_TYPE`` -> ``device``."""
    node = _literal(tree, spot)
    _visible(tree, node, value)
    parent = tree.parent(node)
    if isinstance(parent, ast.FormattedValue):
        return [_whole(file, node, _in_f_string(tree, parent, node, file, value))]
    choice = conditional(tree, node)
    if choice is not None:
        made = "" if choice.body is node else dotted(parent.func) if isinstance(parent, ast.Call) else ""
        return [_whole(file, choice, f"{made}({value.place_text})" if made else value.place_text)]
    _not_optional(tree, node)
    if isinstance(parent, ast.Call) and dotted(parent.func) == "torch.device" and node in parent.args[:1]:
        index = (
            parent.args[1]
            if len(parent.args) > 1
            else next((k.value for k in parent.keywords if k.arg == "index"), None)
        )
        if index is not None:
            _check_index(index)
            return [_whole(file, node, value.type_text)]
    if isinstance(parent, ast.BinOp):
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    return [_whole(file, node, value.place_text)]


def type_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """A literal where a bare type is asked for."""
    node = _literal(tree, spot)
    _visible(tree, node, value)
    if isinstance(node, ast.Constant) and ":" in str(node.value):
        raise Blocked("comparison", f"a type with an index stands on line {node.lineno}")
    parent = tree.parent(node)
    if isinstance(parent, (ast.FormattedValue, ast.BinOp)):
        raise Blocked("layout", f"the device is put together with other text (line {node.lineno})")
    choice = conditional(tree, node)
    whole = choice if choice is not None and choice.body is node else node
    _not_optional(tree, whole)
    around = tree.parent(whole)
    if isinstance(around, ast.Assign) and [dotted(target) for target in around.targets] == [value.text]:
        return [statement_out(file, tree.node, around)]  # The loader sets self.device_type itself.
    return [_whole(file, whole, value.type_text)]


def compare_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``x.device.type == "cuda"``, ``assertEqual(x.device.type, "cuda")`` -> the bare type of the device under test."""
    node = _literal(tree, spot)
    _visible(tree, node, value)
    parent = tree.parent(node)
    others: list[ast.expr] = []
    if (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr in ("assertEqual", "assertNotEqual")
    ):
        if parent.func.attr == "assertEqual" and node in parent.args[:2]:
            others = [a for a in parent.args[:2] if a is not node]
    elif isinstance(parent, ast.Compare) and len(parent.ops) == 1 and isinstance(parent.ops[0], ast.Eq):
        around = tree.parent(parent)
        asserted = isinstance(around, ast.Assert) or (
            isinstance(around, ast.Call) and dotted(around.func).rpartition(".")[2] == "assertTrue"
        )
        if asserted:  # A condition branches on CUDA itself; an assertion says where the result is.
            others = [o for o in (parent.left, parent.comparators[0]) if o is not node]
    if not others or not _is_device_type(others[0]):
        raise Blocked("comparison", f"the device is compared (line {node.lineno})", spot.span)
    return [_whole(file, node, value.type_text)]


def _is_device_type(node: ast.expr) -> bool:
    """``x.device.type``."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == "type"
        and isinstance(node.value, ast.Attribute)
        and node.value.attr == "device"
    )


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


def _check_index(index: ast.expr) -> None:
    if isinstance(index, ast.Constant) and index.value not in (0, None):
        raise Blocked("device-count", f"a further device is named (line {index.lineno})")


def conditional(tree: FunctionTree, node: ast.expr) -> ast.IfExp | None:
    """The ``"cuda" if torch.cuda.is_available() else "cpu"`` that ``node`` is the first part of, or stands in the
    first part of, where ``torch.device(...)`` is around both.
    """
    parent = tree.parent(node)
    made = _made(parent)
    first, around = (node, parent) if made is None else (parent, tree.parent(parent) if parent is not None else None)
    if not isinstance(around, ast.IfExp) or around.body is not first or made not in (None, node):
        return None
    other = around.orelse if made is None else _made(around.orelse)
    if not (isinstance(other, ast.Constant) and other.value == "cpu"):
        return None
    test = around.test
    name = dotted(test.func) if isinstance(test, ast.Call) and not test.args else dotted(test)
    return around if name in ("torch.cuda.is_available", "TEST_CUDA", "torch.accelerator.is_available") else None


def _made(node: ast.AST | None) -> ast.expr | None:
    """The only argument of ``torch.device(...)``."""
    if isinstance(node, ast.Call) and dotted(node.func) == "torch.device" and len(node.args) == 1:
        return None if node.keywords else node.args[0]
    return None


def _not_optional(tree: FunctionTree, node: ast.expr, direct: bool = True) -> None:
    """Raise Blocked where the node stands in a choice that hangs on a vendor's device; ``direct``: or is one branch."""
    child: ast.AST = node
    for up in tree.ancestors(node):
        if isinstance(up, ast.stmt):
            return
        choice = isinstance(up, ast.IfExp) and child is not up.test
        if choice or isinstance(up, ast.BoolOp):
            text = ast.unparse(up.test if isinstance(up, ast.IfExp) else up)
            if direct or choice and gate_claim().search(text):
                raise Blocked("compound-gate", f"the device is chosen by a condition (line {node.lineno})")
        direct = direct and isinstance(up, ast.Call) and dotted(up.func) == "torch.device"
        child = up


def statement_out(file: SourceFile, function: FunctionNode, node: ast.stmt) -> Splice:
    """The lines of ``node``, which has them for itself, and a blank line below them at the head of the body."""
    first, last = node.lineno, node.end_lineno or node.lineno
    start, end = file.node_range(node)
    rest = file.text[end : file.line_end(last)].strip(BLANK)
    if node not in function.body or len(function.body) == 1:
        raise Blocked("layout", f"the statement on line {first} cannot go from where it stands")
    if not file.starts_line(start) or rest or "#" in file.text[start:end]:
        raise Blocked("layout", f"the statement on line {first} shares its lines with something that stays")
    following = last + 1
    if node is function.body[0] and file.is_blank(following):
        following += 1
    return Splice(file.line_start(first), file.line_start(following), "")


def prefix_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``f"cuda:{rank}"`` -> ``f"{torch.device(device).type}:{rank}"``: the index stays, the text stays a string."""
    node = tree.at(spot.span)
    _visible(tree, node, value)
    if spot.note == "asserted":
        _check_asserted(tree, node, spot)
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


def index_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``assertEqual(x.device, torch.device("cuda:0"))`` -> ``torch.device(device)``: the first device of its type."""
    node = tree.at(spot.span)
    _visible(tree, node, value)
    _check_asserted(tree, node, spot)
    if not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    own = value.per_rank or value.is_type
    return [_whole(file, node, f'f"{{{value.type_text}}}:0"' if own else value.text)]


def _check_asserted(tree: FunctionTree, node: ast.expr, spot: Spot) -> None:
    """Raise Blocked where the device, as it is or in ``torch.device(...)``, is no side of an ``assertEqual``."""
    made = tree.parent(node)
    side: ast.AST | None = made if _made(made) is node else node
    call = tree.parent(side) if side is not None else None
    if not (isinstance(call, ast.Call) and dotted(call.func) == "self.assertEqual" and side in call.args[:2]):
        raise Blocked("comparison", f"the device is compared (line {node.lineno})", spot.span)


def per_rank_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``"rank:1/cuda:1"`` -> ``f"rank:1/{torch.device(device).type}:1"``, in a spec or an assertion."""
    node = tree.at(spot.span)
    _visible(tree, node, value)
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
    _visible(tree, call, value)
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
    _not_optional(tree, call, direct=False)
    given = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "device"), None)
    if given is None and not call.keywords:
        _no_comment(file, opened, close)
        return [name, Splice(opened + 1, close, value.place_text)]
    if given is None:
        return [name, Splice(opened + 1, opened + 1, f"{value.place_text}, ")]
    inner = _made(given)
    text = given if inner is None else inner
    if isinstance(text, ast.Constant) and isinstance(text.value, str):
        return [name]  # A device of its own, and a spot of its own.
    if inner is not None and _holds_device(inner):
        return [name, _whole(file, inner, value.place_text)]
    if isinstance(given, ast.Constant):
        _check_index(given)
        return [name, _whole(file, given, value.place_text)]
    if is_rank(given):
        start, stop = file.node_range(given)
        return [name, Splice(start, start, f"torch.device({value.type_text}, "), Splice(stop, stop, ")")]
    raise Blocked("device-count", f"the device is computed (line {call.lineno})", spot.span)


def _holds_device(node: ast.expr) -> bool:
    """Whether it is one of PyTorch's constants that hold a device."""
    flag = load_catalog().flags.get(dotted(node))
    return flag is not None and flag.is_device_value


def api_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """A name of a device module -> its device-generic form."""
    node = tree.at(spot.span)
    _visible(tree, node, value)
    if tree.binds("torch") or tree.is_shadowed("torch", node):
        raise Blocked("name-taken", "`torch` means something else in the function")
    parent = tree.parent(node)
    call = parent if isinstance(parent, ast.Call) and parent.func is node else None
    if "unused" in spot.note and not (call is not None and isinstance(tree.parent(call), ast.Expr)):
        raise Blocked("result-type", f"the result of `{spot.new}` is of another type (line {node.lineno})", spot.span)
    if call is not None and (
        any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)
    ):
        raise Blocked("layout", f"arguments are unpacked (line {call.lineno})")
    special = SPECIAL.get(spot.new)
    if special is not None:
        return special(file, tree, node, call, value, spot)
    if spot.new.endswith(".stream") and call is not None:
        return _stream_context(file, tree, node, call, value, spot)
    if spot.new.endswith((".set_device_index", ".set_device_idx")) and (call is None or not _is_index(call)):
        raise Blocked("result-type", f"`{spot.new}` wants an index (line {node.lineno})", spot.span)
    found = [_whole(file, node, spot.new.replace("get_device_module(device)", f"get_device_module({value.text})"))]
    if "positional" in spot.note:
        found += _positional(file, call, spot)
    return found


def _is_index(call: ast.Call) -> bool:
    """Whether the only argument is an index as far as it can be read: a number or a rank."""
    if len(call.args) != 1 or call.keywords:
        return False
    given = call.args[0]
    return isinstance(given.value, int) if isinstance(given, ast.Constant) else is_rank(given)


def is_rank(node: ast.expr) -> bool:
    """``rank``, ``self.rank``, ``self.rank % 2``."""
    name = dotted(node.left if isinstance(node, ast.BinOp) else node)
    return "rank" in name.rpartition(".")[2].lower()


def _positional(file: SourceFile, call: ast.Call | None, spot: Spot) -> list[Splice]:
    """``synchronize(device=d)`` -> ``synchronize(d)``."""
    if call is None:
        raise Blocked("layout", f"`{spot.old}` is handed on without being called", spot.span)
    if not call.keywords:
        return []
    if call.args or len(call.keywords) != 1 or call.keywords[0].arg != "device":
        raise Blocked("layout", f"`{spot.new}` takes its device by position only (line {call.lineno})", spot.span)
    keyword = call.keywords[0]
    start = file.offset(keyword.lineno, keyword.col_offset)
    end = file.node_range(keyword.value)[0]
    if file.text[start:end].replace(" ", "") != "device=":
        raise Blocked("layout", f"the argument is spread out (line {call.lineno})", spot.span)
    return [Splice(start, end, "")]


ApiEdit = Callable[[SourceFile, FunctionTree, ast.expr, "ast.Call | None", DeviceValue, Spot], list[Splice]]


def _constructed(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call | None, value: DeviceValue, spot: Spot
) -> list[Splice]:
    """``torch.cuda.Event(enable_timing=True)`` -> ``torch.Event(device=device, enable_timing=True)``."""
    if call is None:
        raise Blocked("vendor-api", f"`{spot.old}` is used as a type (line {node.lineno})", spot.span)
    allowed = {"torch.Event": ("enable_timing", "blocking"), "torch.Stream": ()}[spot.new]
    if call.args or any(k.arg not in allowed for k in call.keywords):
        raise Blocked("vendor-api", f"`{spot.old}` is given arguments of its own (line {node.lineno})", spot.span)
    opened = file.text.index("(", file.node_range(node)[1]) + 1
    following = ", " if call.keywords else ""
    return [_whole(file, node, spot.new), Splice(opened, opened, f"device={value.place_text}{following}")]


def _current_stream(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call | None, value: DeviceValue, spot: Spot
) -> list[Splice]:
    around = tree.parent(call) if call is not None else None
    member = isinstance(around, ast.Attribute) and around.attr in STREAM_MEMBERS
    passed = (
        isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute) and around.func.attr in TAKES_STREAM
    )
    if call is None or call.args or call.keywords or not (member or passed or isinstance(around, ast.Expr)):
        raise Blocked(
            "result-type",
            f"the stream of `{spot.old}` may be used as one of its own kind (line {node.lineno})",
            spot.span,
        )
    return [_whole(file, node, spot.new)]


def _stream_context(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call, value: DeviceValue, spot: Spot
) -> list[Splice]:
    """``with torch.cuda.stream(s):`` -> ``with torch.get_device_module(device).stream(s):``."""
    around = tree.parent(call)
    if not isinstance(around, ast.withitem) or around.optional_vars is not None or len(call.args) != 1 or call.keywords:
        raise Blocked("vendor-api", f"`{spot.old}` is used as more than a context (line {node.lineno})", spot.span)
    return [_whole(file, node, f"torch.get_device_module({value.text}).stream")]


def _autocast(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call | None, value: DeviceValue, spot: Spot
) -> list[Splice]:
    """``torch.cuda.amp.autocast(enabled=e)`` -> ``torch.amp.autocast(<type>, enabled=e)``; the orders differ."""
    if call is None or call.args:
        raise Blocked(
            "result-type", f"`{spot.new}` takes its arguments in another order (line {node.lineno})", spot.span
        )
    return _first_argument(file, node, call, value, spot)


def _scaler(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call | None, value: DeviceValue, spot: Spot
) -> list[Splice]:
    if call is None:
        raise Blocked("result-type", f"`{spot.old}` is used as a type (line {node.lineno})", spot.span)
    return _first_argument(file, node, call, value, spot)


def _first_argument(file: SourceFile, node: ast.expr, call: ast.Call, value: DeviceValue, spot: Spot) -> list[Splice]:
    opened = file.text.index("(", file.node_range(node)[1]) + 1
    following = ", " if call.args or call.keywords else ""
    return [_whole(file, node, spot.new), Splice(opened, opened, f"{value.type_text}{following}")]


SPECIAL: dict[str, ApiEdit] = {
    "torch.Stream": _constructed,
    "torch.Event": _constructed,
    "torch.accelerator.current_stream": _current_stream,
    "torch.amp.autocast": _autocast,
    "torch.amp.GradScaler": _scaler,
}


def activity_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``ProfilerActivity.CUDA`` -> that of the device's type (torch/_C/_profiler.pyi), else PrivateUse1's."""
    node = tree.at(spot.span)
    _visible(tree, node, value)
    written = dotted(node)
    if not written.endswith(spot.old):
        raise Blocked("layout", f"`{spot.old}` is not where it was", spot.span)
    parent = tree.parent(node)
    if not isinstance(parent, (ast.List, ast.Tuple, ast.Set, ast.keyword, ast.Call)):
        raise Blocked("unknown-use", f"`{spot.old}` is no activity that is asked for (line {node.lineno})", spot.span)
    holder = written.rpartition(".")[0]
    return [_whole(file, node, f"getattr({holder}, {value.type_text}.upper(), {holder}.PrivateUse1)")]


def backend_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``"nccl"`` -> the default back end of the device."""
    node = tree.at(spot.span)
    _visible(tree, node, value)
    if not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    parent = tree.parent(node)
    called = (
        parent if isinstance(parent, ast.Call) else tree.parent(parent) if isinstance(parent, ast.keyword) else None
    )
    if not isinstance(called, ast.Call) or dotted(called.func).rpartition(".")[2] not in (
        "init_process_group",
        "new_group",
    ):
        raise Blocked("unknown-use", f"{spot.old!r} may be what is tested (line {node.lineno})", spot.span)
    head = dotted(called.func).rpartition(".")[0]
    if not head:
        raise Blocked("layout", f"the module of torch.distributed has no name there (line {node.lineno})", spot.span)
    return [_whole(file, node, f"{head}.get_default_backend_for_device({value.text})")]


def backend_map_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``return "cpu:gloo,cuda:nccl"`` -> the same of the device and its default back end, as DTensorTestBase spells it
    (torch/testing/_internal/distributed/_tensor/common_dtensor.py).
    """
    node = tree.at(spot.span)
    _visible(tree, node, value)
    parent = tree.parent(node)
    if not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    if not isinstance(parent, ast.Return) or parent not in tree.node.body or tree.binds("backend"):
        raise Blocked("unknown-use", f"{spot.old!r} may be what is tested (line {node.lineno})", spot.span)
    start = file.node_range(parent)[0]
    if not file.starts_line(start):
        raise Blocked("layout", f"the statement on line {node.lineno} shares its line", spot.span)
    rest = ",".join(part for part in spot.old.split(",") if part != spot.note)
    line = f"backend = {_distributed(file)}.get_default_backend_for_device({value.type_text})"
    above = f"{line}{file.line_break(parent.lineno)}{file.indent_of(parent.lineno)}"
    return [Splice(start, start, above), _whole(file, node, f'f"{rest},{{{value.type_text}}}:{{backend}}"')]


def _distributed(file: SourceFile) -> str:
    """What the file calls torch.distributed."""
    for node in file.tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch.distributed" and alias.asname:
                    return alias.asname
    return "torch.distributed"


def tensor_type_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``x.type(torch.cuda.FloatTensor)`` -> ``x.to(device, torch.float32)``, ``FloatTensor([1])`` -> ``tensor([1])``.

    Any other argument may be a size as well as data: that is left.
    """
    node = tree.at(spot.span)
    _visible(tree, node, value)
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
        return [_whole(file, node, "torch.tensor"), Splice(end, end, f", dtype={spot.new}, device={value.place_text}")]
    if not isinstance(call, ast.Call) or not method or call.args != [node] or call.keywords or not spot.new:
        raise Blocked(
            "vendor-api", f"`{spot.old}` stands for a device and a dtype in one (line {node.lineno})", spot.span
        )
    assert isinstance(call.func, ast.Attribute)
    end = file.node_range(call.func)[1]
    return [Splice(end - 4, end, "to"), _whole(file, node, f"{value.place_text}, {spot.new}")]


def is_device_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``self.assertTrue(x.is_cuda)`` -> ``self.assertEqual(x.device.type, torch.device(device).type)``.

    An assertion says where the result is; a condition branches on CUDA itself.
    """
    end = (spot.span.end_line, spot.span.end_column)
    ending = (n for nodes in tree.by_span.values() for n in nodes if (n.end_lineno, n.end_col_offset) == end)
    node = next((n for n in ending if isinstance(n, ast.Attribute) and n.attr == spot.old), None)
    if node is None:
        raise Blocked("layout", f"`{spot.old}` is not where it was", spot.span)
    _visible(tree, node, value)
    start, stop = file.range_of(spot.span)
    around = tree.parent(node)
    if isinstance(around, ast.Assert):
        return [Splice(start, stop, f"device.type == {value.type_text}")]
    if isinstance(around, ast.Call) and around.args[:1] == [node]:
        called = {"self.assertTrue": "assertEqual", "self.assertFalse": "assertNotEqual"}.get(dotted(around.func))
        if called is not None:
            name_end = file.node_range(around.func)[1]
            name_start = name_end - len(dotted(around.func).partition(".")[2])
            return [Splice(name_start, name_end, called), Splice(start, stop, f"device.type, {value.type_text}")]
    raise Blocked("comparison", f"`{spot.old}` is compared", spot.span)


def ask_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``if TEST_CUDA:`` -> ``if self.device_type != "cpu":``."""
    return [_whole(file, tree.at(spot.span), spot.new)]


Action = Callable[[SourceFile, FunctionTree, Spot, DeviceValue], list[Splice]]
ACTIONS: dict[str, Action] = {
    "value": value_splices,
    "type": type_splices,
    "compare": compare_splices,
    "prefix": prefix_splices,
    "per_rank": per_rank_splices,
    "index": index_splices,
    "move": move_splices,
    "api": api_splices,
    "ask": ask_splices,
    "is_device": is_device_splices,
    "activity": activity_splices,
    "backend": backend_splices,
    "backend_map": backend_map_splices,
    "tensor_type": tensor_type_splices,
}
