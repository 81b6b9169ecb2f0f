"""The cache and its encoding: right where it answers, and harmless whatever happens to its file."""

from __future__ import annotations

import os
import pickle
import sqlite3
import stat
from pathlib import Path

import pytest

from hwlint import atomic, cache, codec
from hwlint.cache import Cache
from hwlint.findings import Finding, Fix, Severity
from hwlint.scan.facts import Class, Decorator, DeviceUse, Function, ModuleFacts, Problem, Span

USE = DeviceUse(Span(3, 4, 3, 9), "placement", "string", "cuda", "cuda")
FACTS = ModuleFacts(
    "test/a.py",
    "test.a",
    problem=Problem(1, 0, "m"),
    imports=(("torch", "torch"),),
    classes=(
        Class(
            "A", "A", Span(1, 0, 9, 0), 1, ("x.B",), ("B",),
            methods=(Function("test_a", Span(2, 0, 3, 0), 2, "test", ("self",), uses=(USE,)),),
            decorators=(Decorator("d", "m.d", Span(1, 1, 1, 2), False),),
            attributes=(("n", (1, None, ("x",), 2.5, True)),),
        ),
    ),
)  # fmt: skip
FINDING = Finding(
    "HW201", "test/a.py", Span(1, 0, 1, 2), Severity.WARNING, "m", fix=Fix("f", "safe", "x", Span(1, 0, 1, 1))
)


def stored(folder: Path, key: bytes = b"k") -> bytes | None:
    opened = Cache.open(folder)
    try:
        return opened.get("facts", key)
    finally:
        opened.close()


def store(folder: Path, data: bytes = b"content", key: bytes = b"k") -> None:
    opened = Cache.open(folder)
    opened.put("facts", [(key, data)])
    opened.close()


def file_of(folder: Path) -> Path:
    (found,) = folder.glob("*.sqlite3")
    return found


@pytest.mark.parametrize("value", [FACTS, FINDING, (FINDING, FACTS, "x", None), ()])
def test_what_is_encoded_is_decoded(value: object) -> None:
    assert codec.decode(type(value), codec.encode(value)) == value


class Bomb:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("exploded",)


@pytest.mark.parametrize(
    "data", [pickle.dumps(Bomb()), pickle.dumps([FACTS, Bomb()]), pickle.dumps(os.system), b"", b"\x80\x05", b"garbage"]
)
def test_foreign_bytes_run_no_code(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(codec.DecodeError):
        codec.decode(list, data)
    assert list(tmp_path.iterdir()) == []


def test_another_class_is_an_error() -> None:
    with pytest.raises(codec.DecodeError, match="Finding instead of ModuleFacts"):
        codec.decode(ModuleFacts, codec.encode(FINDING))


def test_what_is_put_is_got_in_a_later_run(tmp_path: Path) -> None:
    store(tmp_path / "c", b"\0content")
    assert stored(tmp_path / "c") == b"\0content"
    assert stored(tmp_path / "c", b"other") is None
    assert (tmp_path / "c/.gitignore").read_text() == "*\n"


def test_one_that_holds_nothing() -> None:
    empty = Cache()
    empty.put("facts", [(b"k", b"v")])
    assert empty.get("facts", b"k") is None
    empty.close()


def test_a_file_that_is_no_database_is_replaced(tmp_path: Path) -> None:
    store(tmp_path)
    file_of(tmp_path).write_bytes(b"rubbish" * 1000)
    assert stored(tmp_path) is None
    store(tmp_path)
    assert stored(tmp_path) == b"content"


@pytest.mark.parametrize("part", [0.1, 0.4, 0.7, 0.95])
def test_a_damaged_database_gives_nothing_wrong(tmp_path: Path, part: float) -> None:
    opened = Cache.open(tmp_path)
    items = [(bytes([n]), bytes([n]) * 3000) for n in range(100)]
    opened.put("facts", items)
    opened.close()
    data = bytearray(file_of(tmp_path).read_bytes())
    at = int(len(data) * part)
    data[at : at + 5000] = b"\xa5" * 5000
    file_of(tmp_path).write_bytes(data)
    opened = Cache.open(tmp_path)
    assert all(opened.get("facts", key) in (value, None) for key, value in items)
    opened.put("facts", items)
    opened.close()


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    store(tmp_path, b"content" * 100)
    data = file_of(tmp_path).read_bytes()
    assert data.count(b"contentcontent") > 0
    file_of(tmp_path).write_bytes(data.replace(b"contentcontent", b"contentcontenu", 1))
    assert stored(tmp_path) is None


def test_a_full_disk_is_no_error(tmp_path: Path) -> None:
    opened = Cache.open(tmp_path)
    assert opened._connection is not None
    opened._connection.execute("PRAGMA max_page_count = 8")
    opened.put("facts", [(bytes([n]), b"x" * 100_000) for n in range(9)])
    assert opened.get("facts", b"\0") is None
    opened.close()
    store(tmp_path)
    assert stored(tmp_path) == b"content"


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    store(tmp_path / "file" / "cache")
    assert stored(tmp_path / "file" / "cache") is None
    assert (tmp_path / "file").read_text() == ""


def test_while_another_run_writes_this_one_goes_on(tmp_path: Path) -> None:
    store(tmp_path)
    other = sqlite3.connect(file_of(tmp_path), isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert stored(tmp_path) is None
    store(tmp_path, b"lost", b"other")
    other.execute("ROLLBACK")
    other.close()
    assert stored(tmp_path) == b"content"


def test_what_was_not_used_for_long_goes(tmp_path: Path) -> None:
    store(tmp_path, key=b"old")
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("UPDATE facts SET used = used - ?", (cache.KEEP_SECONDS + 10,))
    connection.commit()
    connection.close()
    store(tmp_path, key=b"new")
    assert stored(tmp_path, b"old") is None
    assert stored(tmp_path, b"new") == b"content"


def test_use_keeps_an_entry(tmp_path: Path) -> None:
    store(tmp_path)
    connection = sqlite3.connect(file_of(tmp_path))
    connection.execute("UPDATE facts SET used = used - ?", (cache.KEEP_SECONDS // 2,))
    connection.commit()
    assert stored(tmp_path) == b"content"
    assert connection.execute("SELECT used > strftime('%s') - 60 FROM facts").fetchone() == (1,)
    connection.close()


def test_the_newest_results_are_kept_as_far_as_they_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "KEEP_RESULTS", 2500)
    opened = Cache.open(tmp_path)
    opened.put("results", [(bytes([n]), b"v" * 1000) for n in range(5)])
    opened.close()
    opened = Cache.open(tmp_path)
    assert [n for n in range(5) if opened.get("results", bytes([n])) is not None] == [3, 4]
    opened.close()


def test_keys_tell_their_parts_apart() -> None:
    assert cache.key("a", "b") != cache.key("ab") != cache.key("a\0b")
    assert cache.key("a", 1) == cache.key("a", 1) != cache.key("a", "1")


def test_the_code_has_a_name_of_its_own() -> None:
    assert cache.code_digest() != cache.code_digest("scan") != cache.code_digest("scan", "catalog")


def test_a_write_keeps_mode_and_link(tmp_path: Path) -> None:
    target = tmp_path / "script.py"
    target.write_bytes(b"old")
    target.chmod(0o755)
    (tmp_path / "link.py").symlink_to("script.py")
    atomic.write_atomic(tmp_path / "link.py", b"new")
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    assert (tmp_path / "link.py").is_symlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "script.py"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a.py"
    target.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        atomic.write_atomic(target, b"new")
    assert target.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    target = tmp_path / f"{'t' * 250}.py"
    target.write_bytes(b"old")
    atomic.write_atomic(target, b"new")
    assert target.read_bytes() == b"new"
