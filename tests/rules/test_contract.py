"""HW101-HW107, HW109 and HW110 at both levels; the corpus test holds level upstream to upstream's own report."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from hwlint.config import Settings
from tests.support import check, codes

UPSTREAM = Settings(level="upstream")


def both(text: str) -> tuple[list[str], list[str]]:
    """Codes at level upstream and at level full."""
    return codes(check("contract", text, UPSTREAM)), codes(check("contract", text))


def test_missing_and_invalid() -> None:
    assert both("class A(TestCase):\n    def test_a(self): ...\n") == (["HW101"], ["HW101"])
    invalid = "class A(TestCase):\n    hw_classification = 'generic'\n    def test_a(self): ...\n"
    assert both(invalid) == (["HW102"], ["HW102"])


def test_a_spelling_that_upstream_does_not_take() -> None:
    text = """
        class A(TestCase):
            hw_classification = common_utils.HardwareClassification.GENERIC
            def test_a(self): ...
        """
    assert both(text) == (["HW102"], ["HW109"])


def test_classes_that_only_level_full_sees() -> None:
    assert both("if FLAG:\n    class A(TestCase):\n        def test_a(self): ...\n") == ([], ["HW101"])
    assert both("class A(TestCase):\n    async def test_a(self): ...\n") == ([], ["HW101"])


def test_inherited_classification() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.GENERIC
            def test_a(self): ...
        class B(A):
            def test_b(self): ...
        """
    upstream, full = check("contract", text, UPSTREAM), check("contract", text)
    assert [(f.code, f.symbol, f.severity.value) for f in upstream] == [("HW101", "B", "error")]
    assert [(f.code, f.symbol, f.severity.value) for f in full] == [("HW101", "B", "info")]


def test_generic() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.GENERIC
            def test_a(self, device): ...
            @parametrize("device", ["cpu"])
            def test_b(self, device): ...
        instantiate_device_type_tests(A, globals())
        """
    assert both(text) == (["HW103", "HW104", "HW104"], ["HW103", "HW104"])


def test_accelerator() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.ACCELERATOR
            def test_a(self): ...
            @onlyCUDA
            def test_b(self, device): ...
            @onlyAccelerator
            def test_c(self, *, devices): ...
        instantiate_device_type_tests(A, globals(), only_for=("cuda",), except_for="cpu")
        """
    assert both(text) == (["HW104", "HW105", "HW106"],) * 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", ["HW106"]),
        ("only_for='cuda'", []),
        ("only_for=['cuda']", []),
        ("only_for=('cuda', 'xpu')", ["HW106"]),
        ("only_for={'cuda'}", ["HW106"]),
        ("only_for=None", ["HW106"]),
        ("only_for='cuda', except_for='cpu'", ["HW107"]),
        ("only_for='cuda', except_for=None", []),
    ],
)
def test_device_specific(arguments: str, expected: list[str]) -> None:
    text = f"""
        class A(TestCase):
            hw_classification = HardwareClassification.CUDA
            def test_a(self, device): ...
        instantiate_device_type_tests(A, globals(), {arguments})
        """
    assert both(text) == (expected, expected)


def test_only_for_through_a_constant_is_read_at_level_full() -> None:
    text = """
        ONLY = "cuda"
        class A(TestCase):
            hw_classification = HardwareClassification.CUDA
            def test_a(self, device): ...
        instantiate_device_type_tests(A, globals(), only_for=ONLY)
        """
    assert both(text) == (["HW106"], [])


def test_calls_that_upstream_does_not_count() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.ACCELERATOR
            def test_a(self, device): ...
        common_device_type.instantiate_device_type_tests(A, globals())
        """
    assert both(text) == (["HW103"], [])


def test_other_files_are_no_test_files() -> None:
    assert not check("contract", {"test/common_sort.py": "class A(TestCase):\n    def test_a(self): ...\n"})


def test_positions() -> None:
    text = """
        @unittest.skip("")
        class A(TestCase):
            hw_classification = HardwareClassification.GENERIC
            @unittest.skip("")
            def test_a(self, device): ...
        """
    found = check("contract", text)
    assert [(f.code, f.span.line, f.span.column) for f in found] == [("HW104", 15, 4)]


def test_level_upstream_reports_what_upstream_reports(corpus: Path, tmp_path: Path) -> None:
    """Every row of contract-expected.json, line for line, for the files it covers."""
    bench = Path(os.environ.get("HWLINT_BENCH", Path(__file__).parents[3] / "shared" / "bench"))
    expected = json.loads((bench / "contract-expected.json").read_text())["rows"]
    subprocess.run([sys.executable, bench / "label_corpus.py", corpus / "test", tmp_path / "test"], check=True)
    run = subprocess.run(
        [sys.executable, "-m", "hwlint", "check", "--level", "upstream", "--format", "json", "--no-cache", "test"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1, run.stderr
    names = {
        "HW101": "hw_classification",
        "HW102": "hw_classification",
        "HW103": "instantiation",
        "HW104": "device_param",
        "HW105": "decorator",
        "HW106": "only_for",
        "HW107": "except_for",
    }
    rows = [(f["path"], f["line"], names[f["code"]]) for f in json.loads(run.stdout)["findings"]]
    covered = [r for r in rows if int(hashlib.sha1(r[0].encode()).hexdigest(), 16) % 10 >= 4]
    assert len(rows) > len(covered)
    assert Counter(covered) == Counter(map(tuple, expected))


CURRENT = Settings(level="upstream", upstream_linter="current")


def of_current(text: str, level: Literal["upstream", "full"] = "upstream") -> list[str]:
    """Codes under the newer version of upstream's linter."""
    return codes(check("contract", text, replace(CURRENT, level=level)))


@pytest.mark.parametrize(
    "block",
    ["if FLAG:", "with context():", "for _ in range(1):", "while True:", "try:"],
)
def test_the_current_linter_looks_into_blocks(block: str) -> None:
    tail = "\nexcept ImportError:\n    pass\n" if block == "try:" else ""
    text = f"{block}\n    class A(TestCase):\n        def test_a(self): ...\n{tail}"
    assert of_current(text) == ["HW101"]
    assert both(text)[0] == []


@pytest.mark.parametrize("head", ["def make():", "class Outer:", "match FLAG:\n  case 1:"])
def test_but_not_into_functions_classes_and_matches(head: str) -> None:
    indent = "      " if "match" in head else "    "
    assert of_current(f"{head}\n{indent}class A(TestCase):\n{indent}    def test_a(self): ...\n") == []


def test_folders_that_the_current_linter_passes_over() -> None:
    files = {"test/cpython/test_dict.py": "class A(TestCase):\n    def test_a(self): ...\n"}
    assert not check("contract", files, CURRENT)
    assert codes(check("contract", files, UPSTREAM)) == ["HW101"]
    assert codes(check("contract", files, replace(CURRENT, level="full"))) == ["HW101"]


def test_the_current_linter_takes_async_tests_and_any_name_that_begins_with_test() -> None:
    for test in ("async def test_a(self): ...", "def testA(self): ..."):
        text = f"class A(TestCase):\n    {test}\n"
        assert of_current(text) == ["HW101"]
        assert both(text)[0] == []


def test_of_two_classes_with_one_name_the_current_linter_takes_the_last() -> None:
    text = """
        if FLAG:
            class A(TestCase):
                def test_a(self): ...
        else:
            class A(TestCase):
                hw_classification = HardwareClassification.GENERIC
                def test_a(self): ...
        """
    assert of_current(text) == []


def test_instantiations_that_the_current_linter_counts() -> None:
    head = """
        class A(TestCase):
            hw_classification = HardwareClassification.ACCELERATOR
            def test_a(self, device): ...
        """
    counted = (
        "common_device_type.instantiate_device_type_tests(A, globals())",
        "if FLAG:\n            instantiate_device_type_tests(A, globals())",
    )
    not_counted = (
        "for cls in (A,):\n            instantiate_device_type_tests(cls, globals())",
        "x = instantiate_device_type_tests(A, globals())",
        "instantiate_device_type_tests(generic_test_class=A, scope=globals())",
    )
    assert [of_current(f"{head}{call}\n") for call in counted] == [[], []]
    assert [of_current(f"{head}{call}\n") for call in not_counted] == [["HW103"]] * 3


def test_of_two_instantiations_the_current_linter_takes_the_last() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.ACCELERATOR
            def test_a(self, device): ...
        instantiate_device_type_tests(A, globals(), only_for="cuda")
        instantiate_device_type_tests(A, globals(), except_for="cpu")
        """
    assert (of_current(text), both(text)[0]) == ([], ["HW106"])


def test_the_current_linter_asks_the_tag_alone_of_a_class_for_one_device() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.CUDA
            def test_a(self): ...
        class B(TestCase):
            hw_classification = HardwareClassification.CPU
            def test_b(self, device): ...
        instantiate_device_type_tests(B, globals(), except_for="cuda")
        """
    assert (of_current(text), of_current(text, "full")) == ([], [])
    assert both(text)[0] == ["HW103", "HW104", "HW106", "HW107"]


def test_only_decorators_that_the_current_linter_knows() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.ACCELERATOR
            @onlyOn("cuda")
            def test_a(self, device): ...
            @onlyOnSundays
            def test_b(self, device): ...
        instantiate_device_type_tests(A, globals())
        """
    assert (of_current(text), both(text)[0]) == (["HW105"], ["HW105", "HW105"])


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("if torch.cuda.is_available(): pass", ["torch.cuda.is_available"]),
        ("torch.ones(\n            2\n        ).cuda()", ["torch.ones(2).cuda"]),
        ("torch.backends.mps.is_available()", ["torch.backends.mps.is_available"]),
        ("[torch.xpu.synchronize() for _ in x]", ["torch.xpu.synchronize"]),
        (
            "torch.cuda.current_stream().wait(torch.cuda.Event())",
            [
                "torch.cuda.current_stream",
                "torch.cuda.current_stream().wait",
                "torch.cuda.Event",
            ],
        ),
        ("torch.cuda", []),
        ("x.cuda()", []),
        ("torch.device('cuda')", []),
        ("cuda.is_available()", []),
        ("torch.cudart.x()", []),
        ("torch(1).cuda()", []),
    ],
)
def test_accelerator_calls_in_a_generic_class(body: str, names: list[str]) -> None:
    text = f"""
        class A(TestCase):
            hw_classification = HardwareClassification.GENERIC
            def test_a(self):
                {body}
        """
    found = check("contract", text, CURRENT)
    assert [(f.code, f.symbol, f.detail) for f in found] == [("HW110", "A.test_a", name) for name in names]
    assert both(text)[0] == []


def test_accelerator_calls_anywhere_in_the_class() -> None:
    text = """
        class A(TestCase):
            hw_classification = HardwareClassification.GENERIC
            there = torch.accelerator.is_available()
            @unittest.skipIf(not torch.cuda.is_available(), "")
            def test_a(self): ...
            def helper(self):
                class Inner:
                    x = torch.mps.device_count()
        """
    found = check("contract", text, CURRENT)
    assert [(f.symbol, f.detail) for f in found] == [
        ("A", "torch.accelerator.is_available"),
        ("A.test_a", "torch.cuda.is_available"),
        ("A.helper", "torch.mps.device_count"),
    ]
    assert not [c for c in of_current(text.replace("GENERIC", "ACCELERATOR")) if c == "HW110"]


def test_missing_classification_carries_the_label_that_the_evidence_argues_for() -> None:
    text = """
        class Plain(TestCase):
            def test_a(self): ...
        class Mixed(TestCase):
            def test_a(self): ...
            def test_b(self): torch.ones(1).cuda()
        class Unknown(make_base()):
            def test_a(self, device): ...
        """
    fixes = {f.symbol: f.fix for f in check("contract.HW101", text)}
    plain, mixed, unknown = fixes["Plain"], fixes["Mixed"], fixes["Unknown"]
    assert plain and mixed and unknown
    assert "HardwareClassification.GENERIC` (certain: its test reaches no device)" in plain.message
    assert plain.applicability == "safe"
    assert "several labels (1 GENERIC, 1 ACCELERATOR)" in mixed.message
    assert "<MEMBER>" not in plain.message and "HardwareClassification" in unknown.message
    upstream = check("contract.HW101", text, UPSTREAM)[0].fix
    assert upstream is not None and "<MEMBER>" in upstream.message
