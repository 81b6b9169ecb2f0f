from __future__ import annotations

from hwlint.verify.classification import check_labels, defined_templates, static_labels
from hwlint.verify.model import LoadedTest, Run, Side

SOURCE = """
class Base(TestCase):
    hw_classification = HardwareClassification.GENERIC
    def test_a(self): ...

class Child(Base):
    def test_b(self): ...

class Own(Base):
    hw_classification: HardwareClassification = common_utils.HardwareClassification.CUDA
    async def test_c(self): ...
    def helper(self): ...

class Bare(TestCase):
    pass
"""


def test_static_labels() -> None:
    assert static_labels(SOURCE) == {"Base": "GENERIC", "Child": "GENERIC", "Own": "CUDA", "Bare": None}


def test_defined_templates() -> None:
    assert defined_templates(SOURCE) == {("Base", "test_a"), ("Child", "test_b"), ("Own", "test_c")}


def test_check_labels() -> None:
    tests = tuple(LoadedTest(f"m.{c}.test_x", c, "test_x", None, c, "test_x") for c in ("A", "B"))
    selected = {"GENERIC": frozenset({"m.A.test_x", "m.B.test_x"}), "CPU": frozenset[str]()}
    checked = Run("f.py", Side.AFTER, "cpu", tests, {}, (), selected)
    (check,) = check_labels(checked, {"A": "GENERIC", "B": "GENERIC"})
    assert (check.label, check.selected, check.agrees) == ("GENERIC", 2, True)
    generic, cpu = check_labels(checked, {"A": "GENERIC", "B": "CPU"})
    assert generic.not_expected == ("m.B.test_x",)
    assert cpu.not_selected == ("m.B.test_x",)
    assert not generic.agrees and not cpu.agrees
