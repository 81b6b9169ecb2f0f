"""super_calls, test_base, class_for_device and tidy_imports, byte for byte."""

from __future__ import annotations

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons

DEVICE_TYPE = "from torch.testing._internal.common_device_type import instantiate_device_type_tests\n"
UTILS = "from torch.testing._internal.common_utils import HardwareClassification, TestCase\n"


def after(source: str, *only: str, **options: object) -> str:
    outcome = migrate(source, *only, **options)  # type: ignore[arg-type]
    check_invariants(outcome, *only, **options)
    return outcome.after.decode()


SUPER = f"""\
{DEVICE_TYPE}{UTILS}
class A(TestCase):
    @classmethod
    def setUpClass(cls):
        super( A , cls ).setUpClass()

    def setUp(self):
        super(A, self).setUp(); self.x = [n for n in (1, 2)]

    def test_a(self, device):
        super(TestCase, self).run
        for _ in (1,):
            super(A, self).id()

instantiate_device_type_tests(A, globals())
"""


def test_super_loses_its_arguments_where_the_name_is_gone() -> None:
    expected = SUPER.replace("super( A , cls )", "super()").replace("super(A, self)", "super()")
    assert after(SUPER, "super_calls") == expected


def test_super_stays_in_a_class_that_keeps_its_name() -> None:
    source = SUPER.replace("instantiate_device_type_tests(A, globals())\n", "")
    assert after(source, "super_calls") == source


@pytest.mark.parametrize(
    "call",
    [
        "[super(A, self).id() for _ in (1,)]",
        "(lambda: super(A, self).id())()",
        "super(A, other).id()",
    ],
)
def test_super_that_would_mean_something_else_is_refused(call: str) -> None:
    source = f"{DEVICE_TYPE}{UTILS}class A(TestCase):\n    def test_a(self, device):\n        {call}\n\n"
    source += "instantiate_device_type_tests(A, globals())\n"
    outcome = migrate(source, "super_calls")
    assert outcome.after.decode() == source
    assert set(reasons(outcome).values()) == {"name-used-later"}


BASE = """\
import unittest
from torch.testing._internal.common_utils import HardwareClassification


class A(unittest.TestCase):
    def setUp(self):
        super().setUp()

    @unittest.skip("x")
    def test_a(self): pass


if __name__ == "__main__":
    unittest.main()
"""


def test_the_base_and_the_runner_are_changed() -> None:
    expected = (
        BASE.replace(
            "import HardwareClassification", "import (\n    HardwareClassification,\n    run_tests,\n    TestCase,\n)"
        )
        .replace("(unittest.TestCase)", "(TestCase)")
        .replace("unittest.main()", "run_tests()")
    )
    assert after(BASE, "test_base", "tidy_imports") == expected


def test_the_base_stays_unless_asked_for() -> None:
    assert not migrate(BASE).changed or b"unittest.TestCase" in migrate(BASE).after
    assert b"(TestCase)" in migrate(BASE, test_base=True).after


def test_a_set_up_without_super_keeps_its_base_and_the_runner() -> None:
    source = BASE.replace("super().setUp()", "self.x = 1")
    outcome = migrate(source, "test_base")
    assert not outcome.changed
    assert reasons(outcome) == {"A": "needs-super"}


def test_a_subclass_elsewhere_whose_set_up_has_no_super_keeps_the_base() -> None:
    other = "from test_sample import A\nclass B(A):\n    def setUp(self): self.y = 1\n    def test_b(self): pass\n"
    outcome = migrate(BASE, "test_base", files={"test/test_other.py": other})
    assert reasons(outcome) == {"A": "needs-super"}


@pytest.mark.parametrize(
    ("bases", "reason"),
    [
        ("unittest.TestCase, Unknown", "unknown-base"),
        ("Unknown, unittest.TestCase", "unknown-base"),
        ("unittest.IsolatedAsyncioTestCase", None),
    ],
)
def test_other_bases_stay(bases: str, reason: str | None) -> None:
    source = BASE.replace("unittest.TestCase", bases)
    outcome = migrate(source, "test_base")
    assert outcome.after.decode() == source
    assert reasons(outcome).get("A") == reason


def test_a_mixin_of_the_tree_is_no_obstacle() -> None:
    source = BASE.replace(
        "class A(unittest.TestCase)", "class Mixin:\n    def help(self): pass\n\n\nclass A(Mixin, unittest.TestCase)"
    )
    assert "class A(Mixin, TestCase):" in after(source, "test_base")


POOL = """\
import torch
from torch.testing._internal.common_utils import TestCase


class PoolTest(TestCase):
    def test_pool(self):
        torch.cuda.nvtx.range_push("x")
        torch.cuda.graph_pool_handle()

    def test_two(self,
                 ):  # why
        torch.cuda.nvtx.range_push("y")


x = 1
"""


def test_a_vendor_class_is_instantiated_for_its_device() -> None:
    expected = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class PoolTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_pool(self, device):
        torch.cuda.nvtx.range_push("x")
        torch.cuda.graph_pool_handle()

    def test_two(self, device,
                 ):  # why
        torch.cuda.nvtx.range_push("y")


instantiate_device_type_tests(PoolTest, globals(), only_for="cuda")


x = 1
"""
    options = {"unsafe": True, "confidence": "likely"}
    assert after(POOL, "class_for_device", **options) == expected
    outcome = migrate(POOL, "class_for_device", **options)  # type: ignore[arg-type]
    assert {e.fate for e in outcome.manifest.entries} == {"renamed"}
    assert outcome.clean_after


@pytest.mark.parametrize(
    ("old", "new", "label", "doubt"),
    [
        (
            "",
            "",
            "CUDA",
            "CUDATestBase checks for leaks and uses a stream of its own, and torch.cuda.graph_pool_handle",
        ),
        ("graph_pool_handle()", "brand_new()", "CUDA", "torch.cuda.brand_new may notice"),
        ("graph_pool_handle()", "nvtx.range_pop()", "CUDA", ""),
        ("", "", "XPU", ""),
        ("import torch\n", "import torch\nimport multiprocessing\n", "XPU", "before the tests fork"),
        (
            "    def test_pool",
            "    @classmethod\n    def setUpClass(cls):\n        super().setUpClass()\n\n    def test_pool",
            "XPU",
            "calls its setUpClass when the file is imported",
        ),
    ],
)
def test_a_class_for_one_device_is_a_safe_change_where_its_tests_notice_nothing(
    old: str, new: str, label: str, doubt: str
) -> None:
    outcome = migrate(POOL.replace(old, new, 1), "class_for_device", labels=[("PoolTest", label)])
    assert outcome.changed == (not doubt)
    (change,) = outcome.held if doubt else outcome.changes
    assert doubt in change.description
    if not doubt:
        assert f'only_for="{label.lower()}"' in outcome.after.decode()


def test_a_class_for_the_cpu_has_no_device_to_be_set_up() -> None:
    source = POOL.replace("torch.cuda", "torch.cpu").replace(
        "import torch\n", "import torch\nimport multiprocessing\n", 1
    )
    (change,) = migrate(source, "class_for_device", labels=[("PoolTest", "CPU")]).changes
    assert change.description == "instantiate only for cpu"


def test_a_file_that_asserts_that_no_accelerator_is_set_up() -> None:
    """The loader sets it up when the file is imported, for the first class that is passed its name."""
    main = '\n\nif __name__ == "__main__":\n    assert not torch.cuda._initialized\n    run_tests()\n'
    for label, held in (("CUDA", True), ("XPU", True), ("CPU", False)):
        source = POOL.replace("torch.cuda", f"torch.{label.lower()}") + main
        outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTest", label)])
        assert outcome.changed != held
        assert not held or reasons(outcome) == {"PoolTest": "import-time-gate"}


def obstacle(old: str, new: str, **options: object) -> str:
    """The reason for which the class stays, with part of the source replaced."""
    source = POOL.replace(old, new)
    assert source != POOL
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")], **options)  # type: ignore[arg-type]
    assert outcome.after.decode() == source, outcome.after.decode()
    return next(r.reason for r in outcome.refusals if r.symbol == "PoolTest")


def test_a_test_that_has_the_device_by_default_gets_it_from_the_loader() -> None:
    """It passes 'cuda:0': that will do where the name is a device and nothing else."""
    line = 'def test_pool(self, device="cuda", dtype=torch.float):\n        torch.ones(2, device=device)'
    source = POOL.replace("def test_pool(self):", line)
    text = after(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert f"    {line}\n" in text and "def test_two(self, device," in text
    assert 'instantiate_device_type_tests(PoolTest, globals(), only_for="cuda")' in text
    for old, new in [
        ('device="cuda"', 'device="cuda:1"'),
        ("torch.ones(2, device=device)", "self.assertEqual(torch.ones(2, device=device).device.type, device)"),
        ("torch.ones(2, device=device)", "device = torch.device(device)"),
        ('range_push("y")', 'range_push("y")\n        self.test_pool("cuda:1")'),
        ("dtype=torch.float", "*, dtype"),
    ]:
        assert old in source
        changed = source.replace(old, new)
        outcome = migrate(changed, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
        assert outcome.after.decode() == changed, new


def test_what_stands_against_instantiation() -> None:
    assert obstacle("x = 1\n", "x = PoolTest\n") == "name-used-later"
    assert obstacle("x = 1\n", "class Sub(PoolTest): pass\n") == "subclassed"
    assert obstacle("(TestCase)", "(Unknown, TestCase)") == "unknown-base"
    assert obstacle("def test_pool(self)", "def test_pool(self, device=None)") == "parametrized"
    assert obstacle("def test_pool(self)", "def test_pool_CUDA(self)") == "name-doubled"
    assert obstacle("    def test_pool", "    def test_two(self): pass\n\n    def test_pool") == "dynamic"
    helper = "    @staticmethod\n    def compute(x):\n        return x\n\n    chosen = compute\n\n"
    assert obstacle("    def test_pool", f"{helper}    def test_pool") == "class-member"
    helper = "    @classmethod\n    def compute(cls):\n        return cls.size\n\n"
    assert obstacle("    def test_pool", f"{helper}    def test_pool") == "class-member"
    read = (
        'device = "cuda"\n\n\nclass PoolTest(TestCase):\n    def test_pool(self):\n        torch.ones(2, device=device)'
    )
    assert obstacle("class PoolTest(TestCase):\n    def test_pool(self):", read) == "name-taken"
    read = 'range_push("y")\n        print([device for device in ()], device)'
    assert obstacle('range_push("y")', read) == "name-taken"
    assert obstacle("    def test_pool", "    @mystery\n    def test_pool") == "unknown-name"
    assert obstacle("class PoolTest", "@mystery\nclass PoolTest") == "unknown-gate"
    assert obstacle("x = 1\n", "class PoolTestCUDA(TestCase): pass\n") == "name-collision"
    assert obstacle("x = 1\n", "HardwareClassification = 1\n") == "name-taken"
    assert (
        obstacle(
            "(TestCase)",
            "(Base)",
        )
        == "unknown-base"
    )


def test_a_vendor_class_reaches_what_is_its_own_without_its_name() -> None:
    source = POOL.replace("    def test_pool", "    size = 2\n\n    def test_pool").replace(
        'torch.cuda.nvtx.range_push("y")', "torch.cuda.nvtx.range_push(PoolTest.size)"
    )
    text = after(source, "class_for_device", unsafe=True, confidence="likely")
    assert "torch.cuda.nvtx.range_push(self.size)\n" in text


PARAMETRIZED = "from torch.testing._internal.common_utils import instantiate_parametrized_tests\n"
CALL = "\n\ninstantiate_parametrized_tests(PoolTest)  # each\n"


def test_a_parametrized_class_is_instantiated_in_the_same_place() -> None:
    """instantiate_device_type_tests makes the tests of ``@parametrize`` as well."""
    source = PARAMETRIZED + POOL + CALL
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert outcome.after.decode().endswith(
        'x = 1\n\n\ninstantiate_device_type_tests(PoolTest, globals(), only_for="cuda")  # each\n'
    )
    assert {e.fate for e in outcome.manifest.entries} == {"renamed"}
    assert outcome.clean_after
    for unusual in (
        CALL + CALL,
        CALL.replace("(PoolTest)", "(PoolTest, 1)"),
        CALL.replace("\n\ninst", "\n\nPoolTest = inst"),
    ):
        outcome = migrate(PARAMETRIZED + POOL + unusual, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
        assert not outcome.changed
        assert reasons(outcome)["PoolTest"] in ("already-instantiated", "name-used-later")


def test_a_decorator_that_parametrizes_gives_way() -> None:
    source = PARAMETRIZED + POOL.replace("class PoolTest", "@instantiate_parametrized_tests\nclass PoolTest")
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    text = outcome.after.decode()
    assert "\n\n\nclass PoolTest(TestCase):\n" in text and "@instantiate" not in text
    assert 'instantiate_device_type_tests(PoolTest, globals(), only_for="cuda")' in text
    assert outcome.clean_after
    unusual = source.replace("@instantiate_parametrized_tests", "@instantiate_parametrized_tests\n@mystery")
    outcome = migrate(unusual, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert reasons(outcome)["PoolTest"] == "already-instantiated"


def test_a_static_method_of_a_vendor_class_becomes_an_ordinary_one() -> None:
    """The loader copies it as a plain function, which gets the test as its first argument."""
    helper = "    @staticmethod\n    def compute(x):\n        return x\n\n"
    source = POOL.replace("    def test_pool", f"{helper}    def test_pool").replace('("x")', '(self.compute("x"))')
    text = migrated(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert "    def compute(self, x):\n" in text and "@staticmethod" not in text


def test_a_device_at_the_end_of_a_name_goes_where_the_loader_puts_it_there_again() -> None:
    source = POOL.replace("PoolTest", "PoolTestCUDA").replace("test_pool", "test_pool_cuda")
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTestCUDA", "CUDA")])
    text = outcome.after.decode()
    assert "class PoolTest(TestCase):" in text and "def test_pool(self, device):" in text
    fates = {(e.fate, f"{e.after.class_name}.{e.after.name}") for e in outcome.manifest.entries if e.after}
    assert ("kept", "PoolTestCUDA.test_pool_cuda") in fates


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("PoolTestCuda", "name-doubled"),  # PoolTestCUDA would be another name.
        ("TestCUDA", "name-doubled"),  # Nothing is left.
        ("TestNonCUDA", "name-doubled"),
        ("TestCopyToCUDA", "name-doubled"),
        ("NamedCUDA", "name-collision"),
        ("ReadCUDA", "name-collision"),
        ("SaidCUDA", "name-collision"),
    ],
)
def test_a_name_whose_device_cannot_go_stays(name: str, reason: str) -> None:
    tail = 'def Named(): pass\n\n\nfor Read in (): pass\nx = "SaidCUDA.test_pool"\n'
    source = POOL.replace("PoolTest", name) + tail
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[(name, "CUDA")])
    assert outcome.after.decode() == source
    assert reasons(outcome) == {name: reason}


@pytest.mark.parametrize("other", ["PoolTestCUDA().test_pool_cuda", '"test_pool_cuda"', "test_sample.test_pool_cuda"])
def test_a_test_that_is_named_elsewhere_keeps_its_device(other: str) -> None:
    source = POOL.replace("test_pool", "test_pool_cuda") + f"\n\ndef f(self, test_sample):\n    return {other}\n"
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert reasons(outcome) == {"PoolTest": "name-collision"}


def test_a_name_that_only_ends_like_a_device_stays() -> None:
    source = POOL.replace("def test_pool", "def test_gpucuda")
    text = migrated(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert "def test_gpucuda(self, device):" in text


def test_the_device_is_taken_out_of_names_when_configured() -> None:
    source = POOL.replace("PoolTest", "PoolTestCUDA").replace("test_pool", "test_pool_cuda")
    options = {"unsafe": True, "labels": [("PoolTestCUDA", "CUDA")], "names": "drop-device"}
    outcome = migrate(source, "class_for_device", **options)  # type: ignore[arg-type]
    text = outcome.after.decode()
    assert "class PoolTest(TestCase):" in text
    assert "def test_pool(self, device):" in text
    assert 'instantiate_device_type_tests(PoolTest, globals(), only_for="cuda")' in text
    fates = {(e.fate, f"{e.after.class_name}.{e.after.name}") for e in outcome.manifest.entries if e.after}
    assert fates == {("kept", "PoolTestCUDA.test_pool_cuda"), ("renamed", "PoolTestCUDA.test_two_cuda")}
    taken = migrate(source + "class PoolTest: pass\n", "class_for_device", **options)  # type: ignore[arg-type]
    assert reasons(taken) == {"PoolTestCUDA": "name-collision"}


@pytest.mark.parametrize("line", ["from test_sample import PoolTest as P", "from test_sample import *"])
def test_a_class_that_another_file_imports_stays(line: str) -> None:
    other = {"test/test_other.py": f"{line}\n"}
    outcome = migrate(POOL, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")], files=other)
    assert reasons(outcome) == {"PoolTest": "imported-elsewhere"}


def test_inherited_tests_stand_against_it() -> None:
    source = POOL.replace(
        "class PoolTest(TestCase)", "class Base(TestCase):\n    def test_b(self): pass\n\n\nclass PoolTest(Base)"
    )
    outcome = migrate(source, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")])
    assert reasons(outcome)["PoolTest"] == "inherited-tests"


def test_plain_device_classes_are_left_when_configured() -> None:
    outcome = migrate(POOL, "class_for_device", unsafe=True, labels=[("PoolTest", "CUDA")], device_classes="plain")
    assert not outcome.changed


def test_device_classes_are_left_where_the_linter_asks_only_for_the_tag() -> None:
    def codemods(**settings: str) -> list[str]:
        outcome = migrate(POOL, "class_for_device", "tag_class", unsafe=True, labels=[("PoolTest", "CUDA")], **settings)
        return [c.codemod for c in outcome.changes]

    assert codemods() == ["class_for_device"]
    assert codemods(linter="current") == ["tag_class"]
    assert codemods(linter="current", device_classes="instantiate") == ["class_for_device"]


UNUSED = BASE.replace('    @unittest.skip("x")\n', "")


def test_only_what_the_codemods_left_unused_goes() -> None:
    source = "import os  # never used\nimport re\n" + UNUSED
    result = after(source, "test_base", "tidy_imports")
    assert result.startswith("import os  # never used\nimport re\nfrom torch")
    assert after("import os\n" + BASE, "tidy_imports") == "import os\n" + BASE


@pytest.mark.parametrize(
    "line",
    ["import unittest  # noqa: F401", "import unittest; x = 1", "import unittest  # why"],
)
def test_an_import_with_a_neighbour_or_comment_stays(line: str) -> None:
    source = UNUSED.replace("import unittest\n", line + "\n", 1)
    outcome = migrate(source, "test_base", "tidy_imports")
    check_invariants(outcome, "test_base", "tidy_imports")
    assert line in outcome.after.decode()
    assert [r.reason for r in outcome.refusals] == ["layout"]


def test_a_name_in_all_stays() -> None:
    source = UNUSED + '__all__ = ["unittest"]\n'
    assert "import unittest\n" in after(source, "test_base", "tidy_imports")
