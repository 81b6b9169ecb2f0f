"""HW108: labels against what the class reaches."""

from __future__ import annotations

import pytest

from hwlint.findings import Finding
from tests.support import PATH, check


def found(text: str) -> list[Finding]:
    return check("classification", text)


def labelled(label: str, body: str, decorator: str = "", parameters: str = "self", more: str = "") -> str:
    lines = ["", "class A(TestCase):", f"    hw_classification = HardwareClassification.{label}", ""]
    if decorator:
        lines.append(f"    @{decorator}")
    lines += [f"    def test_a({parameters}):", *(f"        {line}" for line in body.split("\n")), "", more]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "body",
    [
        'torch.ones(1, device="cuda")',
        "torch.ones(1).cuda()",
        "torch.cuda.FloatTensor(1)",
        'torch.cuda.nvtx.range_push("x")',
    ],
)
@pytest.mark.parametrize("label", ["GENERIC", "CPU"])
def test_generic_and_cpu_that_reach_an_accelerator(label: str, body: str) -> None:
    (one,) = found(labelled(label, body))
    assert one.severity == "error" and "reaches an accelerator" in one.message and one.detail == label


@pytest.mark.parametrize(
    "body",
    [
        'torch.ones(1, device="cpu")',
        "torch.cuda.manual_seed_all(0)",
        "x = torch.cuda.is_available()",
        "torch.backends.cudnn.enabled = False",
        "self.assertIn(\"device='cuda'\", text())",
        'with FakeTensorMode():\n    torch.ones(1, device="cuda")',
        'self.assertEqual(parse(), "cuda")',
        'place(device="meta")',
        'Spec(placement="rank:0/cuda:0")',
    ],
)
def test_what_does_not_reach_one(body: str) -> None:
    assert found(labelled("GENERIC", body)) == []


def test_a_gate_or_a_guarded_part_alone_is_a_warning() -> None:
    gate = 'unittest.skipIf(not torch.cuda.is_available(), "no")'
    (one,) = found(labelled("GENERIC", "work()", gate))
    assert one.severity == "warning"
    (one,) = found(labelled("GENERIC", "work()\nif torch.cuda.is_available():\n    torch.ones(1).cuda()\nmore()"))
    assert one.severity == "warning" and "where there is one" in one.message


def test_three_strongest_reasons_first() -> None:
    body = 'torch.cuda.synchronize()\ntorch.ones(1).cuda()\ntorch.ones(1, device="cuda")\ntorch.cuda.nvtx.mark("x")'
    (one,) = found(labelled("GENERIC", body))
    assert len(one.related) == 3
    assert "nvtx" in one.related[0].message
    assert not any("synchronize" in r.message for r in one.related)


def test_accelerator_that_is_bound_to_one_device() -> None:
    for body, decorator in (
        ('torch.ones(1, device="cuda")', ""),
        ("torch.ones(1, device=device)", "onlyCUDA"),
        ('torch.cuda.nvtx.mark("x")', ""),
    ):
        more = "instantiate_device_type_tests(A, globals())"
        (one,) = found(labelled("ACCELERATOR", body, decorator, "self, device", more))
        assert one.severity == "error" and "bound to cuda" in one.message, body


def test_accelerator_that_is_not() -> None:
    more = "instantiate_device_type_tests(A, globals())"
    assert found(labelled("ACCELERATOR", "torch.ones(1, device=device)", "", "self, device", more)) == []
    assert found(labelled("ACCELERATOR", "torch.ones(1, device=device)", "onlyAccelerator", "self, device", more)) == []
    mixed = labelled("ACCELERATOR", "torch.ones(1).cuda()", "", "self, device").rstrip()
    mixed += "\n\n    def test_b(self, device):\n        torch.ones(1, device=device)\n\n" + more + "\n"
    assert found(mixed) == []  # one test of two: the test's findings say it


@pytest.mark.parametrize(("only_for", "count"), [("'cuda'", 1), ("'cpu'", 0), ("('cuda', 'xpu')", 0)])
def test_accelerator_for_one_device_only(only_for: str, count: int) -> None:
    more = f"instantiate_device_type_tests(A, globals(), only_for={only_for}, allow_xpu=True)"
    assert len(found(labelled("ACCELERATOR", "torch.ones(1, device=device)", "", "self, device", more))) == count


def test_a_device_with_the_cpu_as_the_other_choice_binds_nothing() -> None:
    text = labelled("ACCELERATOR", "torch.ones(1, device=DEVICE)")
    text = 'DEVICE = "cuda" if torch.cuda.is_available() else "cpu"\n' + text
    assert found(text) == []
    (one,) = found(text.replace("ACCELERATOR", "GENERIC"))
    assert one.severity == "warning"
    local = 'd = "cuda" if torch.cuda.is_available() else "cpu"\ntorch.ones(1, device=d)'
    assert found(labelled("ACCELERATOR", local)) == []


def test_cuda_that_only_places_tensors() -> None:
    (one,) = found(labelled("CUDA", 'x = torch.ones(1, device="cuda")\ntorch.cuda.synchronize()'))
    assert one.severity == "warning" and "only places tensors" in one.message


@pytest.mark.parametrize(
    ("body", "decorator"),
    [
        ('torch.ones(1, device="cuda")\ntorch.cuda.nvtx.mark("x")', ""),
        ('torch.ones(1, device="cuda")\ntorch.cuda.Stream()', ""),
        ('torch.ones(1, device="cuda")\nself.assertIn("cuda", text())', ""),
        ('torch.ones(1, device="cuda")', 'unittest.skipIf(torch.version.hip, "no")'),
        ('torch.ones(1, device="cuda")\nunknown.helper()', ""),
        ("nothing()", ""),
    ],
)
def test_cuda_that_needs_it_or_may_need_it(body: str, decorator: str) -> None:
    text = labelled("CUDA", body, decorator)
    assert found("from elsewhere import unknown\n" + text if "unknown" in body else text) == []


def test_an_inherited_label_and_a_helper_in_another_file() -> None:
    files = {
        "test/base.py": """
            class Base(TestCase):
                hw_classification = HardwareClassification.GENERIC

                def place(self, x):
                    return x.cuda()
            """,
        PATH: """
            from base import Base

            class A(Base):
                def test_a(self):
                    self.place(1)
            """,
    }
    (one,) = check("classification", files)
    assert (one.path, one.symbol) == (PATH, "A")
    assert one.related[0].path == "test/base.py"
