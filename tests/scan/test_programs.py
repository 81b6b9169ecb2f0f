"""Code that is run as text, and names made at run time: what of it stands in the source."""

from __future__ import annotations

import textwrap

import pytest

from hwlint.scan.facts import Function
from tests.support import scan

MODULE = """
import textwrap
from test_helper import SOURCE, make_source
from torch.testing._internal.jit_utils import execWrapper

TEXT = "x = 1"
ON_CUDA = "x = torch.ones(1, device='cuda')"


def run_here(y):
    return y


def make():
    return "x"


class Table:
    signs = {"a": "<", "b": ">"}
    made = make()


class A(TestCase):
    def test_a(self, given=None):
"""


def function(body: str) -> Function:
    facts = scan(MODULE + textwrap.indent(textwrap.dedent(body).strip("\n"), " " * 8) + "\n")
    return next(f for c in facts.classes for f in c.methods if f.name == "test_a")


@pytest.mark.parametrize(
    "body",
    [
        "exec('x = 1')",
        "exec(TEXT)",
        "exec('x = 1', globals(), {})",
        "self.assertRaises(TypeError, exec, 'a @= b', globals(), locals())",
        "source = 'a + b'\neval(source)",
        "for sign in ('<', '>'):\n    eval('a' + sign + 'b', locals())",
        "body = '+'.join(['a', 'b'] * 9)\nf = eval(f'lambda a, b: {body}')",
        "text = textwrap.dedent('return {}')\nexec(text.format(1))",
        "def check(name, template='f({})'):\n    exec(template.format(name))\ncheck('sin')\ncheck('cos')",
        "eval('a' + Table.signs['a'] + 'b')",
        "execWrapper('x = 1', globals(), {})",
        "exec('import math')",
        "lines = ['x = 1']\nlines.append('y = 2')\nexec('\\n'.join(lines))",
        "exec(compile('x = 1', 'a', 'exec'))",
        "setattr(self.model, 'name', 1)",
        "for n, p in self.model.named_parameters():\n    setattr(self.model, n, p)",
        "self.assertIn('x', locals())",
        "self.assertEqual(vars(given), vars(self))",
        "vars = {'a': 1}\nself.assertEqual(vars, {})",
        "def eval(p):\n    return p\nf(eval, 1)",
        "setattr(self, 'a', 1)\nself.model.eval(given)",
    ],
)
def test_what_stands_in_the_source_is_read(body: str) -> None:
    assert "unread" not in function(body).flags


@pytest.mark.parametrize(
    "body",
    [
        "exec(given)",
        "exec(SOURCE)",
        "exec(make_source())",
        "exec(open('a.py').read())",
        "source = open('a.py').read()\neval(source)",
        "exec(self.source)",
        "exec(torch.fx.symbolic_trace(given).code)",
        "exec(ON_CUDA)",
        "exec('x = torch.ones(1, device=\"cuda\")')",
        "kind = 'cuda'\nexec('x = torch.ones(1).' + kind + '()')",
        "exec('import test_helper')",
        "exec('from test_helper import run')",
        "eval(make())",
        "eval('a' + Table.made)",
        "eval('a' + given['sign'] + 'b')",
        "def check(name):\n    exec(name)\nf(check)",
        "def check(name):\n    exec(name)\ncheck(given)",
        "def check(*names):\n    exec(names[0])\ncheck('a')",
        "with open('a.py') as source:\n    exec(source.read())",
        "try:\n    f()\nexcept Exception as e:\n    exec(str(e))",
        "import test_helper\nexec(test_helper.text)",
        "globals()['a']()",
        "for f in globals().values():\n    f()",
        "f = eval\nf('x')",
        "f(setattr)",
        "for v in vars(torch).values():\n    v()",
        "__import__(given)",
        "execWrapper(given, {}, {})",
        "lines = []\nlines.append(given)\nexec(''.join(lines))",
        "lines = ['x = 1']\ncollect(lines)\nexec(''.join(lines))",
        "names = {}\nnames['a'] = given\nexec(names['a'])",
        "global source\nsource = 'x = 1'\nexec(source)",
    ],
)
def test_what_comes_from_elsewhere_or_names_a_device_is_not(body: str) -> None:
    assert "unread" in function(body).flags


def test_a_program_refers_to_what_it_names() -> None:
    assert "run_here" in function("exec('run_here(1)', globals())").references
    assert "run_here" not in function("self.assertEqual('run_here(1)', '')").references


def test_setattr_places_as_an_assignment_does() -> None:
    for body in ("setattr(self.model, 'device', 'cuda')", "self.model.device = 'cuda'"):
        (use,) = function(body).uses
        assert (use.name, use.role, use.context) == ("cuda", "placement", "self.model.device =")
    assert [u.name for u in function("setattr(self.model, given, torch.ones(1, device='cuda'))").uses] == ["cuda"]


QUIET = """
import textwrap
import torch
from torch.testing._internal.common_utils import TestCase

TABLE = {"1 + 1": 2, "abs(-1)": 1}


class A(TestCase):
    def _check(self, code, inputs):
        exec(code, globals(), {})

    def test_a(self):
        self._check("x = 1", [1])

    def test_b(self, text="1 + 1"):
        self.assertEqual(eval(text), TABLE[text])
        self.assertEqual(len([name for name in globals() if name.startswith("__resume")]), 1)
"""


def unread(source: str) -> set[str]:
    return {f.name for c in scan(source, header=False).classes for f in c.methods if "unread" in f.flags}


def test_a_module_without_a_word_for_a_device_runs_none() -> None:
    """What a caller hands in can only be made of what stands in the module; 'inputs' is no word for an NPU."""
    assert not unread(QUIET)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = 1", "x = torch.ones(1).cuda()"),
        ("abs(-1)", "torch.ones(1, device=kind)"),
        ("import torch\n", "import torch\nimport test_helper\n"),
        ("import torch\n", "import torch\nfrom .helper import SOURCE\n"),
        ("import torch\n", "import torch\nfrom test_helper import *\n"),
        ("x = 1", "import test_helper"),
        ('self._check("x = 1", [1])', 'self._check(open("a.py").read(), [1])'),
        ('self._check("x = 1", [1])', "self._check(inspect.getsource(torch.add), [1])"),
        ("[1])", "[TEST_GPU])"),
    ],
)
def test_a_module_that_says_more_is_not_trusted(old: str, new: str) -> None:
    assert old in QUIET
    assert {"_check", "test_b"} <= unread(QUIET.replace(old, new))


@pytest.mark.parametrize("body", ["for v in vars(torch).values():\n            v()", "f(setattr)", "__import__(code)"])
def test_what_reaches_other_modules_is_not_trusted_there_either(body: str) -> None:
    assert "_check" in unread(QUIET.replace("exec(code, globals(), {})", body))
