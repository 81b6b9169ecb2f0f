"""device_parameter: golden pairs byte for byte, and what is refused with which reason."""

# ruff: noqa: E501  # Pairs are read side by side.

from __future__ import annotations

import pytest

from tests.codemods.device_classes import GATE, HEAD, NAME, change, class_with, refusal
from tests.codemods.harness import check_invariants, migrate, reasons

NEW_HEAD = """\
import unittest
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TEST_CUDA, TestCase
"""


def test_a_class() -> None:
    before = f'''{HEAD}

class AddTest(TestCase):
    """Sums."""

    def setUp(self):
        super().setUp()
        self.one = torch.ones(1, device="cuda")  # shared

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.two = torch.ones(2).cuda()

    def _sum(self, count, *rest, **more):
        return torch.ones(count).cuda().sum()

    # first
    {GATE}
    def test_add(self):
        device = "cuda"
        self.assertEqual(torch.ones(3, device=device).sum(), self._sum(3))

    {GATE}
    def test_type(self, *, n=2):
        self.assertEqual(torch.ones(3).to("cuda:0").device.type, "cuda")
        self.assertEqual(self.two, self._sum(count=n))


if __name__ == "__main__":
    unittest.main()
'''
    after = f'''{NEW_HEAD}

class AddTest(TestCase):
    """Sums."""

    def setUp(self):
        super().setUp()
        self.one = torch.ones(1, device=self.device_type)  # shared

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.two = torch.ones(2).to(cls.device_type)

    def _sum(self, device, count, *rest, **more):
        return torch.ones(count).to(device).sum()

    # first
    @onlyAccelerator
    def test_add(self, device):
        self.assertEqual(torch.ones(3, device=device).sum(), self._sum(device, 3))

    @onlyAccelerator
    def test_type(self, device, *, n=2):
        self.assertEqual(torch.ones(3).to(device).device.type, torch.device(device).type)
        self.assertEqual(self.two, self._sum(device, count=n))


instantiate_device_type_tests(AddTest, globals())


if __name__ == "__main__":
    unittest.main()
'''
    assert change(before) == after


def test_gpu_type_keeps_xpu() -> None:
    before = """\
import torch
from torch.testing._internal.common_utils import TestCase
from torch.testing._internal.inductor_utils import GPU_TYPE


class T(TestCase):
    def test_a(self):
        x = torch.ones(2, device=GPU_TYPE)
        y = x.to(f"{GPU_TYPE}:0")
        with torch.autocast(GPU_TYPE), torch.autocast(device_type=GPU_TYPE):
            self.assertEqual(x, y)
"""
    after = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TestCase
from torch.testing._internal.inductor_utils import GPU_TYPE


class T(TestCase):
    @onlyAccelerator
    def test_a(self, device):
        x = torch.ones(2, device=device)
        y = x.to(f"{torch.device(device).type}:0")
        with torch.autocast(torch.device(device).type), torch.autocast(device_type=torch.device(device).type):
            self.assertEqual(x, y)


instantiate_device_type_tests(T, globals(), allow_xpu=True)
"""
    assert change(before) == after


def test_the_call_of_the_parametrized_form_is_replaced() -> None:
    source = """\
import torch
from torch.testing._internal.common_utils import instantiate_parametrized_tests, parametrize, TestCase


class Other(TestCase):
    @parametrize("n", [1])
    def test_o(self, n):
        pass


class T(TestCase):
    @parametrize("n", [1, 2])
    def test_m(self, n):
        torch.ones(n, device="cuda")


instantiate_parametrized_tests(Other)
instantiate_parametrized_tests(T)
"""
    text = change(source)
    assert text.endswith("instantiate_parametrized_tests(Other)\ninstantiate_device_type_tests(T, globals())\n")
    assert '    @onlyAccelerator\n    @parametrize("n", [1, 2])\n    def test_m(self, device, n):\n' in text


def test_the_decorator_of_the_parametrized_form_goes() -> None:
    source = """\
import torch
from torch.testing._internal.common_utils import instantiate_parametrized_tests, parametrize, TestCase


@instantiate_parametrized_tests
class T(TestCase):
    @parametrize("n", [1, 2])
    def test_m(self, n):
        torch.ones(n, device="cuda")
"""
    text = change(source)
    assert "@instantiate_parametrized_tests" not in text
    assert text.endswith("\n\n\ninstantiate_device_type_tests(T, globals())\n")


def test_a_new_call_stands_beside_those_at_the_end() -> None:
    source = class_with('torch.ones(2, device="cuda")') + (
        "\n\nclass U(TestCase):\n    def test_u(self, device):\n        torch.ones(2, device=device)\n"
        "\n\ninstantiate_device_type_tests(U, globals())\n"
    )
    source = source.replace(
        "import torch\n", "import torch\n" + NEW_HEAD.split("\n")[2].partition(", only")[0] + "\n", 1
    )
    assert change(source).endswith(
        "instantiate_device_type_tests(U, globals())\ninstantiate_device_type_tests(T, globals())\n"
    )


def test_a_class_in_a_block_is_instantiated_there() -> None:
    source = f"{HEAD}import sys\n\nif sys.platform != 'win32':\n\n    class T(TestCase):\n        def test_a(self):\n            torch.ones(1).cuda()\n"
    assert change(source).endswith(
        "            torch.ones(1).to(device)\n\n    instantiate_device_type_tests(T, globals())\n"
    )


def test_a_class_gate_becomes_one_of_each_test() -> None:
    source = f"{HEAD}\n\n{GATE}\nclass T(TestCase):\n    def test_a(self):\n        torch.ones(1).cuda()\n"
    assert (
        "\n\nclass T(TestCase):\n    @onlyAccelerator\n    def test_a(self, device):\n        torch.ones(1).to(device)\n"
        in change(source)
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (class_with("torch.ones(1).cuda()").replace("class T(TestCase):\n", "class T(TestCase):\n    def test_g(self):\n        pass\n\n"), "split"),
        (class_with("torch.ones(1).cuda()", after="\n\nclass U(T):\n    pass\n"), "subclassed"),
        (class_with("torch.ones(1).cuda()", after="\n\nprint(T)\n"), "name-used-later"),
        (class_with("torch.ones(1).cuda()", after="\n\nclass TCUDA(TestCase):\n    def test_x(self):\n        pass\n"), "name-collision"),
        (class_with("self.help(1)", after="\n    @classmethod\n    def help(cls, n):\n        return torch.ones(n).cuda()\n"), "class-member"),
        (class_with("torch.ones(1).cuda()").replace("(not TEST_CUDA", "(torch.version.hip or not TEST_CUDA"), "compound-gate"),
        (class_with("torch.ones(1).cuda()").replace("class T(", "@patch_all\nclass T("), "unknown-name"),
        (class_with("torch.ones(1).cuda()").replace("    def test_t", "    @my_decorator\n    def test_t"), "unknown-name"),
        (class_with("torch.ones(1).cuda()", after="\n    @unittest.skipIf(not TEST_CUDA, '')\n    def test_u(self):\n        torch.ones(1).cuda()\n        self.test_t()\n"), "unknown-caller"),
        (class_with("torch.ones(1).cuda()").replace("    def test_t(self", "    @unittest.mock.patch('a.b')\n    def test_t(self, b"), "unknown-caller"),
        (class_with("torch.ones(1).cuda()", after="    def test_u(self):\n        torch.ones(1).cuda()\n        self.test_t()\n"), "unknown-caller"),
        (class_with("torch.ones(1).cuda()", before="\nif TEST_CUDA:\n    class X: pass\n").replace("class T(TestCase)", "class TCPU(TestCase)"), ""),
    ],
)  # fmt: skip
def test_classes_that_stay(source: str, reason: str) -> None:
    found = refusal(source)
    assert found == reason


def test_a_helper_that_others_call_keeps_its_class() -> None:
    before = "\n\ndef make(n):\n    return torch.ones(n).cuda()\n\n\nmake(1)\n"
    assert refusal(class_with("make(2)", before)) == "unknown-caller"
    before = before.replace("\n\nmake(1)\n", "")
    after = before.replace("make(n)", "make(device, n)").replace(".cuda()", ".to(device)")
    assert after in change(class_with("make(2)", before))
    assert "        make(device, 2)\n" in change(class_with("make(2)", before))


def test_a_literal_in_a_test_for_cuda_is_a_safe_change() -> None:
    source = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import TestCase


class T(TestCase):
    @onlyCUDA
    def test_a(self, device):
        torch.ones(2, device="cuda").cuda()

    def test_b(self, device):
        torch.ones(2, device="cuda")

    @onlyCUDA
    def test_c(self, device):
        for device in range(2):
            torch.ones(2).cuda()


instantiate_device_type_tests(T, globals())
"""
    outcome = migrate(source, NAME)
    check_invariants(outcome, NAME)
    assert outcome.after.decode() == source.replace(
        'torch.ones(2, device="cuda").cuda()', "torch.ones(2, device=device).to(device)"
    )
    assert [c.applicability for c in outcome.changes] == ["safe"]
    assert reasons(outcome)["T.test_b"] == "mixed-devices"
    assert reasons(outcome)["T.test_c"] == "name-taken"


def test_test_ids_are_renames() -> None:
    outcome = migrate(class_with("torch.ones(1).cuda()"), NAME, unsafe=True)
    fates = {(e.fate, e.device, e.after.name if e.after else "") for e in outcome.manifest.entries}
    assert ("renamed", "cpu", "test_t_cpu") in fates or ("renamed", "cuda", "test_t_cuda") in fates
    assert not outcome.manifest.lost


def test_a_test_that_nothing_surely_keeps_off_the_cpu_stays() -> None:
    source = f"""{HEAD}

class T(TestCase):
    def _run(self, mesh):
        if mesh.has_rng:
            return torch.ones(1, device="cuda")
        return torch.ones(1)

    def test_a(self):
        self._run(mesh)
"""
    assert refusal(source) == "uncertain"
    assert "@onlyAccelerator\n    def test_a(self, device)" in change(
        source.replace("        if mesh.has_rng:\n    ", "")
    )


def test_a_tag_that_says_otherwise_keeps_the_class() -> None:
    tagged = "class T(TestCase):\n    hw_classification = HardwareClassification.GENERIC\n"
    source = (
        class_with("torch.ones(1).cuda()")
        .replace("class T(TestCase):\n", tagged)
        .replace("import TEST", "import HardwareClassification, TEST")
    )
    assert refusal(source) == "contradiction"


def test_set_up_that_may_not_work_on_the_cpu_keeps_the_class() -> None:
    for value in (
        "torch.mm(torch.ones(1).cuda(), x.half())",
        "torch.ones(1).cuda().half() * 2",
        'torch.ones(1, dtype=torch.half, device="cuda")',
        "torch.ones(1).cuda().to_sparse()",
    ):
        fixture = f"\n    def setUp(self):\n        super().setUp()\n        self.x = {value}\n"
        assert refusal(class_with("torch.ones(1).cuda()", after=fixture)) == "raises-without-accelerator", value


def test_a_conversion_works_on_the_cpu() -> None:
    fixture = "\n    def setUp(self):\n        super().setUp()\n        self.x = torch.ones(1).cuda().half()\n"
    text = change(class_with("torch.ones(1).cuda()", after=fixture))
    assert "self.x = torch.ones(1).to(self.device_type).half()\n" in text


def test_a_class_for_one_device_is_left_without_a_word() -> None:
    source = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class T(TestCase):
    def test_a(self, device):
        torch.ones(2, device="cuda")


instantiate_device_type_tests(T, globals(), only_for="cuda")
"""
    outcome = migrate(source, NAME, unsafe=True)
    assert not outcome.changed and not outcome.refusals


def test_calls_that_are_spread_out() -> None:
    body = "self._run(\n    1,\n    n=2,\n)\nself._run(\n    1, n=2\n)\nself._run(*[1])"
    helper = "\n    def _run(\n        self,\n        first,\n        n=1,\n    ):\n        return torch.ones(first).cuda()\n"
    text = change(class_with(body, after=helper))
    assert "        self._run(\n            device,\n            1,\n            n=2,\n        )\n" in text
    assert "        self._run(\n            device, 1, n=2\n        )\n        self._run(device, *[1])\n" in text
    assert "    def _run(\n        self,\n        device,\n        first,\n        n=1,\n    ):\n" in text


def test_a_helper_that_is_handed_on_asks_the_class() -> None:
    text = change(
        class_with("list(map(self._run, [1]))", after="\n    def _run(self, n):\n        return torch.ones(n).cuda()\n")
    )
    assert "    def _run(self, n):\n        return torch.ones(n).to(self.device_type)\n" in text


def test_processes_have_a_device_each() -> None:
    source = """\
import torch
from torch.testing._internal.common_distributed import MultiProcessTestCase, skip_if_lt_x_gpu


class T(MultiProcessTestCase):
    @skip_if_lt_x_gpu(2)
    def test_a(self):
        \"\"\"Docs.\"\"\"
        x = torch.ones(1, device=f"cuda:{self.rank}").cuda()
        y = torch.ones(1).cuda(self.rank)

    @skip_if_lt_x_gpu(2)
    def test_b(self):
        torch.ones(1).cuda()
"""
    after = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_distributed import MultiProcessTestCase, skip_if_lt_x_gpu


class T(MultiProcessTestCase):
    @onlyAccelerator
    @skip_if_lt_x_gpu(2)
    def test_a(self, device):
        \"\"\"Docs.\"\"\"
        device_type = torch.device(device).type
        x = torch.ones(1, device=f"{device_type}:{self.rank}").to(device_type)
        y = torch.ones(1).to(torch.device(device_type, self.rank))

    @onlyAccelerator
    @skip_if_lt_x_gpu(2)
    def test_b(self, device):
        torch.ones(1).to(torch.device(device).type)


instantiate_device_type_tests(T, globals())
"""
    assert change(source) == after


def test_a_triton_gate_stays_or_is_widened() -> None:
    source = """\
import torch
from torch.testing._internal.common_utils import TestCase
from torch.testing._internal.inductor_utils import GPU_TYPE
from torch.testing._internal.triton_utils import requires_gpu


class T(TestCase):
    @requires_gpu
    def test_a(self):
        torch.compile(torch.sin)(torch.ones(1, device=GPU_TYPE))
"""
    assert "    @onlyAccelerator\n    @requires_gpu\n    def test_a(self, device):\n" in change(source)
    cuda = source.replace("requires_gpu", "requires_cuda").replace("device=GPU_TYPE", 'device="cuda"')
    text = change(cuda)
    assert "    @onlyAccelerator\n    @requires_gpu_and_triton\n    def test_a(self, device):\n" in text
    assert "import requires_cuda, requires_gpu_and_triton\n" in text


def test_the_cpu_comes_in_where_the_configuration_asks() -> None:
    outcome = migrate(class_with("torch.ones(1).cuda()"), NAME, unsafe=True, add_cpu=True)
    assert (
        "class T(TestCase):\n    def test_t(self, device):\n        torch.ones(1).to(device)\n"
        in outcome.after.decode()
    )
    outcome = migrate(class_with("torch.cuda.synchronize()"), NAME, unsafe=True, add_cpu=True)
    assert "    @onlyAccelerator\n    def test_t(self, device):\n" in outcome.after.decode()


def test_what_other_files_import_stays() -> None:
    before = "\n\ndef make(n):\n    return torch.ones(n).cuda()\n"
    source = class_with("make(2)", before)
    assert refusal(source, files={"test/test_other.py": "from test_sample import make\n"}) == "shared-helper"
    assert refusal(source, files={"test/test_other.py": "from test_sample import T\n"}) == "imported-elsewhere"
    assert refusal(source, files={"test/test_other.py": "from test_sample import *\n"}) == "imported-elsewhere"


@pytest.mark.parametrize(
    ("head", "after"),
    [
        (f"def test_{'x' * 67}(self):", f"def test_{'x' * 67}(\n        self, device\n    ):"),
        (f"def test_{'x' * 57}(self) -> None:", f"def test_{'x' * 57}(\n        self, device\n    ) -> None:"),
        (f"def test_{'x' * 60}(self, n=(1)):", f"def test_{'x' * 60}(self, device, n=(1)):"),
        (f"def test_{'x' * 67}(self):  # why", f"def test_{'x' * 67}(self, device):  # why"),
        (f"def test_{'x' * 50}(self, n=1):", f"def test_{'x' * 50}(self, device, n=1):"),
    ],
)
def test_a_head_that_gets_too_long_is_broken_as_the_formatter_does(head: str, after: str) -> None:
    source = f"{HEAD}\n\nclass T(TestCase):\n    {head}\n        torch.ones(1).cuda()\n"
    assert f"    {after}\n        torch.ones(1).to(device)\n" in change(source)


def test_an_index_stays_where_the_bare_type_takes_the_place_of_a_device() -> None:
    """A device with an index is not equal to the same without one, which FSDP asks (pytorch/pytorch#170254)."""
    members = """\
    @property
    def place(self):
        return torch.device("cuda:0")

    def setUp(self):
        super().setUp()
        self.x = torch.ones(1, device="cuda:0")

    @property
    def bare(self):
        return torch.device("cuda")

"""
    body = "torch.ones(1, device=self.place).to(self.bare).add(self.x)"
    source = class_with(body).replace("class T(TestCase):\n", f"class T(TestCase):\n{members}")
    text = change(source)
    assert "return torch.device(self.device_type, 0)\n" in text
    assert 'self.x = torch.ones(1, device=f"{self.device_type}:0")\n' in text
    assert "return torch.device(self.device_type)\n" in text


@pytest.mark.parametrize(
    ("decorator", "reason"),
    [
        ("torch._jit_internal._disable_emit_hooks_decorator", "unknown-name"),  # It gives None.
        ("torch._disable_dynamo", ""),
        ("torch.no_grad()", ""),
    ],
)
def test_private_decorators_of_torch(decorator: str, reason: str) -> None:
    source = class_with("torch.ones(1).cuda()").replace(f"    {GATE}\n", f"    {GATE}\n    @{decorator}\n")
    if reason:
        assert refusal(source) == reason
    else:
        assert f"    @{decorator}\n    def test_t(self, device):" in change(source)


def test_what_is_registered_for_the_cpu_and_cuda_is_theirs() -> None:
    body = "@custom_ops.impl('x::y')\ndef impl(x):\n    return x\ntorch.ops.x.y(torch.ones(1).cuda())"
    assert refusal(class_with(body, before="import torch._custom_ops as custom_ops\n")) == "device-claim"
    assert "torch.ones(1).to(device)" in change(class_with(body.replace("custom_ops.impl", "self.impl")))


def test_half_on_cuda_is_a_capability() -> None:
    imported = "from torch.testing._internal.jit_utils import RUN_CUDA_HALF\n"
    gate = '@unittest.skipIf(not RUN_CUDA_HALF, "no half support")'
    source = class_with("torch.ones(1).cuda()", before=imported)
    text = change(source.replace(f"    {GATE}\n", f"    {GATE}\n    {gate}\n"))
    assert f"    @onlyAccelerator\n    {gate}\n    def test_t(self, device):" in text
