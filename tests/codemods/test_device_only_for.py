"""contract_device: what becomes of an ``only_for`` list, by configuration."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.codemods.harness import check_invariants, migrate, migrated, reasons

NAME = "contract_device"

ONLY_FOR = """\
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TestCase

GPUS = ("cuda", "xpu")


class T(TestCase):
    @onlyAccelerator
    def test_a(self, device):
        torch.ones(2, device=device)


instantiate_device_type_tests(T, globals(), only_for=GPUS, allow_xpu=True)
"""


@pytest.mark.parametrize(
    ("policy", "after"),
    [
        ("same-devices", 'globals(), except_for=("cpu", "hpu", "privateuse1"), allow_xpu=True)'),
        ("keep", "globals(), only_for=GPUS, allow_xpu=True)"),
        ("except-for", 'globals(), except_for="cpu", allow_xpu=True)'),
        ("drop", "globals(), allow_xpu=True)"),
    ],
)
def test_an_only_for_list_follows_the_configuration(policy: str, after: str) -> None:
    outcome = migrate(ONLY_FOR, NAME, unsafe=True, only_for=policy)
    check_invariants(outcome, NAME, unsafe=True, only_for=policy)
    assert f"instantiate_device_type_tests(T, {after}\n" in outcome.after.decode()
    assert ("hw_classification" in outcome.after.decode()) == outcome.changed == (policy != "keep")
    said = "the same devices: cuda, xpu" if policy == "same-devices" else "kept: cuda, xpu; new: "
    assert not outcome.changes or said in outcome.changes[0].description


@pytest.mark.parametrize(
    ("devices", "excepted"),
    [
        ('("cuda", "hpu")', 'except_for=("cpu", "privateuse1")'),
        ('["cpu", "cuda", "hpu"], allow_mps=True', 'except_for=("privateuse1", "mps"), allow_mps=True'),
        ('["cpu", "cuda", "hpu", "xpu"], allow_xpu=True', 'except_for="privateuse1", allow_xpu=True'),
        ('("cpu", "cuda", "hpu", "privateuse1")', ""),
    ],
)
def test_by_default_a_list_gives_way_to_all_the_other_devices(devices: str, excepted: str) -> None:
    """A safe change, as each variant runs where it ran: held against torch below."""
    source = ONLY_FOR.replace("only_for=GPUS, allow_xpu=True", f"only_for={devices}")
    outcome = migrate(source, NAME)
    check_invariants(outcome, NAME)
    (change,) = outcome.changes
    assert change.applicability == "safe"
    arguments = ", ".join(["T, globals()", *filter(None, [excepted])])
    assert f"instantiate_device_type_tests({arguments})" in outcome.after.decode()
    assert "hw_classification = HardwareClassification.ACCELERATOR" in outcome.after.decode()


def test_a_list_is_not_dropped_where_the_cpu_would_run_a_test() -> None:
    source = ONLY_FOR.replace("    @onlyAccelerator\n", "")
    outcome = migrate(source, NAME, unsafe=True, only_for="drop")
    assert not outcome.changed
    assert reasons(outcome) == {"T": "policy"}


@pytest.mark.parametrize(
    ("extra", "stays"),
    [
        ("", False),
        ("\nprint(GPUS)\n", True),
        ("\n__all__ = ['GPUS']\n", True),
    ],
)
def test_a_list_that_nothing_reads_any_more_goes(extra: str, stays: bool) -> None:
    text = migrated(ONLY_FOR + extra, NAME, unsafe=True, only_for="except-for")
    assert "except_for" in text and ('GPUS = ("cuda", "xpu")\n' in text) == stays


def test_a_list_that_another_file_or_class_reads_stays() -> None:
    outcome = migrate(
        ONLY_FOR, NAME, unsafe=True, only_for="drop", files={"test/b.py": "from test_sample import GPUS\n"}
    )
    assert b"GPUS = " in outcome.after and outcome.changed
    two = ONLY_FOR + "\n\nclass U(TestCase):\n    def test_g(self):\n        torch.ones(2).cuda()\n\n\n"
    two += "instantiate_device_type_tests(U, globals(), only_for=GPUS)\n"
    text = migrated(two, NAME, unsafe=True, only_for="except-for")
    assert text.count("only_for=GPUS") == text.count('except_for="cpu"') == text.count("GPUS = ") == 1


def test_a_list_is_kept_until_the_class_meets_the_contract() -> None:
    source = ONLY_FOR.replace(
        "\n\ninstantiate", "\n    def test_g(self):\n        torch.ones(2).cuda()\n\n\ninstantiate"
    )
    outcome = migrate(source, NAME, unsafe=True, only_for="except-for")
    assert not outcome.changed
    assert reasons(outcome) == {"T": "mixed-devices"}


def test_the_refusal_names_the_setting_that_would_do_it() -> None:
    (refusal,) = migrate(ONLY_FOR, only_for="keep").refusals
    assert (refusal.codemod, refusal.reason, refusal.span.line) == ("tag_class", "only-for", 14)
    assert '`only-for = "same-devices"` in [tool.hwlint.migrate]' in refusal.text
    assert "(the same devices: cuda, xpu)" in refusal.text


@pytest.mark.parametrize(
    ("devices", "words"),
    [
        ('("cpu", "cuda")', "names the CPU and some accelerators"),
        ("(kinds(),)", "not written down"),
        ('"cuda"', "names cuda alone"),
    ],
)
def test_lists_about_which_a_person_decides(devices: str, words: str) -> None:
    source = ONLY_FOR.replace("only_for=GPUS", f"only_for={devices}")
    outcome = migrate(source, unsafe=True, only_for="except-for", labels=[("T", "ACCELERATOR")])
    assert not outcome.changed
    assert words in outcome.refusals[0].text


@pytest.mark.parametrize("devices", ["(kinds(), 'cpu')", '"cuda"', '("cuda",)', '("cuda", "tpu")'])
def test_lists_that_stay_by_default(devices: str) -> None:
    source = ONLY_FOR.replace("only_for=GPUS", f"only_for={devices}")
    assert not migrate(source, unsafe=True, labels=[("T", "ACCELERATOR")]).changed


@pytest.mark.parametrize(
    "more",
    [
        'GPUS = ["cuda"]\nif HAS_MORE:\n    GPUS.append("xpu")',
        'GPUS = ["cuda"]\nif not TEST_XPU:\n    GPUS.append("xpu")',
        'GPUS = ["cuda"]\nif TEST_XPU and HAS_MORE:\n    GPUS += ["xpu"]',
        'GPUS = ["cuda"]\nif TEST_XPU:\n    GPUS += ["xpu", "hpu"]',
        'GPUS = ["cuda"]\nif TEST_XPU:\n    GPUS += MORE',
        'GPUS = ["cuda"]\nif TEST_XPU:\n    GPUS.append("xpu")\nelse:\n    GPUS.append("hpu")',
        'GPUS = ["cuda"]\nif TEST_XPU:\n    GPUS.append("xpu")\nif TEST_HPU:\n    GPUS.insert(0, "hpu")',
        'GPUS = ("cuda", "hpu")\nwhile MORE:\n    GPUS += ("xpu",)',
        'GPUS = ["cuda", "hpu"]\nGPUS[1] = "xpu"',
        'GPUS = ["cuda", "hpu"]\n\n\ndef add():\n    GPUS.extend(["xpu"])\n\n\nadd()',
        'GPUS = ("cuda", "hpu")\n\n\ndef add():\n    global GPUS\n    GPUS = ("cuda", "xpu")\n\n\nadd()',
        'GPUS = ("cuda", "hpu")\nfor GPUS in (("cuda", "xpu"),):\n    pass',
        'GPUS = ("cuda", "hpu")\nif TEST_XPU:\n    GPUS = ("cuda", "xpu")',
        'GPUS = ("cuda", "hpu")\ntry:\n    from devices import GPUS\nexcept ImportError:\n    pass',
    ],
)
def test_a_list_that_is_put_together_is_not_what_its_first_line_says(more: str) -> None:
    """XPU would lose its tests."""
    source = ONLY_FOR.replace('GPUS = ("cuda", "xpu")', more).replace("import TestCase", "import *")
    outcome = migrate(source, unsafe=True)
    assert not outcome.changed
    assert "not written down" in outcome.refusals[0].text


@pytest.mark.parametrize(
    "more",
    [
        'GPUS = ["cuda"]\nif TEST_XPU:\n    GPUS.append("xpu")\n',
        'GPUS = ["cuda"]\nif torch.xpu.is_available():\n    GPUS += ["xpu"]\n',
        'GPUS = ("cuda",)\nGPUS += ("xpu",)\n',
        'GPUS = ["cuda"]\nGPUS.extend(["xpu"])\n',
    ],
)
def test_a_device_that_is_added_where_the_host_has_it_is_listed(more: str) -> None:
    """No class is made for it elsewhere. What put the list together goes with it."""
    source = ONLY_FOR.replace('GPUS = ("cuda", "xpu")\n', more).replace("import TestCase", "import TEST_XPU, TestCase")
    outcome = migrate(source)
    check_invariants(outcome)
    text = outcome.after.decode()
    assert 'T, globals(), except_for=("cpu", "hpu", "privateuse1"), allow_xpu=True)' in text
    assert "GPUS" not in text
    read = source.replace("\n\n\nclass", "\nprint(GPUS)\n\n\nclass")
    assert more in migrated(read)


def test_a_list_is_what_it_holds_where_the_class_is_instantiated() -> None:
    source = ONLY_FOR + "\n\nGPUS = ('cpu', 'cuda')\n\n\nclass U(TestCase):\n    def test_g(self, device):\n"
    source += "        torch.ones(2, device=device)\n\n\ninstantiate_device_type_tests(U, globals(), only_for=GPUS)\n"
    outcome = migrate(source)
    check_invariants(outcome)
    text = outcome.after.decode()
    assert 'T, globals(), except_for=("cpu", "hpu", "privateuse1"), allow_xpu=True)' in text
    assert 'U, globals(), except_for=("hpu", "privateuse1"))' in text
    assert "GPUS" not in text


@pytest.mark.parametrize(
    ("imported", "given", "excepted"),
    [
        ("inductor_utils import GPU_TYPE", '("cpu", GPU_TYPE)', '("hpu", "privateuse1")'),
        (
            "inductor_utils import GPU_TYPE",
            '("cpu", GPU_TYPE), allow_xpu=True',
            '("hpu", "privateuse1"), allow_xpu=True',
        ),
        (
            "inductor_utils import GPU_TYPE",
            "GPU_TYPE, allow_xpu=True",
            '("cpu", "hpu", "privateuse1"), allow_xpu=True',
        ),
        (
            "common_utils import ALLOW_XPU_PROFILING_TEST, DEVICE_LIST_SUPPORT_PROFILING_TEST",
            "DEVICE_LIST_SUPPORT_PROFILING_TEST, allow_xpu=ALLOW_XPU_PROFILING_TEST",
            '("hpu", "privateuse1"), allow_xpu=ALLOW_XPU_PROFILING_TEST',
        ),
    ],
)
def test_names_of_the_test_support_hold_devices(imported: str, given: str, excepted: str) -> None:
    """What GPU_TYPE is depends on the host: there are classes for each that it may be, where the host has it."""
    source = ONLY_FOR.replace("import TestCase\n", f"import TestCase\nfrom torch.testing._internal.{imported}\n")
    source = source.replace('GPUS = ("cuda", "xpu")\n\n\n', "\n")
    outcome = migrate(source.replace("only_for=GPUS, allow_xpu=True", f"only_for={given}"))
    check_invariants(outcome)
    assert f"instantiate_device_type_tests(T, globals(), except_for={excepted})" in outcome.after.decode()
    assert outcome.changes[0].applicability == "safe"


@pytest.mark.parametrize(("given", "label"), [('("cuda",)', "CUDA"), ('"cuda"', "CUDA"), ('("cpu",)', "CPU")])
def test_a_class_for_one_device_gets_it_in_place(given: str, label: str) -> None:
    """Upstream's linter reads literals alone, and calls a name a device that differs."""
    source = ONLY_FOR.replace('GPUS = ("cuda", "xpu")', f"ONLY = {given}").replace("    @onlyAccelerator\n", "")
    source = source.replace(", onlyAccelerator", "").replace("only_for=GPUS, allow_xpu=True", "only_for=ONLY")
    outcome = migrate(source, labels=[("T", label)])
    text = outcome.after.decode()
    assert f'instantiate_device_type_tests(T, globals(), only_for="{label.lower()}")' in text
    assert f"HardwareClassification.{label}" in text and "ONLY" not in text and outcome.clean_after
    check_invariants(outcome, labels=[("T", label)])


# Real torch

CHOOSE = """
import json, sys
from torch.testing._internal import common_device_type as loader

names = ("cpu", "cuda", "hpu", "privateuse1", "xpu", "mps")
bases = [type(name, (), {"device_type": name}) for name in names]
given = eval(sys.argv[1])
print(json.dumps([base.device_type for base in loader.filter_desired_device_types(bases, **given)]))
"""


@pytest.mark.torch
@pytest.mark.parametrize("devices", ["('cuda', 'xpu', 'mps')", "('cpu', 'cuda', 'xpu', 'mps')"])
def test_the_loader_chooses_the_same_devices(torch_python: Path, devices: str) -> None:
    source = ONLY_FOR.replace("only_for=GPUS", f"only_for={devices}, allow_mps=True")
    call = migrated(source, NAME).rpartition("instantiate_device_type_tests(")[2]
    excepted = call.partition("except_for=")[2].partition(", allow_mps")[0]
    assert excepted
    chosen = [
        subprocess.run([torch_python, "-c", CHOOSE, given], capture_output=True, text=True, check=True).stdout
        for given in (f"dict(only_for={devices})", f"dict(except_for={excepted})")
    ]
    assert chosen[0] == chosen[1]
    assert len(json.loads(chosen[0])) == devices.count(",") + 1
