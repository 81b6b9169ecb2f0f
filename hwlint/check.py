"""Linked suite -> findings: the rules, then what configuration and comments leave out of them.

Pure: nothing is read or printed here. What changes from run to run while the files stay (a baseline, another revision)
is applied afterwards, to the findings of :func:`check`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hwlint import codec
from hwlint.config import Settings
from hwlint.engine import Analysis
from hwlint.findings import Finding, Severity
from hwlint.report import Crash
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.files import UnusedSuppression, problem_finding, unused_suppression
from hwlint.rules.registry import rules_for
from hwlint.scan.facts import ModuleFacts
from hwlint.suppressing import apply

MANY_MODULES = 200
"""From this many on, processes save more than they take."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What the rules say of the checked files."""

    findings: tuple[Finding, ...] = ()
    """In the order they are shown, without what is suppressed or ignored."""
    files: int = 0
    suppressed: int = 0
    ignored: int = 0
    passed_over: int = 0
    clean: tuple[str, ...] = ()
    """Files passed over in which upstream's linter would find nothing."""
    crashes: tuple[Crash, ...] = ()


codec.register((Checked, Crash))


def check(
    analysis: Analysis, rules: Sequence[type[Rule]], *, passed_over: Collection[str] = (), suppress: bool = True
) -> Checked:
    """Run ``rules`` on the checked files.

    ``passed_over``: files of the allowlist, of which only is found out whether they are clean. ``suppress``: whether
    comments count. A rule that fails on a file is a :class:`Crash`; the other rules and files go on.
    """
    active = {rule.code for rule in rules}
    findings: list[Finding] = []
    crashes: list[Crash] = []
    modules = [m for m in analysis.modules if m.path not in passed_over]
    suppressed = ignored = 0
    for module, (found, failed) in zip(modules, _run_all(rules, modules, analysis)):
        crashes += failed
        # The order in which rules meet one another's findings is no order; a rule may come upon one cause twice.
        selected = [f for f in dict.fromkeys(found) if analysis.settings.is_selected(f.code, f.path)]
        ignored += len(set(found)) - len(selected)
        if suppress and module.suppressions:
            applied = apply(
                selected,
                module.suppressions,
                active={code for code in active if analysis.settings.is_selected(code, module.path)},
                require_reason=analysis.settings.reason_required,
            )
            suppressed += len(applied.suppressed)
            selected = list(applied.kept)
            if UnusedSuppression.code in active:
                selected += (unused_suppression(module.path, one, codes) for one, codes in applied.unused)
                selected += (problem_finding(UnusedSuppression.code, module.path, p) for p in applied.problems)
        findings += selected
    judged = with_severities(findings, analysis.settings)
    return Checked(
        findings=tuple(sorted(judged, key=lambda f: f.sort_key)),
        files=len(modules),
        suppressed=suppressed,
        ignored=ignored,
        passed_over=len(analysis.checked) - len(modules),
        clean=tuple(clean_files(analysis, passed_over)),
        crashes=tuple(crashes),
    )


def clean_files(analysis: Analysis, paths: Collection[str]) -> Iterator[str]:
    """Those of ``paths`` that were checked and in which upstream's linter would find nothing, comments or not."""
    settings = replace(analysis.settings, level="upstream", select=(), ignore=(), per_file_ignores=(), severity=())
    as_upstream = replace(analysis, settings=settings)
    rules = rules_for(settings)
    for path in analysis.checked:
        if path in paths and _run(rules, analysis.suite.modules[path], as_upstream) == ([], []):
            yield path


def with_severities(findings: Iterable[Finding], settings: Settings) -> Iterator[Finding]:
    """The findings with the severities that the configuration gives their codes; the longest code that fits wins."""
    by_length = sorted(settings.severity, key=lambda pair: -len(pair[0]))
    for finding in findings:
        wish = next((severity for code, severity in by_length if finding.code.startswith(code)), None)
        yield finding if wish is None else replace(finding, severity=Severity(wish))


def _run_all(
    rules: Sequence[type[Rule]], modules: Sequence[ModuleFacts], analysis: Analysis
) -> list[tuple[list[Finding], list[Crash]]]:
    """What :func:`_run` gives for each module; for many of them in processes, which have the suite by being forked."""
    from hwlint.workers import can_fork, run_in_processes

    if analysis.jobs < 2 or len(modules) < MANY_MODULES or not can_fork():
        return [_run(rules, module, analysis) for module in modules]

    def encoded(index: int) -> bytes:
        return codec.encode(_run(rules, modules[index], analysis))

    results: dict[int, tuple[list[Finding], list[Crash]]] = {}
    for index, data in run_in_processes(encoded, range(len(modules)), [m.size for m in modules], analysis.jobs):
        if isinstance(data, bytes):
            results[index] = codec.decode(tuple, data)
    # A process that died says nothing of its module: what goes wrong there shall go wrong here.
    return [results.get(i) or _run(rules, module, analysis) for i, module in enumerate(modules)]


def _run(rules: Sequence[type[Rule]], module: ModuleFacts, analysis: Analysis) -> tuple[list[Finding], list[Crash]]:
    context = RuleContext(module, analysis.suite, analysis.catalog, analysis.settings)
    findings: list[Finding] = []
    crashes: list[Crash] = []
    if module.problem is not None and module.problem.kind == "crash":
        crashes.append(Crash(module.path, "scan", module.problem.message))
    for rule in rules:
        try:
            findings += rule().check(context)
        except Exception as error:  # A fault of ours: it is reported with the file, and costs no other finding.
            crashes.append(_crash(module.path, rule.code, error))
    return findings, crashes


def _crash(path: str, stage: str, error: Exception) -> Crash:
    import traceback

    first_line = f"{type(error).__name__}: {error}".splitlines()[0]
    return Crash(path, stage, first_line, "".join(traceback.format_exception(error)))
