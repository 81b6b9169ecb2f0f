"""The formats of ``hwlint classify``."""

from __future__ import annotations

import csv
import io
import json

from hwlint.classify.verdict import Evidence, TestVerdict, Verdict
from hwlint.output.verdicts import as_csv, as_json, as_markdown, as_text
from hwlint.scan.facts import Span

EVIDENCE = Evidence(
    "gate", "ACCELERATOR", "`@requires_gpu()` asks | for an accelerator", "test/test_a.py", Span(4, 0, 4, 9)
)
TESTS = (
    TestVerdict("test_a", 5, "ACCELERATOR", "certain", (EVIDENCE,)),
    TestVerdict("test_b", 8, "GENERIC", "certain", (), "test/base.py::Base"),
)
VERDICTS = (
    Verdict("test/test_a.py", "A", 3, "SPLIT", "likely", "", False, (EVIDENCE,), TESTS),
    Verdict("test/test_a.py", "Longer", 20, "CPU", "unsure", "CUDA", True),
)


def test_text() -> None:
    assert as_text(VERDICTS) == (
        "test/test_a.py\n"
        "      3  A       SPLIT       likely   unclassified\n"
        "           ACCELERATOR (1): test_a\n"
        "           GENERIC (1): test_b\n"
        "     20  Longer  CPU         unsure   now CUDA, inherited, disagrees\n"
        "\n"
        "2 classes: 1 SPLIT, 1 CPU; 1 likely, 1 unsure\n"
    )


def test_text_with_evidence_and_tests() -> None:
    text = as_text(VERDICTS[:1], evidence=True, tests=True)
    assert "ACCELERATOR: `@requires_gpu()` asks | for an accelerator (test/test_a.py:4)" in text
    assert "test_b: GENERIC (certain)" in text


def test_json_has_what_its_readers_need() -> None:
    rows = json.loads(as_json(VERDICTS))
    assert {"path", "class", "line", "label", "confidence", "current", "evidence", "tests"} <= set(rows[0])
    assert rows[0]["current"] is None and rows[1]["current"] == "CUDA"
    assert [(t["name"], t["label"]) for t in rows[0]["tests"]] == [("test_a", "ACCELERATOR"), ("test_b", "GENERIC")]
    assert rows[0]["evidence"][0]["argues_for"] == "ACCELERATOR"


def test_csv_and_markdown_keep_their_columns() -> None:
    assert [len(row) for row in csv.reader(io.StringIO(as_csv(VERDICTS)))] == [8, 8, 8]
    table = [line.replace("\\|", "") for line in as_markdown(VERDICTS).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in table} == {7}


def test_nothing() -> None:
    assert as_text(()) == "no test classes\n" and json.loads(as_json(())) == []
