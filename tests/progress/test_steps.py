"""What a file needs next, and what of a class ``migrate`` would refuse."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hwlint.catalog import load_catalog
from hwlint.classify.verdict import TestVerdict, Verdict
from hwlint.config import MigrateSettings, Settings
from hwlint.engine import Analysis
from hwlint.progress.model import ClassState, Construct, FileState
from hwlint.progress.steps import cheapest, next_step
from hwlint.progress.survey import refusals, survey
from tests.support import PATH, get_class, suite_of


def cls(name: str = "A", label: str = "", **fields: object) -> ClassState:
    return replace(ClassState(name, 1, label, False, 1, 0), **fields)  # type: ignore[arg-type]


def file(*classes: ClassState, path: str = "test_a.py", **fields: object) -> FileState:
    found = replace(FileState(path, "core", (), (), classes), **fields)  # type: ignore[arg-type]
    return replace(found, step=next_step(found))


BOUND = (Construct("HW201", "cuda", 2), Construct("HW401", "torch.cuda.synchronize"))


@pytest.mark.parametrize(
    ("state", "kind", "command"),
    [
        (file(problem="bad"), "repair", "hwlint check test_a.py"),
        (file(cls(), cls("B", "CPU")), "migrate", "hwlint migrate test_a.py"),
        (file(cls(refusals=("why",)), cls("B")), "migrate-partly", "hwlint migrate test_a.py"),
        (file(cls(refusals=("why",), verdict="SPLIT")), "migrate-partly", "hwlint migrate --split test_a.py"),
        (
            file(cls(refusals=("why",), verdict="CPU", confidence="likely")),
            "migrate-partly",
            "hwlint migrate --confidence likely test_a.py",
        ),
        (file(cls(refusals=("why",)), cls("B", refusals=("why",))), "by-hand", "hwlint classify test_a.py"),
        (file(cls(refusals=("why", "why not"))), "by-hand", "hwlint classify test_a.py"),
        (file(cls(label="GENERIC", bound=BOUND)), "unbind", "hwlint check test_a.py"),
        (file(cls(label="CUDA"), contract=BOUND), "contract", "hwlint check --select HW1 test_a.py"),
        (file(cls(label="CPU"), allowlisted=True, clean=True), "unlist", "hwlint allowlist --update"),
        (file(cls(label="CPU"), allowlisted=True), "done", ""),
        (file(cls(label="CPU")), "done", ""),
        (file(), "empty", ""),
        (file(allowlisted=True, clean=True), "unlist", "hwlint allowlist --update"),
        (file(cls(), path="test it.py"), "migrate", "hwlint migrate 'test it.py'"),
    ],
)
def test_next_step(state: FileState, kind: str, command: str) -> None:
    assert (state.step.kind, state.step.command) == (kind, command)


def test_reasons() -> None:
    assert file(cls(refusals=("why",))).step.reasons == ("A: why",)
    assert file(cls(label="GENERIC", bound=BOUND)).step.reasons == ("HW201 cuda (2)", "HW401 torch.cuda.synchronize")


def test_cheapest_first_and_most_classes_first() -> None:
    files = [
        file(cls(refusals=("why",)), path="partly.py"),
        file(cls(), path="one.py"),
        file(cls(), cls("B"), path="two.py"),
        file(cls(refusals=("a", "b")), path="hand.py"),
        file(cls(label="CPU"), allowlisted=True, clean=True, path="listed.py"),
    ]
    assert [f.path for f in cheapest(files)] == ["listed.py", "two.py", "one.py", "partly.py"]


SOURCE = """
class Plain(TestCase):
    def test_a(self): pass

class Made(TestCase):
    def test_a(self, device): pass

instantiate_device_type_tests(Made, globals())

class Listed(TestCase):
    def test_a(self, device): pass
    @onlyCUDA
    def test_b(self, device): pass

instantiate_device_type_tests(Listed, globals(), only_for=("cuda", "xpu"))

class Sub(Plain):
    pass
"""


def refused(name: str, label: str, confidence: str = "certain", settings: Settings | None = None) -> list[str]:
    suite = suite_of(SOURCE)
    analysis = Analysis(suite, (PATH,), load_catalog(), settings or Settings())
    tests = tuple(TestVerdict(n, 1, one, "certain") for n, one in (("test_a", "CPU"), ("test_b", "CUDA")))
    verdict = Verdict(PATH, name, 1, label, confidence, "", tests=tests)  # type: ignore[arg-type]
    return refusals(analysis, get_class(suite, name), verdict)


@pytest.mark.parametrize(
    ("name", "label", "expected"),
    [
        ("Plain", "GENERIC", []),
        ("Made", "ACCELERATOR", []),
        ("Sub", "GENERIC", []),
        ("Plain", "SPLIT", ["its tests belong to several labels (CPU, CUDA)"]),
        (
            "Plain",
            "CUDA",
            [
                "as CUDA: HW103 classification-instantiation",
                "as CUDA: HW104 classification-device-parameter",
            ],
        ),
        ("Made", "CUDA", ["as CUDA: HW106 classification-only-for"]),
        (
            "Listed",
            "ACCELERATOR",
            ["as ACCELERATOR: HW105 classification-only-decorator", "as ACCELERATOR: HW106 classification-only-for"],
        ),
    ],
)
def test_refusals(name: str, label: str, expected: list[str]) -> None:
    assert refused(name, label) == expected


def test_confidence_asked_for() -> None:
    assert refused("Plain", "GENERIC", "likely") == ["GENERIC is only likely"]
    likely = Settings(migrate=MigrateSettings(confidence="likely"))
    assert refused("Plain", "GENERIC", "likely", likely) == []
    assert refused("Plain", "GENERIC", "unsure", likely) == ["GENERIC is only unsure"]


def test_a_class_without_a_verdict_is_refused() -> None:
    analysis = Analysis(suite_of(SOURCE), (PATH,), load_catalog(), Settings())
    states = {c.name: c for c in survey(analysis, lambda suite, paths, settings: ()).files[0].classes}
    assert states["Plain"].refusals == ("no verdict",)


def test_tests_of_a_base_in_another_file() -> None:
    files = {
        "test/cases.py": "class Cases(TestCase):\n    def test_a(self): pass\n",
        PATH: "from cases import Cases\nclass Sub(Cases):\n    pass\n",
    }
    suite = suite_of(files)
    analysis = Analysis(suite, (PATH,), load_catalog(), Settings())
    verdict = Verdict(PATH, "Sub", 1, "GENERIC", "certain", "")
    assert refusals(analysis, get_class(suite, "Sub"), verdict) == ["its tests are those of Cases in test/cases.py"]
