"""Files -> linked suite: read, look up or scan, load what the classes hang on, link.

Nothing is printed here, and nothing raised for what a file holds: a file that cannot be read, parsed or scanned is a
module whose facts are a Problem.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hwlint import cache as caching
from hwlint.cache import Cache
from hwlint.catalog import Catalog, load_catalog
from hwlint.config import Settings
from hwlint.discover import Discovery, printable
from hwlint.scan.facts import ModuleFacts, Problem
from hwlint.scan.reading import read_file

if TYPE_CHECKING:
    from hwlint.suite.model import Suite

T = TypeVar("T")
Overlay = Mapping[str, "bytes | None"]
"""Contents in place of the files' own, by path; None for a file that shall not be there."""
Progress = Callable[[int, int], None]
"""Called with the number of files done and of all."""

FEW_FILES = 8
FEW_BYTES = 1_000_000
"""Below either, starting processes takes longer than they save."""
COLLECT_EVERY = 8_000_000
"""Bytes of source between two garbage collections: the collector is off while trees are built and thrown away."""
RECURSION_LIMIT = 6000 if sys.version_info >= (3, 11) else 2500
"""Python's own 1,000 is too little for a long chain of calls; before 3.11 each Python call takes C stack as well."""


@contextmanager
def quick_allocation() -> Iterator[None]:
    """No garbage collection, which takes a quarter of ``ast.parse``: trees and facts hardly have a cycle.

    The first collection after it looks at all that was made: a command that ends soon is better off without.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a run knows of its files."""

    suite: Suite
    """The checked modules and those they hang on, linked."""
    checked: tuple[str, ...]
    """Paths of the files the run is about; the suite's other modules are context."""
    catalog: Catalog
    settings: Settings
    timings: Mapping[str, float] = field(default_factory=dict)
    """Seconds by stage: read, scan, context, link."""
    jobs: int = 1
    """Processes that what follows may use."""
    consulted: tuple[tuple[str, str], ...] = ()
    """Other files that the result hangs on, with the digest of their content, '' for one that is not there."""

    @property
    def modules(self) -> tuple[ModuleFacts, ...]:
        """Facts of the checked files, in the order of their paths."""
        return tuple(self.suite.modules[path] for path in self.checked)


@dataclass(frozen=True, slots=True)
class Tree:
    """The files below a root, as they are or as an overlay has them."""

    root: Path
    overlay: Overlay = field(default_factory=dict)

    def exists(self, path: str) -> bool:
        if path in self.overlay:
            return self.overlay[path] is not None
        return os.path.isfile(os.path.join(self.root, path))

    def read(self, path: str) -> bytes | Problem:
        if path in self.overlay:
            data = self.overlay[path]
            return data if data is not None else Problem(1, 0, "cannot be read: it is not there", kind="read")
        return read_file(os.path.join(self.root, path), path)

    def digest(self, path: str) -> str:
        """Names the content of a file; what cannot be read has the name of its error."""
        data = self.read(path)
        return data.message if isinstance(data, Problem) else caching.digest(data)


def analyze(
    settings: Settings,
    discovery: Discovery,
    *,
    jobs: int = 0,
    cache: Cache | None = None,
    overlay: Overlay | None = None,
    progress: Progress | None = None,
    catalog: Catalog | None = None,
    digests: Mapping[str, str] | None = None,
) -> Analysis:
    """Scan the discovered files, load the modules they hang on, and link all of them.

    ``jobs``: processes, 0 for the settings' number, else one a core. ``digests``: of the checked files, where they are
    known already.
    """
    from hwlint.suite.link import link

    catalog = catalog if catalog is not None else load_catalog(settings.backends)
    tree = Tree(discovery.root, overlay or {})
    scanner = Scanner(tree, catalog, cache or Cache(), jobs or settings.jobs or _cores(), progress)
    timings: dict[str, float] = {}
    with quick_allocation(), _deep_recursion():
        with _timed(timings, "read"):
            known = dict(digests) if digests is not None else {p: tree.digest(p) for p in discovery.paths}
        with _timed(timings, "scan"):
            modules = scanner.scan(known)
        consulted: dict[str, str] = {}
        if settings.level == "full":
            with _timed(timings, "context"):
                consulted = _load_context(modules, scanner)
        with _timed(timings, "link"):
            suite = link(modules.values(), catalog)
    checked = tuple(modules[p].path for p in discovery.paths)
    return Analysis(suite, checked, catalog, settings, timings, scanner.jobs, tuple(sorted(consulted.items())))


@quick_allocation()
def remembered(
    compute: Callable[[Analysis], T],
    kind: type[T],
    purpose: object,
    settings: Settings,
    discovery: Discovery,
    *,
    jobs: int = 0,
    cache: Cache | None = None,
    overlay: Overlay | None = None,
    progress: Progress | None = None,
) -> T:
    """``compute`` of the analysis, or what it gave before for the same files, settings and hwlint.

    ``purpose`` names the computation with all its options. The result must be an instance of ``kind`` made of hwlint's
    facts and findings (see :mod:`hwlint.codec`) and depend on nothing but the analysis and ``purpose``.
    """
    from hwlint import codec

    cache = cache or Cache()
    tree = Tree(discovery.root, overlay or {})
    if not cache.is_open:
        unnamed = dict.fromkeys(discovery.paths, "")
        return compute(analyze(settings, discovery, jobs=jobs, overlay=overlay, progress=progress, digests=unnamed))
    digests = {path: tree.digest(path) for path in discovery.paths}
    key = caching.key("result", caching.code_digest(), settings, purpose, tuple(digests.items()))
    stored = cache.get("results", key)
    if stored is not None:
        try:
            consulted, result = codec.decode(tuple, stored)
            if isinstance(result, kind) and all(d == _digest_if_there(tree, p) for p, d in consulted):
                return result
        except (codec.DecodeError, ValueError, TypeError):
            pass
    analysis = analyze(settings, discovery, jobs=jobs, cache=cache, overlay=overlay, progress=progress, digests=digests)
    result = compute(analysis)
    # What a dying process left undone may go well the next time.
    if not any(m.problem is not None and m.problem.kind == "crash" for m in analysis.modules):
        cache.put("results", [(key, codec.encode((analysis.consulted, result)))])
    return result


def scan_one(tree: Tree, catalog: Catalog, path: str) -> ModuleFacts:
    """Facts of one file, whatever is wrong with it."""
    from hwlint.scan.module import module_name, scan_module

    name = module_name(printable(path))
    if printable(path) != path:
        problem = Problem(
            1, 0, "the file's name is not UTF-8, so no report can name it: it is not checked", kind="read"
        )
        return ModuleFacts(printable(path), name, problem=problem)
    data = tree.read(path)
    if isinstance(data, Problem):
        return ModuleFacts(path, name, problem=data)
    try:
        return scan_module(data, path, catalog)
    except Exception as error:  # A fault of ours: it costs this file, by name, and not the run.
        return ModuleFacts(path, name, problem=_crash(error), size=len(data))


@dataclass
class Scanner:
    """Facts of files, from the cache or from the source."""

    tree: Tree
    catalog: Catalog
    cache: Cache
    jobs: int
    progress: Progress | None = None

    def scan(self, digests: Mapping[str, str]) -> dict[str, ModuleFacts]:
        """Facts of each path, by the path as given, in the order given. ``digests`` name the contents."""
        from hwlint.codec import DecodeError, decode

        code = caching.code_digest("scan", "catalog")
        keys = {path: caching.key(code, self.catalog.extra_backends, path, d) for path, d in digests.items()}
        found: dict[str, ModuleFacts] = {}
        for path, key in keys.items():
            stored = self.cache.get("facts", key)
            if stored is not None:
                try:
                    found[path] = decode(ModuleFacts, stored)
                except DecodeError:
                    pass
        missing = [path for path in digests if path not in found]
        fresh: list[tuple[bytes, bytes]] = []
        for done, (path, data) in enumerate(self._scan_missing(missing), start=len(found) + 1):
            found[path] = decode(ModuleFacts, data)
            problem = found[path].problem
            if problem is None or problem.kind not in ("read", "crash"):
                fresh.append((keys[path], data))
            if self.progress is not None:
                self.progress(done, len(digests))
        self.cache.put("facts", fresh)
        return {path: found[path] for path in digests}

    def _scan_missing(self, paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        sizes = [self._size(path) for path in paths]
        work = partial(_encoded, self.tree, self.catalog)
        if self.jobs == 1 or len(paths) < FEW_FILES or sum(sizes) < FEW_BYTES:
            done = 0
            for path, size in zip(paths, sizes):
                yield path, work(path)
                done += size
                if done > COLLECT_EVERY:
                    gc.collect(0)
                    done = 0
            return
        # Imported before the processes are made, so that each has it.
        from hwlint.codec import encode
        from hwlint.scan.module import module_name
        from hwlint.workers import Died, run_in_processes

        for index, result in run_in_processes(work, paths, sizes, self.jobs):
            path = paths[index]
            if isinstance(result, Died):
                problem = Problem(1, 0, f"reading it ends the process that does ({result.how})", kind="crash")
                result = encode(ModuleFacts(printable(path), module_name(printable(path)), problem=problem))
            yield path, result

    def _size(self, path: str) -> int:
        if path in self.tree.overlay:
            return len(self.tree.overlay[path] or b"")
        try:
            return os.stat(os.path.join(self.tree.root, path)).st_size
        except OSError:
            return 0


def _encoded(tree: Tree, catalog: Catalog, path: str) -> bytes:
    from hwlint.codec import encode

    with _deep_recursion():
        return encode(scan_one(tree, catalog, path))


def _load_context(modules: dict[str, ModuleFacts], scanner: Scanner) -> dict[str, str]:
    """Add to ``modules`` what they hang on, round by round; all that was looked for, with its digest or ''."""
    from hwlint.context import wanted_modules
    from hwlint.suite.imports import candidate_paths

    consulted: dict[str, str] = {}
    new: Iterable[ModuleFacts] = list(modules.values())
    while new:
        found: dict[str, None] = {}
        for module, importer in wanted_modules(new, scanner.catalog):
            for path in candidate_paths(module, importer):
                if path in modules:
                    break
                there = bool(consulted[path]) if path in consulted else scanner.tree.exists(path)
                if there:
                    found[path] = None
                    break
                consulted[path] = ""
        digests = {path: scanner.tree.digest(path) for path in found}
        consulted.update(digests)
        loaded = scanner.scan(digests)
        modules.update(loaded)
        new = list(loaded.values())
    return consulted


def _digest_if_there(tree: Tree, path: str) -> str:
    return tree.digest(path) if tree.exists(path) else ""


def _crash(error: Exception) -> Problem:
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    words = f"{type(error).__name__}: {error}".splitlines()[0]
    return Problem(1, 0, f"internal error ({words}, at {where}): please report it", kind="crash")


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timings[stage] = time.perf_counter() - start


@contextmanager
def _deep_recursion() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)
