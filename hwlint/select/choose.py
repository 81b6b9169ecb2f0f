"""A linked suite and a device -> which of its tests apply."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator

from hwlint.catalog import Catalog
from hwlint.config import Settings
from hwlint.progress.count import counted_classes
from hwlint.scan.facts import Decorator, Function
from hwlint.select.device import Answer, Device, instantiated_for, passes
from hwlint.select.model import UNCLASSIFIED, Passed, Query, Selected, Selection
from hwlint.suite.ids import (
    DTYPES,
    PARAMETRIZERS,
    UNKNOWN,
    dtype_suffixes,
    parameter_suffixes,
    plain_parametrized_names,
)
from hwlint.suite.imports import candidate_paths
from hwlint.suite.model import LinkedClass, Suite
from hwlint.suite.reach import reach

STOPS = ("module_exit", "raise_skip", "skip_call")
"""Forms of a gate on a whole file that keep its tests from being made, however they are run."""
NO_CLASSES = ("Enum", "namedtuple", "NamedTuple", "TypedDict", "NewType", "TypeVar")
"""What is called to make a class that holds no tests."""
BUILTIN = frozenset(vars(builtins))


def default_labels(device: str, catalog: Catalog) -> tuple[str, ...]:
    """GENERIC, ACCELERATOR, and the device's own classification where there is one."""
    own = Device.of(device, catalog).backend.hw_classification
    return ("GENERIC", "ACCELERATOR", own) if own else ("GENERIC", "ACCELERATOR")


def select(suite: Suite, paths: Iterable[str], query: Query, settings: Settings) -> Selection:
    """The tests of the test files among ``paths`` that apply to the query's device."""
    device = Device.of(query.device, suite.catalog)
    selected: list[Selected] = []
    excluded: list[Passed] = []
    unknown: list[Passed] = []
    for path in paths:
        if not settings.is_test_file(path):
            continue
        first = _first_instantiated(suite, path, device)
        for cls in counted_classes(suite, path):
            if cls.is_test_case is False:
                continue  # Its tests are those of the classes that derive from it.
            suffix = device.suffix(cls in first)
            for one in _tests_of(cls, device, query, suffix):
                if isinstance(one, Selected):
                    selected.append(one)
                elif one.reason.startswith("?"):
                    unknown.append(Passed(one.path, one.class_name, one.test, one.line, one.label, one.reason[1:]))
                else:
                    excluded.append(one)
        for made in suite.modules[path].dynamic_classes:
            if made.owner not in NO_CLASSES:
                why = f"the class is made by {made.owner}()"
                unknown.append(Passed(path, made.name, UNKNOWN, made.span.line, "", why))
        for function in suite.modules[path].functions:
            if function.name.startswith("test"):
                excluded.append(Passed(path, "", function.name, function.line, "", "function"))
    return Selection(query, tuple(selected), tuple(excluded), tuple(unknown))


def _first_instantiated(suite: Suite, path: str, device: Device) -> list[LinkedClass]:
    """The classes of a file that are made for a PrivateUse1 back end before any test that takes a device, and the one
    with the first such test; none where a module that the file imports has one.

    Each file is taken to be run in a process of its own, as PyTorch's test/run_test.py does.
    """
    if not device.private or any(_made_with_device(suite, other, device)[1] for other in _imported(suite, path)):
        return []
    return _made_with_device(suite, path, device)[0]


def _made_with_device(suite: Suite, path: str, device: Device) -> tuple[list[LinkedClass], bool]:
    """Classes of a file that are made for the device, up to the first with a test that takes one, and whether there
    is one.
    """
    calls = [(call, cls) for cls in suite.classes_in(path) for call in cls.device_type_instantiations]
    found: list[LinkedClass] = []
    for call, cls in sorted(calls, key=lambda pair: pair[0].span):
        if instantiated_for(device, call).value is not False:
            found.append(cls)
            if any(name in test.parameters for test in cls.own_tests for name in ("device", "devices")):
                return found, True
    return found, False


def _imported(suite: Suite, path: str) -> list[str]:
    """Files of the suite that a file imports, directly or not."""
    found = [path]
    for importer in found:  # grows while it is read
        module = suite.modules[importer]
        names = [*(name for _, name in module.imports), *module.star_imports]
        for name in names:
            for candidate in (*candidate_paths(name, importer), *candidate_paths(name.rpartition(".")[0], importer)):
                if candidate in suite.modules and candidate not in found:
                    found.append(candidate)
                    break
    return found[1:]


def _tests_of(cls: LinkedClass, device: Device, query: Query, suffix: str) -> Iterator[Selected | Passed]:
    """The answer for each test of a class; the reason of one that is not known begins with '?'."""

    def passed(function: Function, reason: str, detail: str = "") -> Passed:
        return Passed(cls.path, cls.facts.qualname, function.name, function.line, cls.label, reason, detail)

    inherited = [t for t in cls.inherited_tests if not t.owner.is_instantiated]
    lost = [t.function for t in cls.inherited_tests if t.owner.is_instantiated]
    functions = [*cls.own_tests, *(t.function for t in inherited), *(t.function for t in cls.grafted_tests)]
    if (cls.label or UNCLASSIFIED) not in query.labels:
        reason = "other classification" if cls.label else "unclassified"
        yield from (passed(f, reason, cls.label) for f in (*functions, *lost))
        return
    yield from (passed(f, "lost") for f in lost)
    made = _instantiated(cls, device)
    if made.value is not True:
        reason = "device set" if made.value is False else f"?{made.why}"
        yield from (passed(f, reason, made.why) for f in functions)
        return
    for function in functions:
        gate = _gates(cls, function, device)
        if gate.value is False:
            yield passed(function, "gate", gate.why)
            continue
        needs = tuple(gate.why.split("\n")) if gate.why else ()
        for class_name, name in _names(cls, function, device, suffix):
            yield Selected(
                cls.path, class_name, name, cls.label, cls.facts.qualname, function.name, function.line, needs
            )


def _instantiated(cls: LinkedClass, device: Device) -> Answer:
    """Whether the class runs for the device; a class that is not instantiated runs as it is."""
    answers = [instantiated_for(device, one) for one in cls.device_type_instantiations]
    if not answers or any(a.value for a in answers):
        return Answer(True)
    return next((a for a in answers if a.value is None), answers[0])


def _gates(cls: LinkedClass, function: Function, device: Device) -> Answer:
    """False with the first gate that stops the test; else True, with what the others hang on, one a line."""
    needs: list[str] = []
    for reached in reach(cls, function).gates:
        if reached.scope == "helper" or not reached.gate.blocking:
            continue
        if reached.scope == "file" and reached.gate.form not in STOPS:
            continue
        answer = passes(device, reached.gate)
        if answer.value is False:
            return Answer(False, answer.why)
        if answer.value is None:
            needs.append(answer.why)
    return Answer(True, "\n".join(dict.fromkeys(needs)))


def _names(cls: LinkedClass, function: Function, device: Device, suffix: str) -> Iterator[tuple[str, str]]:
    """(class, test) of each test that the function becomes for the device; ``suffix``: of a generated class."""
    own = any(function is one for one in cls.own_tests)
    opaque = any(_may_parametrize(cls, decorator) for decorator in function.decorators)
    ends = [end for template, end in cls.templates if any(function is one for one in template.own_tests)]
    if ends and not own:
        yield from ((cls.name, f"{function.name}_{end or UNKNOWN}") for end in ends)
    elif not cls.is_instantiated:
        if opaque and own:
            yield cls.name, f"{function.name}{UNKNOWN}"
            return
        names = plain_parametrized_names(function, cls.is_parametrized) if own else iter((function.name,))
        yield from ((cls.name, name) for name in names)
    elif not own:
        yield cls.name + suffix, function.name
    elif opaque:
        yield cls.name + suffix, f"{function.name}{UNKNOWN}_{device.name}{UNKNOWN}"
    else:
        for middle in parameter_suffixes(function):
            head = f"{function.name}_{middle}" if middle else function.name
            for dtype in dtype_suffixes(function, device.slot):
                yield cls.name + suffix, f"{head}_{device.name}{dtype}"


def _may_parametrize(cls: LinkedClass, decorator: Decorator) -> bool:
    """Whether a decorator of the suite's own may make several tests of one: a function that names a parametrizing
    decorator, or a variable of which nothing is known.
    """
    name = decorator.name
    if not name or "." in name:
        return False
    found = cls.suite.find_function(cls.path, name)
    if found is None:
        qualified = dict(cls.module.imports).get(name, "")
        module, _, member = qualified.rpartition(".")
        if qualified:
            paths = (p for p in candidate_paths(module, cls.path) if p in cls.suite.modules)
            found = next(filter(None, (cls.suite.find_function(path, member) for path in paths)), None)
            if found is None:
                return False
    if found is not None:
        return any(reference.rpartition(".")[2] in (*PARAMETRIZERS, *DTYPES) for reference in found.references)
    known = name in cls.suite.catalog.decorators or cls.suite.find_constant(cls.path, name) is not None
    return (
        not known
        and not cls.module.star_imports
        and cls.suite.find_class(cls.path, name) is None
        and name not in BUILTIN
    )
