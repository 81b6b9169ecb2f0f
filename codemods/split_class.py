"""Splits a class whose tests belong to several labels into one class for each, in place (opt-in: ``--split``).

What the tests share goes to a base without tests, since a base with tests would lose or double them once a subclass
is instantiated. The GENERIC part, else the first, keeps the name, and its place; the tests keep their order and
their text.
"""

from __future__ import annotations

import ast
import unittest
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from codemods.device_class import check_decorators, members_of_module
from codemods.device_instantiate import check_names_in
from codemods.device_twins import twins_of
from codemods.device_values import Blocked
from codemods.edit import BLANK, SourceFile, Splice, first_line, is_docstring
from codemods.plan import Change, Codemod, Context, Plan, PlanBuilder
from hwlint.classify.verdict import Verdict
from hwlint.scan.facts import Instantiation, Span
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass

SUFFIXES = {
    "GENERIC": "Generic",
    "ACCELERATOR": "Device",
    "CPU": "CpuOnly",
    "CUDA": "CudaOnly",
    "MPS": "MpsOnly",
    "XPU": "XpuOnly",
}
"""What a part is called after the class. No device type at the end: instantiation puts that there."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the classes that come out."""

    name: str
    label: str
    tests: tuple[str, ...]
    helpers: tuple[str, ...] = ()
    """Methods that only its tests get to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitChange(Change):
    """A class to split; the first part keeps the name."""

    class_line: int
    parts: tuple[Part, ...]
    base: str
    """Name for what they share."""
    call: Span | None = None
    """Of the instantiation of the class, which is said once more for each further part."""
    further: tuple[str, ...] = ()
    """The instantiations of the further parts, where they are others."""


class SplitClass(Codemod):
    name = "split_class"
    summary = "Splits classes whose tests belong to several labels (only with `--split`)."

    def enabled(self, context: Context) -> bool:
        return context.options.split

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.test_classes():
            verdict = context.verdict(cls)
            if verdict is None or verdict.label != "SPLIT":
                continue
            labels = _labels(context, cls, verdict)
            if len(set(labels.values())) < 2:
                continue
            try:
                plan.add(_change(context, cls, verdict, labels))
            except Blocked as blocked:
                plan.refuse(cls.facts.qualname, blocked.reason, blocked.text, blocked.span or class_span(cls.facts))
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        return [s for change in changes if isinstance(change, SplitChange) for s in split_splices(file, change)]


def _labels(context: Context, cls: LinkedClass, verdict: Verdict) -> dict[str, str]:
    """The label of each test; twins stay together, since device_parameter makes one test of them."""
    labels = {t.name: t.label for t in verdict.tests}
    for twin in twins_of(context, cls) if "ACCELERATOR" in labels.values() else ():
        if labels.get(twin.other.name) == "ACCELERATOR":
            labels[twin.cpu.name] = "ACCELERATOR"
    return labels


def _change(context: Context, cls: LinkedClass, verdict: Verdict, labels: Mapping[str, str]) -> SplitChange:
    """Raises Blocked."""
    check_apart(context, cls)
    unsure = next((t for t in verdict.tests if t.confidence == "unsure"), None)
    if unsure is not None:
        raise Blocked("uncertain", f"where `{unsure.name}` belongs is not sure")
    found = [i for i in cls.instantiations if i.kind == "parametrized"]
    if len(found) > 1 or any(i.form == "assignment" or len(i.arguments) > 1 or i.blocks for i in found):
        raise Blocked("already-instantiated", "it is instantiated in an unusual way", found[0].span)
    call = next((i for i in found if i.form == "call"), None)
    return split_change(SplitClass.name, context, cls, labels, "GENERIC", call)


def split_change(
    codemod: str, context: Context, cls: LinkedClass, by_test: Mapping[str, str], first: str, call: Instantiation | None
) -> SplitChange:
    """The change that gives each label of ``by_test`` a class; that of ``first``, where it is one, keeps the name.

    Raises Blocked where a name that it needs is taken.
    """
    labels = list(dict.fromkeys(by_test.values()))
    if first in labels:
        labels.remove(first)
        labels.insert(0, first)
    taken = members_of_module(context)
    parts = []
    for label in labels:
        name = cls.name if label == labels[0] else cls.name + SUFFIXES[label]
        if name != cls.name and name in taken:
            raise Blocked("name-taken", f"`{name}` is there already")
        tests = tuple(f.name for f in cls.own_tests if by_test.get(f.name) == label)
        parts.append(Part(name, label, tests, _helpers_of_one(cls, by_test, label)))
    base = f"_{cls.name}Base"
    if base in taken:
        raise Blocked("name-taken", f"`{base}` is there already")
    qualname = cls.facts.qualname
    moved = [(part.name, name) for part in parts[1:] for name in (*part.tests, *part.helpers)]
    placed = {name for part in parts for name in (*part.tests, *part.helpers)}
    moved += [(base, m.name) for m in cls.facts.methods if m.name not in placed]
    return SplitChange(
        codemod=codemod,
        symbol=qualname,
        span=class_span(cls.facts),
        description="split into " + " and ".join(f"{part.name} ({part.label})" for part in parts),
        applicability="unsafe",
        renames=tuple(((qualname, member), (owner, member)) for owner, member in moved),
        class_line=cls.facts.line,
        parts=tuple(parts),
        base=base,
        call=call.span if call is not None else None,
    )


def _helpers_of_one(cls: LinkedClass, labels: Mapping[str, str], label: str) -> tuple[str, ...]:
    """Helper methods that tests of this label get to, and no others."""
    methods = {m.name: m for m in cls.facts.methods}
    reached: dict[str, set[str]] = {}
    for test in cls.own_tests:
        queue, seen = [test], {test.name}
        while queue:
            for reference in queue.pop().references:
                head, _, name = reference.partition(".")
                if head in ("self", "cls") and name in methods and name not in seen:
                    seen.add(name)
                    queue.append(methods[name])
        for name in seen:
            reached.setdefault(name, set()).add(labels.get(test.name, ""))
    fixtures = {r for m in methods.values() if m.kind == "setup" for r in m.references}
    return tuple(
        name
        for name, method in methods.items()
        if reached.get(name) == {label}
        and method.kind == "helper"
        and not method.decorators
        and not {f"self.{name}", f"cls.{name}"} & fixtures
        and not hasattr(unittest.TestCase, name)
    )


def check_apart(context: Context, cls: LinkedClass) -> None:
    """Raise Blocked where the class cannot be taken apart."""
    facts = cls.facts
    if facts.tag is not None:
        raise Blocked("contradiction", f"it is tagged {facts.tag.label}")
    if facts.dynamic:
        raise Blocked("dynamic", "members may be added to it that the source does not show")
    if facts.blocks or not facts.top_level:
        raise Blocked("layout", "it does not stand at the top of the module")
    if facts.keywords:
        raise Blocked("layout", "it is made with keywords")
    repeated = frozenset(g.span for g in facts.gates) | {i.span for i in cls.instantiations if i.form == "decorator"}
    check_decorators(context, facts.decorators, repeated, "the class")
    if cls.is_test_case is not True:
        raise Blocked("unknown-base", "its base cannot be read")
    if cls.inherited_tests or cls.templates or any(b.has_tests for b in cls.framework_bases):
        raise Blocked("inherited-tests", "it inherits tests")
    if cls.subclasses():
        raise Blocked("subclassed", f"{cls.subclasses()[0].facts.qualname} derives from it")
    if cls.foreign_instantiations or any(cls.name in (g.target, g.template) for g in cls.module.grafts):
        raise Blocked("dynamic", "its tests are used elsewhere")
    names = [m.name for m in facts.methods]
    twice = next((n for n in names if names.count(n) > 1), "")
    if twice:
        raise Blocked("dynamic", f"`{twice}` is defined more than once")
    tests = {f.name for f in cls.own_tests}
    for method in facts.methods:
        called = next(
            (r for r in method.references if r.partition(".")[2] in tests and r.startswith(("self.", "cls."))), ""
        )
        if called:
            raise Blocked("unknown-caller", f"`{called}` is called by `{method.name}`", method.span)
    if any(name.startswith("test") for name, _ in facts.attributes):
        raise Blocked("dynamic", "it has a test by another name")
    for path in context.imported_by(cls.name):
        raise Blocked("shared-helper", f"{path} imports it")


# Editing


def split_splices(file: SourceFile, change: SplitChange) -> list[Splice]:
    """The class taken apart. Raises Blocked for what the change cannot know: how the class is written."""
    node = file.class_at(change.class_line)
    check_names_in(file, node, change.call)
    chunks = list(_chunks(file, node))
    _check_scope(node, {name for part in change.parts for name in (*part.tests, *part.helpers)})
    tests = {name: i for i, part in enumerate(change.parts) for name in (*part.tests, *part.helpers)}
    shared = [text for name, text in chunks if name and name not in tests]
    head = [text for name, text in chunks if not name]
    bases = ", ".join(file.text[slice(*file.node_range(b))] for b in node.bases)
    if "\n" in bases or "#" in bases:
        raise Blocked("layout", f"the bases of the class on line {node.lineno} are spread out")
    line_break = file.line_break(node.lineno)
    apart = line_break * 3
    decorators = file.text[file.line_start(first_line(node)) : file.line_start(node.lineno)]
    given = f"{change.base}, {bases}" if shared else bases
    written = []
    if shared:
        written.append(f"class {change.base}:{line_break}" + _joined(shared, line_break))
    for index, part in enumerate(change.parts):
        body = [text for name, text in chunks if tests.get(name) == index]
        body = [*head, *body] if index == 0 else body
        written.append(f"{decorators}class {part.name}({given}):{line_break}" + _joined(body, line_break))
    start = file.line_start(first_line(node))
    found = [Splice(start, _end(file, node), apart.join(written))]
    if change.call is not None:
        found.append(_further_calls(file, change))
    return found


def _further_calls(file: SourceFile, change: SplitChange) -> Splice:
    assert change.call is not None
    line = change.call.end_line
    rest = file.text[file.range_of(change.call)[1] : file.line_end(line)].strip(BLANK)
    several_lines = change.call.line != line and not change.further
    if rest or not file.starts_line(file.range_of(change.call)[0]) or several_lines:
        raise Blocked("layout", f"the call on line {line} shares its line")
    text, at, line_break = file.line_text(line), file.line_end(line), file.line_break(line)
    if change.further:
        return Splice(at, at, "".join(f"{line_break}{one}" for one in change.further))
    name = change.parts[0].name
    opened = text.index("(")
    lines = [text[:opened] + text[opened:].replace(name, part.name, 1) for part in change.parts[1:]]
    return Splice(at, at, "".join(f"{line_break}{one}" for one in lines))


def _joined(chunks: Sequence[str], line_break: str) -> str:
    """The chunks one below the other, without blank lines at either end."""
    text = "".join(chunks)
    lines = text.split(line_break)
    while lines and not lines[0].strip(BLANK):
        del lines[0]
    while lines and not lines[-1].strip(BLANK):
        del lines[-1]
    return line_break.join(lines)


def _end(file: SourceFile, node: ast.ClassDef) -> int:
    last = node.end_lineno or node.lineno
    return file.line_end(last)


def _chunks(file: SourceFile, node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """(name, whole lines) of each statement of the body, with the comments above it; '' for the docstring.

    A definition has its name; any other statement is called '=' and belongs to what is shared.
    """
    header = _header_end(file, node)
    at = header + 1
    for statement in node.body:
        first, last = first_line(statement), statement.end_lineno or statement.lineno
        start, end = file.node_range(statement)
        rest = file.text[end : file.line_end(last)].strip(BLANK)
        own_line = file.starts_line(
            file.line_start(first) + len(file.line_text(first)) - len(file.line_text(first).lstrip(BLANK))
        )
        if first < at or not own_line or (rest and not rest.startswith("#")):
            raise Blocked("layout", f"a statement of the class shares its lines (line {first})")
        if isinstance(statement, ast.ClassDef) and any(
            getattr(s, "name", "").startswith("test") for s in statement.body
        ):
            raise Blocked("layout", f"a class with tests stands in the class (line {first})")
        text = file.text[file.line_start(at) : file.line_start(last + 1)]
        if not text.endswith(("\n", "\r")):
            text += file.line_break(last)
        if is_docstring(statement) and statement is node.body[0]:
            yield "", text
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield statement.name, text
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
            yield "=", text
        else:
            raise Blocked("layout", f"the class has a statement that is no definition (line {first})")
        at = last + 1


def _header_end(file: SourceFile, node: ast.ClassDef) -> int:
    """The line of the class's head, which has to be one line."""
    text = file.line_text(node.lineno).partition("#")[0].rstrip(BLANK)
    if not text.endswith(":") or "#" in file.line_text(node.lineno) or first_line(node.body[0]) == node.lineno:
        raise Blocked("layout", f"the head of the class takes more than a line, or has a comment (line {node.lineno})")
    return node.lineno


def assigned_names(node: ast.ClassDef) -> set[str]:
    """Names that the class's body assigns."""
    return {
        child.id
        for s in node.body
        if isinstance(s, (ast.Assign, ast.AnnAssign))
        for target in (s.targets if isinstance(s, ast.Assign) else [s.target])
        for child in ast.walk(target)
        if isinstance(child, ast.Name)
    }


def _check_scope(node: ast.ClassDef, tests: set[str]) -> None:
    """Raise Blocked where the parts hang together by names of the class's own scope, or by private ones."""
    bound = assigned_names(node) | {
        s.name for s in node.body if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
    }
    for statement in node.body:
        heads: list[ast.AST] = []
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            heads = [*statement.decorator_list, statement.args]
        elif isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
            heads = [statement.value]
        is_test = isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and statement.name in tests
        for child in (c for head in heads for c in ast.walk(head)):
            if isinstance(child, ast.Name) and child.id in (bound if is_test else tests):
                raise Blocked("unknown-name", f"`{child.id}` is read in the class's own scope (line {child.lineno})")
    for child in ast.walk(node):
        if isinstance(child, ast.Constant) and child.value in tests:
            raise Blocked("unknown-name", f"`{child.value}` is named in a string (line {child.lineno})")
        name = child.attr if isinstance(child, ast.Attribute) else child.id if isinstance(child, ast.Name) else ""
        if name.startswith("__") and not name.endswith("__"):
            raise Blocked(
                "unknown-name", f"`{name}` is private to the class (line {getattr(child, 'lineno', node.lineno)})"
            )
