"""What each file adds to a point of the history, kept by content across runs.

Contents go by the names that git gives them. Under path and content of a file two things are stored: its slim facts,
and its rows with all they hang on, which is the modules that its bases come from and the places at which those were
looked for in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from hwlint import cache as caching
from hwlint.cache import Cache
from hwlint.catalog import Catalog
from hwlint.codec import DecodeError, decode, encode
from hwlint.engine import FEW_BYTES, FEW_FILES, Tree, scan_one
from hwlint.git import Git
from hwlint.progress.count import class_states, function_tests, slim
from hwlint.progress.model import FileState
from hwlint.progress.tally import COLUMNS, LabelCount, Tally, tally
from hwlint.scan.facts import ModuleFacts
from hwlint.suite.imports import candidate_paths
from hwlint.suite.link import link
from hwlint.suite.reach import FOREIGN

Key = tuple[str, str]
"""A path and the name of its content."""
Files = Mapping[str, str]
"""Path -> name of its content, for all Python files of a commit."""
Numbers = tuple[int, ...]
"""A tally as plain numbers, which add up."""

_NOWHERE = Path("/nonexistent")
READ_AT_ONCE = 400
"""Contents taken from git in one go: some tens of megabytes."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one file adds, and what that hangs on."""

    numbers: Numbers
    consulted: tuple[tuple[str, str], ...]
    """Other paths that were looked at, with their content's name, '' for one that was not there."""

    def holds(self, files: Files) -> bool:
        return all(files.get(path, "") == blob for path, blob in self.consulted)


@dataclass
class Rows:
    """Rows of the files of one repository."""

    git: Git
    catalog: Catalog
    cache: Cache
    jobs: int = 1
    rows: dict[Key, list[Row]] = field(default_factory=dict)
    facts: dict[Key, ModuleFacts] = field(default_factory=dict)
    changed: set[Key] = field(default_factory=set)

    def row(self, path: str, files: Files) -> Row:
        """The row of ``path`` where the tree holds ``files``."""
        key = path, files[path]
        known = self._rows(key)
        for row in known:
            if row.holds(files):
                return row
        row = self._make(path, files)
        known.append(row)
        self.changed.add(key)
        return row

    def prepare(self, keys: Iterable[Key]) -> None:
        """Read and scan at once what will be asked for and is not known."""
        missing = [key for key in dict.fromkeys(keys) if not self._rows(key)]
        self._load([key for key in missing if self._stored_facts(key) is None])

    def save(self) -> None:
        """Store the new rows."""
        self.cache.put("facts", [(self._key("rows", key), _pack(self.rows[key])) for key in sorted(self.changed)])
        self.changed.clear()

    def _rows(self, key: Key) -> list[Row]:
        found = self.rows.get(key)
        if found is None:
            found = self.rows[key] = _unpack(self.cache.get("facts", self._key("rows", key)))
        return found

    def _make(self, path: str, files: Files) -> Row:
        modules, consulted = self._closure(path, files)
        suite = link(modules, self.catalog)
        facts = modules[0]
        file = FileState(
            path=path,
            group="",
            owners=(),
            code_owners=(),
            classes=class_states(suite, facts.path),
            function_tests=function_tests(facts),
            problem="" if facts.problem is None else facts.problem.message,
        )
        return Row(to_numbers(tally([file])), tuple(sorted(consulted.items())))

    def _closure(self, path: str, files: Files) -> tuple[list[ModuleFacts], dict[str, str]]:
        """The file's module with those that its bases may come from, and all other paths that were looked at."""
        facts = self._facts((path, files[path]))
        modules = {path: facts}
        consulted: dict[str, str] = {}
        wanted = [(module, path) for module in base_modules(facts, self.catalog)]
        for module, importer in wanted:  # grows while it is read
            for candidate in candidate_paths(module, importer):
                if candidate in modules and candidate != importer:
                    break
                if candidate == importer:
                    continue
                blob = consulted[candidate] = files.get(candidate, "")
                if blob:
                    found = modules[candidate] = self._facts((candidate, blob))
                    wanted.extend((m, candidate) for m in passed_on(found, self.catalog))
                    break
        return list(modules.values()), consulted

    def _facts(self, key: Key) -> ModuleFacts:
        found = self.facts.get(key) or self._stored_facts(key)
        if found is None:
            self._load([key])
            found = self.facts[key]
        return found

    def _stored_facts(self, key: Key) -> ModuleFacts | None:
        stored = self.cache.get("facts", self._key("slim", key))
        if stored is None:
            return None
        try:
            self.facts[key] = decode(ModuleFacts, stored)
        except DecodeError:
            return None
        return self.facts[key]

    def _load(self, keys: Sequence[Key]) -> None:
        rest = iter(keys)
        while part := list(islice(rest, READ_AT_ONCE)):
            contents = list(self.git.read_blobs(blob for _, blob in part))
            fresh = []
            for index, data in self._scan(part, contents):
                key = part[index]
                self.facts[key] = decode(ModuleFacts, data)
                fresh.append((self._key("slim", key), data))
            self.cache.put("facts", fresh)

    def _scan(self, keys: Sequence[Key], contents: Sequence[bytes | None]) -> Iterator[tuple[int, bytes]]:
        work = partial(_scan_content, self.catalog)
        tasks = [(path, content) for (path, _), content in zip(keys, contents)]
        sizes = [len(content or b"") for content in contents]
        if self.jobs == 1 or len(tasks) < FEW_FILES or sum(sizes) < FEW_BYTES:
            for index, task in enumerate(tasks):
                yield index, work(task)
            return
        import hwlint.scan.module  # noqa: F401  Before the processes are made, so that each has it.
        from hwlint.workers import Died, run_in_processes

        for index, data in run_in_processes(work, tasks, sizes, self.jobs):
            # A content on which the reader dies counts like one that cannot be read.
            yield index, work((tasks[index][0], None)) if isinstance(data, Died) else data

    def _key(self, kind: str, key: Key) -> bytes:
        code = caching.code_digest("scan", "catalog", "suite", "progress")
        return caching.key(kind, code, self.catalog.extra_backends, *key)


def _scan_content(catalog: Catalog, task: tuple[str, bytes | None]) -> bytes:
    path, content = task
    return encode(slim(scan_one(Tree(_NOWHERE, {path: content}), catalog, path)))


def base_modules(facts: ModuleFacts, catalog: Catalog) -> Iterator[str]:
    """Modules outside the file that may define a base of one of its classes, or a template that one gets its tests
    from; none that the catalog knows by name.
    """
    local = {cls.name for cls in facts.classes}
    imports = dict(facts.imports)
    wanted: dict[str, None] = {}
    names = [base for cls in facts.classes for base in cls.bases]
    for graft in facts.grafts:
        first, dot, rest = graft.template.partition(".")
        names.append(imports.get(first, first) + dot + rest)
    for name in names:
        if name and name not in local and name not in catalog.framework_bases:
            head = name.rpartition(".")[0]
            wanted.update({head: None} if head else dict.fromkeys(facts.star_imports))
    yield from wanted


def passed_on(facts: ModuleFacts, catalog: Catalog) -> Iterator[str]:
    """Modules that another module's bases may come from by way of this one: those of its own bases, and its imports."""
    wanted = dict.fromkeys(base_modules(facts, catalog))
    for _, name in facts.imports:
        if name.partition(".")[0] not in FOREIGN and "." in name:
            wanted[name.rpartition(".")[0]] = None
    wanted.update(dict.fromkeys(s for s in facts.star_imports if s.partition(".")[0] not in FOREIGN))
    yield from wanted


def to_numbers(one: Tally) -> Numbers:
    """A tally as numbers, for adding and storing."""
    labels = (one.labels[label] for label in COLUMNS)
    plain = (one.files, one.files_with_classes, one.files_classified, one.broken, one.function_tests)
    return (*plain, *(n for c in labels for n in astuple(c)))


def from_numbers(numbers: Sequence[int], allowlisted: int = 0) -> Tally:
    """The tally that :func:`to_numbers` made numbers of. What it does not carry (bound and split classes) is 0."""
    files, with_classes, classified, broken, functions = numbers[:5]
    labels = {label: LabelCount(*numbers[5 + 5 * at : 10 + 5 * at]) for at, label in enumerate(COLUMNS)}
    return Tally(files, with_classes, classified, allowlisted, broken, functions, labels=labels)


EMPTY: Numbers = (0,) * (5 + 5 * len(COLUMNS))


def _pack(rows: Sequence[Row]) -> bytes:
    return encode(tuple((row.numbers, row.consulted) for row in rows))


def _unpack(data: bytes | None) -> list[Row]:
    if data is None:
        return []
    try:
        return [Row(numbers, consulted) for numbers, consulted in decode(tuple, data)]
    except (DecodeError, TypeError, ValueError):
        return []
