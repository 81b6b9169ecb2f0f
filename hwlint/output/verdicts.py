"""Verdicts as text, JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hwlint.classify.verdict import Evidence, TestVerdict, Verdict

SHOWN_TESTS = 4
"""Names of tests listed for each label of a SPLIT before the rest is counted."""


def as_text(verdicts: Sequence[Verdict], *, evidence: bool = False, tests: bool = False) -> str:
    """A table by file; ``evidence`` puts the reasons under each class, ``tests`` the judgement on each test."""
    lines: list[str] = []
    path = ""
    width = max((len(v.class_name) for v in verdicts), default=0)
    for verdict in verdicts:
        if verdict.path != path:
            lines += ["", verdict.path] if lines else [verdict.path]
            path = verdict.path
        said = f"{verdict.label:<11} {verdict.confidence:<7}  {_current(verdict)}"
        lines.append(f"  {verdict.line:>5}  {verdict.class_name:<{width}}  {said}".rstrip())
        if verdict.label == "SPLIT" and not tests:
            lines += [f"           {part}" for part in split_parts(verdict.tests)]
        if evidence:
            lines += [f"           {_reason(one)}" for one in verdict.evidence]
        if tests:
            for test in verdict.tests:
                lines.append(f"           {test.name}: {test.label} ({test.confidence})")
                if evidence:
                    lines += [f"             {_reason(one)}" for one in test.evidence]
    return "\n".join([*lines, "", summary(verdicts), ""]) if lines else summary(verdicts) + "\n"


def split_parts(tests: Iterable[TestVerdict]) -> list[str]:
    """'CUDA: test_a, test_b and 3 more', the label with most tests first."""
    by_label: dict[str, list[str]] = {}
    for test in tests:
        by_label.setdefault(test.label, []).append(test.name)
    parts = []
    for label, names in sorted(by_label.items(), key=lambda item: (-len(item[1]), item[0])):
        rest = f" and {len(names) - SHOWN_TESTS} more" if len(names) > SHOWN_TESTS else ""
        parts.append(f"{label} ({len(names)}): {', '.join(names[:SHOWN_TESTS])}{rest}")
    return parts


def summary(verdicts: Sequence[Verdict]) -> str:
    """One line of counts."""
    if not verdicts:
        return "no test classes"
    labels = Counter(v.label for v in verdicts)
    sure = Counter(v.confidence for v in verdicts)
    counts = ", ".join(f"{n} {label}" for label, n in labels.most_common())
    confidences = ", ".join(f"{sure[c]} {c}" for c in ("certain", "likely", "unsure") if sure[c])
    return f"{len(verdicts)} classes: {counts}; {confidences}"


def as_json(verdicts: Sequence[Verdict]) -> str:
    """An array of objects: path, class, line, label, confidence, current, current_inherited, evidence, tests."""
    return json.dumps([_document(v) for v in verdicts], indent=1) + "\n"


def _document(verdict: Verdict) -> dict[str, Any]:
    return {
        "path": verdict.path,
        "class": verdict.class_name,
        "line": verdict.line,
        "label": verdict.label,
        "confidence": verdict.confidence,
        "current": verdict.current or None,
        "current_inherited": verdict.current_inherited,
        "evidence": [_evidence(e) for e in verdict.evidence],
        "tests": [
            {
                "name": test.name,
                "line": test.line,
                "label": test.label,
                "confidence": test.confidence,
                "inherited_from": test.inherited_from or None,
                "evidence": [_evidence(e) for e in test.evidence],
            }
            for test in verdict.tests
        ],
    }


def _evidence(one: Evidence) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "argues_for": one.argues_for or None,
        "message": one.message,
        "path": one.path,
        "line": one.span.line,
        "weight": one.weight,
    }


def as_csv(verdicts: Sequence[Verdict]) -> str:
    """A row a class: path, class, line, label, confidence, current, tests, evidence."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["path", "class", "line", "label", "confidence", "current", "tests", "evidence"])
    for v in verdicts:
        reasons = "; ".join(_reason(e) for e in v.evidence)
        writer.writerow([v.path, v.class_name, v.line, v.label, v.confidence, v.current, len(v.tests), reasons])
    return out.getvalue()


def as_markdown(verdicts: Sequence[Verdict]) -> str:
    """A table that fits a pull request."""
    lines = ["| file | class | now | verdict | confidence | why |", "| --- | --- | --- | --- | --- | --- |"]
    for v in verdicts:
        why = "<br>".join(_cell(part) for part in split_parts(v.tests)) if v.label == "SPLIT" else ""
        why = why or (_cell(v.evidence[0].message) if v.evidence else "")
        lines.append(
            f"| {_cell(v.path)}:{v.line} | `{v.class_name}` | {v.current} | {v.label} | {v.confidence} | {why} |"
        )
    return "\n".join([*lines, "", summary(verdicts), ""])


FORMATS: dict[str, Callable[[Sequence[Verdict]], str]] = {"json": as_json, "csv": as_csv, "markdown": as_markdown}


def _current(verdict: Verdict) -> str:
    if not verdict.current:
        return "unclassified"
    inherited = ", inherited" if verdict.current_inherited else ""
    agrees = "" if verdict.current == verdict.label else ", disagrees"
    return f"now {verdict.current}{inherited}{agrees}"


def _reason(one: Evidence) -> str:
    towards = f"{one.argues_for}: " if one.argues_for else ""
    return f"{towards}{one.message} ({one.path}:{one.span.line})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
