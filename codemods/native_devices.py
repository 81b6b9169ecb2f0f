"""``@onlyNativeDeviceTypes`` said the other way round: the device types that it leaves out are skipped by name.

Upstream's contract lets an ACCELERATOR test have no ``@only...`` decorator but onlyAccelerator, and any ``@skip...``.
What the decorator leaves out of the devices that there are classes for (HPU, XLA, lazy) has a skip of its own: with
these the test runs where it ran. Device types that only a ``TORCH_TEST_DEVICES`` file of somebody brings are the
exception, so that the change is unsafe. A type that was not native in every torch (MPS) is decided by the list in the
checkout's own common_utils.py, and not at all without it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from codemods.device_signature import function_splices
from codemods.device_values import Blocked, FunctionEdit
from codemods.edit import SourceFile, Splice
from codemods.plan import COMMON_DEVICE_TYPE, Context, Import
from hwlint.scan.facts import Decorator, Function, Span
from hwlint.scan.names import dotted
from hwlint.suite.model import LinkedClass

NATIVE = ("onlyNativeDeviceTypes", "onlyNativeDeviceTypesAnd")
ALWAYS_NATIVE = frozenset(("cpu", "cuda", "xpu", "meta", "privateuse1"))
"""NATIVE_DEVICES of torch 2.6.0; later ones have mps and mtia too (common_utils.py)."""
COMMON_UTILS = "torch/testing/_internal/common_utils.py"
PRIVATE_USE = "torch._C._get_privateuse1_backend_name"
SKIPS = {"hpu": "skipHPU", "lazy": "skipLazy", "mps": "skipMPS", "xla": "skipXLA"}


def read_native(tree_of: Callable[[str], ast.Module | None]) -> frozenset[str] | None:
    """The device types of ``NATIVE_DEVICES`` in the checkout's common_utils.py; None where there is none, or where it
    is no plain list. ``tree_of`` gives the syntax tree of a file of the checkout.
    """
    tree = tree_of(COMMON_UTILS)
    made = [
        node.value
        for node in (tree.body if tree is not None else ())
        if isinstance(node, ast.Assign) and [dotted(target) for target in node.targets] == ["NATIVE_DEVICES"]
    ]
    if len(made) != 1 or not isinstance(made[0], (ast.Tuple, ast.List)):
        return None
    found = set()
    for element in made[0].elts:
        if isinstance(element, ast.Constant) and isinstance(element.value, str):
            found.add(element.value)
        elif isinstance(element, ast.Call) and dotted(element.func) == PRIVATE_USE:
            found.add("privateuse1")
        else:
            return None
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class NativeEdit:
    """The decorator of one test, and the skips that take its place (none where the test has them already)."""

    test: str
    line: int
    """Of the ``def``."""
    span: Span
    skips: tuple[str, ...]

    @property
    def imports(self) -> tuple[Import, ...]:
        return tuple(Import(COMMON_DEVICE_TYPE, name) for name in self.skips)


def native_edits(context: Context, cls: LinkedClass) -> tuple[NativeEdit, ...]:
    """What becomes of the decorator in the tests of an instantiated class. Raises Blocked."""
    return tuple(edit for function in cls.own_tests for edit in _edits(context, cls, function))


def native_splices(file: SourceFile, edit: NativeEdit) -> list[Splice]:
    indent, line_break = file.indent_of(edit.span.line), file.line_break(edit.span.line)
    if not edit.skips:
        return function_splices(file, FunctionEdit(edit.line, removed=(edit.span,)))
    text = f"{line_break}{indent}@".join(edit.skips)
    return function_splices(file, FunctionEdit(edit.line, swapped=((edit.span, text),)))


def _edits(context: Context, cls: LinkedClass, function: Function) -> Iterator[NativeEdit]:
    for decorator in function.decorators:
        entry = context.catalog.find_decorator(decorator.qualified)
        if entry is None or entry.name not in NATIVE:
            continue
        if not cls.devices.exact or cls.subclasses() or cls.foreign_instantiations:
            raise Blocked(
                "unknown-gate", f"for which devices @{decorator.name} is asked cannot be read", decorator.span
            )
        external = [b.name for b in context.catalog.backends.values() if b.inclusion == "external"]
        native = (context.native_devices or ALWAYS_NATIVE) | _further(decorator, (*cls.devices.devices, *external))
        in_doubt = entry.devices if context.native_devices is None else ()
        unsure = next((d for d in cls.devices.devices if d in in_doubt and d not in native), "")
        if unsure:
            text = f"whether @{decorator.name} lets {unsure} through depends on the torch"
            raise Blocked("unknown-gate", text, decorator.span)
        left_out = dict.fromkeys(d for d in (*cls.devices.devices, *external) if d not in native)
        unknown = next((d for d in left_out if d not in SKIPS), "")
        if unknown:
            raise Blocked("unknown-gate", f"there is no skip for {unknown}", decorator.span)
        there = {d.name.rpartition(".")[2] for d in function.decorators}
        skips = tuple(SKIPS[d] for d in left_out if SKIPS[d] not in there)
        yield NativeEdit(function.name, function.line, decorator.span, skips)


def _further(decorator: Decorator, devices: Collection[str]) -> frozenset[str]:
    """Those of ``devices`` that ``@onlyNativeDeviceTypesAnd`` names; it searches a plain string for the type, as the
    loader does. Raises Blocked.
    """
    if not decorator.called:
        return frozenset()
    given = decorator.arguments[0] if len(decorator.arguments) == 1 else None
    if given is None or not given.known or not isinstance(given.value, (str, tuple)):
        raise Blocked("unknown-gate", f"what @{decorator.name} names cannot be read", decorator.span)
    return frozenset(name for name in devices if name in given.value)
