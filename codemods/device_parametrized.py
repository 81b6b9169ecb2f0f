"""A test that is parametrized over devices, and takes them from its instantiation instead."""

from __future__ import annotations

from dataclasses import dataclass

from codemods.device_passed import other_use
from codemods.device_spots import split_device
from codemods.device_tree import FunctionTree
from codemods.device_values import Blocked
from codemods.plan import Context
from hwlint.scan.facts import Argument, Decorator, Function, Span
from hwlint.scan.spans import function_span


@dataclass(frozen=True, slots=True)
class Parametrized:
    """The decorator that goes, and the device types that the test ran on."""

    span: Span
    devices: frozenset[str]

    @property
    def on_cpu(self) -> bool:
        return "cpu" in self.devices


def parametrized_device(context: Context, function: Function) -> Parametrized | None:
    """The parametrization over ``device``; None where the test has no such parameter.

    Raises Blocked where it has one that comes from elsewhere, or from a list that names anything but an accelerator and
    the CPU.
    """
    if "device" not in function.parameters:
        return None
    span = function_span(function)
    for decorator in function.decorators:
        if not decorator.qualified.endswith("common_utils.parametrize") or not decorator.arguments:
            continue
        names = decorator.arguments[0].value
        if not isinstance(names, str) or "device" not in [part.strip() for part in names.split(",")]:
            continue
        if names.strip() != "device" or len(decorator.arguments) != 2:
            raise Blocked("parametrized", f"`{function.name}` is parametrized over devices and more", decorator.span)
        devices = _devices(context, decorator, decorator.arguments[1])
        file = context.source()
        line = other_use(context, FunctionTree(file, file.function_at(function.line)), "device")
        if line:
            raise Blocked("parametrized", f"`device` is used as more than a device (line {line})", decorator.span)
        return Parametrized(decorator.span, devices)
    raise Blocked("parametrized", f"`{function.name}` has a `device` from elsewhere", span)


def _devices(context: Context, decorator: Decorator, values: Argument) -> frozenset[str]:
    if values.known and isinstance(values.value, tuple):
        listed = [str(value) for value in values.value]
    else:
        constant = context.suite.find_constant(context.path, values.text)
        listed = constant.device.split("|") if constant is not None and constant.device else ["?"]
    found = set()
    for one in listed:
        types, index = split_device(one)
        if index not in ("", "0") or types[0] not in ("cpu", "cuda", "xpu", "accelerator"):
            raise Blocked("parametrized", f"`{values.text}` names more than the CPU and an accelerator", decorator.span)
        found.add(types[0])
    if found <= context.catalog.non_accelerators:
        raise Blocked("parametrized", "it is parametrized over the CPU alone", decorator.span)
    return frozenset(found)
