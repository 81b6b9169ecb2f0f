"""What a migration did, did not do, and why: as text and as JSON. The Markdown for a pull request is
:mod:`codemods.pull_request`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import hwlint
from codemods.name_keys import KeyedName
from codemods.patch import unified_diff
from codemods.pipeline import Outcome
from codemods.plan import REASONS, Change, Refusal
from codemods.write import Unwritten
from hwlint.suite.manifest import FATES

VERSION = 1


@dataclass(frozen=True)
class Report:
    """The outcomes of a run and what was done with them."""

    outcomes: tuple[Outcome, ...]
    wrote: bool = False
    """Whether files were to be written: positions are then those of the new text."""
    written: tuple[str, ...] = ()
    unwritten: tuple[Unwritten, ...] = ()
    keyed: tuple[KeyedName, ...] = ()
    no_longer_allowlisted: tuple[str, ...] = ()

    @property
    def changed(self) -> list[Outcome]:
        return [o for o in self.outcomes if o.changed]

    @property
    def changes(self) -> int:
        return sum(len(o.changes) for o in self.outcomes)

    @property
    def held(self) -> list[tuple[Outcome, Change]]:
        return [(o, c) for o in self.outcomes for c in o.held]

    @property
    def refusals(self) -> list[tuple[Outcome, Refusal]]:
        return [(o, r) for o in self.outcomes for r in o.refusals]

    @property
    def faults(self) -> list[tuple[Outcome, Refusal]]:
        """Changes that the guard took back: bugs of ours."""
        return [(o, r) for o, r in self.refusals if r.reason == "guard"]

    def line(self, outcome: Outcome, line: int) -> int:
        """A line of the outcome's last text, as the reader finds it in the file."""
        return line if self.wrote else outcome.line_before(line)

    def reasons(self) -> list[tuple[str, int]]:
        """Refusal reasons and how often, the most frequent first."""
        counts = Counter(r.reason for _, r in self.refusals)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


# Text


def as_text(report: Report, *, advice: bool = False) -> str:
    """By file what was changed, held back and refused; then the sums. ``advice``: what each refusal reason takes."""
    lines: list[str] = []
    for outcome in report.outcomes:
        lines += _file_lines(report, outcome)
    if lines:
        lines.append("")
    lines += _sum_lines(report, advice)
    return "\n".join(lines) + "\n"


def _file_lines(report: Report, outcome: Outcome) -> Iterator[str]:
    def place(line: int) -> str:
        return f"{outcome.path}:{report.line(outcome, line)}"

    done = Counter(_said(c) for c in outcome.changes)
    for text, count in done.items():
        yield f"{outcome.path}: {text}" + (f" (x{count})" if count > 1 else "")
    for change in outcome.held:
        yield f"{place(change.span.line)}: held back, {_said(change)} [unsafe]"
    for refusal in outcome.refusals:
        who = " ".join(part for part in (refusal.codemod, refusal.symbol) if part)
        yield f"{place(refusal.span.line)}: refused, {who}: {refusal.text} [{refusal.reason}]"
    for entry in outcome.manifest.lost:
        yield f"{outcome.path}: LOST {entry.before}"
    if outcome.crash:
        yield f"{outcome.path}: internal error: {outcome.crash.strip().splitlines()[-1]}"


def _said(change: Change) -> str:
    return (
        f"{change.codemod} {change.symbol}: {change.description}"
        if change.symbol
        else f"{change.codemod}: {change.description}"
    )


def _sum_lines(report: Report, advice: bool) -> Iterator[str]:
    changed, verb = len(report.changed), "made" if report.wrote else "to make"
    done = f"{plural(report.changes, 'change')} in {plural(changed, 'file')}"
    yield f"{plural(len(report.outcomes), 'file')}: " + (f"{done} {verb}" if changed else "nothing to change")
    held = report.held
    if held:
        names = ", ".join(f"{name} {count}" for name, count in Counter(c.codemod for _, c in held).most_common())
        yield f"{plural(len(held), 'unsafe change')} held back (--unsafe makes them): {names}"
    for reason, count in report.reasons():
        yield f"{count:>5} refused: {reason}" + (f" ({REASONS[reason]})" if advice else "")
    for key in report.keyed:
        where = f"{key.path}:{key.line}" if key.line else key.path
        yield f"keyed elsewhere: {where}: {key.key} ({key.place}) is now {key.becomes or 'gone'}"
    for path in report.no_longer_allowlisted:
        yield f"taken off the allowlist: {path}"
    for one in report.unwritten:
        yield f"not written: {one.path}: {one.why}"


# JSON


def as_document(report: Report, *, diffs: bool = True) -> dict[str, Any]:
    """The report as plain values, documented in docs/migrate.md."""
    return {
        "version": VERSION,
        "tool": {"name": "hwlint", "version": hwlint.__version__},
        "summary": {
            "files": len(report.outcomes),
            "changed_files": len(report.changed),
            "changes": report.changes,
            "held_back": len(report.held),
            "refusals": len(report.refusals),
            "reasons": dict(report.reasons()),
            "tests": tests_by_device(report),
            "clean_upstream_before": sum(o.clean_before for o in report.outcomes if o.is_test_file),
            "clean_upstream_after": sum(o.clean_after for o in report.outcomes if o.is_test_file),
            "test_files": sum(o.is_test_file for o in report.outcomes),
        },
        "files": [_file_document(report, o, diffs) for o in report.outcomes if _is_worth_a_word(o)],
        "keyed_elsewhere": [
            {"path": k.path, "line": k.line, "place": k.place, "key": k.key, "becomes": k.becomes, "meaning": k.meaning}
            for k in report.keyed
        ],
        "written": list(report.written),
        "not_written": [{"path": one.path, "why": one.why} for one in report.unwritten],
        "no_longer_allowlisted": list(report.no_longer_allowlisted),
    }


def tests_by_device(report: Report) -> dict[str, dict[str, int]]:
    """Counts of tests of the changed files by what became of them, by device; 'plain' for those that no device made."""
    total: dict[str, Counter[str]] = {}
    for outcome in report.changed:
        for device, row in outcome.manifest.by_device().items():
            total.setdefault(device or "plain", Counter()).update(row)
    return {d: {f: total[d][f] for f in FATES} for d in sorted(total)}


def _is_worth_a_word(outcome: Outcome) -> bool:
    return bool(outcome.changed or outcome.held or outcome.refusals or outcome.crash)


def _file_document(report: Report, outcome: Outcome, diffs: bool) -> dict[str, Any]:
    document: dict[str, Any] = {
        "path": outcome.path,
        "changed": outcome.changed,
        "changes": [_change_document(c) for c in outcome.changes],
        "held_back": [{**_change_document(c), "line": report.line(outcome, c.span.line)} for c in outcome.held],
        "refusals": [
            {
                "codemod": r.codemod,
                "symbol": r.symbol,
                "reason": r.reason,
                "text": r.text,
                "advice": r.advice,
                "line": report.line(outcome, r.span.line),
            }
            for r in outcome.refusals
        ],
        "tests": {
            fate: [
                {
                    "device": e.device,
                    "before": None if e.before is None else [e.before.class_name, e.before.name],
                    "after": None if e.after is None else [e.after.class_name, e.after.name],
                }
                for e in outcome.manifest.of(fate)
            ]
            for fate in FATES[1:]
        },
        "findings_before": dict(outcome.findings_before),
        "findings_after": dict(outcome.findings_after),
        "clean_upstream": outcome.clean_after,
        "crash": outcome.crash,
    }
    if diffs and outcome.changed:
        document["diff"] = unified_diff(outcome.path, outcome.before, outcome.after).decode("utf-8", "replace")
    return document


def _change_document(change: Change) -> dict[str, Any]:
    return {
        "codemod": change.codemod,
        "symbol": change.symbol,
        "description": change.description,
        "applicability": change.applicability,
    }
