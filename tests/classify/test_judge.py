"""Which label, why, and how sure: each rule of evidence, then the class as a whole."""

from __future__ import annotations

import pytest

from hwlint.classify.judge import classify
from hwlint.classify.subject import kinds
from hwlint.classify.verdict import Verdict
from hwlint.config import Settings
from tests.support import PATH, suite_of

IMPORTS = """
import sys
import torch.distributed as dist
from torch.testing._internal.common_cuda import TEST_CUDNN
from torch.testing._internal.common_distributed import (
    MultiProcessTestCase, requires_gloo, requires_nccl, requires_ucc, skip_if_lt_x_gpu,
)
from torch.testing._internal.common_device_type import (
    deviceCountAtLeast, get_all_device_types, onlyMPS, skipCUDAIfNoMagma,
)
from torch.testing._internal.common_utils import TEST_CUDA, TEST_XPU, skipIfXpu
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorTestBase
from torch.testing._internal.inductor_utils import GPU_TYPE, HAS_GPU
from torch.testing._internal.triton_utils import requires_gpu
"""


def judge(text: str) -> Verdict:
    """The verdict on the class A of a source."""
    import textwrap

    suite = suite_of({PATH: IMPORTS + textwrap.dedent(text)})
    return next(v for v in classify(suite, [PATH], Settings()) if v.class_name == "A")


def judge_body(body: str, decorator: str = "", after: str = "", parameters: str = "self") -> Verdict:
    """The verdict on a class with one test."""
    lines = [f"    {decorator}"] if decorator else []
    lines += [f"    def test_a({parameters}):", *(f"        {line}" for line in body.splitlines())]
    return judge("\n".join(["class A(TestCase):", *lines, after, ""]))


@pytest.mark.parametrize(
    ("body", "label", "confidence"),
    [
        ("self.assertEqual(1, 1)", "GENERIC", "certain"),
        ("x = torch.ones(2)", "GENERIC", "certain"),
        ("x = torch.ones(2, device='cpu')", "GENERIC", "certain"),
        ("x = torch.ones(2, device='cuda')", "ACCELERATOR", "certain"),
        ("x = torch.ones(2).cuda()", "ACCELERATOR", "certain"),
        ("x = torch.ones(2, device=GPU_TYPE)", "ACCELERATOR", "certain"),
        ("x = torch.ones(2, device='cuda' if torch.cuda.is_available() else 'cpu')", "ACCELERATOR", "likely"),
        ("x = torch.ones(2, device='xpu')", "XPU", "likely"),
        ("x = torch.ones(2, device='npu')", "ACCELERATOR", "likely"),
        ("for d in get_all_device_types():\n    torch.ones(2, device=d)", "ACCELERATOR", "likely"),
        ("for d in ['cpu', 'cuda']:\n    torch.ones(2, device=d)", "ACCELERATOR", "likely"),
        ("torch.cuda.nvtx.range_push('a')", "CUDA", "certain"),
        ("torch.cuda.manual_seed_all(0)", "GENERIC", "certain"),
        ("torch.cuda.synchronize()", "ACCELERATOR", "likely"),
        ("self.assertIn('cuda', str(1))", "GENERIC", "likely"),
    ],
)
def test_bodies(body: str, label: str, confidence: str) -> None:
    verdict = judge_body(body)
    assert (verdict.label, verdict.confidence) == (label, confidence), verdict.evidence


@pytest.mark.parametrize(
    ("decorator", "body", "label", "confidence"),
    [
        # A gate alone says that a device is needed, not for what.
        ("@unittest.skipIf(not TEST_CUDA, '')", "f()", "ACCELERATOR", "likely"),
        ("@unittest.skipIf(not TEST_CUDA, '')", "torch.ones(1).cuda()", "ACCELERATOR", "certain"),
        ("@requires_gpu()", "torch.ones(1, device=GPU_TYPE)", "ACCELERATOR", "certain"),
        ("@unittest.skipIf(not TEST_CUDNN, '')", "torch.ones(1).cuda()", "CUDA", "likely"),
        ("@unittest.skipIf(not TEST_XPU, '')", "torch.ones(1, device='xpu')", "XPU", "certain"),
        ("@unittest.skipIf(TEST_CUDA, '')", "f()", "GENERIC", "likely"),
        ("@skipIfXpu", "f()", "GENERIC", "certain"),
        ("@unittest.skipIf(not supported(), 'needs cuda')", "f()", "GENERIC", "likely"),
        ("@unittest.skipIf(not supported(), 'needs time')", "f()", "GENERIC", "certain"),
        ("@unittest.skipIf(sys.platform == 'win32', '')", "f()", "GENERIC", "certain"),
    ],
)
def test_gates(decorator: str, body: str, label: str, confidence: str) -> None:
    verdict = judge_body(body, decorator)
    assert (verdict.label, verdict.confidence) == (label, confidence), verdict.evidence


@pytest.mark.parametrize(
    ("arguments", "label", "confidence"),
    [
        ("", "ACCELERATOR", "certain"),
        (", only_for=('cpu', 'cuda')", "ACCELERATOR", "certain"),
        (", only_for='cuda'", "CUDA", "likely"),
        (", only_for='cpu'", "CPU", "likely"),
        (", only_for='xpu', allow_xpu=True", "XPU", "likely"),
    ],
)
def test_instantiation(arguments: str, label: str, confidence: str) -> None:
    after = f"instantiate_device_type_tests(A, globals(){arguments})"
    verdict = judge_body("torch.ones(1, device=device)", after=after, parameters="self, device")
    assert (verdict.label, verdict.confidence) == (label, confidence), verdict.evidence


@pytest.mark.parametrize(
    ("decorator", "label"),
    [("@onlyCUDA", "ACCELERATOR"), ("@onlyCPU", "CPU"), ("@onlyMPS", "MPS"), ("@skipCUDAIfNoMagma", "ACCELERATOR")],
)
def test_decorators_of_an_instantiated_class(decorator: str, label: str) -> None:
    after = "instantiate_device_type_tests(A, globals(), allow_mps=True)"
    assert judge_body("f(device)", decorator, after, "self, device").label == label


def test_vendor_api_where_the_cpu_runs_too_is_no_proof() -> None:
    after = "instantiate_device_type_tests(A, globals())"
    verdict = judge_body("torch.cuda.nvtx.range_push('a')", after=after, parameters="self, device")
    assert (verdict.label, verdict.confidence) == ("ACCELERATOR", "likely")
    verdict = judge_body("torch.cuda.nvtx.range_push('a')", "@onlyCUDA", after, "self, device")
    assert verdict.label == "CUDA"


VENDOR_CLASSES = """
from torch._dynamo.device_interface import CudaInterface, XpuInterface
from torch._inductor.codecache import CUDACodeCache as Cache
from torch.cuda import CUDAGraph
from helpers import CUDATable
from torch.utils.cpp_extension import CUDA_HOME
"""


@pytest.mark.parametrize(
    ("body", "decorator", "label", "confidence"),
    [
        ("CudaInterface.current_device()", "", "CUDA", "certain"),
        ("Cache.load('a')", "@unittest.skipIf(not TEST_CUDA, '')", "CUDA", "certain"),
        ("XpuInterface()", "", "XPU", "certain"),
        ("CudaInterface()\nXpuInterface()", "", "CUDA", "unsure"),
        ("CUDATable(); print(CUDA_HOME)", "", "GENERIC", "likely"),  # not torch's, and one that cannot be followed
        ("print(CUDA_HOME)", "", "GENERIC", "certain"),  # not a class
        ("CUDAGraph()", "@unittest.skipIf(not TEST_CUDA, '')", "CUDA", "likely"),  # its other form is known
        ("Interface = 1\nself.CudaInterface()", "", "GENERIC", "certain"),
    ],
)
def test_a_class_of_one_vendor(body: str, decorator: str, label: str, confidence: str) -> None:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    verdict = judge(f"{VENDOR_CLASSES}\n\nclass A(TestCase):\n    {decorator}\n    def test_a(self):\n{lines}")
    assert (verdict.label, verdict.confidence) == (label, confidence), verdict.evidence


def test_a_class_named_after_a_library_is_its_vendors_where_some_tests_are() -> None:
    text = VENDOR_CLASSES.replace("helpers", "torch._inductor.codegen") + "\n\nclass A(TestCase):\n"
    text += "    def test_a(self):\n        CUDATable().run(torch.ones(2).cuda())\n\n"
    text += "".join(f"\n    def test_{n}(self):\n        torch.ones(2).cuda()\n" for n in "bcdef")
    assert judge(text).label == "SPLIT"
    source = IMPORTS + text.replace("class A(", "class CutlassTest(")
    (verdict,) = classify(suite_of({PATH: source}), [PATH], Settings())
    assert (verdict.label, verdict.confidence) == ("CUDA", "likely")


def test_a_helper_counts_where_it_is_the_files_own() -> None:
    text = VENDOR_CLASSES + "\n\ndef load():\n    return Cache.load('a')\n\n\nclass A(TestCase):\n"
    verdict = judge(
        text + "    def test_a(self):\n        load()\n\n    def test_b(self):\n        self.assertTrue(1)\n"
    )
    assert [(t.name, t.label) for t in verdict.tests] == [("test_a", "CUDA"), ("test_b", "GENERIC")]
    assert verdict.tests[0].evidence[0].message == "CUDACodeCache is a class for cuda"


def test_what_is_reached_counts() -> None:
    verdict = judge(
        """
        DEVICE = "cuda"
        def helper():
            return torch.ones(1, device=DEVICE)
        class A(TestCase):
            def setUp(self):
                super().setUp()
                self.x = 1
            def test_a(self): helper()
        """
    )
    assert (verdict.label, verdict.confidence) == ("ACCELERATOR", "certain")


def test_a_gate_on_the_script_is_no_gate_on_its_classes() -> None:
    verdict = judge(
        """
        class A(TestCase):
            def test_a(self): ...
        if __name__ == "__main__":
            if HAS_GPU:
                run_tests()
        """
    )
    assert (verdict.label, verdict.confidence) == ("GENERIC", "certain")


def test_a_file_that_cannot_be_imported_without_a_vendor_library() -> None:
    verdict = judge(
        """
        if not dist.is_nccl_available():
            sys.exit(0)
        class A(MultiProcessTestCase):
            @requires_nccl()
            def test_a(self):
                dist.init_process_group("nccl")
        """
    )
    assert (verdict.label, verdict.confidence) == ("CUDA", "certain")


def test_a_default_back_end_is_portable() -> None:
    verdict = judge(
        """
        class A(MultiProcessTestCase):
            @requires_nccl()
            @skip_if_lt_x_gpu(2)
            def test_a(self):
                dist.init_process_group("nccl", rank=self.rank)
                x = torch.ones(1, device=f"cuda:{self.rank}")
        """
    )
    assert verdict.label == "ACCELERATOR"


@pytest.mark.parametrize(("decorator", "backend"), [("@requires_gloo()", "gloo"), ("@requires_ucc()", "ucc")])
def test_a_back_end_handed_to_a_helper_is_the_subject(decorator: str, backend: str) -> None:
    verdict = judge(
        f"""
        class A(MultiProcessTestCase):
            def _reduce(self, backend):
                dist.init_process_group(backend, rank=self.rank)
                x = torch.ones(1, device=f"cuda:{{self.rank}}")
            {decorator}
            def test_a(self): self._reduce({backend!r})
        """
    )
    assert verdict.label == "CUDA"


def test_fixture_of_a_framework_base() -> None:
    verdict = judge(
        """
        class A(DTensorTestBase):
            def test_a(self):
                torch.ones(1, device=self.device_type)
        """
    )
    assert verdict.label == "ACCELERATOR"


@pytest.mark.parametrize(
    ("decorator", "body", "label"),
    [
        ("", "torch.ones(1)", "GENERIC"),
        ('@with_comms(init_rpc=False, backend="gloo")', "torch.ones(1)", "GENERIC"),
        ("@parametrize('n', [1])", "torch.ones(1)", "GENERIC"),
        ("@with_comms", "torch.ones(1)", "ACCELERATOR"),
        ("@with_comms(init_rpc=False)", "torch.ones(1)", "ACCELERATOR"),
        ('@with_comms(backend="gloo")', "torch.ones(1)", "ACCELERATOR"),
        ('@with_comms(init_rpc=False, backend="nccl")', "torch.ones(1)", "ACCELERATOR"),
        ("@with_comms(init_rpc=False, backend=chosen)", "torch.ones(1)", "ACCELERATOR"),
        ("@with_group", "torch.ones(1)", "ACCELERATOR"),
        ("", "self.init_comms(init_rpc=False)", "ACCELERATOR"),
        ("", "self._start()", "ACCELERATOR"),
        ("", "ChunkShardingSpec(dim=0, placements=['rank:0/cuda:0'])", "ACCELERATOR"),
    ],
)
def test_a_fixture_that_acts_where_the_test_asks_for_it(decorator: str, body: str, label: str) -> None:
    verdict = judge(
        f"""
        from torch.distributed._shard.sharding_spec import ChunkShardingSpec
        from torch.testing._internal.common_utils import parametrize
        from torch.testing._internal.distributed._shard.sharded_tensor import ShardedTensorTestBase, with_comms
        def with_group(test):
            return with_comms(test)
        class A(ShardedTensorTestBase):
            def _start(self):
                self.init_pg()
            {decorator}
            def test_a(self):
                {body}
        """
    )
    assert verdict.label == label


def test_twins_of_a_device_template() -> None:
    files = {
        "test/templates.py": """
            class Template:
                def test_a(self): torch.ones(1, device=self.device)
            def copy_tests(a, b, c): ...
            """,
        PATH: """
            from templates import Template, copy_tests
            class A(TestCase):
                device = "cpu"
            copy_tests(Template, A, "cpu")
            class B(TestCase):
                device = "cuda"
            copy_tests(Template, B, "cuda")
            """,
    }
    verdicts = {v.class_name: v.label for v in classify(suite_of(files), [PATH], Settings())}
    assert verdicts == {"A": "CPU", "B": "ACCELERATOR"}


PINNED = """
    class A(TestCase):
        device_type = GPU_TYPE
        def helper(self): self.assertTrue(True)
        def test_a(self): self.helper()
"""


def test_an_attribute_that_no_test_reads_is_no_evidence() -> None:
    verdict = judge(PINNED)
    assert verdict.label == "GENERIC"
    # A test that names the device itself is one for accelerators as before.
    both = judge(PINNED + "    def test_b(self): torch.ones(2, device=GPU_TYPE)\n".replace("    def", "        def"))
    assert {t.name: t.label for t in both.tests} == {"test_a": "GENERIC", "test_b": "ACCELERATOR"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.assertTrue(True)", "torch.ones(2, device=self.device_type)"),
        ("self.helper()", "self.unknown()"),
        ("def test_a", "@skipCUDAIfNoMagma\n        def test_a"),
        ("def test_a", "@mystery\n        def test_a"),
        ("(TestCase)", "(DTensorTestBase)"),
        ("(TestCase)", "(Unknown)"),
        ("    class A", "    torch.set_default_device(GPU_TYPE)\n    class A"),
        ("self.helper()", "read(self)"),
        ("    def test_a", "    def test_b(self): torch.ones(2, device=self.device_type)\n        def test_a"),
    ],
)
def test_an_attribute_that_may_be_read_is_evidence(old: str, new: str) -> None:
    source = PINNED.replace(old, new, 1) + "    def read(test): return test.device_type\n"
    assert source.startswith(PINNED) is False
    assert {t.name: t.label for t in judge(source).tests}["test_a"] != "GENERIC"


def test_a_class_about_a_device_module() -> None:
    names = (
        "memory_stats memory_snapshot mem_get_info memory_reserved ipc_collect utilization current_stream Stream Event "
        "stream get_rng_state"
    )
    tests = "\n".join(f"    def test_{n}(self): torch.cuda.{n}()" for n in names.split())
    verdict = judge(f"class A(TestCase):\n{tests}\n")
    assert (verdict.label, verdict.confidence) == ("CUDA", "likely")


def test_split_lists_the_label_of_each_test() -> None:
    verdict = judge(
        """
        class A(TestCase):
            def test_plain(self): ...
            def test_also_plain(self): ...
            def test_device(self): torch.ones(1).cuda()
        """
    )
    assert verdict.label == "SPLIT"
    assert [(t.name, t.label) for t in verdict.tests] == [
        ("test_plain", "GENERIC"),
        ("test_also_plain", "GENERIC"),
        ("test_device", "ACCELERATOR"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "class A(make_base()):\n    def test_a(self): ...\n",
        "from missing import Base\nclass A(Base):\n    def test_a(self): ...\n",
        "class A(TestCase):\n    def test_a(self): ...\nsetattr(A, 'test_b', f)\n",
        "from missing import helper\nclass A(TestCase):\n    def test_a(self): helper()\n",
    ],
)
def test_what_cannot_be_followed_is_never_certain(text: str) -> None:
    assert judge(text).confidence != "certain"


def test_use_in_a_helper_of_another_file_is_never_certain() -> None:
    files = {
        "test/helpers.py": "def place(x):\n    return x.cuda()\n",
        PATH: "from helpers import place\nclass A(TestCase):\n    def test_a(self): place(torch.ones(1))\n",
    }
    verdict = classify(suite_of(files), [PATH], Settings())[0]
    assert (verdict.label, verdict.confidence) == ("ACCELERATOR", "likely")


def test_inherited_tests_are_judged_where_they_run() -> None:
    verdict = judge(
        """
        class Base(TestCase):
            def test_a(self): torch.ones(1).cuda()
        class A(Base):
            def test_b(self): torch.ones(1).cuda()
        """
    )
    assert [(t.name, bool(t.inherited_from)) for t in verdict.tests] == [("test_b", False), ("test_a", True)]


def test_current_classification_is_told_with_the_verdict() -> None:
    verdict = judge(
        """
        class Base(TestCase):
            hw_classification = HardwareClassification.CUDA
        class A(Base):
            def test_a(self): ...
        """
    )
    assert (verdict.current, verdict.current_inherited, verdict.label) == ("CUDA", True, "GENERIC")


def test_no_verdict_on_mixins_without_tests_and_classes_of_functions() -> None:
    suite = suite_of(
        "class Helper: ...\ndef make():\n    class A(TestCase):\n        def test_a(self): ...\n    return A\n"
    )
    assert not classify(suite, [PATH], Settings())


def test_every_reason_is_of_a_known_kind() -> None:
    for kind in kinds().values():
        assert kind.meaning and 0 <= kind.weight <= 10


def test_a_constant_that_asks_for_a_device_is_no_use_of_it() -> None:
    """``RUNS`` is false on XPU; that makes no test one for XPU."""
    verdict = judge("""
        if TEST_CUDA:
            RUNS = True
        else:
            RUNS = not torch.xpu.is_available() and not sys.flags.debug

        class A(TestCase):
            def test_a(self):
                if not RUNS:
                    self.skipTest("not here")
                torch.ones(2, device="cuda" if TEST_CUDA else "cpu")
    """)
    assert verdict.label == "ACCELERATOR"
    assert all(e.argues_for != "XPU" for t in verdict.tests for e in t.evidence)
