"""Gives each test class its ``hw_classification``, moves it below the docstring, and spells it as upstream's linter
reads it.

The label is the verdict's, where that is certain. A class that would not meet the contract of its label at level
upstream, or would make a new error at level full, stays as it is: the rules themselves are asked, on the facts as
they would be with the tag. Style as seen in some hundred pull requests (pytorch/pytorch#193309, #192688): first
attribute, below the docstring, then a blank line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from codemods.class_edits import insert_first
from codemods.contract_text import unmet_contract
from codemods.edit import BLANK, SourceFile, Splice
from codemods.imports import is_taken
from codemods.plan import COMMON_UTILS, Applicability, CannotEdit, Change, Codemod, Context, Import, Plan, PlanBuilder
from codemods.rules import dependents, errors
from hwlint.classify.verdict import Verdict
from hwlint.findings import Finding
from hwlint.scan.facts import LABELS, ModuleFacts, Span, Tag
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass, Suite

ENUM = Import(COMMON_UTILS, "HardwareClassification")
Action = Literal["add", "move", "spell"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TagChange(Change):
    """A tag to write. ``span`` is that of the tag that is there, or of the ``class`` line."""

    label: str
    class_line: int
    action: Action


class Labelled(Protocol):
    """A change after which its class has a label."""

    @property
    def label(self) -> str: ...

    @property
    def applicability(self) -> Applicability: ...


Tagging = TypeVar("Tagging", bound=Labelled)


class TagClass(Codemod):
    name = "tag_class"
    summary = "Adds, moves or respells `hw_classification`, where the evidence for the label is certain."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        added: list[tuple[LinkedClass, TagChange]] = []
        for cls in context.test_classes():
            if cls.facts.tag is not None and cls.facts.tag.label:
                _plan_present(plan, context, cls, cls.facts.tag)
            elif cls.own_tests or cls.facts.tag is not None:
                change = new_tag(plan, context, cls)
                if change is not None:
                    added.append((cls, change))
        for change in meeting_the_contract(plan, context, added, _imagined):
            plan.add(change)
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        for change in changes:
            if isinstance(change, TagChange):
                found.extend(tag_splices(file, change))
        return found


def tag_text(label: str) -> str:
    return f"hw_classification = HardwareClassification.{label}"


def tag_change(
    codemod: str, cls: LinkedClass, label: str, applicability: Literal["safe", "unsafe"], why: str
) -> TagChange:
    """The change that gives ``cls``, which has none or an invalid one, the tag ``label``."""
    tag = cls.facts.tag
    return TagChange(
        codemod=codemod,
        symbol=cls.facts.qualname,
        span=class_span(cls.facts) if tag is None else tag.span,
        description=f"tag {label}{why}",
        applicability=applicability,
        imports=(ENUM,),
        label=label,
        class_line=cls.facts.line,
        action="add" if tag is None else "spell",
    )


def _plan_present(plan: PlanBuilder, context: Context, cls: LinkedClass, tag: Tag) -> None:
    """What becomes of a tag that names a member."""
    verdict = context.verdict(cls)
    span = class_span(cls.facts)
    if verdict is not None and verdict.confidence == "certain" and verdict.label not in (tag.label, "SPLIT"):
        text = f"it is tagged {tag.label}, the evidence says {verdict.label}{_because(verdict)}"
        plan.refuse(cls.facts.qualname, "contradiction", text, span)
    if not tag.above_docstring and tag.upstream:
        return
    if context.is_suppressed("HW109", tag.span.line):
        plan.refuse(cls.facts.qualname, "suppressed", "HW109 is suppressed there", span)
    elif not tag.upstream and is_taken(context.module, ENUM):
        plan.refuse(cls.facts.qualname, "name-taken", f"`{ENUM.name}` means something else in this file", span)
    else:
        action: Action = "move" if tag.above_docstring else "spell"
        description = (
            "move the tag below the docstring" if tag.above_docstring else "spell the tag as upstream's linter reads it"
        )
        change = tag_change(plan.codemod, cls, tag.label, "safe", "")
        plan.add(replace(change, action=action, description=description, imports=() if tag.upstream else (ENUM,)))


def new_tag(plan: PlanBuilder, context: Context, cls: LinkedClass) -> TagChange | None:
    """The change that tags ``cls``, None where it is refused; the contract is still to be asked.

    It is safe where the label may be written without asking.
    """
    name, span = cls.facts.qualname, class_span(cls.facts)
    if any(b.keyword in ("class", "for", "while") for b in cls.facts.blocks):
        plan.refuse(name, "generated-class", f"it stands in a `{cls.facts.blocks[-1].keyword}`", span)
        return None
    if context.is_suppressed("HW101", cls.facts.line):
        plan.refuse(name, "suppressed", "HW101 is suppressed there", span)
        return None
    if is_taken(context.module, ENUM):
        plan.refuse(name, "name-taken", f"`{ENUM.name}` means something else in this file", span)
        return None
    asked = context.label_option(cls)
    if asked:
        return tag_change(plan.codemod, cls, asked, "safe", " (as asked)")
    if cls.facts.dynamic:
        plan.refuse(name, "dynamic", "tests may be added to it that the source does not show", span)
        return None
    verdict = context.verdict(cls)
    if verdict is None:
        plan.refuse(name, "no-verdict", "nothing is known for or against any label", span)
        return None
    if verdict.label not in LABELS:
        plan.refuse(name, "split", f"its tests belong to {_split_text(verdict)}", span)
        return None
    if verdict.confidence == "unsure":
        plan.refuse(name, "uncertain", f"probably {verdict.label}, not sure{_because(verdict)}", span)
        return None
    if context.settings.migrate.subclass_tags == "inherit" and _inherits(cls, verdict.label):
        plan.refuse(name, "policy", f"it inherits {verdict.label} (subclass-tags is 'inherit')", span)
        return None
    if cls.label and cls.label != verdict.label:
        text = f"it inherits {cls.label}, the evidence says {verdict.label}{_because(verdict)}"
        plan.refuse(name, "contradiction", text, span)
        return None
    accepted = verdict.confidence == "certain" or context.settings.migrate.confidence == "likely"
    why = "" if verdict.confidence == "certain" else " (likely)"
    return tag_change(plan.codemod, cls, verdict.label, "safe" if accepted else "unsafe", why)


def _inherits(cls: LinkedClass, label: str) -> bool:
    return any(base.label == label for base in cls.mro[1:])


def _because(verdict: Verdict) -> str:
    """The weightiest evidence, in words."""
    evidence = sorted(verdict.evidence, key=lambda e: -e.weight)[:2]
    return ": " + "; ".join(e.message for e in evidence) if evidence else ""


def _split_text(verdict: Verdict) -> str:
    counts = Counter(test.label for test in verdict.tests)
    parts = []
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        names = [test.name for test in verdict.tests if test.label == label]
        shown = ", ".join(names[:3]) + (", ..." if count > 3 else "")
        parts.append(f"{label} ({shown})")
    return " and ".join(parts) or "several labels"


def meeting_the_contract(
    plan: PlanBuilder,
    context: Context,
    added: Sequence[tuple[LinkedClass, Tagging]],
    imagine: Callable[[ModuleFacts, Iterable[tuple[LinkedClass, Tagging]]], ModuleFacts],
) -> Iterable[Tagging]:
    """Those of the changes after which the class is clean at level upstream and no new error is there at level full.

    ``imagine`` gives the facts as they would be with some of the changes. A subclass inherits the tag: an error that
    it would get by that stands against the tag of its base.
    """
    kept = {id(cls): (cls, change) for cls, change in added}
    if not kept:
        return ()
    imagined = imagine(context.module, kept.values())
    upstream = _by_class(errors("upstream", imagined, context.suite_with(imagined), context.settings))
    for cls, change in list(kept.values()):
        unmet = upstream.get(cls.facts.qualname, [])
        if unmet:
            plan.refuse(cls.facts.qualname, *unmet_contract(context, cls, change.label, unmet))
            del kept[id(cls)]
    before = Counter(f.fingerprint for f in _errors_around(context, context.module, context.suite))
    while kept:
        # What nobody asked for is held back: it cannot keep a subclass from inheriting another's tag.
        made = {k: v for k, v in kept.items() if context.options.unsafe or v[1].applicability == "safe"}
        imagined = imagine(context.module, made.values())
        fresh = [
            f for f in _errors_around(context, imagined, context.suite_with(imagined)) if f.fingerprint not in before
        ]
        blamed = {
            id(culprit): (culprit, f) for f in reversed(fresh) if (culprit := _culprit(context, made, f)) is not None
        }
        for cls, finding in blamed.values():
            own = finding.path == cls.path and f"{finding.symbol}.".startswith(f"{cls.facts.qualname}.")
            reason, who = (
                ("new-error", "it")
                if own
                else ("subclassed", f"{finding.symbol.partition('.')[0]}, which inherits that,")
            )
            text = f"tagged {kept[id(cls)][1].label}, {who} would make an error: {finding.message}"
            plan.refuse(cls.facts.qualname, reason, text, class_span(cls.facts))
            del kept[id(cls)]
        if not blamed:
            break
    return [change for _, change in kept.values()]


def _errors_around(context: Context, module: ModuleFacts, suite: Suite) -> list[Finding]:
    """Errors at level full in ``module`` and in the modules whose classes derive from its own."""
    found = list(errors("full", module, suite, context.settings))
    for path in dependents(suite, module.path):
        found.extend(errors("full", suite.modules[path], suite, context.settings))
    return found


def _culprit(context: Context, kept: Mapping[int, tuple[LinkedClass, Tagging]], finding: Finding) -> LinkedClass | None:
    """The class whose new tag makes the finding: the one it is about, else its nearest base among those that are
    tagged.
    """
    name = finding.symbol
    while name:
        cls = context.suite.find_class(finding.path, name)
        if cls is not None:
            return next((base for base in cls.mro if id(base) in kept), None)
        name = name.rpartition(".")[0]
    return None


def _imagined(module: ModuleFacts, added: Iterable[tuple[LinkedClass, TagChange]]) -> ModuleFacts:
    return with_tags(module, ((cls, change.label) for cls, change in added))


def with_tags(module: ModuleFacts, tags: Iterable[tuple[LinkedClass, str]]) -> ModuleFacts:
    """The facts as they would be with tags on those classes."""
    labels = {id(cls.facts): label for cls, label in tags}
    classes = []
    for facts in module.classes:
        label = labels.get(id(facts))
        if label is not None:
            span = Span(facts.line, 0, facts.line, 0)
            facts = replace(facts, tag=Tag(span, label, upstream=True, text=tag_text(label)))
        classes.append(facts)
    return replace(module, classes=tuple(classes))


def _by_class(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        symbol = finding.symbol
        while symbol:  # 'Outer.Class.test' is about the test, the class and the outer class.
            found.setdefault(symbol, []).append(finding)
            symbol = symbol.rpartition(".")[0]
    return found


# Editing


def tag_splices(file: SourceFile, change: TagChange) -> list[Splice]:
    """The splices of one tag, the import left out."""
    if change.action == "add":
        return [insert_first(file, change.class_line, tag_text(change.label))]
    start, end = file.range_of(change.span)
    if change.action == "spell":
        return [Splice(start, end, tag_text(change.label))]
    first, last = change.span.line, change.span.end_line
    line_end = file.line_end(last)
    rest = file.text[end:line_end]
    if not file.starts_line(start) or (rest.strip(BLANK) and not rest.lstrip(BLANK).startswith("#")):
        raise CannotEdit("the tag shares its line with another statement")
    docstring = file.class_at(change.class_line).body[1]
    below = docstring.end_lineno or docstring.lineno
    after = file.text[file.node_range(docstring)[1] : file.line_end(below)].strip(BLANK)
    if not file.starts_line(file.node_range(docstring)[0]) or (after and not after.startswith("#")):
        raise CannotEdit("the docstring shares its lines with another statement")
    gap = last + 1
    while file.is_blank(gap) and gap < docstring.lineno:
        gap += 1
    indent, line_break, at = file.indent_of(first), file.line_break(last), file.line_end(below)
    following = "" if below + 1 > file.line_count or file.is_blank(below + 1) else line_break
    return [
        Splice(file.line_start(first), file.line_start(gap), ""),
        Splice(at, at, f"{line_break}{line_break}{indent}{tag_text(change.label)}{rest.rstrip(BLANK)}{following}"),
    ]
