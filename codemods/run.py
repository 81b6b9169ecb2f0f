"""Many files through the codemods, in several processes; nothing is written here."""

from __future__ import annotations

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

from codemods.keyed_tests import KeyedTests
from codemods.neighbours import Neighbourhood, importers
from codemods.pipeline import FileRun, Outcome
from codemods.plan import Options
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
    digests = {path: tree.digest(path) for path in discovery.paths}
    analysis = analyze(settings, discovery, jobs=jobs, cache=cache, overlay=overlay, digests=digests)
    importers(analysis.suite)  # Made here, so that processes that fork have it.
    keys = KeyedTests(discovery.root, analysis.suite.catalog.name_keys)
    job = Job(tree, analysis.suite, settings, options, digests, keys)
    jobs = jobs or settings.jobs or _cores()
    outcomes: dict[str, Outcome] = {}
    with _room_to_work():
        for path, outcome in _outcomes(job, analysis.checked, jobs):
            outcomes[path] = outcome
            if progress is not None:
                progress(len(outcomes), len(analysis.checked))
    return Migration(analysis, tuple(outcomes[path] for path in analysis.checked))


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
        codemods = [codemod() for codemod in chosen(job.options.only, job.options.skip)]
        run = FileRun(neighbourhood, job.settings, job.options, codemods, job.keys)
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
