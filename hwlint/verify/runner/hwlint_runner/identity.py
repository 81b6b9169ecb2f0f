"""What a loaded test is called, and which template it was made from. Standard library only; used inside the runner."""

from __future__ import annotations

import unittest
from collections.abc import Iterator
from typing import Any


def iterate(suite: Any) -> Iterator[unittest.TestCase]:
    """The test cases of a suite, in the order in which they run."""
    if isinstance(suite, unittest.TestCase):
        yield suite
        return
    for part in suite:
        yield from iterate(part)


def describe(case: unittest.TestCase) -> dict[str, Any]:
    """The identity of one loaded test, as plain data for the journal.

    Args:
        case: a test as a loader made it.
    Returns:
        id, module, class, method, device_type (None where the class was not instantiated for a device),
        template_class, template_test and label (the name of the class's ``hw_classification``, or None).
    """
    return describe_method(type(case), str(getattr(case, "_testMethodName", ""))) | {"id": case.id()}


def describe_method(cls: type, method: str) -> dict[str, Any]:
    """``describe`` for a class and the name of one of its tests."""
    device_type = device_of(cls)
    return {
        "id": f"{cls.__module__}.{cls.__qualname__}.{method}",
        "module": cls.__module__,
        "class": cls.__name__,
        "method": method,
        "device_type": device_type,
        "template_class": template_class(cls, device_type),
        "template_test": without_device(method, device_type),
        "label": label_of(cls),
    }


def label_of(cls: type) -> str | None:
    """The member name of ``cls.hw_classification``; None where there is none."""
    label = getattr(cls, "hw_classification", None)
    return str(getattr(label, "name", label)) if label is not None else None


def device_of(cls: type) -> str | None:
    """The device type that a class was instantiated for.

    ``instantiate_device_type_tests`` (torch.testing._internal.common_device_type) puts the device's own base class
    first. For PrivateUse1 that base says ``privateuse1`` until its ``setUpClass`` has run, while the test names
    already carry the back end's name: the name is asked from torch.
    """
    if not any(base.__name__ == "DeviceTypeTestBase" for base in cls.__mro__):
        return None
    device_type = getattr(cls, "device_type", None)
    if device_type == "privateuse1":
        import torch

        return str(torch._C._get_privateuse1_backend_name())
    return str(device_type)


def template_class(cls: type, device_type: str | None) -> str:
    """The name of the class that was handed to ``instantiate_device_type_tests``; the class's own name where none was.

    The generated class is called after its template with the device base's type appended in capitals, and since
    pytorch PR
    #151129 derives from it.
    """
    if device_type is None:
        return cls.__name__
    for base in cls.__bases__:
        if cls.__name__.startswith(base.__name__) and cls.__name__ != base.__name__:
            return base.__name__
    for suffix in (device_type.upper(), "PRIVATEUSE1"):
        if cls.__name__.endswith(suffix):
            return cls.__name__[: -len(suffix)]
    return cls.__name__


def without_device(method: str, device_type: str | None) -> str:
    """A generated test name without its device: ``test_add_cpu_float32`` becomes ``test_add_float32``.

    The device stands last but for dtypes and parametrisation, so the last occurrence is taken out.
    """
    if device_type is None:
        return method
    head, separator, rest = method.rpartition(f"_{device_type}")
    if separator and (not rest or rest.startswith("_")):
        return head + rest
    return method
