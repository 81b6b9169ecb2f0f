"""Which tests of an instantiated class do the same on every device, and may stand in a class that is not instantiated.

The loader makes ``test_x_cpu`` and ``test_x_cuda`` of a test that takes no ``device``, and runs the same test twice.
What the CPU's variant did a plain ``test_x`` does on every host, where nothing about the test asks for what the loader
gives: the members of its own bases, parameters other than those of ``parametrize``, decorators that look at the
``device_type`` of the class (torch/testing/_internal/common_device_type.py, torch 2.14.1). A decorator that is about
other devices than the CPU alone, as ``@skipMeta`` is, did nothing to that variant, and goes.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from codemods.device_unread import PARAMETERS, SKIPS, callers
from codemods.device_values import Blocked
from codemods.edit import FunctionNode
from codemods.local_decorators import SETTINGS, is_transparent, made_by
from codemods.plan import Context
from hwlint.catalog.tables import read
from hwlint.classify.judge import judge_class
from hwlint.classify.verdict import TestVerdict
from hwlint.scan.facts import Decorator, Function
from hwlint.scan.names import dotted
from hwlint.suite.ids import may_run
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import reach

PARAMETRIZE = "parametrize"
OF_THE_RUN = frozenset(("__class__", "id", "_testMethodName", "_testMethodDoc", "shortDescription"))
"""Members that tell a test what it is called."""
EXPECTED_FILES = ("assertExpected", "assertExpectedRaises", "assertExpectedStripMangled", "assertExpectedGraph")
"""Assertions that look for a file that is called after the test."""


@dataclass(frozen=True)
class Plain:
    """A class as it would be without its instantiation by device type, and what its tests would be there."""

    cls: LinkedClass
    verdicts: Mapping[int, TestVerdict]
    """By line of the test."""


def device_free_tests(context: Context, cls: LinkedClass) -> frozenset[str]:
    """Names of the own tests of ``cls`` that belong in a GENERIC class and may go there."""
    candidates = [f for f in cls.own_tests if not PARAMETERS & set(f.parameters)]
    if not candidates or "cpu" not in cls.devices.devices or len(cls.devices.devices) == 1:
        return frozenset()
    plain = without_instantiation(context, cls)
    found = []
    for function in candidates:
        try:
            check_free(context, cls, plain, function)
            found.append(function.name)
        except Blocked:
            pass  # contract_device says why, of the first one that stands against the class.
    return frozenset(found)


def without_instantiation(context: Context, cls: LinkedClass) -> Plain | None:
    """``cls`` as it would be; None where nothing can be told of it."""
    calls = {call.span for call in cls.device_type_instantiations}
    kept = tuple(call for call in context.module.instantiations if call.span not in calls)
    suite = context.suite_with(replace(context.module, instantiations=kept))
    plain = next((c for c in suite.classes_in(cls.path) if c.facts is cls.facts), None)
    verdict = judge_class(plain) if plain is not None else None
    if plain is None or verdict is None:
        return None
    return Plain(plain, {test.line: test for test in verdict.tests})


def check_free(context: Context, cls: LinkedClass, plain: Plain | None, function: Function) -> None:
    """Raise Blocked where ``function``, a test of ``cls`` that takes no device, may not go to a plain GENERIC class."""
    judged = plain.verdicts.get(function.line) if plain is not None else None
    if plain is None or judged is None:
        raise Blocked("no-verdict", "nothing is known of it")
    if "cpu" not in cls.devices.devices or not may_run(context.catalog, function, "cpu"):
        raise Blocked("only-for", "without the instantiation it would run on hosts on which it never ran")
    if judged.label != "GENERIC":
        why = f": {judged.evidence[0].message}" if judged.evidence else ""
        raise Blocked("split", f"it belongs to {judged.label}{why}")
    accepted = ("certain", "likely") if context.settings.migrate.confidence == "likely" else ("certain",)
    if judged.confidence not in accepted:
        raise Blocked("uncertain", f"that it is GENERIC is {judged.confidence}")
    if {"alias", "conditional"} & set(function.flags) or function.is_async:
        raise Blocked("layout", "it is not a plain `def` of the class body")
    idle = idle_decorators(context, function)
    for decorator in function.decorators:
        if decorator not in idle:
            _check_decorator(context, decorator)
    if function.parameters[:1] != ("self",) or len(function.parameters) > 1 and not is_parametrized(context, function):
        raise Blocked("parametrized", "it has parameters that something else passes")
    _check_reach(context, plain.cls, function)
    caller = next(callers(context.source(), cls, function.name), None)
    if caller is not None:
        raise Blocked("unknown-caller", f"it is named on line {caller}")


def is_parametrized(context: Context, function: Function) -> bool:
    return any(made_by(context, d).rpartition(".")[2] == PARAMETRIZE for d in function.decorators)


def idle_decorators(context: Context, function: Function) -> tuple[Decorator, ...]:
    """Decorators that do something on other devices than the CPU alone: without a device they have nothing to do."""
    return tuple(d for d in function.decorators if _is_idle(context, d))


def _is_idle(context: Context, decorator: Decorator) -> bool:
    entry = context.catalog.find_decorator(decorator.qualified)
    if entry is None or "." not in decorator.qualified or decorator.called or not entry.device_aware:
        return False
    return entry.role == "blacklist" and bool(entry.devices) and not {"cpu", "accelerator"} & set(entry.devices)


def _check_decorator(context: Context, decorator: Decorator) -> None:
    """Raise Blocked for one that may need what the loader gives to the class or the test."""
    qualified = made_by(context, decorator)
    if qualified in SKIPS or SETTINGS.fullmatch(qualified) or is_transparent(context, decorator):
        return
    entry = context.catalog.find_decorator(qualified)
    if entry is None or "." not in qualified:
        raise Blocked("unknown-name", f"whether @{decorator.name} looks at the device is not known", decorator.span)
    parametrizes = entry.role == "parametrization" and entry.name != PARAMETRIZE
    if entry.device_aware or entry.own_signature or parametrizes:
        raise Blocked("unknown-caller", f"@{decorator.name} needs the class to be instantiated", decorator.span)


def _check_reach(context: Context, plain: LinkedClass, function: Function) -> None:
    """Raise Blocked where the test, a fixture or a helper asks for what only the loader's own bases have."""
    members = {*str(read("framework_bases")["device_members"]).split(), *OF_THE_RUN, *EXPECTED_FILES} - {"setUpClass"}
    file = context.source()
    for reached in reach(plain, function).functions:
        asked = next((r for r in reached.function.references if _is_member(r, members)), "")
        if asked:
            raise Blocked("class-member", f"`{reached.symbol}` asks for `{asked}`")
        if reached.path == context.path and reached.owner in plain.mro:
            line = _hands_on_itself(file.function_at(reached.function.line), _bases(plain))
            if line:
                raise Blocked("unknown-use", f"`{reached.symbol}` hands the test itself on (line {line})")


def _is_member(reference: str, members: set[str]) -> bool:
    head, _, name = reference.partition(".")
    return head in ("self", "cls") and name.partition(".")[0] in members


def _bases(plain: LinkedClass) -> set[str]:
    """What the bases of the class are called."""
    return {base.name.rpartition(".")[2] for owner in plain.mro for base in owner.bases}


def _hands_on_itself(node: FunctionNode, bases: Collection[str]) -> int:
    """The line on which the method passes on, or keeps, ``self`` or ``cls`` as a whole; 0 for none.

    ``TestCase.setUp(self)``, where it is a base, is but a way to write ``super()``.
    """
    first = node.args.args[0].arg if node.args.args else ""
    if first not in ("self", "cls"):
        return 0
    owned = {id(n.value) for n in ast.walk(node) if isinstance(n, ast.Attribute)}
    for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) in bases:
            owned.update(id(argument) for argument in call.args[:1])
    for child in (n for statement in node.body for n in ast.walk(statement)):
        if isinstance(child, ast.Name) and child.id == first and id(child) not in owned:
            return child.lineno
    return 0
