"""Which test after a change is which test before it: by ID, and where that changed, by the template it was made
from."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from hwlint.verify.model import LoadedTest

NO_RENAMES: Mapping[str, str] = {}

# A device as one part of a parametrised name: test_x_device_cuda, test_x_cuda_float32, test_x_cuda_0.
_DEVICE_PART = re.compile(r"_(?:device_(?:type_)?)?(?:cpu|cuda|xpu|mps|hpu|gpu)(?:_\d)?(?=_|$)")


@dataclass(frozen=True, slots=True)
class Match:
    """A test before and what it became: none (lost), one, or several (it was parametrised since). ``how`` says by
    what."""

    before: LoadedTest
    after: tuple[LoadedTest, ...]
    how: str


@dataclass(frozen=True, slots=True)
class Matching:
    matches: tuple[Match, ...]
    new: tuple[LoadedTest, ...]


def match_tests(
    before: Iterable[LoadedTest], after: Iterable[LoadedTest], renames: Mapping[str, str] = NO_RENAMES
) -> Matching:
    """Match the tests of two runs on the same device.

    Args:
        before, after: the tests of each run.
        renames: names before to names after, as ``Class`` or ``Class.test`` of the templates.
    Returns:
        One match for each test before, in order, and the tests after that nothing before became. In turn are tried:
        the same class and method; the same template, which an instantiated test shares with the plain one it was
        (``TestFoo.test_x``, ``TestFooCPU.test_x_cpu``); the same template once a device parameter is taken out of the
        name; the same template with parameters appended; the same test in the one new class whose name begins with the
        old one's, as a class that was split off has it (``TestFoo``, ``TestFooCpuOnly``).
    """
    before, after = list(before), list(after)
    found: dict[str, tuple[tuple[LoadedTest, ...], str]] = {}
    free = {test.id: test for test in after}

    def take(test: LoadedTest, taken: list[LoadedTest], how: str) -> None:
        found[test.id] = tuple(taken), how
        for other in taken:
            free.pop(other.id, None)

    by_name = {test.name: test for test in after}
    for test in before:
        if test.name in by_name:
            take(test, [by_name[test.name]], "ID")

    for how, key in (("template", _template), ("template without device", _template_without_device)):
        index = _index(free.values(), key)
        for test in before:
            taken = index.get(key(_renamed(test, renames)), ()) if test.id not in found else ()
            if taken:
                take(test, list(taken), how)

    by_class = _index(free.values(), lambda test: test.template_class)
    for test in before:
        if test.id in found:
            continue
        renamed = _renamed(test, renames)
        prefix = renamed.template_test + "_"
        taken = [
            other
            for other in by_class.get(renamed.template_class, ())
            if other.template_test.startswith(prefix) and other.id in free
        ]
        if taken:
            take(test, taken, "parametrised")

    lost = [test for test in before if test.id not in found]
    for test, taken in zip(lost, _split_off(before, lost, list(free.values()))):
        if taken:
            take(test, taken, "split off")

    matches = tuple(Match(test, *found.get(test.id, ((), "lost"))) for test in before)
    return Matching(matches, tuple(free.values()))


def _split_off(before: list[LoadedTest], lost: list[LoadedTest], free: list[LoadedTest]) -> list[list[LoadedTest]]:
    """For each lost test, the same one in a class that is new; none where two classes could claim it."""
    old = {test.template_class for test in before}
    new = _index((test for test in free if test.template_class not in old), lambda test: test.template_test)
    wanted = _index(lost, lambda test: test.template_test)
    found = []
    for test in lost:
        taken = [t for t in new.get(test.template_test, ()) if t.template_class.startswith(test.template_class)]
        claims = {one.template_class for one in wanted[test.template_test]}
        sure = len({t.template_class for t in taken}) == 1 and len(claims) == 1
        found.append(taken if sure else [])
    return found


def _renamed(test: LoadedTest, renames: Mapping[str, str]) -> LoadedTest:
    target = renames.get(f"{test.template_class}.{test.template_test}")
    if target is None:
        target = f"{renames.get(test.template_class, test.template_class)}.{test.template_test}"
    template_class, _, template_test = target.rpartition(".")
    return LoadedTest(
        test.id, test.class_name, test.method, test.device_type, template_class, template_test, test.label
    )


def _template(test: LoadedTest) -> tuple[str, str]:
    return test.template


def _template_without_device(test: LoadedTest) -> tuple[str, str]:
    return test.template_class, _DEVICE_PART.sub("", test.template_test)


def _index(tests: Iterable[LoadedTest], key: Callable[[LoadedTest], Hashable]) -> dict[Hashable, list[LoadedTest]]:
    index: dict[Hashable, list[LoadedTest]] = defaultdict(list)
    for test in tests:
        index[key(test)].append(test)
    return index
