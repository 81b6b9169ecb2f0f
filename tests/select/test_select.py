"""Which tests apply to a device."""

from __future__ import annotations

import csv
import json
import textwrap
from typing import Any

import pytest

from hwlint.catalog import load_catalog
from hwlint.config import Settings
from hwlint.select.choose import default_labels, select
from hwlint.select.model import Query, Selection
from tests.cli.project import Project
from tests.support import HEADER, PATH, suite_of

ALL = ("GENERIC", "ACCELERATOR", "CPU", "CUDA", "MPS", "XPU", "none")


def ask(text: str | dict[str, str], device: str, *labels: str) -> Selection:
    suite = suite_of(text)
    chosen = labels or default_labels(device, load_catalog())
    return select(suite, sorted(suite.modules), Query(device, chosen), Settings())


def ids(selection: Selection) -> list[str]:
    return [f"{s.class_name}.{s.name}" for s in selection.selected]


def reasons(selection: Selection) -> dict[str, tuple[str, str]]:
    return {p.test: (p.reason, p.detail) for p in selection.excluded}


def accelerator(call: str = "instantiate_device_type_tests(A, globals())", body: str = "") -> str:
    return f"""
    class A(TestCase):
        hw_classification = HardwareClassification.ACCELERATOR
        {body or "def test_a(self, device): pass"}

    {call}
    """


def test_default_labels_are_those_that_hold_on_the_device() -> None:
    catalog = load_catalog()
    assert default_labels("cuda", catalog) == ("GENERIC", "ACCELERATOR", "CUDA")
    assert default_labels("npu", catalog) == ("GENERIC", "ACCELERATOR")


@pytest.mark.parametrize(
    ("arguments", "device", "expected"),
    [
        ("", "cpu", ["ACPU.test_a_cpu"]),
        ("", "cuda", ["ACUDA.test_a_cuda"]),
        ("", "npu", ["APRIVATEUSE1.test_a_npu"]),
        ("", "brandnew", ["APRIVATEUSE1.test_a_brandnew"]),
        ("", "privateuse1", ["APRIVATEUSE1.test_a_privateuse1"]),
        ("", "hpu", ["AHPU.test_a_hpu"]),
        ("", "xpu", "allow_xpu is not given"),
        (", allow_xpu=True", "xpu", ["AXPU.test_a_xpu"]),
        (", allow_xpu=False", "xpu", "allow_xpu is not given"),
        (", allow_mps=True", "mps", ["AMPS.test_a_mps"]),
        (", only_for='cuda'", "cuda", ["ACUDA.test_a_cuda"]),
        (", only_for='cuda'", "npu", "only_for='cuda'"),
        (", only_for=('cuda', 'npu')", "npu", ["APRIVATEUSE1.test_a_npu"]),
        (", only_for=('cuda', 'npu')", "brandnew", "only_for=('cuda', 'npu')"),
        (", only_for=('privateuse1',)", "npu", ["APRIVATEUSE1.test_a_npu"]),
        (", only_for='npu'", "npu", ["APRIVATEUSE1.test_a_npu"]),
        (", except_for='npu'", "npu", "except_for='npu'"),
        (", except_for=['privateuse1']", "npu", "except_for=['privateuse1']"),
        (", except_for=['privateuse1']", "cuda", ["ACUDA.test_a_cuda"]),
        (", except_for='cpu'", "cpu", "except_for='cpu'"),
        (", None, ['cuda']", "cuda", ["ACUDA.test_a_cuda"]),
        (", ['cuda']", "cuda", "except_for=['cuda']"),
        (", only_for=None", "npu", ["APRIVATEUSE1.test_a_npu"]),
        ("", "mtia", "no class is ever made for mtia"),
    ],
)
def test_device_sets(arguments: str, device: str, expected: list[str] | str) -> None:
    found = ask(accelerator(f"instantiate_device_type_tests(A, globals(){arguments})"), device)
    if isinstance(expected, list):
        assert ids(found) == expected
    else:
        assert ids(found) == [] and reasons(found) == {"test_a": ("device set", expected)}


@pytest.mark.parametrize("arguments", [", only_for=chosen()", ", allow_xpu=chosen()", ", **given"])
def test_an_argument_that_cannot_be_read_is_not_known(arguments: str) -> None:
    found = ask(accelerator(f"instantiate_device_type_tests(A, globals(){arguments})"), "xpu")
    if arguments.startswith(", only_for"):
        assert reasons(found) == {"test_a": ("device set", "allow_xpu is not given")}
    else:
        assert (ids(found), found.excluded, [p.test for p in found.unknown]) == ([], (), ["test_a"])


def test_one_of_two_instantiations_is_enough() -> None:
    calls = "instantiate_device_type_tests(A, globals(), only_for='cpu')"
    calls += "; instantiate_device_type_tests(A, globals(), only_for='cuda')"
    assert ids(ask(accelerator(calls), "cuda")) == ["ACUDA.test_a_cuda"]
    assert ids(ask(accelerator(calls), "npu")) == []


GATED = """
import sys
from torch.testing._internal.common_utils import TEST_CUDA
from torch.testing._internal.common_cuda import TEST_MULTIGPU
from torch.testing._internal.common_device_type import (
    deviceCountAtLeast, onlyNativeDeviceTypes, onlyOn, onlyPRIVATEUSE1, skipCPUIf, skipCUDAIf, skipPRIVATEUSE1,
)

class A(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR
    def test_plain(self, device): pass
    @onlyCUDA
    def test_cuda(self, device): pass
    @onlyOn(["cuda", "npu"])
    def test_two(self, device): pass
    @onlyAccelerator
    def test_accelerator(self, device): pass
    @onlyCPU
    def test_cpu(self, device): pass
    @onlyPRIVATEUSE1
    def test_private(self, device): pass
    @skipPRIVATEUSE1
    def test_not_private(self, device): pass
    @skipCPUIf(True, "slow")
    def test_not_cpu(self, device): pass
    @onlyNativeDeviceTypes
    def test_native(self, device): pass
    @unittest.skipIf(not TEST_CUDA, "no CUDA")
    def test_host_cuda(self, device): pass
    @unittest.skipIf(TEST_CUDA, "CUDA")
    def test_host_no_cuda(self, device): pass
    @skipCUDAIf(not TEST_MULTIGPU, "one GPU")
    def test_multi(self, device): pass
    @deviceCountAtLeast(2)
    def test_count(self, devices): pass
    @unittest.skipIf(sys.platform == "win32", "Windows")
    def test_platform(self, device): pass
    def test_inside(self, device):
        if not torch.cuda.is_available():
            self.skipTest("no CUDA")

instantiate_device_type_tests(A, globals())
"""


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        (
            "npu",
            "plain two accelerator private not_cpu native host_no_cuda multi count platform",
        ),
        (
            "cuda",
            "plain cuda two accelerator not_private not_cpu native host_cuda multi count platform inside",
        ),
        ("cpu", "plain cpu not_private native host_no_cuda multi count platform"),
        ("hpu", "plain accelerator not_private not_cpu host_no_cuda multi count platform"),
    ],
)
def test_gates(device: str, expected: str) -> None:
    found = ask(GATED, device)
    assert [s.template_test.removeprefix("test_") for s in found.selected] == expected.split()
    assert {p.reason for p in found.excluded} == {"gate"}


def test_what_a_test_needs_beside_the_device() -> None:
    needs = {s.template_test: s.needs for s in ask(GATED, "cuda").selected if s.needs}
    assert needs == {
        "test_multi": ("2 devices",),
        "test_count": ("2 devices",),
    }


def test_private_use_classes_are_named_after_the_slot_up_to_the_first_test_with_a_device() -> None:
    text = """
    class A(TestCase):
        hw_classification = HardwareClassification.ACCELERATOR
        def test_a(self): pass

    class B(TestCase):
        hw_classification = HardwareClassification.ACCELERATOR
        def test_b(self, device): pass

    class C(TestCase):
        hw_classification = HardwareClassification.ACCELERATOR
        def test_c(self, device): pass

    instantiate_device_type_tests(C, globals(), only_for="cpu")
    instantiate_device_type_tests(A, globals())
    instantiate_device_type_tests(B, globals())
    instantiate_device_type_tests(C, globals())
    """
    assert ids(ask(text, "npu")) == ["APRIVATEUSE1.test_a_npu", "BPRIVATEUSE1.test_b_npu", "CNPU.test_c_npu"]
    assert ids(ask(text, "cuda")) == ["ACUDA.test_a_cuda", "BCUDA.test_b_cuda", "CCUDA.test_c_cuda"]


def test_an_imported_test_file_makes_its_classes_first() -> None:
    files = {
        "test/test_a.py": accelerator().replace("A", "Other").replace("OtherCCELEROtherTOR", "ACCELERATOR"),
        PATH: "from helpers import x\n" + textwrap.dedent(accelerator()),
        "test/helpers.py": "from test_a import y\n",
    }
    assert ids(ask(files, "npu")) == ["OtherPRIVATEUSE1.test_a_npu", "ANPU.test_a_npu"]


def test_gates_around_the_class_and_the_file() -> None:
    in_block = """
    if torch.cuda.is_available():
        class A(TestCase):
            hw_classification = HardwareClassification.ACCELERATOR
            def test_a(self, device): pass
        instantiate_device_type_tests(A, globals())
    """
    assert ids(ask(in_block, "cuda")) == ["ACUDA.test_a_cuda"]
    assert ids(ask(in_block, "npu")) == []
    leaving = "import sys\nif not torch.cuda.is_available():\n    sys.exit(0)\n" + GATED
    assert ids(ask(leaving, "npu")) == []
    main = accelerator() + "\n    if __name__ == '__main__' and torch.cuda.is_available():\n        run_tests()\n"
    assert ids(ask(main, "npu")) == ["APRIVATEUSE1.test_a_npu"]


def test_labels() -> None:
    text = """
    class Untagged(TestCase):
        def test_a(self): pass

    class Generic(TestCase):
        hw_classification = HardwareClassification.GENERIC
        def test_a(self): pass

    class Sub(Generic):
        def test_b(self): pass

    class Cuda(TestCase):
        hw_classification = HardwareClassification.CUDA
        def test_a(self, device): pass

    instantiate_device_type_tests(Cuda, globals(), only_for="cuda")

    def test_function(): pass
    """
    found = ask(text, "npu")
    assert ids(found) == ["Generic.test_a", "Sub.test_b", "Sub.test_a"]
    assert [(p.class_name, p.reason) for p in found.excluded] == [
        ("Untagged", "unclassified"),
        ("Cuda", "other classification"),
        ("", "function"),
    ]
    assert "CudaCUDA.test_a_cuda" in ids(ask(text, "cuda"))
    assert ids(ask(text, "npu", "ACCELERATOR")) == []
    assert ids(ask(text, "npu", *ALL))[0] == "Untagged.test_a"


def test_a_test_that_an_instantiated_base_takes_away() -> None:
    text = """
    class Base(TestCase):
        hw_classification = HardwareClassification.ACCELERATOR
        def test_a(self, device): pass

    class Sub(Base):
        def test_b(self, device): pass

    instantiate_device_type_tests(Base, globals())
    instantiate_device_type_tests(Sub, globals())
    """
    found = ask(text, "npu")
    assert ids(found) == ["BasePRIVATEUSE1.test_a_npu", "SubNPU.test_b_npu"]
    assert [(p.class_name, p.test, p.reason) for p in found.excluded] == [("Sub", "test_a", "lost")]


def test_a_mixin_has_no_tests_of_its_own() -> None:
    text = """
    class Cases:
        hw_classification = HardwareClassification.GENERIC
        def test_a(self): pass

    class A(Cases, TestCase):
        pass
    """
    assert ids(ask(text, "npu")) == ["A.test_a"]


def test_classes_made_by_calls_are_not_known() -> None:
    text = """
    KindOfTest = Enum("KindOfTest", "a b")
    MadeTest = make_case(TestCase, device="cuda")
    """
    found = ask("from enum import Enum\n" + textwrap.dedent(text), "cuda")
    assert [(p.class_name, p.test, p.reason) for p in found.unknown] == [
        ("MadeTest", "*", "the class is made by make_case()")
    ]


def test_parameters_in_names() -> None:
    body = """
        @parametrize("n", [1, 2])
        @dtypes(torch.float, torch.int)
        def test_a(self, device, dtype, n): pass
        @parametrize("n", numbers())
        def test_b(self, device, n): pass
    """
    found = ask(accelerator(body=body.strip()), "npu")
    exact = [f"{s.class_name}.{s.name}" for s in found.selected if s.exact]
    assert exact == [f"APRIVATEUSE1.test_a_n_{n}_npu_{d}" for n in (1, 2) for d in ("float32", "int32")]
    assert [s.name for s in found.selected if not s.exact] == ["test_b_*_npu"]
    assert found.tests == 2


def test_decorators_of_the_suite_that_parametrize() -> None:
    text = """
    def layouts(name="layout"):
        return parametrize(name, everything())

    def traced(function):
        return function

    both = compose(parametrize("n", [1]), traced)

    class A(TestCase):
        hw_classification = HardwareClassification.ACCELERATOR
        @layouts()
        def test_a(self, device, layout): pass
        @traced
        def test_b(self, device): pass
        @both
        def test_c(self, device, n): pass
        @helped
        def test_d(self, device): pass

    instantiate_device_type_tests(A, globals())
    """
    helper = "from helpers import helped\n"
    files = {
        PATH: helper + textwrap.dedent(text),
        "test/helpers.py": "def helped(f):\n    return dtypes(torch.int)(f)\n",
    }
    assert [s.name for s in ask(files, "cuda").selected] == [
        "test_a*_cuda*",
        "test_b_cuda",
        "test_c*_cuda*",
        "test_d*_cuda*",
    ]


# The command line.

SUITE = (
    HEADER
    + """
class A(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR
    def test_a(self, device): pass
    @onlyCUDA
    def test_b(self, device): pass
    @parametrize("n", numbers())
    def test_c(self, device, n): pass

instantiate_device_type_tests(A, globals())

class Untagged(TestCase):
    def test_d(self): pass
"""
)


@pytest.fixture
def suite(project: Project) -> Project:
    project.write(PATH, SUITE)
    return project


def test_text(suite: Project) -> None:
    assert suite.hwlint("select", "--device", "npu", "--no-cache") == 0
    assert suite.out == (
        f"{PATH}::APRIVATEUSE1::test_a_npu\n"
        f"{PATH}::APRIVATEUSE1::test_c_*_npu\n"
        "\n"
        "npu, GENERIC ACCELERATOR: 2 tests apply (2 IDs, 1 of them a pattern)\n"
        "2 tests do not apply:\n"
        "       1  gate: a decorator or a guard keeps it off the device\n"
        "            1  onlyCUDA\n"
        "       1  unclassified: its class has no classification\n"
    )
    assert suite.err == ""
    assert suite.hwlint("select", "--device", "npu", "-q", "--no-cache") == 0
    assert len(suite.out.splitlines()) == 2


def test_lists_for_the_runners(suite: Project) -> None:
    assert suite.hwlint("select", "--device", "cuda", "--format", "pytest", "--no-cache") == 0
    assert suite.out == f"{PATH}::ACUDA::test_a_cuda\n{PATH}::ACUDA::test_b_cuda\n"
    assert "1 name is only known as a pattern and is left out" in suite.err
    assert suite.hwlint("select", "--device", "cuda", "--format", "unittest", "-q", "--no-cache") == 0
    assert suite.out == "test.test_sample.ACUDA.test_a_cuda\ntest.test_sample.ACUDA.test_b_cuda\n"
    assert suite.err == ""


def test_json(suite: Project) -> None:
    assert suite.hwlint("select", "--device", "npu", "--format", "json", "--no-cache") == 0
    found: dict[str, Any] = json.loads(suite.out)
    assert (found["version"], found["kind"], found["device"]) == (1, "hwlint-selection", "npu")
    assert found["classification"] == ["GENERIC", "ACCELERATOR"]
    assert found["summary"] == {
        "tests": 2,
        "ids": 2,
        "patterns": 1,
        "excluded": {"gate": 1, "unclassified": 1},
        "unknown": {},
    }
    assert found["selected"][0] == {
        "id": f"{PATH}::APRIVATEUSE1::test_a_npu",
        "exact": True,
        "path": PATH,
        "class_name": "APRIVATEUSE1",
        "name": "test_a_npu",
        "label": "ACCELERATOR",
        "template_class": "A",
        "template_test": "test_a",
        "line": HEADER.count("\n") + 4,
        "needs": [],
    }
    assert [(one["test"], one["reason"], one["detail"]) for one in found["excluded"]] == [
        ("test_b", "gate", "onlyCUDA"),
        ("test_d", "unclassified", ""),
    ]


def test_csv(suite: Project) -> None:
    assert suite.hwlint("select", "--device", "npu", "--format", "csv", "--no-cache") == 0
    rows = list(csv.DictReader(suite.out.splitlines()))
    assert [(row["status"], row["test"], row["reason"]) for row in rows] == [
        ("selected", "test_a", ""),
        ("selected", "test_c", ""),
        ("excluded", "test_b", "gate"),
        ("excluded", "test_d", "unclassified"),
    ]


def test_summary_only(suite: Project) -> None:
    assert suite.hwlint("select", "--device", "npu", "--summary", "--no-cache") == 0
    assert suite.out.startswith("npu, GENERIC ACCELERATOR: 2 tests apply")


def test_classification_option(suite: Project) -> None:
    base = ("select", "--device", "npu", "--format", "pytest", "-q", "--no-cache")
    for given, expected in (("any", 2), ("none", 1), ("generic,accelerator", 1), ("CUDA", 0)):
        assert suite.hwlint(*base, "--classification", given) == 0
        assert len(suite.out.splitlines()) == expected, given
    assert suite.hwlint(*base, "--classification", "GPU") == 2
    assert "--classification 'GPU': must be one of GENERIC, ACCELERATOR" in suite.err


def test_bad_devices(suite: Project) -> None:
    assert suite.hwlint("select") == 2
    assert suite.hwlint("select", "--device", "cuda:0") == 2
    assert "must be a device type such as 'cuda', without an index" in suite.err


def test_a_configured_back_end(suite: Project) -> None:
    suite.write("pyproject.toml", '[[tool.hwlint.backends]]\nname = "mine"\ndecorators = ["onlyMine"]\n')
    suite.write(PATH, SUITE.replace("@onlyCUDA", "@onlyMine"))
    assert suite.hwlint("select", "--device", "mine", "-q", "--no-cache") == 0
    assert f"{PATH}::APRIVATEUSE1::test_b_mine" in suite.out.splitlines()
    assert suite.hwlint("select", "--device", "npu", "-q", "--no-cache") == 0
    assert "test_b" not in suite.out


def test_a_second_run_says_the_same(suite: Project) -> None:
    for device in ("npu", "cuda", "npu"):
        suite.hwlint("select", "--device", device, "--cache-dir", "cache")
        first = suite.out
        suite.hwlint("select", "--device", device, "--cache-dir", "cache")
        assert suite.out == first and f"test_a_{device}" in first
