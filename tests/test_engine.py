"""Files -> linked suite, with whatever may be wrong with a file, with and without processes and cache."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hwlint import engine
from hwlint.cache import Cache
from hwlint.catalog import Catalog, load_catalog
from hwlint.config import Settings
from hwlint.discover import Discovery
from hwlint.engine import Analysis, Tree, analyze, remembered
from hwlint.scan.facts import ModuleFacts

HELPERS = (
    "from torch.testing._internal.common_utils import TestCase\n\nclass Base(TestCase):\n    def test_a(self): pass\n"
)
SUITE = {
    "test/test_one.py": "from helpers import Base\n\nclass OneTest(Base):\n    def test_b(self): pass\n",
    "test/helpers.py": HELPERS,
    "test/unrelated.py": "class Other: pass\n",
}


def write(root: Path, files: Mapping[str, str | bytes]) -> None:
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())


def run(root: Path, *paths: str, **options: Any) -> Analysis:
    settings = options.pop("settings", Settings(root=root))
    return analyze(settings, Discovery(root, tuple(sorted(paths))), **{"jobs": 1, **options})


def problems(analysis: Analysis) -> dict[str, str]:
    return {m.path: f"{m.problem.kind}: {m.problem.message}" for m in analysis.modules if m.problem is not None}


def broken_encode(tree: Tree, catalog: object, path: str) -> bytes:
    """In place of the scan of one file: the process ends."""
    if path.endswith("killer.py"):
        os._exit(5)
    return engine_encoded(tree, load_catalog(), path)


engine_encoded = engine._encoded


def test_a_file_and_what_it_hangs_on(tmp_path: Path) -> None:
    write(tmp_path, SUITE)
    analysis = run(tmp_path, "test/test_one.py")
    assert analysis.checked == ("test/test_one.py",)
    assert [m.path for m in analysis.modules] == ["test/test_one.py"]
    assert set(analysis.suite.modules) == {"test/test_one.py", "test/helpers.py"}
    one = analysis.suite.find_class("test/test_one.py", "OneTest")
    assert one is not None
    assert [t.function.name for t in one.inherited_tests] == ["test_a"]
    assert "test/helpers.py" in dict(analysis.consulted)


def test_bases_are_followed_through_packages_and_reexports(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "test/sub/test_a.py": "from common.bases import Public\n\nclass A(Public):\n    def test_x(self): pass\n",
            "test/common/__init__.py": "",
            "test/common/bases.py": "from .hidden import Hidden as Public\n",
            "test/common/hidden.py": "from far.away import *\n\nclass Hidden(Far): pass\n",
            "far/away.py": "class Far: pass\n",
            "far/unused.py": "",
        },
    )
    analysis = run(tmp_path, "test/sub/test_a.py")
    assert {"test/common/bases.py", "test/common/hidden.py", "far/away.py"} <= set(analysis.suite.modules)
    assert "far/unused.py" not in analysis.suite.modules
    cls = analysis.suite.find_class("test/sub/test_a.py", "A")
    assert cls is not None
    assert [c.name for c in cls.mro] == ["A", "Hidden", "Far"]


def test_a_base_that_the_catalog_knows_is_not_loaded(tmp_path: Path) -> None:
    write(tmp_path, {"test/test_a.py": HELPERS, "torch/testing/_internal/common_utils.py": "class TestCase: pass\n"})
    assert set(run(tmp_path, "test/test_a.py").suite.modules) == {"test/test_a.py"}


def test_modules_that_import_one_another_end(tmp_path: Path) -> None:
    write(tmp_path, {"a.py": "from b import B\nclass A(B): pass\n", "b.py": "from a import A\nclass B(A): pass\n"})
    assert set(run(tmp_path, "a.py").suite.modules) == {"a.py", "b.py"}


def test_at_level_upstream_a_file_stands_alone(tmp_path: Path) -> None:
    write(tmp_path, SUITE)
    analysis = run(tmp_path, "test/test_one.py", settings=Settings(root=tmp_path, level="upstream"))
    assert set(analysis.suite.modules) == {"test/test_one.py"}


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    odd_name = os.fsdecode(b"caf\xe9.py")
    write(tmp_path, {"a.py": "x = 1\n", "b.py": "def f(:\n", "c.py": b"\xff\xfea", odd_name: "x = 1\n"})
    (tmp_path / "loop.py").symlink_to("loop.py")
    analysis = run(tmp_path, "a.py", "b.py", "c.py", "gone.py", "loop.py", odd_name)
    assert problems(analysis) == {
        "b.py": "syntax: invalid syntax",
        "c.py": "encoding: the file is UTF-16, which Python does not read: save it as UTF-8",
        "gone.py": "read: cannot be read: No such file or directory",
        "loop.py": "read: cannot be read: Too many levels of symbolic links",
        "caf\\xe9.py": "read: the file's name is not UTF-8, so no report can name it: it is not checked",
    }
    assert len(analysis.modules) == 6


def test_a_fault_of_ours_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hwlint.scan import module

    scan = module.scan_module

    def faulty(data: bytes, path: str, catalog: Any) -> ModuleFacts:
        if path == "b.py":
            raise KeyError("oops")
        return scan(data, path, catalog)

    monkeypatch.setattr(module, "scan_module", faulty)
    write(tmp_path, {"a.py": "", "b.py": "", "c.py": ""})
    found = problems(run(tmp_path, "a.py", "b.py", "c.py"))
    assert list(found) == ["b.py"]
    assert found["b.py"].startswith("crash: internal error (KeyError: 'oops', at test_engine.py:")


def test_a_process_that_dies_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "FEW_FILES", 0)
    monkeypatch.setattr(engine, "FEW_BYTES", 0)
    monkeypatch.setattr(engine, "_encoded", broken_encode)
    paths = [f"f{n:02}.py" for n in range(20)] + ["killer.py"]
    write(tmp_path, dict.fromkeys(paths, "x = 1\n"))
    analysis = run(tmp_path, *paths, jobs=2)
    assert problems(analysis) == {"killer.py": "crash: reading it ends the process that does (status 5)"}
    assert [m.lines for m in analysis.modules if m.path != "killer.py"] == [1] * 20


def test_processes_change_nothing_but_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        f"test/test_{n}.py": f"class A{n}:\n" + f"    def test_{n}(self, device): pass\n" * n for n in range(1, 40)
    }
    write(tmp_path, {**files, **SUITE})
    alone = run(tmp_path, *files, "test/test_one.py")
    monkeypatch.setattr(engine, "FEW_FILES", 0)
    monkeypatch.setattr(engine, "FEW_BYTES", 0)
    done: list[tuple[int, int]] = []
    together = run(tmp_path, *files, "test/test_one.py", jobs=3, progress=lambda *step: done.append(step))
    assert together.modules == alone.modules
    assert list(together.suite.modules) == list(alone.suite.modules)
    assert [step for step in done if step[1] == 40] == [(n, 40) for n in range(1, 41)]


def test_an_overlay_stands_for_the_files(tmp_path: Path) -> None:
    write(tmp_path, SUITE)
    moved = {"test/helpers.py": None, "helpers.py": HELPERS.replace("test_a", "test_moved").encode()}
    analysis = run(tmp_path, "test/test_one.py", overlay=moved)
    one = analysis.suite.find_class("test/test_one.py", "OneTest")
    assert one is not None
    assert [t.function.name for t in one.inherited_tests] == ["test_moved"]
    hidden = run(tmp_path, "test/test_one.py", overlay={"test/test_one.py": None})
    assert problems(hidden) == {"test/test_one.py": "read: cannot be read: it is not there"}


def test_the_cache_answers_for_files_that_did_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, SUITE)
    scanned: list[str] = []
    scan = engine.scan_one

    def counted(tree: Tree, catalog: Catalog, path: str) -> ModuleFacts:
        scanned.append(path)
        return scan(tree, catalog, path)

    monkeypatch.setattr(engine, "scan_one", counted)

    def again() -> tuple[Analysis, list[str]]:
        cache = Cache.open(tmp_path / "cache")
        scanned.clear()
        analysis = run(tmp_path, "test/test_one.py", cache=cache)
        cache.close()
        return analysis, sorted(scanned)

    first, all_files = again()
    assert all_files == ["test/helpers.py", "test/test_one.py"]
    second, none = again()
    assert none == []
    assert second.modules == first.modules
    write(tmp_path, {"test/helpers.py": HELPERS + "# more\n"})
    assert again()[1] == ["test/helpers.py"]
    write(tmp_path, {"test/helpers.py": HELPERS})
    assert again()[1] == []


def test_the_same_content_elsewhere_is_another_file(tmp_path: Path) -> None:
    cache = Cache.open(tmp_path / "cache")
    write(tmp_path, {"a.py": "x = 1\n", "b.py": "x = 1\n"})
    assert [m.module for m in run(tmp_path, "a.py", "b.py", cache=cache).modules] == ["a", "b"]
    assert [m.module for m in run(tmp_path, "a.py", "b.py", cache=cache).modules] == ["a", "b"]


def test_foreign_content_in_the_cache_is_scanned_again(tmp_path: Path) -> None:
    import sqlite3
    import zlib

    write(tmp_path, {"a.py": "x = 1\n"})
    cache = Cache.open(tmp_path / "cache")
    expected = run(tmp_path, "a.py", cache=cache).modules
    cache.close()
    evil = b"cos\nsystem\n(S'exit 1'\ntR."
    (file,) = (tmp_path / "cache").glob("*.sqlite3")
    connection = sqlite3.connect(file)
    connection.execute("UPDATE facts SET data = ?", (zlib.crc32(evil).to_bytes(4, "big") + evil,))
    connection.commit()
    connection.close()
    assert run(tmp_path, "a.py", cache=Cache.open(tmp_path / "cache")).modules == expected


class Remembering:
    """Runs ``remembered`` and counts how often it had to compute."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.times = 0

    def compute(self, analysis: Analysis) -> tuple[str, ...]:
        self.times += 1
        return tuple(c.name for c in analysis.suite.all_classes())

    def __call__(self, *paths: str, purpose: str = "names", **settings: Any) -> tuple[tuple[str, ...], int]:
        self.times = 0
        cache = Cache.open(self.root / "cache")
        configured = Settings(root=self.root, **settings)
        discovery = Discovery(self.root, paths)
        result = remembered(self.compute, tuple, purpose, configured, discovery, cache=cache, jobs=1)
        cache.close()
        return result, self.times


def test_a_result_is_remembered_until_something_it_hangs_on_changes(tmp_path: Path) -> None:
    write(tmp_path, SUITE)
    ask = Remembering(tmp_path)
    names = ("Base", "OneTest")
    assert ask("test/test_one.py") == (names, 1)
    assert ask("test/test_one.py") == (names, 0)
    assert ask("test/test_one.py", purpose="other") == (names, 1)
    assert ask("test/test_one.py", ignore=("HW2",)) == (names, 1)
    write(tmp_path, {"test/unrelated.py": "class Changed: pass\n"})
    assert ask("test/test_one.py") == (names, 0)
    write(tmp_path, {"test/helpers.py": HELPERS + "class More: pass\n"})
    assert ask("test/test_one.py") == (("Base", "More", "OneTest"), 1)
    write(tmp_path, {"test/test_one.py": SUITE["test/test_one.py"] + "class Two: pass\n"})
    assert ask("test/test_one.py") == (("Base", "More", "OneTest", "Two"), 1)


def test_a_result_is_forgotten_when_a_base_appears(tmp_path: Path) -> None:
    write(tmp_path, {"test/test_one.py": SUITE["test/test_one.py"]})
    ask = Remembering(tmp_path)
    assert ask("test/test_one.py") == (("OneTest",), 1)
    assert ask("test/test_one.py") == (("OneTest",), 0)
    write(tmp_path, {"helpers.py": HELPERS})
    assert ask("test/test_one.py") == (("Base", "OneTest"), 1)


def test_nesting_as_deep_as_generated_code_has_it(tmp_path: Path) -> None:
    files = {
        "elif.py": "if a: pass\n" + "elif b: pass\n" * 1200,
        "sum.py": "a = " + " + ".join(["x"] * 1200) + "\n",
        "text.py": "a = (" + "'x' " * 5000 + ")\n",
    }
    write(tmp_path, files)
    assert problems(run(tmp_path, *files)) == {}


@pytest.mark.parametrize("text", ["a = " + "(" * 5000, "a = " + "-" * 90_000 + "1"])
def test_nesting_beyond_that_is_said(tmp_path: Path, text: str) -> None:
    write(tmp_path, {"deep.py": text + "\n", "fine.py": "x = 1\n"})
    assert list(problems(run(tmp_path, "deep.py", "fine.py"))) == ["deep.py"]


@pytest.mark.corpus
def test_every_file_of_a_real_tree_is_read(corpus: Path) -> None:
    paths = tuple(sorted(p.relative_to(corpus).as_posix() for p in (corpus / "test").rglob("*.py")))
    analysis = analyze(Settings(root=corpus), Discovery(corpus, paths))
    assert len(analysis.modules) > 1000
    assert problems(analysis) == {}
