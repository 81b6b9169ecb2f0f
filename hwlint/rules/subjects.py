"""The test classes of a module as the level in force sees them: what the contract's rules judge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hwlint.catalog.upstream_linter import UpstreamLinter
from hwlint.rules.base import RuleContext
from hwlint.scan.facts import DEVICE_LABELS, Block, Class, Function, Instantiation
from hwlint.suite.model import LinkedClass

UPSTREAM_FUNCTION = "instantiate_device_type_tests"
SCANNED = ("if", "else", "elif", "try", "except", "finally", "with", "for", "while")
"""Blocks that a linter of scope 'blocks' looks into."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One test class as the level in force sees it."""

    cls: LinkedClass
    label: str
    """The valid classification, '' for none."""
    inherited: bool
    tests: tuple[Function, ...]
    instantiations: tuple[Instantiation, ...]
    linter: UpstreamLinter

    @property
    def facts(self) -> Class:
        return self.cls.facts

    @property
    def is_asked(self) -> bool:
        """Whether the contract asks more of the class than its tag."""
        return bool(self.label) and (self.linter.device_specific or self.label not in DEVICE_LABELS)


def subjects(context: RuleContext) -> Iterator[Subject]:
    """The test classes of the module under check; none for a file that is no test file."""
    path = context.module.path
    if not context.settings.is_test_file(path):
        return
    classes = context.suite.classes_in(path)
    linter = context.settings.linter
    if context.settings.level == "upstream":
        if path.startswith(linter.passed_over):
            return
        found = [subject for cls in classes if (subject := _upstream_subject(cls, linter)) is not None]
        if linter.scope == "blocks":
            found = list({subject.cls.name: subject for subject in found}.values())
        yield from found
        return
    for cls in classes:
        subject = _full_subject(cls, linter)
        if subject is not None:
            yield subject


def _upstream_subject(cls: LinkedClass, linter: UpstreamLinter) -> Subject | None:
    facts = cls.facts
    if not _is_scanned(facts.blocks, linter):
        return None
    tests = tuple(
        f
        for f in facts.methods
        if f.name.startswith(linter.tests)
        and (linter.async_tests or not f.is_async)
        and "conditional" not in f.flags
        and "alias" not in f.flags
    )
    if not tests:
        return None
    calls = [i for i in cls.module.instantiations if i.target == cls.name and _counts(i, linter)]
    tag = facts.tag
    label = tag.label if tag is not None and tag.upstream else ""
    if linter.scope == "blocks":
        calls.reverse()
    return Subject(cls, label, False, tests, tuple(calls[:1]), linter)


def _counts(call: Instantiation, linter: UpstreamLinter) -> bool:
    """Whether the linter takes the call for an instantiation of the class that it names."""
    if linter.scope == "module":
        return call.top_level_statement and call.spelling == UPSTREAM_FUNCTION
    return (
        call.form == "call"
        and call.spelling.rpartition(".")[2] == UPSTREAM_FUNCTION
        and bool(call.arguments)
        # In a loop over classes, the name written is the loop's.
        and call.arguments[0].text == call.target
        and _is_scanned(call.blocks, linter)
    )


def _is_scanned(blocks: tuple[Block, ...], linter: UpstreamLinter) -> bool:
    return not blocks or (linter.scope == "blocks" and all(b.keyword in SCANNED for b in blocks))


def _full_subject(cls: LinkedClass, linter: UpstreamLinter) -> Subject | None:
    if cls.is_test_case is False and not cls.own_tests:
        return None
    if any(b.keyword == "def" for b in cls.facts.blocks) or not (cls.own_tests or cls.inherited_tests):
        return None
    calls = cls.device_type_instantiations + tuple(i for _, i in cls.foreign_instantiations if i.kind == "device_type")
    return Subject(cls, cls.label, cls.label_inherited, cls.own_tests, calls, linter)
