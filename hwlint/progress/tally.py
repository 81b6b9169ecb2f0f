"""Sums over the files of a snapshot: in all, by folder, by group, by owner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hwlint.progress.model import UNCLASSIFIED, Construct, FileState
from hwlint.scan.facts import LABELS

COLUMNS = (*LABELS, UNCLASSIFIED)
NOBODY = "(none)"
"""The row of files without an owner."""


@dataclass(frozen=True, slots=True)
class LabelCount:
    """Classes and tests of one label; direct: with the tag in the class's own body, inherited: with a base's."""

    classes_direct: int = 0
    classes_inherited: int = 0
    tests_direct: int = 0
    """Own tests of the classes with a direct label."""
    tests_inherited: int = 0
    """Own tests of the classes with an inherited label."""
    tests_from_bases: int = 0
    """Tests that these classes have from bases or templates in the tree, once more for each class."""

    @property
    def classes(self) -> int:
        return self.classes_direct + self.classes_inherited

    @property
    def tests(self) -> int:
        return self.tests_direct + self.tests_inherited


@dataclass(frozen=True, slots=True)
class Tally:
    """What a row of a report says."""

    files: int = 0
    files_with_classes: int = 0
    files_classified: int = 0
    """Those of the files with classes in which every class has a label."""
    allowlisted: int = 0
    broken: int = 0
    function_tests: int = 0
    bound: int = 0
    """Classes tagged for every device, or none, that are bound to one."""
    split: int = 0
    """Unclassified classes whose tests belong to several labels."""
    labels: dict[str, LabelCount] = field(default_factory=dict)
    """By label in the order of COLUMNS, each present."""

    @property
    def classes(self) -> int:
        return sum(c.classes for c in self.labels.values())

    @property
    def tests(self) -> int:
        return sum(c.tests for c in self.labels.values())

    @property
    def unclassified(self) -> int:
        return self.labels[UNCLASSIFIED].classes

    @property
    def classified(self) -> int:
        return self.classes - self.unclassified

    @property
    def share(self) -> float:
        """Classified classes of all, 1.0 where there is none."""
        return self.classified / self.classes if self.classes else 1.0


def tally(files: Iterable[FileState]) -> Tally:
    """The sum over ``files``."""
    plain: Counter[str] = Counter()
    labels: dict[str, list[int]] = {label: [0] * 5 for label in COLUMNS}
    for file in files:
        plain["files"] += 1
        plain["with_classes"] += bool(file.classes)
        plain["classified"] += bool(file.classes) and not file.unclassified
        plain["allowlisted"] += file.allowlisted
        plain["broken"] += bool(file.problem)
        plain["function_tests"] += file.function_tests
        plain["bound"] += file.bound
        for cls in file.classes:
            plain["split"] += cls.label == UNCLASSIFIED and cls.verdict == "SPLIT"
            row = labels[cls.label]
            row[1 if cls.inherited else 0] += 1
            row[3 if cls.inherited else 2] += cls.tests
            row[4] += cls.inherited_tests
    return Tally(
        files=plain["files"],
        files_with_classes=plain["with_classes"],
        files_classified=plain["classified"],
        allowlisted=plain["allowlisted"],
        broken=plain["broken"],
        function_tests=plain["function_tests"],
        bound=plain["bound"],
        split=plain["split"],
        labels={label: LabelCount(*row) for label, row in labels.items()},
    )


Rows = dict[str, Tally]


def by_folder(files: Iterable[FileState], depth: int) -> Rows:
    """A row for each folder down to ``depth`` levels; deeper files count for the folder at that level."""
    return _rows(files, lambda file: (folder_of(file.path, depth),))


def by_group(files: Iterable[FileState]) -> Rows:
    return _rows(files, lambda file: (file.group,))


def by_owner(files: Iterable[FileState]) -> Rows:
    """A row for each ``# Owner(s):`` label. A file with several counts for each, so the rows need not add up to the
    total.
    """
    return _rows(files, lambda file: file.owners or (NOBODY,))


def by_code_owner(files: Iterable[FileState]) -> Rows:
    """A row for each owner in CODEOWNERS; as in :func:`by_owner`, a file counts for each of its owners."""
    return _rows(files, lambda file: file.code_owners or (NOBODY,))


def folder_of(path: str, depth: int) -> str:
    parts = path.split("/")[:-1]
    return "/".join(parts[:depth]) or "."


def _rows(files: Iterable[FileState], keys: Callable[[FileState], Iterable[str]]) -> Rows:
    found: dict[str, list[FileState]] = {}
    for file in files:
        for key in dict.fromkeys(keys(file)):
            found.setdefault(key, []).append(file)
    return {key: tally(found[key]) for key in sorted(found)}


def constructs(files: Iterable[FileState]) -> tuple[Construct, ...]:
    """What binds tagged classes, most frequent first."""
    count: Counter[tuple[str, str]] = Counter()
    for file in files:
        for cls in file.classes:
            for one in cls.bound:
                count[one.code, one.name] += one.count
    return tuple(Construct(code, name, n) for (code, name), n in sorted(count.items(), key=lambda i: (-i[1], i[0])))
