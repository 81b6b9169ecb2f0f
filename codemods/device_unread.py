"""Whether a test of an instantiated class can take a ``device`` that nothing in it reads.

The loader passes ``device`` by name, and only to a test that has it in its signature: ``inspect.signature``, which
sees through ``functools.wraps`` (``DeviceTypeTestBase.instantiate_test`` in
torch/testing/_internal/common_device_type.py, torch 2.14.1). The name of the generated test comes from its
parametrization alone. So the parameter changes nothing, where each decorator hands on what it is called with, nobody
calls the test himself, and the body means nothing else by the name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked
from codemods.edit import SourceFile
from codemods.local_decorators import SETTINGS, is_transparent, made_by
from codemods.plan import Context
from hwlint.scan.facts import Decorator, Function
from hwlint.scan.names import dotted
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.model import LinkedClass

PARAMETERS = frozenset(("device", "devices"))
SKIPS = frozenset(f"unittest.{name}" for name in ("skip", "skipIf", "skipUnless", "expectedFailure"))
FRAMES = re.compile(r"eval|exec|locals|vars|dir|inspect\.\w+|sys\._getframe|(torch\.jit\.)?CompilationUnit")
"""What looks at the local names of a function, or at its parameters: TorchScript in a string does."""
PARAMETRIZING = frozenset(("parametrize", "dtypes", "ops", "modules", "optims", "subtest", "reparametrize"))
INITIALIZED = ("_initialized", "is_initialized")
"""What says whether an accelerator is set up (torch/cuda/__init__.py, torch 2.14.1)."""
FORKS = re.compile(r"num_workers|_fork_processes|os\.fork")
"""What may fork, beside multiprocessing: the workers of a DataLoader, a helper, the system call. MultiProcessTestCase
spawns (torch/testing/_internal/common_distributed.py, torch 2.14.1)."""
REPEATABLE = frozenset(("unittest", "dynamo", "inductor"))
"""Kinds of framework bases whose ``setUpClass`` may run at import: it does nothing, or sets what all of their tests run
with (torch/_dynamo/test_case.py, torch/_inductor/test_case.py, torch 2.14.1)."""


def check_class(context: Context, cls: LinkedClass) -> None:
    """Raise Blocked where something about the class keeps its tests as they are."""
    span = class_span(cls.facts)
    if cls.facts.dynamic or cls.templates or cls.grafted_tests:
        raise Blocked("dynamic", "tests may be added to it that the source does not show", span)
    if any(cls.name in (graft.target, graft.template) for graft in cls.module.grafts):
        raise Blocked("dynamic", "its tests are copied", span)
    if cls.subclasses():
        raise Blocked("subclassed", f"{cls.subclasses()[0].facts.qualname} derives from it", span)
    calls = cls.device_type_instantiations
    if len(calls) != 1 or cls.foreign_instantiations or cls.is_parametrized:
        raise Blocked("already-instantiated", "it is instantiated more than once", span)
    if context.imported_by(cls.name):
        raise Blocked("imported-elsewhere", f"{context.imported_by(cls.name)[0]} imports it", span)
    for decorator in cls.facts.decorators:
        _check_decorator(context, decorator)
    if _calls_class_fixture(cls):
        text = "with a device to pass, the loader calls its setUpClass when the file is imported"
        raise Blocked("import-time-gate", text, span)


def check_test(context: Context, cls: LinkedClass, function: Function) -> None:
    """Raise Blocked where ``function`` of ``cls``, which takes no device, is to be left without one."""
    if {"alias", "conditional"} & set(function.flags) or function.is_async:
        raise Blocked("layout", "it is not a plain `def` of the class body")
    for decorator in function.decorators:
        _check_decorator(context, decorator)
    names = {made_by(context, d).rpartition(".")[2] for d in function.decorators}
    if function.parameters[:1] != ("self",) or len(function.parameters) > 1 and not names & PARAMETRIZING:
        raise Blocked("parametrized", "it has parameters that something unknown passes")
    file = context.source()
    node = file.function_at(function.line)
    if node.args.vararg or node.args.kwarg:
        raise Blocked("parametrized", "it takes any arguments")
    tree = FunctionTree(file, node)
    if tree.binds("device"):
        raise Blocked("name-taken", "`device` is a name of its own")
    for child in (n for statement in node.body for n in ast.walk(statement)):
        if isinstance(child, ast.Name) and child.id == "device" and not tree.is_shadowed("device", child):
            raise Blocked("name-taken", f"it reads a `device` of the module (line {child.lineno})")
        if FRAMES.fullmatch(dotted(child)):
            raise Blocked("dynamic", f"`{dotted(child)}` looks at its names (line {getattr(child, 'lineno', '?')})")
    caller = next(callers(file, cls, function.name), None)
    if caller is not None:
        raise Blocked("unknown-caller", f"it is named on line {caller}")


def first_to_ask(context: Context, cls: LinkedClass) -> str:
    """What else changes where no class of the file is passed an accelerator's name yet; '' for nothing.

    For that name the loader sets the accelerator up, when the file is imported. Tests that run in the same process
    would find it set up anyway, and so does one that is spawned, with a context more on the first device; one that is
    forked cannot use the accelerator any more.
    """
    if cls.is_instantiated and is_cpu_alone(cls) or any(_is_passed_one(other) for other in context.classes()):
        return ""
    imports = any("multiprocessing" in name for _, name in context.module.imports)
    if imports or FORKS.search(context.source().text):
        return "the loader then sets the accelerator up before the tests fork"
    return ""


def check_main(context: Context) -> None:
    """Raise Blocked where the file asserts, as it is run, that the accelerator is not set up: the loader does that for
    the first class that is passed its name.
    """
    main = context.module.main
    if main is None or any(_is_passed_one(other) for other in context.classes()):
        return
    if not any(name in context.source().text for name in INITIALIZED):
        return
    for node in ast.walk(context.source().tree):
        if isinstance(node, ast.Assert) and main.line <= node.lineno <= main.end_line:
            if any(isinstance(n, ast.Attribute) and n.attr in INITIALIZED for n in ast.walk(node.test)):
                text = f"line {node.lineno} asserts that no accelerator is set up, and the loader sets it up before"
                raise Blocked("import-time-gate", text, main)


def is_cpu_alone(cls: LinkedClass) -> bool:
    """Whether ``cls`` is instantiated for the CPU and nothing else."""
    return cls.devices.exact and set(cls.devices.devices) <= {"cpu"}


def _is_passed_one(cls: LinkedClass) -> bool:
    """Whether some test of ``cls`` gets the name of an accelerator."""
    passed = any(PARAMETERS & set(f.parameters) for f in cls.own_tests)
    return cls.is_instantiated and not is_cpu_alone(cls) and passed


def _calls_class_fixture(cls: LinkedClass) -> bool:
    """Whether a set-up of the whole class, which ran with the tests alone, would run at import as well.

    ``_init_and_get_primary_device`` calls ``setUpClass`` for the devices that know their name only then.
    """
    if is_cpu_alone(cls) or _is_passed_one(cls):
        return False
    if any(m.name == "setUpClass" for owner in cls.mro for m in owner.facts.methods) or cls.opaque_bases:
        return True
    catalog = cls.suite.catalog
    pending = [base for base in cls.framework_bases if base.kind not in REPEATABLE]
    while pending:
        base = pending.pop()
        if "setUpClass" in base.members and base.kind not in REPEATABLE:
            return True
        pending += [found for name in base.bases if (found := catalog.find_base(name)) is not None]
    return False


def _check_decorator(context: Context, decorator: Decorator) -> None:
    """Raise Blocked for one that may not hand on a further argument, or that looks for it."""
    qualified = made_by(context, decorator)
    if qualified in SKIPS or SETTINGS.fullmatch(qualified) or is_transparent(context, decorator):
        return
    entry = context.catalog.find_decorator(qualified)
    if entry is None or "." not in qualified and _is_of_module(context, qualified):
        raise Blocked("unknown-name", f"whether @{decorator.name} hands a device on is not known", decorator.span)
    if entry.own_signature:
        raise Blocked("unknown-caller", f"@{decorator.name} depends on the test's parameters", decorator.span)
    if entry.role == "resource" and any("lambda" in a.text or not a.known for a in decorator.arguments):
        raise Blocked("unknown-caller", f"@{decorator.name} calls a function with the test's arguments", decorator.span)


def _is_of_module(context: Context, name: str) -> bool:
    """Whether the module itself makes what goes by that name, rather than a ``from ... import *``."""
    module = context.module
    bound = {f.name for f in module.functions} | {c.name for c in module.classes} | {c.name for c in module.constants}
    return not module.star_imports or name in bound


def callers(file: SourceFile, cls: LinkedClass, name: str) -> Iterator[int]:
    """Lines on which something but its own ``def`` names the test."""
    inside = range(cls.facts.span.line, cls.facts.span.end_line + 1)
    for node in file.mentions.get(name, ()):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own or node.lineno in inside:
                yield node.lineno
        elif isinstance(node, (ast.Name, ast.Constant)):
            yield node.lineno


def described(function: Function, blocked: Blocked) -> Blocked:
    """``blocked`` with the name and line of the test in front, at its place."""
    text = f"{function.name} (line {function.line}) takes no `device`: {blocked.text}"
    return Blocked(blocked.reason, text, blocked.span or function_span(function))
