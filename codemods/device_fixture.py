"""Classes that get to their device by their fixture, and take ``device`` for the contract alone.

The contract wants the parameter of every test (pytorch/pytorch#190173), also where the base picks the device and the
test asks ``self.device_type``. It may be there unread where each variant does what the class did before: on an
accelerator because a gate keeps the CPU out, or on any device because the base's fixture runs on the ``device_type``
that the loader sets (``DTensorTestBase``): the CPU variant is then what a host without accelerator ran. Behind a gate
the test need not get to the device in a way that the source shows (pinned memory, a back end of the compiler), as long
as nothing that it runs says that the accelerator is one vendor's.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from codemods.device_gates import counts_ranks
from codemods.device_spots import newer_than
from codemods.device_values import Blocked, FunctionEdit
from codemods.edit import FunctionNode, code_of
from codemods.plan import Context
from hwlint.catalog.claims import gate_claim
from hwlint.rules.unused_device import finds_device
from hwlint.scan.facts import Function
from hwlint.scan.spans import function_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import reach

MAY_DIFFER = frozenset(("world_size", "backend"))
"""Members of a fixture that a class may have of its own, as long as they name no accelerator and no back end of one."""


def finding_it(context: Context, cls: LinkedClass, gated: Collection[int], free: Collection[int]) -> set[int]:
    """Lines of tests that may take the device without reading it, whichever of their variants runs.

    ``gated`` are the lines of tests that a gate keeps off the CPU, ``free`` those of tests that run on it as well.
    """
    candidates = {*gated, *(free if runs_on_device_type(context, cls) else ())}
    return {
        f.line
        for f in cls.own_tests
        if f.line in candidates and finds_device(cls, f) or f.line in gated and not vendor_word(context, cls, f)
    }


def vendor_word(context: Context, cls: LinkedClass, function: Function) -> str:
    """A name or text of one vendor's device that the test holds, or what it runs in its module; '' for none."""
    for reached in reach(cls, function).functions:
        if reached.path == context.path:
            for word in _words(context.source().function_at(reached.function.line)):
                if gate_claim().search(word):
                    return word
    return ""


def _words(node: FunctionNode) -> Iterator[str]:
    """The name of the function, and the names and texts of its body, documentation left out."""
    yield node.name
    for child in (n for statement in code_of(node) for n in ast.walk(statement)):
        if isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        else:
            yield from (str(getattr(child, key)) for key in ("id", "attr", "arg", "name") if getattr(child, key, None))


def runs_on_device_type(context: Context, cls: LinkedClass) -> bool:
    """Whether the fixture of the class runs on whatever ``device_type`` the loader sets, the CPU's included."""
    bases = [base for base in cls.framework_bases if base.accelerator_fixture or base.device]
    if not bases or any(not b.on_device_type or newer_than(b.on_device_type, context.settings) for b in bases):
        return False
    decisive = {name for base in bases for name in base.decides}
    for owner in cls.mro:
        if any(name in decisive for name, _ in owner.facts.attributes):
            return False
        for method in owner.facts.methods:
            asks = any(not counts_ranks(gate, method) for gate in method.gates)
            plain = method.name in MAY_DIFFER and not asks and all(u.device in ("", "cpu") for u in method.uses)
            if method.name in decisive and not (plain or _is_that_of_base(method)):
                return False
    return True


def _is_that_of_base(method: Function) -> bool:
    """``def setUp(self): super().setUp()``, which does nothing of its own."""
    return "only_super" in method.flags and f"super.{method.name}" in method.references and not method.decorators


def check_free(context: Context, cls: LinkedClass, free: Collection[int]) -> None:
    """Raise Blocked where a test at one of the lines ``free`` would run on the CPU while the fixture of the class goes
    on with the accelerator of the host: on a host without one it ran, beside one it never did.
    """
    picks = [base for base in cls.framework_bases if base.accelerator_fixture or base.device]
    for function in cls.own_tests:
        if picks and function.line in free and not runs_on_device_type(context, cls):
            fixture = picks[0].name.rpartition(".")[2]
            text = f"`{function.name}` ran on the CPU where the host has no accelerator, and {fixture} may need one"
            raise Blocked("uncertain", text, function_span(function))


def check_used(
    context: Context,
    cls: LinkedClass,
    functions: Sequence[FunctionEdit],
    using: Collection[int],
    finding: Collection[int],
) -> None:
    """Raise Blocked where a test, and all that it reaches, does not run on the device.

    Those at the lines ``using`` do; those at ``finding`` (see :func:`finding_it`) may take it where the configuration
    has them do so.
    """
    may_add = context.settings.migrate.unused_device == "add"
    lines = {f.line: f for f in cls.own_tests}
    fixtures = {m.line for m in cls.facts.methods if m.kind == "setup"}
    in_fixture = any(edit.spots or edit.pass_to for edit in functions if edit.line in fixtures)
    for edit in functions:
        uses = edit.spots or edit.pass_to or in_fixture or edit.line in using
        if edit.line not in lines or uses or may_add and edit.line in finding:
            continue
        function = lines[edit.line]
        setting = ' (`unused-device = "add"` in [tool.hwlint.migrate] would add it)' if edit.line in finding else ""
        raise Blocked("unused-device", f"`{function.name}` would not use it{setting}", function_span(function))
