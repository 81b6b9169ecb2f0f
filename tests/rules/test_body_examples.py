"""The examples that the rules about bodies carry, and what every such rule has to say."""

from __future__ import annotations

import pytest

from hwlint.rules import classification, device_apis, devices, distributed, gates, profiler
from hwlint.rules.base import Rule
from tests.support import check

FAMILIES = (classification, devices, profiler, device_apis, gates, distributed)
RULES = [(module.__name__.rpartition(".")[2], rule) for module in FAMILIES for rule in module.RULES]
IDS = [rule.code for _, rule in RULES]


@pytest.mark.parametrize(("module", "rule"), RULES, ids=IDS)
def test_bad_example_fires(module: str, rule: type[Rule]) -> None:
    found = check(f"{module}.{rule.code}", {rule.bad_path: rule.bad}, header=False)
    assert {f.code for f in found} == {rule.code}
    for finding in found:
        assert finding.symbol or rule.code == "HW506"
        assert finding.message and "\n" not in finding.message
        assert finding.detail


@pytest.mark.parametrize(("module", "rule"), RULES, ids=IDS)
def test_good_example_is_clean_of_every_rule(module: str, rule: type[Rule]) -> None:
    assert rule.good != rule.bad
    for other in FAMILIES:
        name = other.__name__.rpartition(".")[2]
        assert check(name, {rule.bad_path: rule.good}, header=False) == []


@pytest.mark.parametrize(("module", "rule"), RULES, ids=IDS)
def test_says_why_with_a_source(module: str, rule: type[Rule]) -> None:
    assert rule.summary and rule.name == rule.name.lower()
    assert len(rule.why.split()) > 15
    assert rule.references


@pytest.mark.parametrize(("module", "rule"), RULES, ids=IDS)
def test_severity_of_the_rule_is_that_of_its_example(module: str, rule: type[Rule]) -> None:
    found = check(f"{module}.{rule.code}", {rule.bad_path: rule.bad}, header=False)
    assert found[0].severity == rule.severity
