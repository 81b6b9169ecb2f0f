"""The whole of ``hwlint verify``: runs, comparison, the rerun of what looks worse, and the check of the labels."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from hwlint.verify.classification import LabelCheck, check_labels, defined_templates, static_labels
from hwlint.verify.compare import Change, ChangeKind, Comparison, compare_runs, finish, judge
from hwlint.verify.matching import NO_RENAMES
from hwlint.verify.model import EndingKind, Outcome, Run, Side, VerifyError
from hwlint.verify.runs import Interpreter, run_file
from hwlint.verify.sources import from_path, from_revision

Labels = Mapping[str, Mapping[str, "str | None"]]
"""File -> template class -> label: what a static model says, in place of this package's own simple reading."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to verify. ``base`` and ``before`` exclude each other; with neither, the files are run as they are."""

    files: tuple[str, ...]
    interpreter: Interpreter
    devices: tuple[str, ...] = ("cpu", "reference")
    base: str | None = None
    before: str | None = None
    jobs: int = 1
    renames: Mapping[str, str] = field(default_factory=lambda: NO_RENAMES)
    labels: Labels | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """What ``verify`` found. ``comparisons`` is empty when there was nothing to compare with."""

    request: Request
    runs: tuple[Run, ...]
    comparisons: tuple[Comparison, ...]
    label_checks: tuple[LabelCheck, ...]
    torch_version: str

    @property
    def has_before(self) -> bool:
        return self.request.base is not None or self.request.before is not None

    def failures(self) -> list[tuple[Run, str, Outcome]]:
        """The tests after the change with a bad outcome, as (run, name, outcome)."""
        return [
            (run, test.name, run.outcome(test))
            for run in self.runs
            if run.side is Side.AFTER
            for test in run.tests
            if run.outcome(test).kind.is_bad
        ]

    @property
    def is_bad(self) -> bool:
        """Whether a test was lost or got worse, a file cannot be loaded any more, or a label selects other tests than
        it should; without a before, whether any test fails."""
        broken_before = {(run.file, run.device) for run in self.runs if run.side is Side.BEFORE and run.failed_to_load}
        broken_after = {(run.file, run.device) for run in self.runs if run.side is Side.AFTER and run.failed_to_load}
        if broken_after - broken_before or any(not check.agrees for check in self.label_checks):
            return True
        if any(run.label_errors for run in self.runs if run.side is Side.AFTER):
            return True
        if self.has_before:
            return any(comparison.is_bad for comparison in self.comparisons)
        return bool(broken_after or self.failures())


def verify(request: Request, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Run what was asked for.

    Args:
        progress: is told, in a line of text, each run that starts.
    Raises:
        VerifyError: a file or revision is missing, the Python has no torch, or there is no such device.
    """
    for file in request.files:
        if not Path(file).is_file():
            raise VerifyError(f"{file}: no such file")
    with tempfile.TemporaryDirectory(prefix="hwlint-verify-") as folder:
        before_paths = {file: _before(request, file, Path(folder)) for file in request.files}
        sources_before = {file: _read(path) for file, path in before_paths.items()}
        jobs = [
            (file, side, device, path)
            for file in request.files
            for side, path in ((Side.BEFORE, before_paths[file]), (Side.AFTER, Path(file).resolve()))
            if path is not None
            for device in request.devices
        ]

        def run(job: tuple[str, Side, str, Path]) -> Run:
            file, side, device, path = job
            progress(f"{file}: {side.value}, {device}")
            return run_file(request.interpreter, path, file=file, side=side, device=device)

        with ThreadPoolExecutor(max_workers=request.jobs) as pool:
            runs = tuple(pool.map(run, jobs))
    _refuse_what_cannot_run(runs)
    comparisons = _compare(request, runs, sources_before, progress)
    return Report(request, runs, comparisons, _check(request, runs), next((run.torch_version for run in runs), ""))


def _before(request: Request, file: str, folder: Path) -> Path | None:
    if request.base is not None:
        return from_revision(Path(file), request.base, folder)
    if request.before is not None:
        path = from_path(Path(file), Path(request.before), only_file=len(request.files) == 1)
        return path.resolve() if path is not None else None
    return None


def _read(path: Path | None) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path is not None else ""


def _refuse_what_cannot_run(runs: Sequence[Run]) -> None:
    for run in runs:
        for ending in run.endings:
            if ending.kind in (EndingKind.NO_TORCH, EndingKind.NO_BACKEND):
                raise VerifyError(f"{ending.kind.value}: {ending.detail}")


def _compare(
    request: Request, runs: Sequence[Run], sources: Mapping[str, str], progress: Callable[[str], None]
) -> tuple[Comparison, ...]:
    if request.base is None and request.before is None:
        return ()
    comparisons: list[Comparison] = []
    for file in request.files:
        after = {run.device: run for run in runs if run.file == file and run.side is Side.AFTER}
        before = {run.device: run for run in runs if run.file == file and run.side is Side.BEFORE}
        compared = [
            _rerun_what_looks_worse(
                request, compare_runs(before.get(device) or _empty(run), run, request.renames), run, progress
            )
            for device, run in after.items()
        ]
        comparisons += finish(
            compared,
            list(before.values()),
            list(after.values()),
            _templates(sources[file]),
            request.renames,
            _templates(_read(Path(file))),
        )
    return tuple(comparisons)


def _templates(source: str) -> frozenset[tuple[str, str]]:
    try:
        return defined_templates(source)
    except SyntaxError:
        return frozenset()


def _empty(run: Run) -> Run:
    return Run(run.file, Side.BEFORE, run.device, (), {}, ())


def _rerun_what_looks_worse(
    request: Request, comparison: Comparison, after: Run, progress: Callable[[str], None]
) -> Comparison:
    """Run the tests that got worse once more; those that are as good as before this time are flaky, not worse."""
    suspects = {
        change.after for change in comparison.changes if change.kind in (ChangeKind.WORSE, ChangeKind.NEW_FAILING)
    }
    # A skip says why and says the same every time; only a failure can be chance.
    ids = [test.id for test in after.tests if test.name in suspects and after.outcome(test).kind.is_bad]
    if not ids:
        return comparison
    progress(f"{after.file}: {len(ids)} tests again, {after.device}")
    again = run_file(
        request.interpreter, Path(after.file).resolve(), file=after.file, side=Side.AFTER, device=after.device, only=ids
    )
    outcomes = {test.name: again.outcome(test) for test in again.tests if test.id in again.outcomes}
    changes = tuple(_after_rerun(change, outcomes.get(change.after)) for change in comparison.changes)
    return replace(comparison, changes=changes)


def _after_rerun(change: Change, outcome: Outcome | None) -> Change:
    if outcome is None or change.kind not in (ChangeKind.WORSE, ChangeKind.NEW_FAILING):
        return change
    if change.outcome_before is None:
        recovered = not outcome.kind.is_bad
    else:
        recovered = judge(change.outcome_before, outcome) is not ChangeKind.WORSE
    return replace(change, kind=ChangeKind.FLAKY, outcome_after=outcome) if recovered else change


def _check(request: Request, runs: Sequence[Run]) -> tuple[LabelCheck, ...]:
    checks: list[LabelCheck] = []
    for run in runs:
        if run.side is Side.BEFORE:
            continue
        static = (request.labels or {}).get(run.file)
        if static is None:
            try:
                static = static_labels(_read(Path(run.file)))
            except SyntaxError:
                continue
        checks += check_labels(run, static)
    return tuple(checks)
