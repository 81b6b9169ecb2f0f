"""Findings recorded, and what is new against the record."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.baseline import Baseline, compare, load_baseline, record, render, save_baseline
from hwlint.errors import ConfigError
from hwlint.findings import Finding, Severity
from hwlint.scan.facts import Span


def finding(
    line: int, path: str = "test/a.py", code: str = "HW201", symbol: str = "T.test_a", detail: str = ""
) -> Finding:
    return Finding(code, path, Span(line, 0, line, 4), Severity.ERROR, "message", symbol, detail)


def test_what_moved_is_known_and_what_came_is_new() -> None:
    baseline = record([finding(3), finding(9, symbol="T.test_b")])
    compared = compare([finding(30), finding(90, symbol="T.test_c")], baseline.counts)
    assert compared.known == (finding(30),)
    assert compared.new == (finding(90, symbol="T.test_c"),)
    assert dict(compared.gone) == {("test/a.py", "HW201", "T.test_b", ""): 1}


def test_one_more_of_the_same_is_one_new() -> None:
    compared = compare([finding(5), finding(3), finding(4)], record([finding(1), finding(2)]).counts)
    assert compared.known == (finding(3), finding(4))
    assert compared.new == (finding(5),)


def test_the_age_says_which_of_the_same_is_new() -> None:
    compared = compare([finding(3), finding(4)], record([finding(1)]).counts, age=lambda f: -f.span.line)
    assert compared.new == (finding(3),)


def test_the_file_is_one_finding_a_line_and_sorted(tmp_path: Path) -> None:
    path = tmp_path / "base.json"
    save_baseline(path, record([finding(2, path="test/b.py"), finding(1), finding(9, detail="é"), finding(5)]))
    assert path.read_text() == (
        '{\n  "version": 1,\n  "findings": [\n'
        '    {"path": "test/a.py", "code": "HW201", "symbol": "T.test_a", "detail": "", "count": 2},\n'
        '    {"path": "test/a.py", "code": "HW201", "symbol": "T.test_a", "detail": "\\u00e9", "count": 1},\n'
        '    {"path": "test/b.py", "code": "HW201", "symbol": "T.test_a", "detail": "", "count": 1}\n'
        "  ]\n}\n"
    )
    save_baseline(path, Baseline())
    assert path.read_text() == '{\n  "version": 1,\n  "findings": []\n}\n'


@pytest.mark.parametrize(
    "text, words",
    [
        ("{", "not valid JSON"),
        ("[]", "no baseline of hwlint"),
        ('{"version": 2, "findings": []}', "has version 2, this hwlint reads 1"),
        ('{"version": 1, "findings": [3]}', "finding 1 of the baseline"),
        (
            '{"version": 1, "findings": [{"path": "a", "code": "b", "symbol": "c", "detail": "d", "count": 0}]}',
            "finding 1 of the baseline",
        ),
    ],
)
def test_what_is_no_baseline(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "base.json").write_text(text)
    with pytest.raises(ConfigError, match=words):
        load_baseline(tmp_path / "base.json")


def test_one_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_baseline(tmp_path / "none.json")


some_findings = st.lists(
    st.builds(
        finding,
        st.integers(1, 50),
        path=st.sampled_from("ab"),
        symbol=st.sampled_from("xyz"),
        detail=st.text(max_size=2),
    )
)


@given(some_findings, st.integers(0, 100))
def test_nothing_is_new_against_its_own_record_wherever_it_moved(findings: list[Finding], shift: int) -> None:
    known = record(findings).counts
    moved = [finding(f.span.line + shift, f.path, f.code, f.symbol, f.detail) for f in findings]
    compared = compare(moved, known)
    assert compared.new == ()
    assert not compared.gone


@given(some_findings, some_findings)
def test_new_and_known_are_all(now: list[Finding], before: list[Finding]) -> None:
    compared = compare(now, record(before).counts)
    assert sorted((*compared.new, *compared.known), key=repr) == sorted(now, key=repr)
    assert len(compared.known) + sum(compared.gone.values()) == len(before)


@given(some_findings)
def test_what_is_written_is_read(findings: list[Finding]) -> None:
    import json
    import tempfile

    baseline = record(findings)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "base.json"
        save_baseline(path, baseline)
        assert load_baseline(path) == baseline
    assert json.loads(render(baseline))["version"] == 1
