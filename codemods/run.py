"""Many files through the codemods, in several processes; nothing is written here."""

from __future__ import annotations

import ast
import gc
import os
import pickle
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from codemods.edit import SourceFile
from codemods.imported_classes import ImportedClassesChange
from codemods.importers import Importers, Replacement
from codemods.importing_files import hidden_imports, importing_files
from codemods.keyed_tests import KeyedTests
from codemods.native_devices import read_native
from codemods.neighbours import Neighbourhood, importers
from codemods.pipeline import FileRun, Outcome
from codemods.plan import CannotEdit, Options
from codemods.registry import chosen
from hwlint.cache import Cache, digest
from hwlint.config import Settings
from hwlint.discover import Discovery
from hwlint.engine import COLLECT_EVERY, RECURSION_LIMIT, Analysis, Overlay, Tree, analyze
from hwlint.scan.facts import Problem
from hwlint.scan.module import scan_module
from hwlint.suite.link import link
from hwlint.suite.model import Suite

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Migration:
    """The outcome of a run, by path in order."""

    analysis: Analysis
    outcomes: tuple[Outcome, ...]

    @property
    def changed(self) -> tuple[Outcome, ...]:
        return tuple(o for o in self.outcomes if o.changed)


@dataclass
class Job:
    """What a worker process needs. Between processes that do not fork, the facts travel and are linked there."""

    tree: Tree
    suite: Suite
    settings: Settings
    options: Options
    digests: Mapping[str, str]
    keys: KeyedTests
    others: Importers
    replacements: tuple[Replacement, ...] = ()
    """What files of the run have to import now."""
    native_devices: frozenset[str] | None = None

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["suite"] = (tuple(self.suite.modules.values()), self.suite.catalog)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        modules, catalog = state["suite"]
        self.suite = link(modules, catalog)


def migrate(
    settings: Settings,
    discovery: Discovery,
    options: Options | None = None,
    *,
    jobs: int = 0,
    cache: Cache | None = None,
    overlay: Overlay | None = None,
    progress: Progress | None = None,
) -> Migration:
    """What the codemods make of the discovered files. Raises UnknownCodemod."""
    options = options or Options()
    chosen(options.only, options.skip)
    settings = replace(settings, level="full")
    tree = Tree(discovery.root, overlay or {})
    beside = importing_files(discovery.root, frozenset(discovery.paths))
    digests = {path: tree.digest(path) for path in (*discovery.paths, *beside)}
    read = replace(discovery, paths=tuple(sorted(digests)))
    analysis = analyze(settings, read, jobs=jobs, cache=cache, overlay=overlay, digests=digests)
    analysis = replace(analysis, checked=tuple(p for p in analysis.checked if p not in frozenset(beside)))
    importers(analysis.suite)  # Made here, so that processes that fork have it.
    keys = KeyedTests(discovery.root, analysis.suite.catalog.name_keys)
    hidden = hidden_imports(_Bytes(tree), tuple(digests))
    others = Importers(frozenset(analysis.checked), _Trees(tree), hidden=hidden)
    native = read_native(_Trees(tree))
    job = Job(tree, analysis.suite, settings, options, digests, keys, others, native_devices=native)
    jobs = jobs or settings.jobs or _cores()
    outcomes: dict[str, Outcome] = {}
    last = _importing(analysis) if options.unsafe else frozenset()
    with _room_to_work():
        for paths in (set(analysis.checked) - last, last):
            job = replace(job, replacements=_wanted(outcomes))
            for path, outcome in _outcomes(job, sorted(paths), jobs):
                outcomes[path] = outcome
                if progress is not None:
                    progress(len(outcomes), len(analysis.checked))
        follow_imports(job, outcomes)
    return Migration(analysis, tuple(outcomes[path] for path in analysis.checked))


@dataclass(frozen=True)
class _Bytes:
    """The content of each file of a tree, nothing for one that cannot be read."""

    tree: Tree

    def __call__(self, path: str) -> bytes:
        data = self.tree.read(path)
        return b"" if isinstance(data, Problem) else data


@dataclass(frozen=True)
class _Trees:
    """The syntax tree of each file of a tree, None for one that cannot be read."""

    tree: Tree

    def __call__(self, path: str) -> ast.Module | None:
        data = self.tree.read(path)
        if isinstance(data, Problem):
            return None
        try:
            return SourceFile.read(data, path).tree
        except CannotEdit:
            return None


def _importing(analysis: Analysis) -> frozenset[str]:
    """Files that import classes from others of the run: they come last, when it is known what those have become."""
    suite, checked = analysis.suite, frozenset(analysis.checked)
    found: set[str] = set()
    for path, by_name in importers(suite).items():
        if path in checked:
            for cls in suite.classes_in(path):
                found.update(by_name.get(cls.name, ()) if cls.is_test_class else ())
    return checked & found


def follow_imports(job: Job, outcomes: dict[str, Outcome]) -> None:
    """The outcomes of files that import a class, and do not import yet what has become of it, are made anew.

    Where one cannot, the file with the class is done once more without that change.
    """
    refused = _try_again(job, outcomes)
    if refused:
        denied = frozenset((one.path, one.name) for one in refused)
        job = replace(job, others=replace(job.others, denied=denied))
        done_again = {one.path for one in refused}
        followed = {one.importer for one in _wanted(outcomes) if one.path in done_again}
        for path in sorted(done_again):
            outcomes[path] = migrate_file(job, path)
        job = replace(job, replacements=_wanted(outcomes))
        for path in sorted(followed - done_again):
            outcomes[path] = migrate_file(job, path)
        refused = _try_again(job, outcomes)
    for path in {path for one in refused for path in (one.importer, one.path)}:  # No test may be lost over it.
        before = outcomes[path].before
        outcomes[path] = Outcome(path, before, before, crash="an import could not follow what has become of a class")


def _try_again(job: Job, outcomes: dict[str, Outcome]) -> list[Replacement]:
    """What files still do not import after another try."""
    wanted = _wanted(outcomes)
    left = [one for one in wanted if not _follows(outcomes[one.importer], one)]
    for importer in sorted({one.importer for one in left}):
        outcomes[importer] = migrate_file(replace(job, replacements=wanted), importer)
    return [one for one in left if not _follows(outcomes[one.importer], one)]


def _wanted(outcomes: Mapping[str, Outcome]) -> tuple[Replacement, ...]:
    return tuple(one for outcome in outcomes.values() for one in outcome.replacements)


def _follows(outcome: Outcome, wanted: Replacement) -> bool:
    """Whether the file imports what it has to now."""
    return any(isinstance(c, ImportedClassesChange) and c.replacement == wanted for c in outcome.changes)


def migrate_file(job: Job, path: str) -> Outcome:
    """One file, read now: where it is not what was scanned, it is scanned anew. Never raises."""
    data = job.tree.read(path)
    if isinstance(data, Problem):
        return Outcome(path, crash="" if data.kind == "read" else data.message)
    try:
        neighbourhood = Neighbourhood(job.suite, path)
        module = job.suite.modules[path]
        if digest(data) != job.digests.get(path):
            module = scan_module(data, path, neighbourhood.catalog)
        following = tuple(one for one in job.replacements if one.importer == path)
        codemods = [codemod() for codemod in chosen(job.options.only, job.options.skip)]
        if following and job.options.only:  # What was asked of another file takes them.
            known = chosen(skip=job.options.skip)
            codemods += (codemod() for codemod in known if codemod.follows and codemod not in map(type, codemods))
        run = FileRun(
            neighbourhood, job.settings, job.options, codemods, job.keys, job.others, following, job.native_devices
        )
        return run.run(data, module, neighbourhood.link_with(module))
    except Exception:  # A fault of ours: it costs this file, by name, and not the run.
        return Outcome(path, data, data, crash=traceback.format_exc())


@contextmanager
def _room_to_work() -> Iterator[None]:
    """No garbage collection while trees come and go, and calls as deep as the scan needs them (see hwlint.engine)."""
    collecting, limit = gc.isenabled(), sys.getrecursionlimit()
    gc.disable()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
        if collecting:
            gc.enable()


def _outcomes(job: Job, paths: Sequence[str], jobs: int) -> Iterator[tuple[str, Outcome]]:
    sizes = [job.suite.modules[path].size for path in paths]
    if jobs == 1 or len(paths) < 4 or sum(sizes) < 500_000:
        done = 0
        for path, size in zip(paths, sizes):
            yield path, migrate_file(job, path)
            done += size
            if done > COLLECT_EVERY:
                gc.collect()
                done = 0
        return
    from hwlint.workers import Died, run_in_processes

    for index, result in run_in_processes(partial(_pickled, job), paths, sizes, jobs):
        path = paths[index]
        if isinstance(result, Died):
            yield path, Outcome(path, crash=f"the process that worked on it ended ({result.how})")
        else:
            yield path, pickle.loads(result)


def _pickled(job: Job, path: str) -> bytes:
    with _room_to_work():
        return pickle.dumps(migrate_file(job, path), protocol=5)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
