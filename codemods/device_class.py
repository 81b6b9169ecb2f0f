"""Whether a test class can be made once per device, and the call that does it.

What stands against it follows from how instantiate_device_type_tests works
(torch/testing/_internal/common_device_type.py, torch 2.14.1): it deletes the class's name from the module, makes
``<Class><DEVICE>`` from its own tests only, and copies every other member with ``setattr(new, name, getattr(cls,
name))``, which turns a static method into an instance method.
"""

from __future__ import annotations

from collections.abc import Collection

from codemods.device_members import (
    check_pins,
    check_static,
    pinned_devices,
    static_methods,
    uncalled_class_methods,
)
from codemods.device_values import Blocked
from codemods.imported_change import importers_of
from codemods.local_decorators import SETTINGS, is_transparent, made_by
from codemods.plan import Context
from hwlint.scan.facts import Decorator, Function, Instantiation, Span
from hwlint.scan.spans import class_span
from hwlint.suite.devices import DEFAULT_DEVICES
from hwlint.suite.model import LinkedClass

KINDS = frozenset(("unittest", "plain", "jit", "dynamo", "inductor", "quantization", "distributed", "fsdp", "dtensor"))
"""Kinds of framework bases whose subclasses can be instantiated."""
SUFFIXES = ("CPU", "CUDA", "XPU", "MPS", "HPU", "META", "PRIVATEUSE1")
PATCHES = ("patch", "patch.object", "patch.dict", "patch.multiple")


def check_class(context: Context, cls: LinkedClass) -> None:
    """Raise Blocked where ``cls``, which is not instantiated yet, cannot be."""
    facts = cls.facts
    span = class_span(facts)
    if any(b.keyword not in ("if", "else", "elif", "try") for b in facts.blocks):
        raise Blocked("generated-class", f"it stands in a `{facts.blocks[-1].keyword}`", span)
    if facts.dynamic:
        raise Blocked("dynamic", "members may be added to it that the source does not show", span)
    if cls.is_test_case is None:
        raise Blocked("unknown-base", f"the base {next(iter(cls.opaque_bases), '?')} cannot be read", span)
    if cls.is_test_case is False:
        raise Blocked("unknown-base", "it is no TestCase: another class runs its tests", span)
    if facts.keywords:
        raise Blocked("generated-class", "it is made with keywords", span)
    importers_of(context, cls)
    _check_relatives(cls, span)
    kinds = {base.kind for base in cls.framework_bases if base.kind != "mixin"}
    if kinds - KINDS:
        raise Blocked("policy", f"classes of the {min(kinds - KINDS)} test bases are left to people", span)
    check_static(context, cls)
    check_pins(context, cls)
    _check_members(context, cls, span, pinned_devices(context, cls))
    _check_names(context, cls, span)


def _check_relatives(cls: LinkedClass, span: Span) -> None:
    if cls.inherited_tests or any(b.has_tests for b in cls.framework_bases):
        raise Blocked("inherited-tests", "it inherits tests that instantiation would lose", span)
    if cls.templates or cls.grafted_tests:
        raise Blocked("dynamic", "tests are copied into it", span)
    if cls.subclasses():
        other = cls.subclasses()[0]
        raise Blocked("subclassed", f"{other.facts.qualname} derives from it", span)
    if any(base.is_instantiated for base in cls.mro[1:]):
        raise Blocked("inherited-tests", "a base is instantiated itself", span)
    if cls.foreign_instantiations:
        raise Blocked("already-instantiated", f"{cls.foreign_instantiations[0][0]} instantiates it", span)
    if any(g.target == cls.name or g.template == cls.name for g in cls.module.grafts):
        raise Blocked("dynamic", "its tests are copied", span)
    if len([c for c in cls.suite.classes_in(cls.path) if c.name == cls.name]) > 1:
        raise Blocked("name-collision", "the file has two classes of that name", span)


def member_obstacle(cls: LinkedClass, ordinary: Collection[Function] = ()) -> Blocked | None:
    """The method that instantiation would turn into something else or rename under its caller, or that is there
    twice; ``ordinary``: those that become ordinary methods.
    """
    names = [m.name for m in cls.facts.methods]
    tests = {f"{head}.{f.name}" for f in cls.own_tests for head in ("self", "cls")}
    for method in cls.facts.methods:
        called = next((r for r in method.references if r in tests), "")
        if called:
            return Blocked("unknown-caller", f"`{called}` is called by `{method.name}`", method.span)
        if method in ordinary:
            continue
        if any(d.name in ("staticmethod", "classmethod") for d in method.decorators) and method.kind != "setup":
            return Blocked("class-member", f"`{method.name}` is a {method.decorators[-1].name}", method.span)
        if names.count(method.name) > 1 and not any(d.name.endswith((".setter", ".getter")) for d in method.decorators):
            return Blocked("dynamic", f"`{method.name}` is defined more than once", method.span)
    return None


def _check_members(context: Context, cls: LinkedClass, span: Span, pinned: Collection[str]) -> None:
    """Raise Blocked for a member that stands against it; ``pinned`` are attributes that go."""
    obstacle = member_obstacle(cls, (*static_methods(cls), *uncalled_class_methods(context, cls)))
    if obstacle is not None:
        raise obstacle
    for method in cls.facts.methods:
        if method.kind == "test" and method.is_async:
            raise Blocked("unknown-caller", f"`{method.name}` is a coroutine", method.span)
    for name, _ in cls.facts.attributes:
        if name.startswith("test"):
            raise Blocked("dynamic", f"`{name}` is a test by another name", span)
        if name in ("device", "devices", "device_type") and name not in pinned:
            raise Blocked("shared-helper", f"the attribute `{name}` says on which device it runs", span)


def _check_names(context: Context, cls: LinkedClass, span: Span) -> None:
    doubled = next((s for s in SUFFIXES if cls.name.upper().endswith(s)), "")
    if doubled:
        raise Blocked("name-doubled", f"its classes would be called {cls.name}{doubled} and so on", span)
    taken = members_of_module(context)
    for device in (*DEFAULT_DEVICES, "xpu", "mps"):
        if cls.name + device.upper() in taken:
            raise Blocked("name-collision", f"the file has a `{cls.name}{device.upper()}` already", span)


def members_of_module(context: Context) -> set[str]:
    """Names that the module binds, those of generated classes included."""
    module = context.module
    taken = {c.name for c in module.classes} | {c.name for c in module.constants} | {f.name for f in module.functions}
    taken |= {name for name, _ in module.imports}
    for cls in context.classes():
        taken |= {cls.name + device.upper() for device in cls.devices.devices}
    return taken


def check_decorators(context: Context, decorators: tuple[Decorator, ...], known: frozenset[Span], what: str) -> None:
    """Raise Blocked for a decorator that may not hand on a further argument, or may do something to the class.

    ``known`` are those that were judged already: gates, and what instantiates.
    """
    for decorator in decorators:
        if decorator.span in known:
            continue
        qualified = made_by(context, decorator)
        last = qualified.rpartition(".")[2]
        if ".mock." in f".{qualified}." or qualified.startswith("mock."):
            positional = [a for a in decorator.arguments if a.name == ""]
            enough = 3 if qualified.endswith("patch.object") else 2
            if (
                len(positional) >= enough
                or any(a.name == "new" for a in decorator.arguments)
                or qualified.endswith("patch.dict")
            ):
                continue
            raise Blocked("unknown-caller", f"@{decorator.name} passes an argument by position", decorator.span)
        if context.catalog.find_decorator(qualified) is not None:
            continue
        if is_transparent(context, decorator):
            continue
        head = qualified.partition(".")[0]
        # torch._jit_internal._disable_emit_hooks_decorator gives nothing back, which only a plain class bears.
        private = head == "torch" and last.startswith("_") and not SETTINGS.fullmatch(qualified)
        if (
            not private
            and head in ("torch", "unittest", "hypothesis", "contextlib", "pytest", "functools")
            and last
            not in (
                "expand",
                "parametrize",
            )
        ):
            continue
        if last in (
            "property",
            "setter",
            "cached_property",
            "staticmethod",
            "classmethod",
            "deprecated",
            "expectedFailure",
        ):
            continue
        raise Blocked("unknown-name", f"what @{decorator.name} does to {what} cannot be told", decorator.span)


def parametrized(cls: LinkedClass) -> Instantiation | None:
    """The use of instantiate_parametrized_tests on the class. Raises Blocked for several, or one that cannot go."""
    found = [i for i in cls.instantiations if i.kind == "parametrized"]
    if len(found) > 1:
        raise Blocked("already-instantiated", "it is instantiated twice", found[0].span)
    if found and (found[0].form == "assignment" or len(found[0].arguments) > 1):
        raise Blocked("already-instantiated", "it is instantiated in an unusual way", found[0].span)
    return found[0] if found else None
