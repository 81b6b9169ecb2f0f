"""``hwlint rule``, and that every rule does what its own page says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hwlint.cli import run
from hwlint.rules.base import Rule
from hwlint.rules.registry import all_rules

WITHOUT_EXAMPLE = {"HW003"}
"""It is about the allowlist, not about a module; see test_allowlist.py."""


CASES = [
    pytest.param(rule, level, id=f"{rule.code}-{level}")
    for rule in all_rules()
    if rule.code not in WITHOUT_EXAMPLE
    for level in rule.levels
]


def codes_found(
    rule: type[Rule], source: str, level: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> set[str]:
    file = folder / rule.bad_path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source, encoding="utf-8")
    settings = "".join(f'{name.replace("_", "-")} = "{value}"\n' for name, value in rule.example_settings.items())
    (folder / "pyproject.toml").write_text(f"[tool.hwlint]\n{settings}", encoding="utf-8")
    run(["check", str(file), "--level", level, "--format", "json", "--no-cache"])
    return {finding["code"] for finding in json.loads(capsys.readouterr().out)["findings"]}


@pytest.mark.parametrize(("rule", "level"), CASES)
def test_a_rule_fires_on_its_bad_example_only(
    rule: type[Rule], level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert rule.code in codes_found(rule, rule.bad, level, tmp_path, capsys)
    assert rule.code not in codes_found(rule, rule.good, level, tmp_path, capsys)


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_a_rule_says_all_it_has_to(rule: type[Rule]) -> None:
    assert rule.code.startswith("HW") and rule.code[2:].isdigit() and len(rule.code) == 5
    assert rule.name == rule.name.lower() and " " not in rule.name
    assert rule.summary and "\n" not in rule.summary
    assert len(rule.why.split()) > 8
    assert "field notes" not in rule.why.lower(), "what users cannot look up is no reference"
    assert rule.levels
    if rule.code not in WITHOUT_EXAMPLE:
        assert rule.bad.endswith("\n") and rule.good.endswith("\n")


def test_the_codes_of_the_design_are_all_there() -> None:
    numbers = [*range(1, 4), *range(101, 111), *range(201, 208), *range(301, 303), *range(401, 408)]
    numbers += [*range(501, 507), *range(601, 610), *range(701, 704)]
    assert [rule.code for rule in all_rules()] == [f"HW{number:03}" for number in numbers]


def test_the_list_has_a_line_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [rule.code for rule in all_rules()]


@pytest.mark.parametrize("wanted", ["HW101", "hw101", "missing-classification"])
def test_one_rule_is_explained_by_code_or_name(wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", wanted]) == 0
    out = capsys.readouterr().out
    assert out.startswith("HW101 missing-classification (error; level upstream, full)\n\nA test class has no")
    assert "\nBad:\n\n    from torch" in out
    assert out.endswith("Suppress with:  # hwlint: ignore[HW101]  the reason\n")


def test_json_of_one_and_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "HW601", "--format", "json"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert (one["code"], one["levels"], one["severity"]) == ("HW601", ["full"], "error")
    assert run(["rule", "--format", "json"]) == 0
    everything = json.loads(capsys.readouterr().out)
    assert one in everything and len(everything) == len(all_rules())


def test_markdown_is_a_page_with_a_heading_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "--format", "markdown"]) == 0
    out = capsys.readouterr().out
    assert [line[3:8] for line in out.splitlines() if line.startswith("## ")] == [r.code for r in all_rules()]
    assert out.count("```") % 4 == 0
