"""Names of device modules, profiler activities and process groups, in their device-generic form."""

from __future__ import annotations

import ast
from collections.abc import Callable

from codemods.device_claims import MAKE_GROUPS
from codemods.device_nodes import check_visible, is_rank, whole
from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked, DeviceValue, Spot
from codemods.edit import SourceFile, Splice, statements
from hwlint.scan.names import dotted

STREAM_MEMBERS = frozenset("wait_stream wait_event record_event synchronize query device stream_id".split())
"""Members of torch.Stream that torch.cuda.Stream has as well."""


TAKES_STREAM = frozenset("wait_stream record_stream record wait_event wait set_stream".split())


DEVICE_MODULE = "torch.get_device_module(device)"


def api_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """A name of a device module -> its device-generic form."""
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    if tree.hides_module("torch", node):
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
    if spot.new.endswith((".set_device_index", ".set_device_idx")) and (
        call is None or not _is_index(file, tree, call)
    ):
        raise Blocked("result-type", f"`{spot.new}` wants an index (line {node.lineno})", spot.span)
    found = [whole(file, node, spot.new.replace("get_device_module(device)", f"get_device_module({value.text})"))]
    if "positional" in spot.note:
        found += _positional(file, call, spot)
    return found


def _is_index(file: SourceFile, tree: FunctionTree, call: ast.Call) -> bool:
    """Whether the only argument is an index as far as it can be read: a number or a rank, maybe as a property."""
    if len(call.args) != 1 or call.keywords:
        return False
    given = call.args[0]
    if isinstance(given, ast.Constant):
        return isinstance(given.value, int)
    return is_rank(given) or is_rank(_returned_by_property(file, tree, given) or given)


def _returned_by_property(file: SourceFile, tree: FunctionTree, node: ast.expr) -> ast.expr | None:
    """What ``self.name`` is where the class of the method has a property of that name that only returns something."""
    head, _, name = dotted(node).partition(".")
    owners = (s for s in statements(file.tree.body) if isinstance(s, ast.ClassDef) and tree.node in s.body)
    for method in (m for owner in owners for m in owner.body if head == "self" and _is_called(m, name)):
        assert isinstance(method, ast.FunctionDef)
        only = method.body[-1]
        if [dotted(d) for d in method.decorator_list] == ["property"] and len(method.body) == 1:
            return only.value if isinstance(only, ast.Return) else None
    return None


def _is_called(method: ast.stmt, name: str) -> bool:
    return isinstance(method, ast.FunctionDef) and method.name == name


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


def counts_accelerators(spot: Spot) -> bool:
    """Whether the spot becomes a question that needs to be told no device, and has an answer where there is none."""
    return spot.action == "api" and spot.new == "torch.accelerator.device_count"


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
    return [whole(file, node, spot.new), Splice(opened, opened, f"device={value.place_text}{following}")]


def _current_stream(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call | None, value: DeviceValue, spot: Spot
) -> list[Splice]:
    around = tree.parent(call) if call is not None else None
    member = isinstance(around, ast.Attribute) and around.attr in STREAM_MEMBERS
    passed = (
        isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute) and around.func.attr in TAKES_STREAM
    )
    if call is None or call.args or call.keywords:
        raise Blocked("result-type", f"`{spot.old}` is not just called (line {node.lineno})", spot.span)
    if member or passed or isinstance(around, ast.Expr):
        return [whole(file, node, spot.new)]
    # It may be used as a stream of its own kind: CUDA's module gives the same one as before.
    return [whole(file, node, f"torch.get_device_module({value.text}).current_stream")]


def _stream_context(
    file: SourceFile, tree: FunctionTree, node: ast.expr, call: ast.Call, value: DeviceValue, spot: Spot
) -> list[Splice]:
    """``with torch.cuda.stream(s):`` -> ``with torch.get_device_module(device).stream(s):``."""
    around = tree.parent(call)
    if not isinstance(around, ast.withitem) or around.optional_vars is not None or len(call.args) != 1 or call.keywords:
        raise Blocked("vendor-api", f"`{spot.old}` is used as more than a context (line {node.lineno})", spot.span)
    return [whole(file, node, f"torch.get_device_module({value.text}).stream")]


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
    return [whole(file, node, spot.new), Splice(opened, opened, f"{value.type_text}{following}")]


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
    check_visible(tree, node, value)
    written = dotted(node)
    if not written.endswith(spot.old):
        raise Blocked("layout", f"`{spot.old}` is not where it was", spot.span)
    parent = tree.parent(node)
    if not isinstance(parent, (ast.List, ast.Tuple, ast.Set, ast.keyword, ast.Call)):
        raise Blocked("unknown-use", f"`{spot.old}` is no activity that is asked for (line {node.lineno})", spot.span)
    holder = written.rpartition(".")[0]
    return [whole(file, node, f"getattr({holder}, {value.type_text}.upper(), {holder}.PrivateUse1)")]


def backend_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``"nccl"`` -> the default back end of the device."""
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    if not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    parent = tree.parent(node)
    called = (
        parent if isinstance(parent, ast.Call) else tree.parent(parent) if isinstance(parent, ast.keyword) else None
    )
    if not isinstance(called, ast.Call) or dotted(called.func).rpartition(".")[2] not in MAKE_GROUPS:
        raise Blocked("unknown-use", f"{spot.old!r} may be what is tested (line {node.lineno})", spot.span)
    head = dotted(called.func).rpartition(".")[0]
    if not head:
        raise Blocked("layout", f"the module of torch.distributed has no name there (line {node.lineno})", spot.span)
    return [whole(file, node, f"{head}.get_default_backend_for_device({value.text})")]


def backend_map_splices(file: SourceFile, tree: FunctionTree, spot: Spot, value: DeviceValue) -> list[Splice]:
    """``return "cpu:gloo,cuda:nccl"`` -> the same of the device and its default back end, as DTensorTestBase spells it
    (torch/testing/_internal/distributed/_tensor/common_dtensor.py); and what a group is made with, in one expression.
    """
    node = tree.at(spot.span)
    check_visible(tree, node, value)
    parent = tree.parent(node)
    if not (isinstance(node, ast.Constant) and node.value == spot.old):
        raise Blocked("layout", f"{spot.old!r} is not where it was", spot.span)
    rest = ",".join(part for part in spot.old.split(",") if part != spot.note)
    called = tree.parent(parent) if isinstance(parent, ast.keyword) else parent
    if isinstance(called, ast.Call) and dotted(called.func).rpartition(".")[2] in MAKE_GROUPS:
        head = dotted(called.func).rpartition(".")[0]
        if not head:
            raise Blocked("layout", f"the module of torch.distributed has no name there (line {node.lineno})")
        default = f"{head}.get_default_backend_for_device({value.type_text})"
        return [whole(file, node, f'f"{rest},{{{value.type_text}}}:{{{default}}}"')]
    if not isinstance(parent, ast.Return) or parent not in tree.node.body or tree.binds("backend"):
        raise Blocked("unknown-use", f"{spot.old!r} may be what is tested (line {node.lineno})", spot.span)
    start = file.node_range(parent)[0]
    if not file.starts_line(start):
        raise Blocked("layout", f"the statement on line {node.lineno} shares its line", spot.span)
    line = f"backend = {_distributed(file)}.get_default_backend_for_device({value.type_text})"
    above = f"{line}{file.line_break(parent.lineno)}{file.indent_of(parent.lineno)}"
    return [Splice(start, start, above), whole(file, node, f'f"{rest},{{{value.type_text}}}:{{backend}}"')]


def _distributed(file: SourceFile) -> str:
    """What the file calls torch.distributed."""
    for node in file.tree.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch.distributed" and alias.asname:
                    return alias.asname
    return "torch.distributed"
