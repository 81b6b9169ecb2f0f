"""Which tests of a class device_parameter can rewrite, were they a class of their own.

It changes whole classes only: one test that names its device in a golden text keeps all others as they are. So what a
split would make of the class is tried, without the tests that stand against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from codemods.device_parameter import DeviceParameter
from codemods.device_values import Blocked
from codemods.edit import SourceFile
from codemods.plan import CannotEdit, Context
from codemods.split_parts import REST, SUFFIXES, helpers_of_one, reached_methods
from hwlint.classify.judge import judge_class
from hwlint.scan.module import ModuleReader
from hwlint.suite.model import Base, LinkedClass

Group = tuple[str, ...]
"""Tests that go together: one, or twins."""
LINE = re.compile(r"\bline (\d+)")
ENOUGH = 3
"""How many tests by themselves have to meet the obstacle of all together for it to be the class's."""


def is_portable(context: Context, cls: LinkedClass) -> bool:
    """Whether device_parameter rewrites the class as it is."""
    return _obstacle(context, cls) is None


def left_of(context: Context, text: str, name: str, tests: Sequence[str]) -> tuple[str, ...]:
    """Those of ``tests`` that device_parameter can rewrite in the class ``name`` of ``text``, which holds them.

    The scan reads some places by what stands beside them, and in the class of the split there may be less.
    """
    after, cls = _afterwards(context, text, name)
    obstacle = _obstacle(after, cls)
    if obstacle is None:
        return tuple(tests)
    found = tuple(test for test in tests if not _is_met_by(obstacle, cls, (test,)))
    return found if len(found) < len(tests) else ()


def takes_device_safely(context: Context, text: str, name: str) -> bool:
    """Whether device_parameter rewrites the class ``name`` of ``text`` as a safe change."""
    after, cls = _afterwards(context, text, name)
    try:
        change = DeviceParameter.change_of(_judged_alone(after, cls), cls)
    except CannotEdit:
        return False
    return change is not None and change.applicability == "safe"


def _afterwards(context: Context, text: str, name: str) -> tuple[Context, LinkedClass]:
    """The file with ``text``, and the class ``name`` in it."""
    file = SourceFile.read(context.source().encode(text), context.path)
    module = ModuleReader(file.source, file.tree, context.path, context.catalog).read()
    suite = context.suite_with(module)
    cls = next(c for c in suite.classes_in(context.path) if c.name == name)
    return replace(context, module=module, suite=suite, file=file), cls


def _judged_alone(context: Context, cls: LinkedClass) -> Context:
    """The context with no verdict but that on ``cls``."""
    verdict = judge_class(cls)
    return replace(context, verdicts={(cls.name, cls.facts.line): verdict} if verdict is not None else {})


def portable_tests(context: Context, cls: LinkedClass, groups: Sequence[Group]) -> tuple[str, ...]:
    """Those of the tests that can go into a class for accelerators together."""
    called = {r.partition(".")[2] for m in cls.facts.methods for r in m.references if r.startswith(("self.", "cls."))}
    calling = {m.name for m in cls.facts.methods if any(f"self.{t.name}" in m.references for t in cls.own_tests)}
    left = [group for group in groups if not (called | calling) & set(group)]
    while left:
        obstacle = _obstacle_of_part(context, cls, left)
        if obstacle is None:
            return tuple(name for group in left for name in group)
        guilty = [group for group in left if _is_met_by(obstacle, cls, group)]
        if len(guilty) == len(left):
            break
        left = [g for g in left if g not in guilty] if guilty else _alone(context, cls, left, str(obstacle))
    return ()


def _alone(context: Context, cls: LinkedClass, groups: Sequence[Group], together: str) -> list[Group]:
    """The groups that meet no obstacle by themselves, where ``together`` is not one of the whole class."""
    found: list[Group] = []
    for at, group in enumerate(groups):
        obstacle = _obstacle_of_part(context, cls, [group])
        if obstacle is None:
            found.append(group)
        elif at + 1 == ENOUGH and not found and str(obstacle) == together:
            return []
    return found if len(found) < len(groups) else []


def _is_met_by(obstacle: CannotEdit, cls: LinkedClass, group: Group) -> bool:
    """Whether the obstacle stands in one of the tests, or in a method that it gets to, or is said to."""
    span = obstacle.span if isinstance(obstacle, Blocked) else None
    said = LINE.search(str(obstacle))
    line = span.line if span is not None else int(said.group(1)) if said is not None else 0
    methods = {m.name: m for m in cls.facts.methods}
    for name in group:
        if re.search(rf"\b{re.escape(name)}\b", str(obstacle)):
            return True
        spans = [methods[m].span for m in reached_methods(cls, name) if m in methods]
        if any(s.line <= line <= s.end_line for s in spans):
            return True
    return False


def _obstacle_of_part(context: Context, cls: LinkedClass, groups: Iterable[Group]) -> CannotEdit | None:
    tests = {name for group in groups for name in group}
    return _obstacle(context, _part(cls, {f.name: "ACCELERATOR" if f.name in tests else REST for f in cls.own_tests}))


def _obstacle(context: Context, cls: LinkedClass) -> CannotEdit | None:
    """What keeps device_parameter from rewriting the class."""
    try:
        change = DeviceParameter.change_of(_judged_alone(context, cls), cls)
        if change is None or not any(edit.spots for edit in change.functions):
            return Blocked("unused-device", "no device of it would go")
        DeviceParameter().edit(context.source(), [change])
    except CannotEdit as error:
        return error
    return None


def _part(cls: LinkedClass, labels: Mapping[str, str]) -> LinkedClass:
    """The class as it would be with those tests alone, its other members in a base, all at their places."""
    facts = cls.facts
    own = {name for name, label in labels.items() if label == "ACCELERATOR"}
    own.update(helpers_of_one(cls, labels, "ACCELERATOR"))
    shared = tuple(m for m in facts.methods if m.name not in own and m.name not in labels)
    name = f"_{cls.name}Base"
    base = replace(facts, name=name, qualname=name, methods=shared, bases=(), base_texts=(), decorators=(), gates=())
    above = Base(name, LinkedClass(cls.suite, cls.module, base))
    name = cls.name + SUFFIXES["ACCELERATOR"]
    methods = tuple(m for m in facts.methods if m.name in own)
    part = replace(facts, name=name, qualname=name, methods=methods, attributes=(), attribute_uses=())
    return LinkedClass(cls.suite, cls.module, part, (above, *cls.bases), cls.instantiations)
