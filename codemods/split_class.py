"""Splits a class whose tests belong to several labels into one class for each, in place (opt-in: ``--split``).

What the tests share goes to a base without tests, since a base with tests would lose or double them once a subclass
is instantiated. The GENERIC part, else what stays as it is, else the first, keeps the name, and its place; the tests
keep their order and their text. Of the tests for accelerators those that device_parameter can rewrite get a class
without the others.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from codemods.added_tests import adding_calls
from codemods.device_class import check_decorators, members_of_module
from codemods.device_instantiate import check_names_in
from codemods.device_values import Blocked
from codemods.edit import BLANK, SourceFile, Splice, first_line, is_docstring, splice
from codemods.imported_change import importers_of
from codemods.own_entries import following, places
from codemods.plan import CannotEdit, Change, Codemod, Context, ImportedChange, Plan, PlanBuilder
from codemods.split_labels import doubts_of, labels_of, movable, settled
from codemods.split_level import known_by_name, likely_test
from codemods.split_parts import REST, Part, bases_in, helpers_of_one, names_in, owners_of
from codemods.split_portable import left_of, takes_device_safely
from hwlint.classify.verdict import Verdict
from hwlint.scan.facts import Block, Instantiation, Span
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass

BRANCHES = ("if", "elif", "else", "try")
"""Blocks that a class may stand in; its parts stand in the same one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitChange(ImportedChange):
    """A class to split; the first part keeps the name."""

    class_line: int
    parts: tuple[Part, ...]
    base: str
    """Name for what they share."""
    call: Span | None = None
    """Of the instantiation of the class, which is said once more for each further part."""
    further: tuple[str, ...] = ()
    """The instantiations of the further parts, where they are others."""

    @property
    def becomes(self) -> tuple[str, ...]:
        return tuple(part.name for part in self.parts)


class SplitClass(Codemod):
    name = "split_class"
    summary = "Splits classes by label, and by whether tests can leave their device (only with `--split`)."

    def enabled(self, context: Context) -> bool:
        return context.options.split

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        for cls in context.test_classes():
            verdict = context.verdict(cls)
            if verdict is None or verdict.label not in ("SPLIT", "ACCELERATOR"):
                continue
            labels = labels_of(context, cls, verdict)
            split = len(set(labels.values())) > 1
            if not split and (cls.is_instantiated or verdict.label == "SPLIT"):
                continue
            try:
                plan.add(_change(context, cls, verdict, labels))
            except Blocked as blocked:
                if split:  # Else device_parameter says what stands against it.
                    plan.refuse(cls.facts.qualname, blocked.reason, blocked.text, blocked.span or class_span(cls.facts))
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        return [s for change in changes if isinstance(change, SplitChange) for s in split_splices(file, change)]


def _change(context: Context, cls: LinkedClass, verdict: Verdict, labels: Mapping[str, str]) -> SplitChange:
    """Raises Blocked."""
    check_apart(context, cls)
    if cls.device_type_instantiations:
        raise Blocked("already-instantiated", "it is instantiated for devices", cls.device_type_instantiations[0].span)
    found = [i for i in cls.instantiations if i.kind == "parametrized"]
    unusual = any(i.form == "assignment" or len(i.arguments) > 1 or not _is_in_branches(i.blocks) for i in found)
    if len(found) > 1 or unusual:
        raise Blocked("already-instantiated", "it is instantiated in an unusual way", found[0].span)
    call = next((i for i in found if i.form == "call"), None)
    doubts = doubts_of(context, cls, verdict)
    portable = movable(context, cls, labels, doubts)
    while True:
        parts = settled(verdict, labels, doubts, portable)
        first = "GENERIC" if "GENERIC" in parts.values() else REST
        likely = likely_test(context, verdict, parts)
        change = split_change(SplitClass.name, context, cls, parts, first, call, likely)
        left = _left_of(context, change, portable) if portable else ()
        if left == portable:
            return _held_back(context, change) if "GENERIC" not in parts.values() else change
        portable = left


def _held_back(context: Context, change: SplitChange) -> SplitChange:
    """The change that only takes out what device_parameter can rewrite, as unsafe where that would be: else nothing
    would come of it.
    """
    if context.options.unsafe or change.applicability == "unsafe":
        return change
    file = context.source()
    part = next((part for part in change.parts if part.label == "ACCELERATOR"), None)
    try:
        text = splice(file.text, split_splices(file, change))
    except CannotEdit:
        return change  # What stands against it is said where it is made.
    if part is None or takes_device_safely(context, text, part.name):
        return change
    why = f"to instantiate {part.name} is unsafe"
    return replace(change, applicability="unsafe", description=f"{change.description} ({why})")


def _left_of(context: Context, change: SplitChange, tests: tuple[str, ...]) -> tuple[str, ...]:
    """Those of ``tests`` that device_parameter can still rewrite when the change is made."""
    file = context.source()
    name = next(part.name for part in change.parts if part.label == "ACCELERATOR")
    try:
        return left_of(context, splice(file.text, split_splices(file, change)), name, tests)
    except CannotEdit:
        return ()


def split_change(
    codemod: str,
    context: Context,
    cls: LinkedClass,
    by_test: Mapping[str, str],
    first: str,
    call: Instantiation | None,
    doubts: Sequence[str] = (),
) -> SplitChange:
    """The change that gives each label of ``by_test`` a class; that of ``first``, where it is one, keeps the name.

    It is a safe one, for those who ask for splits, but for ``doubts``, and where somebody knows a test that moves by
    the name of its class. Raises Blocked where a name that it needs is taken.
    """
    labels = list(dict.fromkeys(by_test.values()))
    if first in labels:
        labels.remove(first)
        labels.insert(0, first)
    taken = members_of_module(context)
    parts = []
    for label in labels:
        name = cls.name if label == labels[0] else _free(taken, names_in(cls, label))
        tests = tuple(f.name for f in cls.own_tests if by_test.get(f.name) == label)
        parts.append(Part(name, label, tests, helpers_of_one(cls, by_test, label)))
    base = _free(taken, bases_in(cls))
    _check_members(cls, parts)
    qualname = cls.facts.qualname
    moved = [(part.name, name) for part in parts[1:] for name in (*part.tests, *part.helpers)]
    placed = {name for part in parts for name in (*part.tests, *part.helpers)}
    moved += [(base, m.name) for m in cls.facts.methods if m.name not in placed]
    importers = importers_of(context, cls)
    why = (*doubts, *known_by_name(context, cls, parts), *(f"{path} imports it" for path in importers))
    return SplitChange(
        codemod=codemod,
        symbol=qualname,
        span=class_span(cls.facts),
        description="split into "
        + " and ".join(f"{part.name} ({part.label})" for part in parts)
        + (f" ({'; '.join(why)})" if why else ""),
        applicability="unsafe" if why else "safe",
        renames=tuple(((qualname, member), (owner, member)) for owner, member in moved),
        cls=cls.name,
        importers=importers,
        class_line=cls.facts.line,
        parts=tuple(parts),
        base=base,
        call=call.span if call is not None else None,
    )


def _free(taken: Collection[str], names: Sequence[str]) -> str:
    """The first of the names that is not taken. Raises Blocked where all are."""
    for name in names:
        if name not in taken:
            return name
    raise Blocked("name-taken", f"`{names[0]}` is there already")


def _check_members(cls: LinkedClass, parts: Sequence[Part]) -> None:
    """Raise Blocked where a part needs a test of another, or what goes is not the one that Python keeps."""
    owners = owners_of(parts)
    names = [m.name for m in cls.facts.methods]
    twice = next((n for n in names if owners.get(n) and names.count(n) > 1), "")
    if twice:
        raise Blocked("dynamic", f"`{twice}` is defined more than once")
    tests = {f.name for f in cls.own_tests}
    for method in cls.facts.methods:
        for reference in method.references:
            head, _, name = reference.partition(".")
            if head in ("self", "cls") and name in tests and owners.get(name) != owners.get(method.name):
                raise Blocked("unknown-caller", f"`{reference}` is called by `{method.name}`", method.span)


def _is_in_branches(blocks: Sequence[Block]) -> bool:
    """Whether what stands in these blocks is there once or not at all."""
    return all(b.keyword in BRANCHES for b in blocks)


def check_apart(context: Context, cls: LinkedClass) -> None:
    """Raise Blocked where the class cannot be taken apart."""
    facts = cls.facts
    if facts.tag is not None:
        raise Blocked("contradiction", f"it is tagged {facts.tag.label}")
    if facts.dynamic:
        raise Blocked("dynamic", "members may be added to it that the source does not show")
    if not _is_in_branches(facts.blocks):
        raise Blocked("layout", f"it stands in a `{facts.blocks[-1].keyword}`")
    if sum(c.name == cls.name for c in context.classes()) > 1:
        raise Blocked("name-collision", "the file has two classes of that name")
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
    importers_of(context, cls)


# Editing

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
VALUES = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set)
"""What is no test, whatever it is called."""
HEAD, SHARED = -2, -1


def split_splices(file: SourceFile, change: SplitChange) -> list[Splice]:
    """The class taken apart. Raises Blocked for what the change cannot know: how the class is written."""
    node = file.class_at(change.class_line)
    owners = owners_of(change.parts)
    if change.further:
        done = _adding(file, node, change) | places(node)
        check_names_in(file, node, change.call, done)  # The name is gone afterwards.
    else:
        _check_names(file, node, change.call, {name for name, owner in owners.items() if owner})
    new = {change.base, *(part.name for part in change.parts[1:])}
    used = next((n for name in sorted(new) for n in file.mentions.get(name, ()) if isinstance(n, ast.Name)), None)
    if used is not None:
        raise Blocked("name-taken", f"`{used.id}` is a name of the module (line {used.lineno})")
    reads = _check_scope(node, owners)
    moved = [_through_base(file, name, change.base) for name in reads]
    moved += following(file, node, {test: part.name for part in change.parts for test in part.tests})
    chunks = list(_chunks(file, node, owners, moved))
    head = [text for owner, text, _ in chunks if owner == HEAD]
    shared = [text for owner, text, _ in chunks if owner == SHARED]
    _check_documentation(node, chunks)
    bases = ", ".join(file.text[slice(*file.node_range(b))] for b in node.bases)
    if "\n" in bases or "#" in bases:
        raise Blocked("layout", f"the bases of the class on line {node.lineno} are spread out")
    line_break = file.line_break(node.lineno)
    indent = file.indent_of(node.lineno)
    apart = line_break * (2 if indent else 3)
    decorators = file.text[file.line_start(first_line(node)) : file.line_start(node.lineno)]
    given = f"{change.base}, {bases}" if shared else bases
    written = []
    if shared:
        written.append(f"{indent}class {change.base}:{line_break}" + _joined(shared, line_break))
    for index, part in enumerate(change.parts):
        body = [text for owner, text, _ in chunks if owner == index]
        body = [*head, *body] if index == 0 else body
        written.append(f"{decorators}{indent}class {part.name}({given}):{line_break}" + _joined(body, line_break))
    start = file.line_start(first_line(node))
    found = [Splice(start, _end(file, node), apart.join(written))]
    if change.call is not None:
        found.append(_further_calls(file, change))
    return found


def _adding(file: SourceFile, node: ast.ClassDef, change: SplitChange) -> set[tuple[int, int]]:
    """The places of the name where tests are added that stay with the class, which runs where it ran."""
    if change.call is None or change.parts[0].label != "ACCELERATOR":
        return set()
    moved = [name for part in change.parts[1:] for name in (*part.tests, *part.helpers)]
    return adding_calls(file, node.name, change.call.line, moved)


def _further_calls(file: SourceFile, change: SplitChange) -> Splice:
    assert change.call is not None
    (start, end), line = file.range_of(change.call), change.call.end_line
    rest = file.text[end : file.line_end(line)].strip(BLANK)
    text = file.slice(change.call)
    if not file.starts_line(start) or rest or "#" in text:
        raise Blocked("layout", f"the call on line {line} shares its line")
    name = re.compile(rf"\b{re.escape(change.parts[0].name)}\b")
    opened = text.index("(")
    further = change.further or [
        text[:opened] + name.sub(part.name, text[opened:], count=1) for part in change.parts[1:]
    ]
    before = file.line_break(line) + file.indent_of(change.call.line)
    at = file.line_end(line)
    return Splice(at, at, "".join(f"{before}{one}" for one in further))


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


def _through_base(file: SourceFile, name: ast.Name, base: str) -> Splice:
    """What a part writes for a name of the class's own scope that stands in the base."""
    start, end = file.node_range(name)
    if file.text[start:end] != name.id:  # In an f-string, before Python 3.12.
        raise Blocked("unknown-name", f"`{name.id}` is read in the class's own scope (line {name.lineno})")
    return Splice(start, end, f"{base}.{name.id}")


def _chunks(
    file: SourceFile, node: ast.ClassDef, owners: Mapping[str, int], edits: Sequence[Splice]
) -> Iterator[tuple[int, str, bool]]:
    """(part, whole lines, whether a text stands above) of each statement of the body, with the comments above it: HEAD
    for the docstring, SHARED for what goes to the base. ``edits`` are made in them. A text by itself that is no
    docstring is a comment on what follows it.
    """
    header = _header_end(file, node)
    at = header + 1
    spoken = False
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
        is_head = is_docstring(statement) and statement is node.body[0]
        if is_docstring(statement) and not is_head and statement is not node.body[-1]:
            spoken = True
            continue
        low, high = file.line_start(at), file.line_start(last + 1)
        inside = [Splice(e.start - low, e.end - low, e.text) for e in edits if low <= e.start < high]
        text = splice(file.text[low:high], inside)
        if not text.endswith(("\n", "\r")):
            text += file.line_break(last)
        if not is_docstring(statement) and not isinstance(statement, (*DEFINITIONS, ast.Assign, ast.AnnAssign)):
            raise Blocked("layout", f"the class has a statement that is no definition (line {first})")
        yield HEAD if is_head else _owner(statement, owners), text, spoken
        at, spoken = last + 1, False


def _check_documentation(node: ast.ClassDef, chunks: Sequence[tuple[int, str, bool]]) -> None:
    """Raise Blocked where a text that comments on a method would become the documentation of a class."""
    heads: dict[int, bool] = {0: True} if any(owner == HEAD for owner, *_ in chunks) else {}
    for owner, _, spoken in chunks:
        if heads.setdefault(owner, not spoken) is False:
            raise Blocked("layout", f"a text of the class on line {node.lineno} would become another's documentation")


def _header_end(file: SourceFile, node: ast.ClassDef) -> int:
    """The line of the class's head, which has to be one line."""
    text = file.line_text(node.lineno).partition("#")[0].rstrip(BLANK)
    if not text.endswith(":") or "#" in file.line_text(node.lineno) or first_line(node.body[0]) == node.lineno:
        raise Blocked("layout", f"the head of the class takes more than a line, or has a comment (line {node.lineno})")
    return node.lineno


def assigned_names(node: ast.ClassDef) -> set[str]:
    """Names that the class's body assigns."""
    return {name for statement in node.body for name in _targets(statement)}


def _targets(statement: ast.stmt) -> list[str]:
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [c.id for target in targets for c in ast.walk(target) if isinstance(c, ast.Name)]


def _owner(statement: ast.stmt, owners: Mapping[str, int]) -> int:
    """The part that a statement of the class goes to. A test by another name stays in the first."""
    if isinstance(statement, DEFINITIONS):
        return owners.get(statement.name, SHARED)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and not isinstance(statement.value, VALUES):
        return 0 if any(name.startswith("test") for name in _targets(statement)) else SHARED
    return SHARED


def _check_scope(node: ast.ClassDef, owners: Mapping[str, int]) -> list[ast.Name]:
    """What the parts read in the class's own scope that goes to the base.

    Raises Blocked where they hang together otherwise: by such names, by private ones or by strings.
    """
    bound: dict[str, int] = {}
    found: list[ast.Name] = []
    for statement in node.body:
        owner = _owner(statement, owners)
        names = [statement.name] if isinstance(statement, DEFINITIONS) else _targets(statement)
        for name in names:
            if owners.get(name, owner) != owner:
                raise Blocked("dynamic", f"`{name}` is a test by another name (line {statement.lineno})")
            bound[name] = owner
    for statement in node.body:
        owner = _owner(statement, owners)
        for child in (c for head in _heads(statement) for c in ast.walk(head)):
            if isinstance(child, ast.Name) and bound.get(child.id, owner) != owner:
                inner = any(c is child for head in _heads(statement) for c in _inner_scopes(head))
                if bound[child.id] != SHARED or inner:
                    raise Blocked(
                        "unknown-name", f"`{child.id}` is read in the class's own scope (line {child.lineno})"
                    )
                found.append(child)
        for child in ast.walk(statement):
            if isinstance(child, ast.Constant) and isinstance(child.value, str):
                if owners.get(child.value, owner) != owner:
                    raise Blocked("unknown-name", f"`{child.value}` is named in a string (line {child.lineno})")
    for child in ast.walk(node):
        name = child.attr if isinstance(child, ast.Attribute) else child.id if isinstance(child, ast.Name) else ""
        if name.startswith("__") and not name.endswith("__"):
            raise Blocked(
                "unknown-name", f"`{name}` is private to the class (line {getattr(child, 'lineno', node.lineno)})"
            )
    return found


def _inner_scopes(head: ast.AST) -> Iterator[ast.AST]:
    """What in ``head`` stands in a scope of its own, and does not see the names of the class."""
    scopes = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    for scope in ast.walk(head):
        if isinstance(scope, scopes):
            yield from ast.walk(scope)


def _heads(statement: ast.stmt) -> list[ast.AST]:
    """What of the statement is evaluated in the scope of the class."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        returns = [statement.returns] if statement.returns is not None else []
        return [*statement.decorator_list, statement.args, *returns]
    if isinstance(statement, ast.ClassDef):
        return [*statement.decorator_list, *statement.bases, *statement.keywords]
    if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
        return [statement.value]
    return []


def _check_names(file: SourceFile, node: ast.ClassDef, call: Span | None, moved: Collection[str]) -> None:
    """Raise Blocked where the module uses the class by its name for more than members that it keeps or inherits."""
    kept = {
        (n.value.lineno, n.value.col_offset)
        for n in ast.walk(file.tree)
        if isinstance(n, ast.Attribute)
        and isinstance(n.value, ast.Name)
        and isinstance(n.ctx, ast.Load)
        and n.attr not in moved
        and not n.attr.startswith("__")
    }
    check_names_in(file, node, call, kept)
