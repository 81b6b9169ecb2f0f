"""Repositories with a made-up history, and the truth of each commit, kept apart from anything hwlint says."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.gitrepo import Repository

START = 1_767_600_000
"""2026-01-05, a Monday."""
DAY = 86_400
IMPORTS = "from torch.testing._internal.common_utils import HardwareClassification, TestCase\n"
ALLOWLIST = "allowlist.json"


@dataclass(frozen=True)
class TestClass:
    """One class of the suite: a label or none, and its number of tests; perhaps on a base in another file."""

    __test__ = False

    name: str
    label: str = ""
    tests: int = 1
    base: str = ""
    """'module:Class', '' for TestCase."""

    def source(self) -> str:
        base = self.base.partition(":")[2] or "TestCase"
        lines = [f"class {self.name}({base}):"]
        if self.label:
            lines.append(f"    hw_classification = HardwareClassification.{self.label}")
        lines += [f"    def test_{at}(self):\n        self.assertEqual({at}, {at})" for at in range(self.tests)]
        return "\n".join(lines if len(lines) > 1 else [*lines, "    pass"]) + "\n"


Tree = dict[str, tuple[TestClass, ...]]
"""Path -> classes; paths that are no test files hold bases."""


def module_source(classes: Iterable[TestClass]) -> str:
    imports = sorted({c.base for c in classes if c.base})
    text = '# Owner(s): ["module: tests"]\n' + IMPORTS
    text += "".join(f"from {base.partition(':')[0]} import {base.partition(':')[2]}\n" for base in imports)
    return text + "\n\n" + "\n\n".join(c.source() for c in classes)


@dataclass(frozen=True)
class Truth:
    """What is true at one commit."""

    classes: dict[str, int]
    """By effective label, '' for none."""
    tests: dict[str, int]
    allowlist: int

    @property
    def unclassified(self) -> int:
        return self.classes.get("", 0)


@dataclass
class State:
    tree: Tree = field(default_factory=dict)
    allowlist: set[str] = field(default_factory=set)

    def copy(self) -> State:
        return State(dict(self.tree), set(self.allowlist))

    def truth(self) -> Truth:
        labels = {
            (path.rpartition("/")[2].removesuffix(".py"), c.name): c.label for path, cs in self.tree.items() for c in cs
        }
        classes: dict[str, int] = {}
        tests: dict[str, int] = {}
        for path, found in self.tree.items():
            if not path.rpartition("/")[2].startswith("test_"):
                continue
            for cls in found:
                module, _, base = cls.base.partition(":")
                label = cls.label or labels.get((module, base), "")
                classes[label] = classes.get(label, 0) + 1
                tests[label] = tests.get(label, 0) + cls.tests
        return Truth(classes, tests, len(self.allowlist))

    def files(self) -> dict[str, str]:
        found = {path: module_source(classes) for path, classes in self.tree.items()}
        return found | {ALLOWLIST: json.dumps(sorted(self.allowlist), indent=2) + "\n"}


class History:
    """Writes commits with ``git fast-import``, which takes milliseconds for each."""

    def __init__(self, root: Path) -> None:
        self.repository = Repository(root)
        self.stream: list[bytes] = []
        self.written: dict[int, dict[str, str]] = {0: {}}
        self.count = 0

    def commit(self, state: State, days: float, parents: tuple[int, ...] = (), branch: str = "main") -> int:
        """Add a commit on top of ``parents`` (the first one's files are what it starts from), and give its mark."""
        self.count += 1
        time = START + int(days * DAY)
        who = f"committer a <a@example.org> {time} +0000\n".encode()
        out = [f"commit refs/heads/{branch}\nmark :{self.count}\n".encode(), who, b"data 1\nm\n"]
        if parents:
            out.append(f"from :{parents[0]}\n".encode())
            out += (f"merge :{other}\n".encode() for other in parents[1:])
        before = self.written[parents[0]] if parents else {}
        files = state.files()
        out += (f"D {path}\n".encode() for path in before if path not in files)
        for path, text in files.items():
            if before.get(path) != text:
                data = text.encode()
                out.append(f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n")
        self.written[self.count] = files
        self.stream += out
        return self.count

    def finish(self) -> Repository:
        """Write the commits; the work tree is ``main``'s last one."""
        command = ["git", "-C", str(self.repository.root), "fast-import", "--quiet", "--force"]
        subprocess.run(command, input=b"".join(self.stream), check=True)
        self.stream.clear()
        self.repository.git("reset", "-q", "--hard", "main")
        return self.repository


def suite(files: int, seed: int = 0) -> State:
    """A suite before anything was migrated: every file on the allowlist."""
    draw = random.Random(seed)
    tree: Tree = {"test/shared_cases.py": (TestClass("SharedCases", tests=0),)}
    folders = ("test", "test/distributed", "test/dynamo", "test/nn")
    for at in range(files):
        classes = [TestClass(f"Case{at}n{k}", tests=draw.randint(1, 4)) for k in range(draw.randint(1, 4))]
        if at % 7 == 3:
            classes.append(TestClass(f"Shared{at}", base="shared_cases:SharedCases"))
        tree[f"{folders[at % len(folders)]}/test_file{at}.py"] = tuple(classes)
    return State(tree, {path for path in tree if "test_" in path})


def label_all(classes: tuple[TestClass, ...], label: str) -> tuple[TestClass, ...]:
    return tuple(replace(c, label=label if not c.base else c.label) for c in classes)


def sixty_commits(root: Path) -> tuple[Repository, list[Truth]]:
    """60 commits on main over 40 weeks: files migrated, one regressed, one renamed, one added, a base tagged for its
    subclasses in other files, and a merge of a branch with commits of its own. With the truth at each of main's own
    commits.
    """
    history, state, draw = History(root), suite(40), random.Random(7)
    truths = [state.truth()]
    head = history.commit(state, 0)
    open_paths = sorted(path for path in state.tree if "test_" in path)
    for at in range(1, 60):
        parents: tuple[int, ...] = (head,)
        if at == 20:
            path = next(p for p, cs in sorted(state.tree.items()) if any(c.label for c in cs))
            state.tree[path] = label_all(state.tree[path], "")
            open_paths.append(path)
        elif at == 30:
            old = open_paths[0]
            new = old.replace("test_file", "test_renamed")
            state.tree[new] = state.tree.pop(old)
            state.allowlist = {new if path == old else path for path in state.allowlist}
            open_paths[0] = new
        elif at == 35:
            state.tree["test/nn/test_added.py"] = (TestClass("Added", tests=3), TestClass("AddedToo", "CPU"))
        elif at == 40:
            side = state.copy()
            side_head = head
            for step in range(3):
                path = open_paths.pop()
                side.tree[path] = label_all(side.tree[path], "ACCELERATOR")
                side_head = history.commit(side, 4.9 * at - 3 + step, (side_head,), "side")
            state = side.copy()
            parents = (head, side_head)
        elif at == 45:
            state.tree["test/shared_cases.py"] = (TestClass("SharedCases", "GENERIC", tests=0),)
        elif open_paths and draw.random() < 0.6:
            path = open_paths.pop(draw.randrange(len(open_paths)))
            state.tree[path] = label_all(state.tree[path], draw.choice(["GENERIC", "ACCELERATOR", "CUDA"]))
            state.allowlist.discard(path)
        head = history.commit(state, 4.9 * at, parents)
        truths.append(state.truth())
    return history.finish(), truths


def long_history(root: Path, files: int, commits: int) -> Repository:
    """A suite of many files, and commits that migrate a few at a time."""
    history, state, draw = History(root), suite(files), random.Random(1)
    head = history.commit(state, 0)
    paths = sorted(path for path in state.tree if "test_" in path)
    for at in range(1, commits):
        for path in draw.sample(paths, 3):
            state.tree[path] = label_all(state.tree[path], draw.choice(["GENERIC", "ACCELERATOR", ""]))
        head = history.commit(state, at * 1.7, (head,))
    return history.finish()
