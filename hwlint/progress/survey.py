"""An analysis -> the states of its test files: labels, verdicts, what still binds, what is refused.

Everything here hangs on the analysis alone; owners, groups and the allowlist are added by :mod:`hwlint.progress.build`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from hwlint import codec
from hwlint.check import check, clean_files
from hwlint.classify.verdict import Verdict
from hwlint.config import Settings
from hwlint.engine import Analysis
from hwlint.findings import Finding, Severity
from hwlint.progress.count import class_state, counted_classes, function_tests
from hwlint.progress.model import UNCLASSIFIED, ClassState, Construct, FileState, StaleEntry, Step
from hwlint.rules.base import RuleContext
from hwlint.rules.contract import RULES as CONTRACT
from hwlint.rules.contract import ContractRule
from hwlint.rules.registry import all_rules
from hwlint.rules.subjects import Subject
from hwlint.suite.model import LinkedClass, Suite

Judge = Callable[[Suite, Sequence[str], Settings], Sequence[Verdict]]

BINDING = (
    "HW108",
    "HW201",
    "HW202",
    "HW203",
    "HW204",
    "HW205",
    "HW301",
    "HW302",
    "HW4",
    "HW501",
    "HW502",
    "HW503",
    "HW7",
)
"""Codes, or beginnings of codes, of what binds a test to a device. Unused parameters (HW206) and text (HW207) do
not.
"""
EVERY_DEVICE = ("GENERIC", "ACCELERATOR")
"""Labels that nothing binding agrees with."""
LABEL_CONTRACT = ("HW102", "HW103", "HW104", "HW105", "HW106", "HW107", "HW110")


@dataclass(frozen=True, slots=True)
class Survey:
    """The states of the test files among an analysis's checked files, by path."""

    files: tuple[FileState, ...]


codec.register((Survey, FileState, ClassState, Construct, Step, StaleEntry))


def survey(analysis: Analysis, judge: Judge) -> Survey:
    """The state of each checked test file. ``judge`` gives the verdicts (:func:`hwlint.classify.judge.classify`)."""
    settings = analysis.settings
    paths = [path for path in analysis.checked if settings.is_test_file(path)]
    verdicts = {(v.path, v.line): v for v in judge(analysis.suite, paths, settings)}
    rules = tuple(r for r in all_rules() if r.code.startswith((*BINDING, *LABEL_CONTRACT)))
    findings = check(analysis, rules).findings
    bound = _bound(analysis.suite, findings)
    contract: dict[str, Counter[tuple[str, str]]] = {}
    for finding in findings:
        if finding.code in LABEL_CONTRACT and finding.severity is not Severity.INFO:
            contract.setdefault(finding.path, Counter())[finding.code, finding.symbol] += 1
    clean = frozenset(clean_files(analysis, frozenset(paths)))
    return Survey(
        tuple(
            replace(
                _file(analysis, path, verdicts, bound),
                contract=_constructs(contract.get(path, Counter())),
                clean=path in clean,
            )
            for path in paths
        )
    )


def _file(
    analysis: Analysis,
    path: str,
    verdicts: dict[tuple[str, int], Verdict],
    bound: dict[int, Counter[tuple[str, str]]],
) -> FileState:
    facts = analysis.suite.modules[path]
    return FileState(
        path=path,
        group="",
        owners=facts.owners,
        code_owners=(),
        classes=tuple(
            _class(analysis, cls, verdicts.get((path, cls.facts.line)), bound.get(id(cls), Counter()))
            for cls in counted_classes(analysis.suite, path)
        ),
        function_tests=function_tests(facts),
        problem="" if facts.problem is None else facts.problem.message,
    )


def _class(
    analysis: Analysis, cls: LinkedClass, verdict: Verdict | None, bound: Counter[tuple[str, str]]
) -> ClassState:
    return replace(
        class_state(cls),
        verdict="" if verdict is None else verdict.label,
        confidence="" if verdict is None else verdict.confidence,
        bound=_constructs(bound),
        refusals=() if cls.label != UNCLASSIFIED else tuple(refusals(analysis, cls, verdict)),
    )


def _constructs(count: Counter[tuple[str, str]]) -> tuple[Construct, ...]:
    return tuple(Construct(code, name, n) for (code, name), n in sorted(count.items(), key=lambda i: (-i[1], i[0])))


def _bound(suite: Suite, findings: Iterable[Finding]) -> dict[int, Counter[tuple[str, str]]]:
    """What binds each class that is tagged for every device, or none, by the identity of the class."""
    found: dict[int, Counter[tuple[str, str]]] = {}
    for finding in findings:
        if finding.severity is Severity.INFO or not finding.code.startswith(BINDING):
            continue
        places = [(finding.path, finding.span.line)]
        if finding.code != "HW108":  # Its other places are those of other rules.
            places += [(r.path, r.span.line) for r in finding.related]
        for path, line in dict.fromkeys(places):
            cls = _class_at(suite, path, line)
            if cls is not None and cls.label in EVERY_DEVICE:
                found.setdefault(id(cls), Counter())[finding.code, _name(finding)] += 1
    return found


def _name(finding: Finding) -> str:
    return finding.detail if finding.code != "HW108" else "contradicted classification"


def _class_at(suite: Suite, path: str, line: int) -> LinkedClass | None:
    """The innermost counted class whose source has that line."""
    if path not in suite.modules:
        return None
    around = [c for c in counted_classes(suite, path) if c.facts.span.line <= line <= c.facts.span.end_line]
    return max(around, key=lambda c: c.facts.span.line, default=None)


def refusals(analysis: Analysis, cls: LinkedClass, verdict: Verdict | None) -> list[str]:
    """Why adding the verdict's label to a class would not finish it; empty where that is all it takes."""
    if not cls.own_tests:
        return _without_own_tests(cls)
    if verdict is None:
        return ["no verdict"]
    if verdict.label == "SPLIT":
        labels = dict.fromkeys(t.label for t in verdict.tests)
        return [
            f"its tests belong to several labels ({', '.join(labels)})"
            if labels
            else "its tests belong to several labels"
        ]
    accepted = ("certain", "likely") if analysis.settings.migrate.confidence == "likely" else ("certain",)
    if verdict.confidence not in accepted:
        return [f"{verdict.label} is only {verdict.confidence}"]
    calls = cls.device_type_instantiations + tuple(i for _, i in cls.foreign_instantiations if i.kind == "device_type")
    subject = Subject(cls, verdict.label, False, cls.own_tests, calls, analysis.settings.linter)
    context = RuleContext(cls.module, analysis.suite, analysis.catalog, analysis.settings)
    found = []
    for rule in CONTRACT:
        if rule.code in LABEL_CONTRACT[1:] and issubclass(rule, ContractRule):
            broken = list(rule().check_class(context, subject))
            if broken:
                more = f" ({len(broken)} places)" if len(broken) > 1 else ""
                found.append(f"as {verdict.label}: {rule.code} {rule.name}{more}")
    return found


def _without_own_tests(cls: LinkedClass) -> list[str]:
    """What ``migrate`` leaves alone: the label is for the class that holds the tests."""
    if cls.inherited_tests:
        owner = cls.inherited_tests[0].owner
        return [] if owner.path == cls.path else [f"its tests are those of {owner.facts.qualname} in {owner.path}"]
    return ["its tests are copied from a template"]
