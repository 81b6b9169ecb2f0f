"""Test IDs by device, as PyTorch's loader would make them.

Names follow torch/testing/_internal/common_device_type.py and common_utils.py (torch 2.14.1): a generated class is
called ``<Class><DEVICE>``, a generated test ``<test>[_<parameters>]_<device>[_<dtype>]``; stacked parametrizations name
top to bottom. Where a list of parameters cannot be read off the source (``@ops``, ``@modules``, computed values) the ID
is a pattern with '*'.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hwlint.catalog import Catalog
from hwlint.scan.facts import Decorator, Function, Literals
from hwlint.suite.model import LinkedClass, Suite

UNKNOWN = "*"
PARAMETRIZERS = ("parametrize", "ops", "modules", "optims", "reparametrize", "parametrize_test")
DTYPES = ("dtypes", "dtypesIfCPU", "dtypesIfCUDA", "dtypesIfMPS", "dtypesIfXPU", "dtypesIfHPU", "dtypesIfPRIVATEUSE1")


@dataclass(frozen=True, slots=True)
class TestId:
    """One test that the loader makes."""

    __test__ = False

    path: str
    class_name: str
    """Of the generated class, or the plain one."""
    name: str
    """Of the generated test; with '*' where it stands for several whose names cannot be read."""
    device: str
    """Device type, '' for a test that no instantiation made."""
    template_class: str
    """Qualified name of the class in the source that it comes from."""
    template_test: str
    line: int
    owner: str = ""
    """'path::Class' of the class that defines the test, where that is another one."""
    skipped: bool = False
    """Whether an ``@only...`` decorator always skips it on its device."""
    device_free: bool = False
    """Whether an instantiation made it, and nothing is seen to tell it its device: the others do the same."""

    @property
    def exact(self) -> bool:
        return UNKNOWN not in self.name

    def __str__(self) -> str:
        return f"{self.path}::{self.class_name}::{self.name}"


def suffix(device: str) -> str:
    """The suffix of a generated class: 'CUDA', 'PRIVATEUSE1'."""
    return device.upper()


def generated_classes(cls: LinkedClass) -> tuple[tuple[str, str], ...]:
    """(name, device type) of each class that the instantiations of ``cls`` make."""
    return tuple((cls.name + suffix(device), device) for device in cls.devices.devices)


def module_ids(suite: Suite, path: str) -> tuple[TestId, ...]:
    """The tests of one file, in source order of their classes, without repeats."""
    found: dict[tuple[str, str], TestId] = {}
    for cls in suite.classes_in(path):
        if cls.is_test_case is False or any(b.keyword in ("def", "class") for b in cls.facts.blocks):
            continue
        for one in class_ids(cls):
            found[one.class_name, one.name] = one
    return tuple(found.values())


def class_ids(cls: LinkedClass) -> Iterator[TestId]:
    """The tests that unittest collects for a class: generated ones if it is instantiated, else its own and inherited
    ones.
    """
    if cls.is_instantiated:
        for class_name, device in generated_classes(cls):
            for function in cls.own_tests:
                for name in generated_names(function, device):
                    yield _test_id(cls, class_name, name, device, function, cls)
            yield from _left_over(cls, class_name, device)
        return
    for function in cls.own_tests:
        if cls.is_parametrized or any(_is_parametrizer(d) for d in function.decorators):
            names: Iterator[str] = plain_parametrized_names(function, cls.is_parametrized)
        else:
            names = iter((function.name,))
        for name in names:
            yield _test_id(cls, cls.name, name, "", function, cls)
    yield from _grafted(cls)
    yield from _left_over(cls, cls.name, "")


def _grafted(cls: LinkedClass) -> Iterator[TestId]:
    for template, suffix_text in cls.templates:
        for function in template.own_tests:
            name = f"{function.name}_{suffix_text or UNKNOWN}"
            yield _test_id(cls, cls.name, name, "", function, template)


def _left_over(cls: LinkedClass, class_name: str, device: str) -> Iterator[TestId]:
    """Inherited tests, as far as the base still has them: an instantiated base has lost its own."""
    for inherited in cls.inherited_tests:
        if not inherited.owner.is_instantiated:
            function = inherited.function
            yield _test_id(cls, class_name, function.name, device, function, inherited.owner)


def _test_id(
    cls: LinkedClass, class_name: str, name: str, device: str, function: Function, owner: LinkedClass
) -> TestId:
    return TestId(
        path=cls.path,
        class_name=class_name,
        name=name,
        device=device,
        template_class=cls.facts.qualname,
        template_test=function.name,
        line=function.line,
        owner="" if owner is cls else f"{owner.path}::{owner.facts.qualname}",
        skipped=device != "" and not may_run(cls.suite.catalog, function, device),
        device_free=device != "" and not _knows_device(function),
    )


def _knows_device(function: Function) -> bool:
    """Whether the test is passed its device, or something chosen by it, or asks for it."""
    if {"device", "devices"} & set(function.parameters) or "self.device_type" in function.references:
        return True
    return any(d.name.rpartition(".")[2] in (*DTYPES, "ops", "modules", "optims") for d in function.decorators)


def may_run(catalog: Catalog, function: Function, device: str) -> bool:
    """Whether the ``@only...`` decorators of a test let it run on a device type."""
    for decorator in function.decorators:
        entry = catalog.find_decorator(decorator.qualified)
        if entry is None or entry.role != "whitelist" or decorator.called:
            continue
        if device == "cpu" if entry.devices == ("accelerator",) else entry.devices and device not in entry.devices:
            return False
    return True


def generated_names(function: Function, device: str) -> Iterator[str]:
    """Names of the tests that ``function`` becomes on ``device``."""
    for middle in parameter_suffixes(function):
        head = f"{function.name}_{middle}" if middle else function.name
        for dtype in dtype_suffixes(function, device):
            yield f"{head}_{device}{dtype}"


def plain_parametrized_names(function: Function, instantiated: bool) -> Iterator[str]:
    """Names after instantiate_parametrized_tests; the name as it stands where nothing parametrizes it."""
    if not instantiated or not any(_is_parametrizer(d) for d in function.decorators):
        yield function.name
        return
    for middle in parameter_suffixes(function):
        yield f"{function.name}_{middle}" if middle else f"{function.name}_"


def parameter_suffixes(function: Function) -> list[str]:
    """What the parametrizing decorators add to the name, one for each combination; '*' for what cannot be read."""
    stack = [_names_of(d) for d in function.decorators if _is_parametrizer(d)]
    names = [""]
    # The decorator nearest to the function varies slowest and stands last in the name.
    for above in reversed(stack):
        names = [f"{new}_{old}" if old and new else new or old for old in names for new in above]
    return names


def _is_parametrizer(decorator: Decorator) -> bool:
    return decorator.called and decorator.name.rpartition(".")[2] in PARAMETRIZERS


def _names_of(decorator: Decorator) -> list[str]:
    if decorator.name.rpartition(".")[2] != "parametrize":
        return [UNKNOWN]
    given = {a.name: a for a in decorator.arguments if a.name}
    positional = [a for a in decorator.arguments if not a.name]
    names = positional[0] if positional else given.get("arg_str")
    values = positional[1] if len(positional) > 1 else given.get("arg_values")
    if names is None or values is None or not isinstance(names.value, str):
        return [UNKNOWN]
    if "name_fn" in given or len(positional) > 2 or not values.known or not isinstance(values.value, tuple):
        return [UNKNOWN]
    parameters = [part.strip() for part in names.value.split(",") if part != ""]
    found = []
    for index, item in enumerate(values.value):
        parts = item if len(parameters) > 1 else (item,)
        if not isinstance(parts, tuple) or len(parts) != len(parameters):
            return [UNKNOWN]
        found.append("_".join(_value_name(index, name, value) for name, value in zip(parameters, parts)))
    return found or [UNKNOWN]


def _value_name(index: int, parameter: str, value: Literals) -> str:
    if isinstance(value, (int, float, str)):
        return f"{parameter}_{str(value).replace('.', '_')}"
    return f"{parameter}{index}"


def dtype_suffixes(function: Function, device: str) -> list[str]:
    """'_float32' and so on where ``@dtypes`` lists plain dtypes; one '' where there is no such decorator."""
    default: list[str] | None = None
    special: list[str] | None = None
    for decorator in function.decorators:
        name = decorator.name.rpartition(".")[2]
        if name in ("ops", "modules", "optims"):
            return [UNKNOWN]
        if name not in DTYPES:
            continue
        listed = _dtypes(decorator)
        if name == "dtypes":
            default = listed
        elif name == f"dtypesIf{device.upper()}":
            special = listed
    chosen = special if special is not None else default
    return chosen if chosen is not None else [""]


def _dtypes(decorator: Decorator) -> list[str]:
    found = []
    for argument in decorator.arguments:
        head, dot, name = argument.text.rpartition(".")
        if argument.name or head != "torch" or not dot or not name.isidentifier():
            return [f"_{UNKNOWN}"]
        found.append(f"_{ALIASES.get(name, name)}")
    return found


ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
"""``str(torch.float)`` is 'torch.float32': names of dtypes that print as another (torch.dtype)."""
