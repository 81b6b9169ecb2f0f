"""Whatever test module the codemods meet: the invariants hold, and nothing is half done."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.edit import SourceFile, Splice, splice
from codemods.guard import comments
from hwlint.scan.facts import Problem
from hwlint.scan.reading import read_source
from tests.codemods.harness import check_invariants, migrate

HEADS = (
    "from torch.testing._internal.common_utils import run_tests, TestCase\n",
    "from torch.testing._internal.common_utils import (\n    run_tests,  # last\n    TestCase,\n)\n",
    "from torch.testing._internal.common_utils import *\n",
    "from torch.testing._internal import common_utils\nfrom torch.testing._internal.common_utils import TestCase\n",
    "from torch.testing._internal.common_utils import HardwareClassification, TestCase\n",
    "try:\n    from torch.testing._internal.common_utils import TestCase\nexcept ImportError:\n    raise\n",
    "from unittest import TestCase\n",
)
GATES = (
    "",
    "@onlyCUDA\n",
    "@onlyAccelerator\n",
    '@unittest.skipIf(not torch.cuda.is_available(), "needs cuda")\n',
    '@unittest.skipIf(not TEST_CUDA or IS_WINDOWS, "needs cuda, not windows")  # why\n',
    "# about the test\n",
    "@parametrize('n', [1, 2])\n",
    "@dtypes(torch.float, torch.double)\n",
)
BODIES = (
    "self.assertEqual(1, 1)",
    'torch.ones(2, device="cuda").sum()  # placed',
    "torch.ones(2, device=device).sum()",
    "torch.ones(2).cuda()",
    'self.assertEqual(x.device.type, "cuda")',
    "torch.cuda.synchronize()",
    "torch.cuda.nvtx.range_push('x')",
    'with FakeTensorMode():\n    torch.empty(2, device="cuda")',
    'self.assertExpectedInline(out, """cuda:0""")',
    "for d in get_all_device_types():\n    torch.ones(2, device=d)",
    "for device in get_all_device_types():\n    # each\n    x = torch.ones(2, device=device)\n\n    self.check(x)",
    'devices = ["cpu", "cuda"] if TEST_CUDA else ["cpu"]\nfor d in devices:\n    torch.ones(2).to(d)',
    "if TEST_CUDA:  # there\n    torch.ones(2).cuda()\nelse:\n    torch.ones(2)",
    'if not torch.cuda.is_available():\n    self.skipTest("none")\ntorch.ones(2, device="cuda")',
    "if TEST_CUDA:\n    self._help()",
    "x = torch.ones(2).cuda()\nself.assertTrue(x.is_cuda)  # moved",
    'device = torch.device("cuda")\nself.assertEqual(torch.ones(2, device=device).device, torch.device("cuda:0"))',
    'spec(placements=["rank:0/cuda:0", f"rank:{self.rank}/cuda:{self.rank}"])',
    'torch.ones(2, device=f"cuda:{self.rank}")',
    "ONE.Inner(ONE.size)",
    "torch.ones(2, device=self.device_type)",
    "super(ONE, self).setUp()",
    'x = """\ndevice = "cuda"\n"""',
    'devices = ["cpu"]\nif TEST_CUDA:\n    devices.append("cuda")\nfor d in devices:\n    torch.ones(2, device=d)',
    "CUDACodeCache.load('x')",
    "n = 1 if torch.version.hip else 2",
    "pass",
)
FIRST = (
    "",
    '"""Docs."""\n',
    '"""Docs."""\n\n',
    "hw_classification = HardwareClassification.GENERIC\n",
    'hw_classification = HardwareClassification.CUDA\n"""Docs."""\n',
    "# comment\n\n",
    "x = 1; y = 2\n",
    "device = 'cuda'\n",
    "size = 2\n\nclass Inner:\n    pass\n\n",
    "@property\ndef world_size(self):\n    return 2\n\n",
)
CALLS = (
    "",
    "instantiate_device_type_tests(ONE, globals(), only_for=DEVICES)\n",
    "instantiate_device_type_tests(ONE, globals(), only_for=(GPU_TYPE, 'cpu'), allow_xpu=True)\n",
    "instantiate_device_type_tests(ONE, globals())\n",
    'instantiate_device_type_tests(ONE, globals(), only_for="cuda")\n',
    'instantiate_device_type_tests(ONE, globals(), except_for=("cpu",), allow_xpu=True)\n',
    "instantiate_parametrized_tests(ONE)\n",
)
BASES = (
    "TestCase",
    "TestCase",
    "unittest.TestCase",
    "Mixin, TestCase",
    "\n    TestCase,  # base\n",
    "BEFORE",
    "Unknown",
    "DTensorTestBase",
    "FSDPTest",
)
LISTS = (
    "",
    'DEVICES = ("cpu", "cuda")\n',
    'DEVICES = ["cuda"]\nif TEST_HPU:\n    DEVICES.append("hpu")\n',
    'DEVICES = ["cuda"]  # all\nDEVICES += MORE\n',
    'DEVICES = "cuda"\n',
)
IMPORTS = """\
import unittest
import torch
from torch.testing._internal.common_device_type import (
    dtypes, get_all_device_types, instantiate_device_type_tests, onlyAccelerator, onlyCUDA,
)
from torch.testing._internal.common_fsdp import FSDPTest
from torch.testing._internal.distributed._tensor.common_dtensor import DTensorTestBase
from torch.testing._internal.common_utils import IS_WINDOWS, TEST_CUDA, instantiate_parametrized_tests, parametrize
from torch.testing._internal.common_utils import TEST_HPU
from torch.testing._internal.inductor_utils import GPU_TYPE
from torch._inductor.codecache import CUDACodeCache
"""


def indented(text: str, by: str) -> str:
    return "".join(f"{by}{line}" if line.strip() else line for line in text.splitlines(keepends=True))


@st.composite
def methods(draw: st.DrawFn, number: int, by: str) -> str:
    gate = draw(st.sampled_from(GATES))
    parameters = draw(
        st.sampled_from(("self", "self, device", "self, device, dtype", "self, n", "self, device='cuda'"))
    )
    name = draw(st.sampled_from(("test_a", "test_b_cuda", "_help", "setUp", "test_b_cpu"))) + str(number) * draw(
        st.booleans()
    )
    body = "\n".join(draw(st.lists(st.sampled_from(BODIES), min_size=1, max_size=2)))
    prefix = draw(st.sampled_from(("", "", "async ")))
    return indented(f"{gate}{prefix}def {name}({parameters}):\n{indented(body, by)}\n", by) + draw(
        st.sampled_from(("", "\n", f'\n{by}"""Of what follows."""\n'))
    )


@st.composite
def modules(draw: st.DrawFn) -> str:
    by = draw(st.sampled_from(("    ", "\t", "  ")))
    parts = [
        draw(st.sampled_from(("", "#!/usr/bin/env python3\n", '"""Module."""\n', '# Owner(s): ["module: x"]\n\n')))
    ]
    parts += [IMPORTS, draw(st.sampled_from(HEADS)), draw(st.sampled_from(LISTS)), "\n\n"]
    before = "TestCase"
    for index in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(("OneTest", "TwoTestCUDA", "ThreeTest"))) + str(index)
        base = draw(st.sampled_from(BASES)).replace("BEFORE", before)
        body = indented(draw(st.sampled_from(FIRST)), by)
        for number in range(draw(st.integers(1, 3))):
            body += draw(methods(number, by))
        call = draw(st.sampled_from(CALLS))
        block = f"class {name}({base}):\n{body}{draw(st.sampled_from(('', chr(10), chr(10) * 2)))}{call}".replace(
            "ONE", name
        )
        if draw(st.integers(0, 4)) == 0:
            block = f"if torch.cuda.is_available():\n{indented(block, by)}"
        parts += [block, "\n\n"]
        before = name
    parts.append(
        draw(
            st.sampled_from(
                ("", 'if __name__ == "__main__":\n    run_tests()\n', "if __name__ == '__main__': unittest.main()\n")
            )
        )
    )
    text = "".join(parts)
    return text.rstrip("\n") if draw(st.integers(0, 4)) == 0 else text


@settings(max_examples=150, deadline=None)
@given(modules(), st.booleans(), st.booleans(), st.sampled_from(("\n", "\r\n")), st.booleans())
def test_invariants_hold(text: str, unsafe: bool, split: bool, newline: str, bom: bool) -> None:
    data = (b"\xef\xbb\xbf" if bom else b"") + text.replace("\n", newline).encode()
    if isinstance(read_source(data, "x.py"), Problem):
        return
    confidence = "likely" if unsafe else "certain"
    options = {"unsafe": unsafe, "split": split, "test_base": True, "confidence": confidence}
    outcome = migrate(data, **options)  # type: ignore[arg-type]
    check_invariants(outcome, **options)
    kept = {old.strip() for old in text.split("\n") if old.strip().startswith("#")}
    assert kept <= {new.strip() for new in outcome.after.decode("utf-8-sig").replace("\r\n", "\n").split("\n")}


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab \n\r\t\f#'\"é😀\\", max_size=60), st.data())
def test_offsets_agree_with_lines(text: str, data: st.DataObject) -> None:
    if isinstance(read_source(text.encode(), "x.py"), Problem):
        return
    source = read_source(text.encode(), "x.py")
    assert not isinstance(source, Problem)
    file = SourceFile(source)
    assert file.encode(file.text) == text.encode()
    assert (
        "".join(file.text[file.line_start(n) : file.line_start(n + 1)] for n in range(1, file.line_count + 1)) == text
    )
    at = data.draw(st.integers(0, len(text)).filter(lambda n: text[n - 1 : n + 1] != "\r\n"))
    line = file.line_of(at)
    column = len(text[file.line_start(line) : at].encode())
    assert file.offset(line, column) == at


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.text(max_size=3)), max_size=4))
def test_insertions_keep_all_that_was_there(text: str, insertions: list[tuple[int, str]]) -> None:
    places = [Splice(min(at, len(text)), min(at, len(text)), new) for at, new in insertions]
    result = splice(text, places)
    assert len(result) == len(text) + sum(len(new) for _, new in insertions)


@given(st.lists(st.text(alphabet="ab# ", max_size=6), max_size=5))
def test_comments_are_those_of_the_lines(lines: list[str]) -> None:
    text = "".join(f"x = 1 # {line.strip()}\n" for line in lines)
    assert comments(text) == [f"# {line.strip()}".rstrip() for line in lines]
