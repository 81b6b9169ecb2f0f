"""The report of ``hwlint verify`` as text, as markdown for a pull request, and as JSON (documented in
docs/verify.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hwlint.verify.compare import Change, ChangeKind, Comparison, count_outcomes
from hwlint.verify.model import Ending, EndingKind, Run, Side
from hwlint.verify.verify import Report

JSON_VERSION = 1
MAX_LISTED = 20
REFERENCE_NOTE = (
    "The reference device computes with the CPU's kernels: it is a reference for integration, in the spirit of "
    "PyTorch's OpenReg, and no claim that the tests pass on real hardware."
)
STAND_IN_NOTE = (
    "This torch has no HardwareClassification; hwlint's stand-in was used, and the selection by label is hwlint's own."
)
_COLUMNS = (
    ChangeKind.KEPT, ChangeKind.BETTER, ChangeKind.WORSE, ChangeKind.FLAKY, ChangeKind.LOST, ChangeKind.MOVED,
    ChangeKind.NEW, ChangeKind.NEW_FAILING,
)  # fmt: skip
_LISTED = (ChangeKind.LOST, ChangeKind.WORSE, ChangeKind.NEW_FAILING, ChangeKind.FLAKY, ChangeKind.MOVED)


def render_text(report: Report) -> str:
    """The report for a terminal."""
    lines = [f"torch {report.torch_version or 'unknown'}; devices: {', '.join(report.request.devices)}"]
    for comparison in report.comparisons:
        lines.append(f"{comparison.file} [{comparison.device}]")
        lines.append(f"  before: {_counts(comparison.counts_before)}")
        lines.append(f"  after:  {_counts(comparison.counts_after)}")
        numbers = [f"{kind.value} {comparison.count(kind)}" for kind in _COLUMNS]
        lines.append(f"  {', '.join([*numbers, f'unlocked {len(comparison.unlocked)}'])}")
        lines += [f"  {line}" for line in _change_lines(comparison)]
    if not report.has_before:
        for run in report.runs:
            lines.append(f"{run.file} [{run.device}]: {_counts(count_outcomes(run))}")
        for run, name, outcome in report.failures()[:MAX_LISTED]:
            lines.append(f"  {outcome.kind.value}: {name} [{run.device}] {_summary(outcome.detail)}".rstrip())
        if len(report.failures()) > MAX_LISTED:
            lines.append(f"  and {len(report.failures()) - MAX_LISTED} more")
    for run, ending in _early_endings(report):
        lines.append(f"{run.file} [{run.device}, {run.side.value}]: {_ending(ending)}")
        lines += [f"    {line}" for line in ending.tail.splitlines()]
    lines += _label_lines(report)
    lines += _notes(report)
    lines.append(f"verdict: {_verdict(report)}")
    return "\n".join(lines) + "\n"


def render_markdown(report: Report) -> str:
    """The report as a table and lists for the text of a pull request."""
    lines = [f"### hwlint verify (torch {report.torch_version or 'unknown'})", ""]
    if report.comparisons:
        heads = ["file", "device", "before", "after", *(kind.value for kind in _COLUMNS), "unlocked"]
        lines += ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
        for comparison in report.comparisons:
            cells = [
                f"`{comparison.file}`", comparison.device, _counts(comparison.counts_before),
                _counts(comparison.counts_after), *(str(comparison.count(kind)) for kind in _COLUMNS),
                str(len(comparison.unlocked)),
            ]  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
        for comparison in report.comparisons:
            listed = list(_change_lines(comparison, code="`"))
            if listed:
                lines += ["", f"`{comparison.file}`, {comparison.device}:", *(f"* {line}" for line in listed)]
    if not report.has_before:
        lines += ["| file | device | outcomes |", "| --- | --- | --- |"]
        lines += [f"| `{run.file}` | {run.device} | {_counts(count_outcomes(run))} |" for run in report.runs]
        failures = report.failures()
        lines += [""] if failures else []
        lines += [f"* {outcome.kind.value}: `{name}` ({run.device})" for run, name, outcome in failures[:MAX_LISTED]]
        lines += [f"* and {len(failures) - MAX_LISTED} more"] if len(failures) > MAX_LISTED else []
    for run, ending in _early_endings(report):
        lines += ["", f"`{run.file}`, {run.device}, {run.side.value}: {_ending(ending)}"]
        if ending.tail:
            lines += ["", "```", *ending.tail.splitlines(), "```"]
    labels = _label_lines(report)
    lines += ["", *(f"* {line.strip()}" for line in labels)] if labels else []
    lines += ["", *_notes(report)]
    return "\n".join(lines).rstrip() + "\n"


def render_json(report: Report) -> str:
    """The whole report; ``version`` changes when a field is taken away or changes its meaning."""
    return json.dumps(
        {
            "version": JSON_VERSION,
            "torch": report.torch_version,
            "devices": list(report.request.devices),
            "base": report.request.base or report.request.before,
            "ok": not report.is_bad,
            "runs": [_run_json(run) for run in report.runs],
            "comparisons": [
                {
                    "file": comparison.file,
                    "device": comparison.device,
                    "before": dict(comparison.counts_before),
                    "after": dict(comparison.counts_after),
                    "counts": {kind.value: comparison.count(kind) for kind in _COLUMNS},
                    "unlocked": [change.after for change in comparison.unlocked],
                    "changes": [_change_json(change) for change in comparison.changes],
                }
                for comparison in report.comparisons
            ],
            "labels": [
                {
                    "file": check.file, "device": check.device, "label": check.label, "selected": check.selected,
                    "not_selected": list(check.not_selected), "not_expected": list(check.not_expected),
                }
                for check in report.label_checks
            ],
            "notes": _notes(report),
        },
        indent=2,
    ) + "\n"  # fmt: skip


def _run_json(run: Run) -> dict[str, Any]:
    return {
        "file": run.file,
        "side": run.side.value,
        "device": run.device,
        "device_type": run.device_type,
        "stand_in": run.stand_in,
        "endings": [
            {"kind": ending.kind.value, "during": ending.during, "detail": ending.detail, "tail": ending.tail}
            for ending in run.endings
        ],
        "label_errors": list(run.label_errors),
        "tests": [
            {
                "id": test.id,
                "name": test.name,
                "device_type": test.device_type,
                "template": f"{test.template_class}.{test.template_test}",
                "label": test.label,
                "outcome": run.outcome(test).kind.value,
                "detail": run.outcome(test).detail,
            }
            for test in run.tests
        ],
    }


def _change_json(change: Change) -> dict[str, Any]:
    return {
        "kind": change.kind.value,
        "before": change.before or None,
        "after": change.after or None,
        "outcome_before": change.outcome_before.kind.value if change.outcome_before else None,
        "outcome_after": change.outcome_after.kind.value if change.outcome_after else None,
        "detail": change.outcome_after.detail if change.outcome_after and change.kind is not ChangeKind.KEPT else "",
        "unlocked": change.unlocked,
    }


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items())) or "no tests"


def _change_lines(comparison: Comparison, code: str = "") -> Iterator[str]:
    for kind in _LISTED:
        changes = [change for change in comparison.changes if change.kind is kind]
        for change in changes[:MAX_LISTED]:
            name = change.after or change.before
            was = change.outcome_before.kind.value if change.outcome_before else "not there"
            now = change.outcome_after.kind.value if change.outcome_after else "not there"
            detail = _summary(change.outcome_after.detail) if change.outcome_after and kind.is_bad else ""
            yield f"{kind.value}: {code}{name}{code} ({was} -> {now}) {detail}".rstrip()
        if len(changes) > MAX_LISTED:
            yield f"{kind.value}: and {len(changes) - MAX_LISTED} more"
    for change in comparison.unlocked[:MAX_LISTED]:
        yield f"unlocked: {code}{change.after}{code}"
    if len(comparison.unlocked) > MAX_LISTED:
        yield f"unlocked: and {len(comparison.unlocked) - MAX_LISTED} more"


def _summary(detail: str) -> str:
    """The first line, in which the runner puts the exception, the reason of a skip, or the signal."""
    return detail.strip().partition("\n")[0][:160]


def _early_endings(report: Report) -> Iterator[tuple[Run, Ending]]:
    for run in report.runs:
        for ending in run.endings:
            if ending.kind is not EndingKind.COMPLETED:
                yield run, ending


def _ending(ending: Ending) -> str:
    during = f" in {ending.during}" if ending.during else ""
    return f"{ending.kind.value}{during}: {ending.detail}"


def _label_lines(report: Report) -> list[str]:
    lines = []
    for check in report.label_checks:
        head = f"--hw-classification {check.label} on {check.file} [{check.device}]: {check.selected} tests"
        if check.agrees:
            lines.append(f"{head}, as the file says")
            continue
        lines.append(f"{head}, which is not what the file says")
        lines += [f"  labelled and not selected: {name}" for name in check.not_selected[:MAX_LISTED]]
        lines += [f"  selected and not labelled: {name}" for name in check.not_expected[:MAX_LISTED]]
    for run in report.runs:
        lines += [f"{run.file} [{run.device}]: {error}" for error in run.label_errors if run.side is Side.AFTER]
    return lines


def _verdict(report: Report) -> str:
    if not report.is_bad:
        return "fine"
    return "something was lost or got worse" if report.has_before else "something fails"


def _notes(report: Report) -> list[str]:
    notes = [REFERENCE_NOTE] if "reference" in report.request.devices else []
    return notes + ([STAND_IN_NOTE] if any(run.stand_in for run in report.runs) else [])
