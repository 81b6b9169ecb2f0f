"""Findings of today, recorded so that only new ones count.

A finding is known by its fingerprint (path, code, symbol, detail), which stays when lines move; how often one occurs is
recorded too. The file is JSON with one finding a line, sorted, so that it merges and diffs well.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hwlint.atomic import write_atomic
from hwlint.errors import ConfigError
from hwlint.findings import Finding

VERSION = 1
FIELDS = ("path", "code", "symbol", "detail")
Fingerprint = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """How often each fingerprint is known to occur."""

    counts: Counter[Fingerprint] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Compared:
    """Findings against what was known."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    gone: Counter[Fingerprint]
    """Known ones that are found no more."""


def record(findings: Iterable[Finding]) -> Baseline:
    """The baseline of these findings."""
    return Baseline(Counter(finding.fingerprint for finding in findings))


def compare(
    findings: Iterable[Finding], known: Counter[Fingerprint], age: Callable[[Finding], object] | None = None
) -> Compared:
    """Part ``findings`` into new and known ones, each in their order.

    Where a fingerprint occurs oftener than is known, the ones that sort first by ``age`` (by default: those further up)
    are known.
    """
    by_print: dict[Fingerprint, list[Finding]] = {}
    ordered: Sequence[Finding] = sorted(findings, key=lambda finding: finding.sort_key)
    for finding in ordered:
        by_print.setdefault(finding.fingerprint, []).append(finding)
    new: set[int] = set()
    for fingerprint, same in by_print.items():
        surplus = len(same) - known[fingerprint]
        if surplus > 0:
            if age is not None and surplus < len(same):
                same.sort(key=age)  # type: ignore[arg-type]
            new.update(id(finding) for finding in same[len(same) - surplus :])
    gone = known - Counter({fingerprint: len(same) for fingerprint, same in by_print.items()})
    return Compared(
        tuple(f for f in ordered if id(f) in new), tuple(f for f in ordered if id(f) not in new), gone
    )  # fmt: skip


def render(baseline: Baseline) -> str:
    """The baseline file's text."""
    rows = [
        json.dumps({**dict(zip(FIELDS, fingerprint)), "count": count})
        for fingerprint, count in sorted(baseline.counts.items())
        if count > 0
    ]
    body = "[\n" + ",\n".join("    " + row for row in rows) + "\n  ]" if rows else "[]"
    return f'{{\n  "version": {VERSION},\n  "findings": {body}\n}}\n'


def load_baseline(path: Path) -> Baseline:
    """Read the baseline at ``path``. Raises ConfigError where it is not there or of another form."""
    try:
        content = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{path}: the baseline cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ConfigError(f"{path}: the baseline is not valid JSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("findings"), list):
        raise ConfigError(f"{path}: this is no baseline of hwlint")
    if content.get("version") != VERSION:
        raise ConfigError(
            f"{path}: the baseline has version {content.get('version')!r}, this hwlint reads {VERSION}: write it again"
        )
    counts: Counter[Fingerprint] = Counter()
    for number, row in enumerate(content["findings"], start=1):
        words = [row.get(name) for name in FIELDS] if isinstance(row, dict) else [None]
        count = row.get("count", 1) if isinstance(row, dict) else 0
        if not all(isinstance(word, str) for word in words) or not isinstance(count, int) or count < 1:
            raise ConfigError(f"{path}: finding {number} of the baseline is not what hwlint writes")
        file, code, symbol, detail = map(str, words)
        counts[file, code, symbol, detail] += count
    return Baseline(counts)


def save_baseline(path: Path, baseline: Baseline) -> None:
    """Write the baseline to ``path``, whole or not at all. Raises ConfigError."""
    try:
        write_atomic(path, render(baseline).encode("utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: the baseline cannot be written: {error.strerror or error}") from None
