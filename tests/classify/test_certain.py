"""What is proven and what is not: the shapes that make a verdict certain, each beside one that looks alike."""

from __future__ import annotations

import textwrap

import pytest

from hwlint.classify.judge import classify
from hwlint.classify.verdict import Verdict
from hwlint.config import Settings
from tests.classify.test_judge import IMPORTS, judge, judge_body
from tests.support import PATH, suite_of


def said(verdict: Verdict) -> tuple[str, str]:
    return verdict.label, verdict.confidence


@pytest.mark.parametrize(
    ("body", "confidence"),
    [
        ("setattr(self.model, 'name', 1)", "certain"),
        ("exec('x = 1')", "certain"),
        ("exec(read_program())", "likely"),
        ("exec('x = torch.ones(1, device=\"cuda\")')", "likely"),
        ("dist.init_process_group('gloo', rank=0)", "certain"),
        ('dist.init_process_group("mpi", rank=0)', "likely"),
        ("self._reduce('gloo')", "likely"),
        ("torch.backends.cudnn.benchmark = True", "certain"),
        ("setattr(torch.backends.cuda.matmul, name, True)", "certain"),
        ("torch.backends.cuda.cufft_plan_cache.clear()", "likely"),
    ],
)
def test_generic_bodies(body: str, confidence: str) -> None:
    assert said(judge_body(body)) == ("GENERIC", confidence)


def test_gloo_that_is_asked_for_may_be_the_subject() -> None:
    assert said(judge_body("dist.init_process_group('gloo')", "@requires_gloo()")) == ("GENERIC", "likely")


def test_a_program_that_calls_a_helper_reaches_what_that_does() -> None:
    verdict = judge(
        """
        def helper():
            return torch.ones(1).cuda()
        class A(TestCase):
            def test_a(self): exec("helper()", globals())
        """
    )
    assert said(verdict) == ("ACCELERATOR", "certain")


@pytest.mark.parametrize("fixture", ["tearDown", "setUp"])
def test_a_fixture_that_asks_for_a_device_and_goes_on_without(fixture: str) -> None:
    verdict = judge(
        f"""
        class A(TestCase):
            def {fixture}(self):
                if torch.cuda.is_available():
                    torch.cuda.ipc_collect()
            def test_a(self): self.assertEqual(1, 1)
        """
    )
    assert said(verdict) == ("GENERIC", "likely")


def test_a_fixture_that_skips_without_a_device_is_a_gate() -> None:
    verdict = judge(
        """
        class A(TestCase):
            def setUp(self):
                if not torch.cuda.is_available():
                    self.skipTest("no CUDA")
            def test_a(self): torch.ones(1).cuda()
        """
    )
    assert said(verdict) == ("ACCELERATOR", "certain")


@pytest.mark.parametrize(
    ("decorator", "confidence"), [("", "certain"), ("@onlyCUDA", "likely"), ("@unittest.skipIf(f(), 'cuda')", "likely")]
)
def test_a_device_generic_test_may_ask_which_device_it_is_on(decorator: str, confidence: str) -> None:
    verdict = judge_body(
        "self.assertEqual(self.device_type == 'cuda', f(device))",
        decorator,
        "instantiate_device_type_tests(A, globals())",
        "self, device",
    )
    assert said(verdict) == ("ACCELERATOR", confidence)


PLACED = "torch.ones(1).cuda()"
COMPARED = "self.assertEqual(torch.ones(1).cuda().device.type, 'cuda')"


def class_of(*tests: str, base: str = "DTensorTestBase", name: str = "A", decorators: str = "") -> str:
    methods = "".join(f"    {decorators}\n    def test_{at}(self):\n        {body}\n" for at, body in enumerate(tests))
    return f"class {name}({base}):\n{methods}"


@pytest.mark.parametrize(
    ("tests", "base", "confidence"),
    [
        ((PLACED, COMPARED), "TestCase", "certain"),
        ((PLACED, COMPARED, COMPARED), "TestCase", "likely"),
        ((PLACED, "f()"), "DTensorTestBase", "certain"),
        ((PLACED, "exec(given); x.cuda()"), "DTensorTestBase", "likely"),
        ((PLACED, "x.cuda(); f(1 if torch.cuda.is_available() else 2)"), "DTensorTestBase", "likely"),
    ],
)
def test_the_certain_half_of_a_class_carries_it(tests: tuple[str, ...], base: str, confidence: str) -> None:
    assert said(judge(class_of(*tests, base=base))) == ("ACCELERATOR", confidence)


@pytest.mark.parametrize(
    ("base", "gate", "confidence"),
    [
        ("FSDPTest", "@skip_if_lt_x_gpu(2)", "certain"),
        ("FSDPTest", "@unittest.skipIf(not TEST_CUDA, '')", "certain"),
        ("FSDPTest", "", "likely"),
        ("FSDPTestMultiThread", "@unittest.skipIf(not TEST_CUDA, '')", "likely"),
        ("DTensorTestBase", "@skip_if_lt_x_gpu(2)", "likely"),
    ],
)
def test_a_process_on_an_accelerator_that_the_test_asks_for(base: str, gate: str, confidence: str) -> None:
    imports = (
        "from torch.testing._internal.common_fsdp import FSDPTest, FSDPTestMultiThread\n"
        "from torch.testing._internal.common_distributed import skip_if_lt_x_gpu\n"
    )
    verdict = verdict_in(PATH, imports + class_of("f()", base=base, decorators=gate))
    assert said(verdict) == ("ACCELERATOR", confidence)


def test_a_gate_alone_is_not_carried() -> None:
    gated = "@unittest.skipIf(not TEST_CUDA, '')"
    verdict = judge(class_of(PLACED, "f()", base="TestCase", decorators=gated))
    assert said(verdict) == ("ACCELERATOR", "likely")


@pytest.mark.parametrize("test", ["test_nvlink_is_seen", "test_cutlass"])
def test_a_doubtful_test_that_is_named_after_a_vendor_library_is_not_carried(test: str) -> None:
    text = class_of(PLACED, PLACED, COMPARED, base="TestCase").replace("test_2", test)
    assert said(judge(text)) == ("ACCELERATOR", "likely")


def verdict_in(path: str, text: str) -> Verdict:
    (verdict,) = classify(suite_of({path: IMPORTS + textwrap.dedent(text)}), [path], Settings())
    return verdict


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("test/test_cuda_memory.py", "A"),
        (PATH, "TestCUDAGuard"),
        (PATH, "TestCudagraphs"),
        (PATH, "ProcessGroupNCCLTest"),
    ],
)
def test_placement_in_a_class_named_after_a_vendor_is_no_proof(path: str, name: str) -> None:
    text = class_of(PLACED, base="TestCase", name=name)
    assert said(verdict_in(path, text)) == ("ACCELERATOR", "likely")


def test_placement_in_tests_that_are_mostly_named_after_a_vendor_library_is_no_proof() -> None:
    text = class_of(PLACED, PLACED, base="TestCase")
    assert said(judge(text.replace("test_0", "test_cutlass"))) == ("ACCELERATOR", "likely")
    assert said(judge(text.replace("test_0", "test_cuda"))) == ("ACCELERATOR", "certain")
    assert said(verdict_in(PATH, class_of(PLACED, base="TestCase", name="TestClampsAndShips"))) == (
        "ACCELERATOR",
        "certain",
    )


@pytest.mark.parametrize(
    ("path", "label", "body"),
    [
        ("test/test_cuda_graphs.py", "CUDA", "torch.cuda.CUDAGraph()"),
        ("test/test_xpu.py", "XPU", "torch.ones(1, device='xpu')"),
        ("test/xpu/test_conv.py", "XPU", "torch.ones(1, device='xpu')"),
        ("test/test_mps.py", "MPS", "torch.ones(1, device='mps')"),
    ],
)
def test_a_vendor_class_that_is_named_so_is_certain(path: str, label: str, body: str) -> None:
    assert said(verdict_in(path, class_of(body, base="TestCase"))) == (label, "certain")
    assert said(verdict_in(PATH, class_of(body, base="TestCase"))) == (label, "likely")
    if label != "CUDA":
        assert verdict_in("test/test_cuda.py", class_of(body, base="TestCase")).confidence == "likely"


def test_a_name_makes_no_generic_test_a_vendor_s() -> None:
    verdict = verdict_in("test/test_cuda_names.py", class_of("self.assertEqual(1, 1)", base="TestCase"))
    assert said(verdict) == ("GENERIC", "certain")


def test_a_class_that_only_asks_for_a_device_is_not_generic_beyond_doubt() -> None:
    body = "for x in range(2):\n            if not {}:\n                continue"
    verdict = judge_body(body.format("torch.cuda.is_available()"))
    assert said(verdict) == ("GENERIC", "likely")
    assert verdict.evidence[-1].message == "`torch.cuda.is_available()` is called in its body"
    assert said(judge_body(body.format("x"))) == ("GENERIC", "certain")
