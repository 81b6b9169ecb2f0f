"""Upstream's allowlist: read in both forms, judged, written back only ever shorter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.allowlist import Allowlist, Entry, load_allowlist, render, save_allowlist, stale_entries, updated
from hwlint.errors import ConfigError


def load(folder: Path, text: str) -> Allowlist:
    (folder / "allow.json").write_bytes(text.encode())
    return load_allowlist(folder / "allow.json")


def stale(allowlist: Allowlist, clean: str = "", missing: str = "") -> list[tuple[str, int, str]]:
    found = stale_entries(allowlist, is_clean=clean.split().__contains__, exists=lambda p: p not in missing.split())
    return [(s.entry.path, s.entry.line, s.why) for s in found]


def test_the_list_form(tmp_path: Path) -> None:
    allowlist = load(tmp_path, '[\n  "test/a.py",\n  "test/b.py"\n]\n')
    assert allowlist.entries == (Entry("test/a.py", 2), Entry("test/b.py", 3))
    assert allowlist.paths == {"test/a.py", "test/b.py"}
    assert allowlist.form == "list"


def test_the_object_form_counts_keys_whatever_their_values(tmp_path: Path) -> None:
    text = '{\n  "test/a.py": true,\n  "test/b.py": "test/c.py",\n  "test/c.py": {"since": [1]}\n}\n'
    allowlist = load(tmp_path, text)
    assert allowlist.paths == {"test/a.py", "test/b.py", "test/c.py"}
    assert [entry.line for entry in allowlist.entries][:2] == [2, 3]
    assert json.loads(render(allowlist)) == json.loads(text)


def test_what_is_stale_and_where(tmp_path: Path) -> None:
    allowlist = load(tmp_path, '[\n"b.py", "a.py",\n"c.py",\n"a.py",\n"d.py", "e.py"]')
    assert stale(allowlist, clean="c.py", missing="d.py") == [
        ("a.py", 2, "unsorted"),
        ("c.py", 3, "clean"),
        ("a.py", 4, "duplicated"),
        ("d.py", 5, "missing"),
    ]
    assert stale(load(tmp_path, '["a.py", "b.py"]')) == []


def test_a_key_written_twice_is_seen_twice(tmp_path: Path) -> None:
    assert stale(load(tmp_path, '{\n"a.py": true,\n"a.py": true}')) == [("a.py", 3, "duplicated")]


def test_only_files_that_are_there_are_asked_about(tmp_path: Path) -> None:
    asked: list[str] = []

    def is_clean(path: str) -> bool:
        asked.append(path)
        return False

    stale_entries(load(tmp_path, '["a.py", "b.py"]'), is_clean=is_clean, exists="b.py".__eq__)
    assert asked == ["b.py"]


def test_update_takes_out_sorts_and_adds(tmp_path: Path) -> None:
    allowlist = load(tmp_path, '["c.py", "a.py", "a.py", "b.py", "d.py"]')
    found = stale_entries(allowlist, is_clean="b.py".__eq__, exists="d.py".__ne__)
    assert [e.path for e in updated(allowlist, found).entries] == ["a.py", "c.py"]
    assert [e.path for e in updated(allowlist, found, ["b2.py", "a.py"]).entries] == ["a.py", "b2.py", "c.py"]


def test_written_as_upstream_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "allow.json"
    allowlist = load(tmp_path, '{"b.py":true,"a.py":{"why":"x"}}')
    save_allowlist(path, updated(allowlist, (), ["c.py"]))
    assert path.read_bytes() == b'{\n  "a.py": {\n    "why": "x"\n  },\n  "b.py": true,\n  "c.py": true\n}\n'
    save_allowlist(path, load(tmp_path, '[\r\n"a.py"]'))
    assert path.read_bytes() == b'[\r\n  "a.py"\r\n]\r\n'
    save_allowlist(path, Allowlist())
    assert path.read_bytes() == b"[]\n"


@pytest.mark.parametrize(
    "text, words",
    [
        ("[", "not valid JSON"),
        ("3", "must be a JSON list of paths"),
        ('["a.py", 3]', "names 3, which is not a path"),
        ("[null]", "names null, which is not a path"),
    ],
)
def test_what_is_no_allowlist(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        load(tmp_path, text)


def test_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_allowlist(tmp_path / "none.json")


@given(st.lists(st.text(max_size=8)), st.sets(st.text(max_size=8)), st.booleans())
def test_an_updated_list_is_never_longer_and_has_nothing_stale(
    names: list[str], clean: set[str], as_object: bool
) -> None:
    allowlist = Allowlist(tuple(Entry(name, 1) for name in names), "object" if as_object else "list")
    judge = clean.__contains__
    after = updated(allowlist, stale_entries(allowlist, is_clean=judge, exists=lambda p: True))
    assert after.paths == allowlist.paths - clean
    assert len(after.entries) <= len(names)
    assert stale_entries(after, is_clean=judge, exists=lambda p: True) == ()
    assert list(json.loads(render(after))) == [entry.path for entry in after.entries]
