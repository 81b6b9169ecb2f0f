"""What a function's body says: references, device uses followed through names, mixed expressions, flags."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hwlint.catalog import load_catalog
from hwlint.scan import devices
from hwlint.scan.body import BodyFacts, read_function
from hwlint.scan.context import ScanContext
from hwlint.scan.facts import Constant, Requirement, Span
from hwlint.scan.names import Names, read_import

HEADER = """
import subprocess
import sys
import torch
import torch.distributed as dist
import common
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing import FileCheck
from torch.testing._internal.common_cuda import TEST_CUDA
from torch.testing._internal.common_utils import parametrize, subtest
from torch.testing._internal.inductor_utils import GPU_TYPE
from helpers import imported_helper
"""
NOWHERE = Span(1, 0, 1, 0)


def read(source: str, self_devices: dict[str, str] | None = None, **constants: Constant) -> BodyFacts:
    """Facts of the last function of ``source``, which may stand in a class."""
    text = HEADER + textwrap.dedent(source)
    tree = ast.parse(text)
    imports: dict[str, str] = {}
    helpers: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imports.update(read_import(node, "test.test_x")[0])
    node = tree.body[-1]
    class_name = ""
    for other in tree.body:
        if isinstance(other, ast.FunctionDef):
            helpers[other.name] = tuple(a.arg for a in other.args.args)
        elif isinstance(other, ast.ClassDef):
            for method in other.body:
                if isinstance(method, ast.FunctionDef):
                    helpers[f"{other.name}.{method.name}"] = tuple(a.arg for a in method.args.args)
    if isinstance(node, ast.ClassDef):
        class_name = node.name
        node = node.body[-1]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    catalog = load_catalog()
    context = ScanContext(
        Names("test.test_x", imports), catalog, dict(constants), helpers, devices.hit_lines(text, catalog)
    )
    return read_function(node, context, class_name=class_name, self_devices=self_devices or {})


def uses(facts: BodyFacts) -> list[tuple[str, str, str, str]]:
    return [(u.construct, u.role, u.device, u.via) for u in facts.uses]


# -- references ------------------------------------------------------------------------------------------------------


def test_references() -> None:
    facts = read(
        """
        def helper(a): ...
        class Base:
            def make(self): ...
        class T(Base):
            def test_a(self, device, n=DEFAULT):
                super().setUp()
                local = helper(n)
                x = torch.ones(local, device=device)
                y = imported_helper(x) + common.value.deep + Base.make(self)
                return [self.check(z, cls.attr) for z in range(LIMIT)], other_name, x, y
        """
    )
    assert facts.references == (
        "Base",
        "Base.make",
        "DEFAULT",
        "LIMIT",
        "cls.attr",
        "common",
        "common.value",
        "helper",
        "imported_helper",
        "other_name",
        "self.check",
        "super.setUp",
    )


def test_names_of_inner_scopes_are_no_references_unless_the_module_has_them() -> None:
    facts = read(
        """
        def helper(a): ...
        def f():
            def inner(x, helper):
                y = x
                return y, helper
            return lambda z: inner(z, GLOBAL)
        """
    )
    assert facts.references == ("GLOBAL", "helper")


@pytest.mark.parametrize(
    ("body", "reads"),
    [
        ("pass", False),
        ("f(**locals())", True),
        ("device = 1", False),
        ("x.device", False),
        ("torch.ones(1, device=device)", True),
        ("def g():\n        return device", True),
    ],
)
def test_reads_device(body: str, reads: bool) -> None:
    assert read(f"def test_a(self, device):\n    {body}\n").reads_device is reads


def test_a_function_without_the_parameter_reads_it_vacuously() -> None:
    assert read("def test_a(self):\n    pass\n").reads_device


# -- names that carry a device ---------------------------------------------------------------------------------------


def test_local_name_is_one_use_at_the_literal() -> None:
    facts = read(
        """
        def f():
            dev = "cuda"
            x = torch.ones(1, device=dev)
            return x.to(dev)
        """
    )
    assert uses(facts) == [("string", "placement", "cuda", "dev")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('d = "cuda"\nassert x.device.type == d', ("string", "comparison", "cuda", "d")),
        ('d = "cuda"\nif x.device.type == d:\n    x.to(d)', ("string", "placement", "cuda", "d")),
        ('d = "cuda"\nself.assertExpectedInline(out, f"on {d}")', ("string", "text", "cuda", "d")),
        ('d = torch.device("cuda")\nx.to(d)', ("string", "placement", "cuda", "d")),
        ('d = torch.device("cuda")\nself.assertEqual(x.device, d)', ("string", "comparison", "cuda", "d")),
        ('d = f"cuda:{rank}"\nx.to(d)', ("fstring", "placement", "cuda:?", "d")),
        ('a = "cuda"\nb = a\nx.to(b)', ("string", "placement", "cuda", "a")),
        ('a, b = "cuda", 1\nx.to(a)', ("string", "placement", "cuda", "a")),
        ('names = ["cuda"]\nfor n in names:\n    pass', ("string", "parametrization", "cuda", "names")),
        ('names = []\nnames.append("cuda")', ("string", "unknown", "cuda", "")),
        ('device = "cuda"', ("string", "placement", "cuda", "device")),
        ('word = "cuda"', ("string", "unknown", "cuda", "word")),
        ('word = "cuda"\nprint(word)', None),
        ('kwargs = {"device": "cuda"}\nf(**kwargs)', ("string", "placement", "cuda", "")),
        ('with torch.device("cuda"):\n    pass', ("string", "placement", "cuda", "")),
        ('self.device = "cuda"', ("string", "placement", "cuda", "self.device")),
        ('return "cuda"', ("string", "unknown", "cuda", "")),
        ('match x.device.type:\n    case "cuda":\n        pass', ("string", "comparison", "cuda", "")),
    ],
)
def test_roles_through_names(body: str, expected: tuple[str, str, str, str] | None) -> None:
    facts = read("def f(self, x):\n" + textwrap.indent(body, "    "))
    assert uses(facts) == ([] if expected is None else [expected])


def test_appended_to_a_list_that_is_looped_over() -> None:
    facts = read(
        """
        def f():
            devices = ["cpu"]
            if TEST_CUDA:
                devices.append("cuda")
            for one in devices:
                torch.ones(1, device=one)
        """
    )
    assert uses(facts) == [
        ("string", "parametrization", "cpu", "devices"),
        ("string", "parametrization", "cuda", "devices"),
    ]
    assert [(g.form, g.blocking) for g in facts.gates] == [("if_block", False)]


def test_attribute_set_up_elsewhere() -> None:
    facts = read("class T:\n    def test_a(self):\n        torch.ones(1, device=self.device)\n", {"device": "cuda"})
    assert uses(facts) == [("constant", "placement", "cuda", "self.device")]


def test_constant_of_the_module() -> None:
    constant = Constant("DEV", NOWHERE, "cuda", True, "cuda")
    assert uses(read("def f():\n    torch.ones(1, device=DEV)\n", DEV=constant)) == [
        ("constant", "placement", "cuda", "DEV")
    ]
    assert uses(read("def f(DEV):\n    torch.ones(1, device=DEV)\n", DEV=constant)) == []


def test_imported_constant() -> None:
    assert uses(read("def f(x):\n    x.to(GPU_TYPE)\n")) == [("constant", "placement", "accelerator", "GPU_TYPE")]


def test_helper_that_names_its_parameter() -> None:
    facts = read(
        """
        def make(size, device): ...
        class T:
            def _run(self, device): ...
            def test_a(self):
                def local(a, target_device): ...
                make(2, "cuda")
                self._run("xpu")
                local(1, "mps")
                imported_helper("cuda:1")
        """
    )
    assert [(u.role, u.device, u.sure) for u in facts.uses] == [
        ("placement", "cuda", True),
        ("placement", "xpu", True),
        ("placement", "mps", True),
        ("unknown", "cuda:1", False),
    ]


def test_default_value_of_a_parameter() -> None:
    assert uses(read('def f(x, device="cuda", mode="cuda"):\n    pass\n')) == [
        ("string", "placement", "cuda", ""),
        ("string", "unknown", "cuda", ""),
    ]


def test_property_that_is_named_for_a_device() -> None:
    facts = read('class T:\n    @property\n    def device_type(self):\n        return "cuda"\n')
    assert uses(facts) == [("string", "placement", "cuda", "")]


# -- the injected parameter ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('if device == "cuda": pass', [("bare_device", "comparison", "cuda")]),
        ('if str(device) != "xpu": pass', [("bare_device", "comparison", "xpu")]),
        (
            'if device in ("cuda", "cpu"): pass',
            [("bare_device", "comparison", "cuda"), ("string", "comparison", "cpu")],
        ),
        ('x = torch.ones(1, device=f"{device}:0")', [("bare_device", "placement", "?")]),
        ('if "cuda" in device: pass', [("string", "comparison", "cuda")]),
        ('if device.startswith("cuda"): pass', [("string", "comparison", "cuda")]),
        ('if torch.device(device).type == "cuda": pass', [("string", "comparison", "cuda")]),
        ('if device == "cpu": pass', [("string", "comparison", "cpu")]),
        ('if device == "cuda:0": pass', [("string", "comparison", "cuda:0")]),
        ('device = torch.device(device)\n    if device == "cuda": pass', [("string", "comparison", "cuda")]),
        ('if self.device_type == "cuda": pass', [("string", "comparison", "cuda")]),
    ],
)
def test_bare_device(body: str, expected: list[tuple[str, str, str]]) -> None:
    facts = read(f"def test_a(self, device):\n    {body}\n")
    assert [(u.construct, u.role, u.device) for u in facts.uses] == expected


# -- fake modes, traced code, programs -------------------------------------------------------------------------------


def test_fake_mode() -> None:
    facts = read(
        """
        def test_a(self):
            with FakeTensorMode():
                x = torch.empty(2, device="cuda")
                x.cuda()
            self.assertEqual(x.device.type, "cuda")
        """
    )
    assert [u.role for u in facts.uses] == ["fake", "fake", "fake"]
    assert "fake_mode" in facts.flags


def test_real_placement_beside_a_fake_one() -> None:
    facts = read(
        """
        def test_a(self):
            with FakeTensorMode() as mode:
                x = torch.empty(2, device="cuda")
            y = torch.empty(2, device="cuda")
            self.assertEqual(y.device.type, "cuda")
        """
    )
    assert [u.role for u in facts.uses] == ["fake", "placement", "comparison"]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    def g(y):\n        return y.cuda()\n    return torch.compile(g)(x)\n",
        "def f(x):\n    def g(y):\n        return y.cuda()\n    return make_fx(g)(x)\n",
        "def f(x):\n    @torch.compile\n    def g(y):\n        return y.cuda()\n    return g(x)\n",
        "def f(x):\n    @torch.compile(backend='eager')\n    def g(y):\n        return y.cuda()\n    return g(x)\n",
        "def f(x):\n    return torch.compile(lambda y: y.cuda())(x)\n",
        "def f(x):\n    def g(y):\n        return y.cuda()\n    return torch._dynamo.optimize('eager')(g)(x)\n",
        "@torch.jit.script\ndef f(x):\n    return x.cuda()\n",
        "def f(x):\n    class M(torch.nn.Module):\n        def forward(self, y):\n            return y.cuda()\n"
        "    m = M()\n    return torch.compile(m)(x)\n",
    ],
)
def test_traced(source: str) -> None:
    facts = read(source)
    assert [u.traced for u in facts.uses] == [True]
    assert "traced" in facts.flags


def test_code_beside_traced_code_is_not_traced() -> None:
    facts = read("def f(x):\n    def g(y):\n        return y\n    return torch.compile(g)(x.cuda())\n")
    assert [u.traced for u in facts.uses] == [False]


def test_string_program() -> None:
    facts = read(
        '''
        def test_a(self):
            script = """
        import torch
        torch.ones(1, device="cuda")
        """
            subprocess.check_call([sys.executable, "-c", script])
        '''
    )
    assert [u.role for u in facts.uses] == ["text"]
    assert set(facts.flags) >= {"string_program", "subprocess"}


@pytest.mark.parametrize(
    ("body", "flag"),
    [
        ("self.assertExpectedInline(out, 'a')", "golden"),
        ("FileCheck().check('a').run(out)", "golden"),
        ("exec(code)", "dynamic"),
        ("globals()['a'] = 1", "dynamic"),
        ("subprocess.run([])", "subprocess"),
        ("torch.compile(f)", "traced"),
        ("super().setUp()", "only_super"),
        ("return super().setUp()", "only_super"),
    ],
)
def test_flags(body: str, flag: str) -> None:
    assert flag in read(f"def test_a(self):\n    {body}\n").flags


@pytest.mark.parametrize("body", ["super().setUp()\n    f()", "f()", "self.check(a)"])
def test_no_flags(body: str) -> None:
    assert read(f"def test_a(self):\n    {body}\n").flags == ()


# -- decorators ------------------------------------------------------------------------------------------------------


def test_parametrized_devices() -> None:
    facts = read(
        """
        class T:
            @parametrize("device", ["cpu", subtest("cuda", name="c"), GPU_TYPE])
            @parametrize("n", [1, 2])
            def test_a(self, device, n):
                pass
        """
    )
    assert [(u.construct, u.role, u.device) for u in facts.uses] == [
        ("string", "parametrization", "cpu"),
        ("string", "parametrization", "cuda"),
        ("constant", "parametrization", "accelerator"),
    ]
    assert not facts.reads_device


def test_parametrized_by_a_constant_of_the_module() -> None:
    constant = Constant("PLACES", NOWHERE, ("cpu", "cuda"), True, "cpu|cuda")
    facts = read('@parametrize("device", PLACES)\ndef test_a(self, device):\n    pass\n', PLACES=constant)
    assert uses(facts) == [("constant", "parametrization", "cpu|cuda", "PLACES")]


def test_the_arguments_of_a_gate_are_no_uses() -> None:
    facts = read('@onlyOn(["cuda"])\n@largeTensorTest("4GB", device="cuda")\ndef test_a(self, device):\n    pass\n')
    assert facts.uses == ()


def test_context_manager_as_a_decorator() -> None:
    assert uses(read('@torch.autocast("cuda")\ndef f(x):\n    pass\n')) == [("string", "placement", "cuda", "")]


# -- gates -----------------------------------------------------------------------------------------------------------


def test_gate_of_a_local_function_and_of_an_expression() -> None:
    facts = read(
        """
        def test_a(self):
            def g():
                if torch.cuda.is_available():
                    return 1
            d = "cuda" if TEST_CUDA else "cpu"
            return g, torch.ones(1, device=d)
        """
    )
    assert [(g.form, g.requirements, g.blocking) for g in facts.gates] == [
        ("if_block", (Requirement("device", "cuda"),), False),
        ("if_block", (Requirement("device", "cuda"),), False),
    ]
    assert [u.device for u in facts.uses] == ["cuda", "cpu"]


def test_availability_kept_in_a_local_name() -> None:
    facts = read("def f():\n    there = torch.cuda.is_available()\n    if not there:\n        return\n    g()\n")
    assert facts.uses == ()
    assert [(g.form, g.requirements) for g in facts.gates] == [("early_return", (Requirement("device", "cuda"),))]


# -- half-converted --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("torch.ones(2, device=device) + torch.ones(2)", [1]),
        ("x = torch.ones(2, device=device)\ny = torch.ones(2)\nz = x * y", [3]),
        ("x = torch.ones(2, device=device)\nz = x @ torch.ones(2, 2).cuda()", [2]),
        ("x = torch.ones(2, device=device)\nz = x + torch.ones(2, 2, device='cuda')", [2]),
        ("x = torch.ones(2, device=device)\ny = torch.ones(2).to(device)\nz = x + y", []),
        ("x = torch.ones(2, device=device)\ny = torch.ones(2)\ny = y.to(device)\nz = x + y", []),
        ("x = torch.ones(2, device=device)\nz = x + torch.ones(())", []),
        ("x = torch.ones(2, device=device)\nz = x + 2", []),
        ("x = torch.ones(2, device=device)\ny = torch.ones(2)\nf = lambda y: x + y", []),
        ("x = torch.ones(2, device=device)\nz = x + make()", []),
        ("with torch.device(device):\n    z = torch.ones(2, device=device) + torch.ones(2)", []),
        ("torch.set_default_device(device)\nz = torch.ones(2, device=device) + torch.ones(2)", []),
        ("with self.assertRaises(RuntimeError):\n    torch.ones(2, device=device) + torch.ones(2)", []),
        ("x = torch.ones(2, device=other)\nz = x + torch.ones(2, device=device)", []),
    ],
)
def test_mixed(body: str, lines: list[int]) -> None:
    facts = read("def test_a(self, device, other):\n" + textwrap.indent(body, "    "))
    first = len(HEADER.split("\n"))
    assert [span.line - first for span in facts.mixed] == lines


# -- robustness ------------------------------------------------------------------------------------------------------

LINES = [
    'd = "cuda"',
    "x = torch.ones(1, device=d)",
    "x.cuda(*a, **k)",
    "f(**{**a, 'device': 'cuda'})",
    "d: str = 'cuda'",
    "(d := 'cuda')",
    "del d",
    "global d",
    "async_ = lambda device='cuda': device",
    "x[d, 'cuda':'cpu'] = f'{d!r:>{width}} cuda:{1}'",
    "try:\n        f('cuda')\n    except* E as e:\n        pass\n    finally:\n        d = e",
    "for a, *b in zip('cuda', d): d += a",
    "while d: break",
    "with a as (b, c), FakeTensorMode(): x.cuda()",
    "if not (d and 'cuda' < d > 1): return d",
    "raise SkipTest from d",
    "assert 'cuda', d",
    "import torch.cuda as t; t.synchronize()",
    "match d:\n        case {'cuda': _, **rest}: pass\n        case C('cuda', x=1) | ['cuda', *_]: pass",
    "match d:\n        case None | True: pass\n        case -1 | 'a.b' as e: pass",
    "nonlocal_ = [d for d in ['cuda'] if d for e in d]",
    "class C(d, metaclass='cuda'): d = 'cuda'",
    "return",
]


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=8))
def test_any_body_is_read(lines: list[str]) -> None:
    source = "def f(device, d):\n" + "".join(f"    {line}\n" for line in lines)
    try:
        ast.parse(source)
        compile(source, "x", "exec")
    except SyntaxError:
        return
    facts = read(source, {"device": "cuda"})
    spans = [u.span for u in facts.uses]
    assert spans == sorted(spans)
    assert list(facts.flags) == sorted(facts.flags)
