"""One file through all codemods: plan, edit, prove, again until nothing changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from codemods import guard
from codemods.device_values import Blocked
from codemods.edit import Overlap, SourceFile, Splice, first_line, splice
from codemods.guard import State
from codemods.imported_change import replacements
from codemods.importers import Importers, Replacement
from codemods.imports import add_imports, is_taken
from codemods.keyed_tests import KeyedTests
from codemods.neighbours import Neighbourhood
from codemods.plan import CannotEdit, Change, Codemod, Context, Options, Plan, Refusal
from codemods.rules import findings
from hwlint.classify.judge import classify
from hwlint.classify.verdict import Verdict
from hwlint.config import Settings
from hwlint.findings import Severity
from hwlint.scan.facts import ModuleFacts, Span
from hwlint.scan.module import ModuleReader
from hwlint.suite.manifest import Manifest
from hwlint.suite.model import Suite

MAX_PASSES = 6


@dataclass(frozen=True)
class Outcome:
    """What became of one file."""

    path: str
    before: bytes = b""
    after: bytes = b""
    changes: tuple[Change, ...] = ()
    """Applied, in order; their spans are those of the text each was made in."""
    held: tuple[Change, ...] = ()
    """Unsafe ones that nobody asked for."""
    refusals: tuple[Refusal, ...] = ()
    """Spans are those of ``after``."""
    verdicts: tuple[Verdict, ...] = ()
    """On the classes as they were."""
    manifest: Manifest = Manifest()
    findings_before: tuple[tuple[str, int], ...] = ()
    """Number of findings by code at level full; only of errors and warnings."""
    findings_after: tuple[tuple[str, int], ...] = ()
    clean_before: bool = False
    """Nothing found at level upstream."""
    clean_after: bool = False
    is_test_file: bool = False
    replacements: tuple[Replacement, ...] = ()
    """What other files have to import now, which are to be written with this one."""
    lines: tuple[int, ...] = ()
    """For each line of ``after`` the line of ``before`` that it was, or stands behind; empty where nothing
    changed."""
    crash: str = ""
    """The traceback of an internal error; the file is then as it was."""

    @property
    def changed(self) -> bool:
        return self.before != self.after

    def line_before(self, line: int) -> int:
        """The line of ``before`` for a line of ``after``."""
        return self.lines[line - 1] if 0 < line <= len(self.lines) else line


@dataclass
class FileRun:
    """The codemods at work on one file."""

    neighbourhood: Neighbourhood
    settings: Settings
    options: Options
    codemods: Sequence[Codemod]
    keys: KeyedTests = field(default_factory=KeyedTests)
    others: Importers = field(default_factory=Importers)
    replacements: tuple[Replacement, ...] = ()
    native_devices: frozenset[str] | None = None
    changes: list[Change] = field(default_factory=list)
    taken_back: list[Refusal] = field(default_factory=list)
    barred: set[tuple[str, str, str]] = field(default_factory=set)
    """Changes that were taken back and are not tried again."""
    lines: list[int] = field(default_factory=list)
    plans: dict[str, tuple[State, Plan]] = field(default_factory=dict)
    verdicts: tuple[State, tuple[Verdict, ...]] | None = None
    original: SourceFile | None = None

    def run(self, data: bytes, module: ModuleFacts, suite: Suite) -> Outcome:
        """The outcome for a file with this content; ``suite`` is linked with ``module``, its facts."""
        path = module.path
        if module.problem is not None and module.problem.kind == "crash":
            return Outcome(path, data, data, crash=module.problem.message)
        if module.problem is not None:
            place = Span(max(module.problem.line, 1), 0, max(module.problem.line, 1), 0)
            refusal = Refusal("", "", "unreadable", module.problem.message, place)
            return Outcome(path, data, data, refusals=(refusal,), is_test_file=self.settings.is_test_file(path))
        try:
            state = State(SourceFile.read(data, path), module, suite)
        except CannotEdit as error:
            refusal = Refusal("", "", "encoding", str(error), Span(1, 0, 1, 0))
            return Outcome(path, data, data, refusals=(refusal,), is_test_file=self.settings.is_test_file(path))
        first = state
        self.original = state.file
        verdicts = self.judge(state)
        for _ in range(MAX_PASSES):
            previous = state
            for codemod in self.codemods:
                state = self.step(codemod, state)
            if state is previous:
                break
        else:
            self._refuse_all("its codemods undo each other and do not come to rest", state)
            state = first
            self.changes.clear()
            self.lines.clear()
        return self._outcome(data, first, state, verdicts)

    # One codemod

    def step(self, codemod: Codemod, state: State) -> State:
        """The file with what the codemod changes, and is proved to change rightly."""
        context = self.context(state)
        if not codemod.enabled(context):
            self.plans.pop(codemod.name, None)
            return state
        wanted = self.wanted(self.plan(codemod, state))
        if not wanted:
            return state
        done, new = self._apply(codemod, state, wanted)
        if done:
            self.changes.extend(done)
            self.plan(codemod, new)
        return new

    def plan(self, codemod: Codemod, state: State) -> Plan:
        known = self.plans.get(codemod.name)
        if known is None or known[0] is not state:
            self.plans[codemod.name] = known = (state, codemod.plan(self.context(state)))
        return known[1]

    def context(self, state: State) -> Context:
        verdicts = {(v.class_name, v.line): v for v in self.judge(state)}
        return Context(
            state.module,
            state.suite,
            self.settings,
            verdicts,
            self.options,
            state.file,
            self.original,
            self.neighbourhood.importers,
            self.keys,
            self.others,
            self.replacements,
            tuple(self.changes),
            self.native_devices,
        )

    def judge(self, state: State) -> tuple[Verdict, ...]:
        if self.verdicts is None or self.verdicts[0] is not state:
            self.verdicts = (state, classify(state.suite, (state.module.path,), self.settings))
        return self.verdicts[1]

    def wanted(self, plan: Plan) -> list[Change]:
        """The changes that may be made and were not taken back before."""
        return [
            c for c in plan.changes if (c.applicability == "safe" or self.options.unsafe) and _key(c) not in self.barred
        ]

    def _apply(self, codemod: Codemod, state: State, wanted: Sequence[Change]) -> tuple[list[Change], State]:
        """As many of the changes as can be made and proved, together."""
        done: list[Change] = []
        new = state
        groups = [list(wanted)]
        while groups:
            group = groups.pop()
            attempt = self._attempt(codemod, state, sorted([*done, *group], key=lambda c: c.span))
            if isinstance(attempt, tuple):
                done += group
                new, applied_lines = attempt
                lines = applied_lines
                continue
            if len(group) > 1:
                middle = len(group) // 2
                groups += [group[middle:], group[:middle]]
                continue
            self._take_back(group[0], attempt)
        if done:
            self.lines = [self.lines[n - 1] for n in lines] if self.lines else lines
        return done, new

    def _attempt(
        self, codemod: Codemod, state: State, changes: Sequence[Change]
    ) -> tuple[State, list[int]] | CannotEdit | list[str]:
        """The file with the changes and where its lines come from; or why they cannot be made; or what the guard
        says.
        """
        file = state.file
        try:
            for one in (i for change in changes for i in change.imports):
                if is_taken(state.module, one):
                    raise Blocked("name-taken", f"`{one.name or one.module}` means something else in this file")
            splices = codemod.edit(file, changes)
            splices += add_imports(file, [i for c in changes for i in c.imports], _first_place(file, changes))
            text = splice(file.text, splices)
            data = file.encode(text)
        except (CannotEdit, Overlap) as error:
            return error if isinstance(error, CannotEdit) else CannotEdit(str(error))
        if text == file.text:
            return ["the change changes nothing"]
        try:
            edited = SourceFile.read(data, file.path)
            module = ModuleReader(edited.source, edited.tree, file.path, self.neighbourhood.catalog).read()
        except CannotEdit as error:
            return [f"the result does not parse: {error}"]
        new = State(edited, module, self.neighbourhood.link_with(module))
        problems = guard.check(state, new, splices, changes, self.settings)
        if not problems:
            again = {_key(c) for c in codemod.plan(self.context(new)).changes} & {_key(c) for c in changes}
            problems = [f"it would be done again: {description}" for _, _, description in sorted(again)]
        return problems or (new, _lines_after(file, new.file, splices))

    def _take_back(self, change: Change, why: CannotEdit | list[str]) -> None:
        self.barred.add(_key(change))
        if isinstance(why, CannotEdit):
            reason, text = getattr(why, "reason", "layout"), str(why)
        else:
            reason, text = "guard", "; ".join(why[:3])
        self.taken_back.append(
            Refusal(change.codemod, change.symbol, reason, f"{change.description}: {text}", change.span)
        )

    def _refuse_all(self, text: str, state: State) -> None:
        self.taken_back.append(Refusal("", "", "guard", text, Span(1, 0, 1, 0)))

    # The end

    def _outcome(self, data: bytes, first: State, last: State, verdicts: tuple[Verdict, ...]) -> Outcome:
        plans = [self.plans[c.name][1] for c in self.codemods if c.name in self.plans]
        held = [c for plan in plans for c in plan.changes if c.applicability == "unsafe" and not self.options.unsafe]
        refusals = [*self.taken_back, *(r for plan in plans for r in plan.refusals)]
        before, clean_before = self._counts(first)
        after, clean_after = (before, clean_before) if last is first else self._counts(last)
        return Outcome(
            path=first.module.path,
            before=data,
            after=data if last is first else last.file.source.data,
            changes=tuple(self.changes),
            held=tuple(held),
            refusals=tuple(sorted(dict.fromkeys(refusals), key=lambda r: (r.span, r.codemod, r.symbol))),
            verdicts=verdicts,
            manifest=guard.manifest(first, last, guard.renames_of(self.changes)),
            findings_before=before,
            findings_after=after,
            clean_before=clean_before,
            clean_after=clean_after,
            is_test_file=self.settings.is_test_file(first.module.path),
            replacements=replacements(self.changes, last.suite, first.module.path),
            lines=tuple(self.lines) if last is not first else (),
        )

    def _counts(self, state: State) -> tuple[tuple[tuple[str, int], ...], bool]:
        full = findings("full", state.module, state.suite, self.settings)
        counts = Counter(f.code for f in full if f.severity is not Severity.INFO)
        clean = not findings("upstream", state.module, state.suite, self.settings)
        return tuple(sorted(counts.items())), clean


def _key(change: Change) -> tuple[str, str, str]:
    return (change.codemod, change.symbol, change.description)


def _first_place(file: SourceFile, changes: Iterable[Change]) -> int:
    """The line of the first top-level statement that any of the changes stands in."""
    line = min(change.span.line for change in changes)
    for node in file.tree.body:
        if first_line(node) <= line <= (node.end_lineno or node.lineno):
            return first_line(node)
    return line


def _lines_after(before: SourceFile, after: SourceFile, splices: Sequence[Splice]) -> list[int]:
    """For each line of ``after`` the line of ``before`` that it was, or stands behind."""
    ordered = sorted(splices, key=lambda s: (s.start, s.end))
    found: list[int] = []
    at, shift = 0, 0
    for number in range(1, after.line_count + 1):
        offset = after.line_start(number)
        while at < len(ordered) and ordered[at].start + shift + len(ordered[at].text) <= offset:
            shift += len(ordered[at].text) - (ordered[at].end - ordered[at].start)
            at += 1
        inside = at < len(ordered) and ordered[at].start + shift <= offset
        origin = ordered[at].start if inside else offset - shift
        found.append(before.line_of(min(max(origin, 0), len(before.text))))
    return found
