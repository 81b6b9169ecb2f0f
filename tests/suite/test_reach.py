"""What tests reach: helpers, fixtures, constants, gates, across classes and files."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hwlint.scan.facts import Function
from hwlint.suite import LinkedClass
from hwlint.suite.reach import Reach, all_tests, class_reach, reach
from tests.support import PATH, get_class, suite_of


def reach_of(files: dict[str, str] | str, cls: str, test: str, path: str = PATH) -> Reach:
    linked = get_class(suite_of(files), cls, path)
    return reach(linked, function_of(linked, test))


def function_of(cls: LinkedClass, name: str) -> Function:
    return next(f for _, f in all_tests(cls) if f.name == name)


def symbols(found: Reach) -> list[str]:
    return [f.symbol for f in found.functions]


def test_own_body_helpers_and_fixtures() -> None:
    found = reach_of(
        """
        def outer(x):
            return inner(x)

        def inner(x):
            return x.cuda()

        def other(x):
            return x.xpu()

        class A(TestCase):
            def setUp(self):
                self.make()

            def make(self):
                self.x = torch.ones(1, device="cuda:1")

            def unused(self):
                torch.ones(1, device="xpu")

            def test_a(self):
                outer(self.x)

            def test_b(self):
                other(self.x)
        """,
        "A",
        "test_a",
    )
    assert symbols(found) == ["A.test_a", "A.setUp", "outer", "A.make", "inner"]
    assert sorted((u.symbol, u.use.name) for u in found.uses) == [("A.make", "cuda:1"), ("inner", "cuda")]


def test_inherited_helpers_of_another_file_see_the_class_that_runs() -> None:
    files = {
        "test/base.py": """
            class Base(TestCase):
                def setUp(self):
                    super().setUp()
                    self.prepare()

                def prepare(self):
                    pass

                def common(self):
                    self.hook()

                def hook(self):
                    torch.ones(1, device="xpu")
            """,
        "test/test_sub.py": """
            from base import Base

            class Sub(Base):
                def setUp(self):
                    super().setUp()

                def hook(self):
                    torch.ones(1, device="cuda")

                def test_a(self):
                    self.common()
            """,
    }
    found = reach_of(files, "Sub", "test_a", "test/test_sub.py")
    assert symbols(found) == ["Sub.test_a", "Sub.setUp", "Base.common", "Base.setUp", "Sub.hook", "Base.prepare"]
    assert [(u.path, u.use.device) for u in found.uses] == [("test/test_sub.py", "cuda")]


def test_super_goes_behind_the_class_it_is_written_in() -> None:
    found = reach_of(
        """
        class A(TestCase):
            def go(self):
                pass

        class B(A):
            def go(self):
                super().go()

        class C(B):
            def test_c(self):
                super().go()
        """,
        "C",
        "test_c",
    )
    assert symbols(found) == ["C.test_c", "B.go", "A.go"]


def test_constants_imported_helpers_and_reexports() -> None:
    files = {
        "test/common/deep.py": "DEVICE = 'cuda'\ndef place(x):\n    return x.to(DEVICE)\n",
        "test/common/__init__.py": "from .deep import place\nfrom .deep import DEVICE\n",
        PATH: """
            from common import place
            from common import deep
            from somewhere import missing

            class A(TestCase):
                def test_a(self):
                    place(1)
                    missing(2)

                def test_b(self):
                    deep.place(1)
            """,
    }
    first = reach_of(files, "A", "test_a")
    assert symbols(first) == ["A.test_a", "place"]
    assert [(c.path, c.constant.name) for c in first.constants] == [("test/common/deep.py", "DEVICE")]
    assert first.unknown == ("somewhere.missing",)
    assert symbols(reach_of(files, "A", "test_b")) == ["A.test_b", "place"]


def test_helper_classes_but_not_test_classes() -> None:
    found = reach_of(
        """
        class Net(torch.nn.Module):
            where = "cuda"

            def forward(self, x):
                return x.cuda()

        class Other(TestCase):
            def test_other(self):
                torch.ones(1, device="xpu")

        class A(TestCase):
            def test_a(self):
                Net()(1)
                super(Other, self)
        """,
        "A",
        "test_a",
    )
    assert symbols(found) == ["A.test_a", "Net.forward"]
    assert {u.symbol for u in found.uses} >= {"Net.forward"}
    assert [c.name for c in found.classes] == ["A", "Net"]


def test_a_member_named_through_its_test_class() -> None:
    found = reach_of(
        """
        class A(TestCase):
            @staticmethod
            def make():
                return torch.ones(1).cuda()

            def left_out(self):
                pass

            def test_a(self):
                A.make()
        """,
        "A",
        "test_a",
    )
    assert symbols(found) == ["A.test_a", "A.make"]


def test_what_an_unknown_base_hides_is_named() -> None:
    found = reach_of(
        """
        from elsewhere import Base

        class A(Base):
            def test_a(self):
                self.mystery()
                self.assertTrue(1)
        """,
        "A",
        "test_a",
    )
    assert found.unknown == ("self.mystery",)


def test_gates_of_test_class_fixture_helper_and_file() -> None:
    found = reach_of(
        """
        import sys

        if not torch.cuda.is_available():
            sys.exit(0)

        def helper():
            if not torch.cuda.is_available():
                raise unittest.SkipTest("no")

        @unittest.skipIf(not torch.cuda.is_available(), "no")
        class A(TestCase):
            def setUp(self):
                if not torch.cuda.is_available():
                    self.skipTest("no")

            @unittest.skipIf(not torch.cuda.is_available(), "no")
            def test_a(self):
                helper()
        """,
        "A",
        "test_a",
    )
    assert sorted(g.scope for g in found.gates) == ["class", "file", "helper", "setup", "test"]


def test_the_same_answer_is_kept_and_a_cycle_ends() -> None:
    suite = suite_of(
        """
        def ping():
            pong()

        def pong():
            ping()

        class A(TestCase):
            def test_a(self):
                ping()
        """
    )
    cls = get_class(suite, "A")
    first = reach(cls, function_of(cls, "test_a"))
    assert symbols(first) == ["A.test_a", "ping", "pong"]
    assert reach(cls, function_of(cls, "test_a")) is first
    assert class_reach(cls) is class_reach(cls)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12))
def test_reach_is_the_closure_of_the_calls(calls: list[tuple[int, int]]) -> None:
    """Against a closure computed the plain way, for any graph of seven helpers."""
    text = ""
    for at in range(7):
        targets = [b for a, b in calls if a == at]
        text += f"def f{at}():\n" + ("".join(f"    f{t}()\n" for t in targets) or "    pass\n")
    text += "class A(TestCase):\n    def test_a(self):\n        f0()\n"
    expected = {0}
    while True:
        more = expected | {b for a, b in calls if a in expected}
        if more == expected:
            break
        expected = more
    assert set(symbols(reach_of(text, "A", "test_a"))) == {"A.test_a", *(f"f{n}" for n in expected)}


def test_class_reach_is_the_union_of_its_tests() -> None:
    suite = suite_of(
        """
        def one():
            torch.ones(1).cuda()

        def two():
            torch.ones(1).xpu()

        class A(TestCase):
            def test_one(self):
                one()

            def test_two(self):
                two()

        class B(A):
            def test_three(self):
                pass
        """
    )
    for name in ("A", "B"):
        cls = get_class(suite, name)
        every = {f.symbol for _, test in all_tests(cls) for f in reach(cls, test).functions}
        assert {f.symbol for f in class_reach(cls).functions} == every
        assert {u.use.device for u in class_reach(cls).uses} == {"cuda", "xpu"}


def test_a_module_that_is_read_by_its_members() -> None:
    files = {
        "test/helpers.py": "def place(x):\n    return x.cuda()\n",
        PATH: """
            try:
                from . import helpers
            except ImportError:
                import helpers

            class A(TestCase):
                def test_members(self):
                    helpers.place(1)

                def test_whole(self):
                    run(helpers)
            """,
    }
    found = reach_of(files, "A", "test_members")
    assert symbols(found) == ["A.test_members", "place"] and not found.unknown
    assert reach_of(files, "A", "test_whole").unknown == ("helpers",)


def test_a_module_inside_a_package_that_is_named_through_it() -> None:
    files = {
        "test/kit/__init__.py": "",
        "test/kit/deep.py": "def place(x):\n    return x.cuda()\n",
        PATH: """
            import kit.deep

            class A(TestCase):
                def test_a(self):
                    kit.deep.place(1)
            """,
    }
    assert reach_of(files, "A", "test_a").unknown == ("kit.deep",)


def test_modules_that_use_no_device_are_followed_where_the_tree_has_them() -> None:
    test = """
        from test.support import gc_collect
        from tools.stats.upload import send
        from tools.other import run

        class A(TestCase):
            def test_a(self):
                gc_collect()
                send()
                run()
        """
    assert reach_of({PATH: test}, "A", "test_a").unknown == ("tools.other.run",)
    found = reach_of({PATH: test, "tools/stats/upload.py": "def send():\n    torch.ones(1).cuda()\n"}, "A", "test_a")
    assert [u.symbol for u in found.uses] == ["send"]
