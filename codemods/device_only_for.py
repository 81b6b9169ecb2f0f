"""What becomes of an ``only_for`` list of several devices, which an ACCELERATOR class may not have, and of the name of
one device that stands elsewhere, which a class for that device has to have in place.

Two schools disagree on whether other accelerators shall run such a class (pytorch/pytorch#192182 against #194617), so
that the default changes no device: ``except_for`` names exactly those that the list left out, as in #192765.
``only-for = "except-for"`` takes only the CPU out of what a list of accelerators kept to them, ``"drop"`` leaves the
devices to the tests' decorators, ``"keep"`` leaves the list.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from codemods.device_values import Blocked
from codemods.edit import SourceFile, Splice, statements
from codemods.plan import Applicability, Context
from hwlint.scan.bindings import additions_to
from hwlint.scan.facts import Argument, Instantiation, Span
from hwlint.scan.names import dotted, span_of
from hwlint.suite.devices import device_set
from hwlint.suite.model import LinkedClass


@dataclass(frozen=True, slots=True, kw_only=True)
class OnlyForEdit:
    """``span`` is that of the instantiation."""

    span: Span
    description: str
    applicability: Applicability
    excepted: tuple[str, ...] = ()
    """What ``except_for`` names afterwards."""
    only: str = ""
    """The one device that ``only_for`` names afterwards; '' where it is gone."""
    constant: str = ""
    """Name of the list, where it has one that no other file may read."""

    @property
    def text(self) -> str:
        """What takes the place of the argument; '' for nothing."""
        return f'only_for="{self.only}"' if self.only else _argument(self.excepted)

    def applied(self, call: Instantiation) -> Instantiation:
        """The instantiation as it is afterwards."""
        if not self.only:
            return without_only_for(call, self.excepted)
        given = Argument("only_for", self.only, True, repr(self.only))
        return replace(call, arguments=(*without_only_for(call, ()).arguments, given))


def only_for_edit(context: Context, cls: LinkedClass) -> OnlyForEdit | None:
    """What becomes of ``only_for`` of ``cls``; None where it stays: by the configuration, or because it is no list of
    known devices that the policy is about.

    Raises Blocked where it cannot go.
    """
    policy = context.settings.migrate.only_for
    calls = cls.device_type_instantiations
    if policy == "keep" or len(calls) != 1 or cls.label not in ("", "ACCELERATOR"):
        return None
    call = calls[0]
    given = call.argument("only_for")
    if given is None or not given.known or call.argument("except_for") is not None or call.form != "call":
        return None
    devices = given.value if isinstance(given.value, tuple) else (given.value,)
    known = context.catalog.backends if policy == "same-devices" else _accelerators(context)
    if len(devices) < 2 or not all(isinstance(d, str) and d in known for d in devices):
        return None
    before = device_set(call, context.catalog)
    if not before.exact:
        return None
    excepted: tuple[str, ...] = ("cpu",) if policy == "except-for" else ()
    if policy == "same-devices":
        every = device_set(without_only_for(call, ()), context.catalog).devices
        excepted = tuple(d for d in every if d not in before)
    if policy == "drop":
        open_test = next((f for f in cls.own_tests if not _keeps_cpu_out(context, f.decorators)), None)
        if open_test is not None:
            text = f"without `only_for` the CPU would run `{open_test.name}`"
            raise Blocked("policy", text, call.span)
    after = device_set(without_only_for(call, excepted), context.catalog).devices
    text = _argument(excepted)
    return OnlyForEdit(
        span=call.span,
        description=(
            f"instantiate it {text or 'for every device'} in place of `only_for` ({_difference(before.devices, after)})"
        ),
        excepted=excepted,
        applicability="safe" if before.devices == after else "unsafe",
        constant=_own_constant(context, given),
    )


def literal_edit(context: Context, cls: LinkedClass, label: str) -> OnlyForEdit | None:
    """``only_for="cuda"`` in place of a name that holds it, in a class for CUDA: upstream's linter reads literals alone
    (pytorch/pytorch#190173). None where that is not what it holds.
    """
    calls = cls.device_type_instantiations
    given = calls[0].argument("only_for") if len(calls) == 1 else None
    device = label.lower()
    if given is None or not given.known or given.literal or given.value not in (device, (device,)):
        return None
    if calls[0].form != "call" or calls[0].argument("except_for") is not None:
        return None
    return OnlyForEdit(
        span=calls[0].span,
        description=f'write only_for="{device}" in its instantiation',
        applicability="safe",
        only=device,
        constant=_own_constant(context, given),
    )


def _own_constant(context: Context, given: Argument) -> str:
    return given.text if given.text.isidentifier() and not context.imported_by(given.text) else ""


def _argument(excepted: Sequence[str]) -> str:
    if not excepted:
        return ""
    names = ", ".join(f'"{name}"' for name in excepted)
    return f"except_for=({names})" if len(excepted) > 1 else f"except_for={names}"


def without_only_for(call: Instantiation, excepted: tuple[str, ...]) -> Instantiation:
    """The instantiation as it is afterwards."""
    kept = tuple(a for a in call.arguments if a.name != "only_for")
    given = (Argument("except_for", excepted, True, _argument(excepted)),) if excepted else ()
    return replace(call, arguments=(*kept, *given))


def _difference(before: Sequence[str], after: Sequence[str]) -> str:
    """'the same devices: cuda, hpu', 'kept: cuda, hpu; new: privateuse1'."""
    if before == after:
        return f"the same devices: {', '.join(before)}"
    groups = {
        "kept": [d for d in before if d in after],
        "new": [d for d in after if d not in before],
        "gone": [d for d in before if d not in after],
    }
    return "; ".join(f"{name}: {', '.join(devices)}" for name, devices in groups.items() if devices)


def _accelerators(context: Context) -> frozenset[str]:
    return frozenset(name for name, backend in context.catalog.backends.items() if backend.accelerator)


def _keeps_cpu_out(context: Context, decorators: tuple[object, ...]) -> bool:
    found = (context.catalog.find_decorator(getattr(d, "qualified", "")) for d in decorators)
    return any(e is not None and e.role == "whitelist" and e.devices and "cpu" not in e.devices for e in found)


def only_for_splices(file: SourceFile, change: OnlyForEdit) -> list[Splice]:
    """Raises Blocked."""
    call = _call_at(file, change.span)
    keyword = next((k for k in call.keywords if k.arg == "only_for"), None)
    if keyword is None:
        raise Blocked("layout", f"`only_for` is not where it was (line {change.span.line})", change.span)
    start = file.offset(keyword.lineno, keyword.col_offset)
    end = file.node_range(keyword.value)[1]
    if not change.text:
        before = [*call.args, *(k.value for k in call.keywords if k is not keyword and k.lineno <= keyword.lineno)]
        start = max(file.node_range(a)[1] for a in before if file.node_range(a)[1] <= start)
    if "#" in file.text[start:end]:
        raise Blocked("layout", f"a comment stands beside `only_for` (line {keyword.lineno})", change.span)
    return [Splice(start, end, change.text)]


def list_splices(file: SourceFile, edits: Sequence[OnlyForEdit]) -> list[Splice]:
    """Lists that nothing reads any more, now that these calls do not, with what is added to them."""
    found = []
    for name in dict.fromkeys(edit.constant for edit in edits if edit.constant):
        calls = [_call_at(file, edit.span) for edit in edits if edit.constant == name]
        given = {id(k.value) for call in calls for k in call.keywords if k.arg == "only_for"}
        named = [n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and n.id == name and id(n) not in given]
        making: list[ast.stmt] = [
            s
            for s in file.tree.body
            if isinstance(s, ast.Assign) and len(s.targets) == 1
            if isinstance(s.value, (ast.Tuple, ast.List, ast.Constant))
            if dotted(s.targets[0]) == name
        ]
        making += [one.statement for one in additions_to(name, file.tree.body)]
        words = any(isinstance(n, ast.Constant) and n.value == name for n in ast.walk(file.tree))
        if len(making) == len(named) and not words:
            out = [splice for statement in making for splice in _line_out(file, statement)]
            found += out if len(out) == len(making) else []
    return found


def _line_out(file: SourceFile, node: ast.stmt) -> list[Splice]:
    """The statement goes, where it has its lines for itself and no comment with it."""
    start, end = file.node_range(node)
    first, last = node.lineno, node.end_lineno or node.lineno
    lines = file.text[file.line_start(first) : file.line_end(last)]
    if "#" in lines or file.is_comment(first - 1) or lines.strip() != file.text[start:end].strip():
        return []
    return [Splice(file.line_start(first), file.line_start(last + 1), "")]


def _call_at(file: SourceFile, span: Span) -> ast.Call:
    for statement in statements(file.tree.body):
        if (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and span_of(statement.value) == span
        ):
            if dotted(statement.value.func):
                return statement.value
    raise Blocked("layout", f"the instantiation on line {span.line} is not a statement of its own", span)
