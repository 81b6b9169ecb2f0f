"""Tests before and after a change, device by device."""

from __future__ import annotations

from hwlint.suite.ids import TestId, module_ids
from hwlint.suite.manifest import compare
from tests.support import PATH, suite_of


def ids(text: str) -> tuple[TestId, ...]:
    return module_ids(suite_of(text), PATH)


def fates(before: str, after: str, renames: dict[tuple[str, str], tuple[str, str]] | None = None) -> list[str]:
    """'fate device: before -> after', in the manifest's order."""
    found = []
    for entry in compare(ids(before), ids(after), renames).entries:
        old = f"{entry.before.class_name}.{entry.before.name}" if entry.before else "-"
        new = f"{entry.after.class_name}.{entry.after.name}" if entry.after else "-"
        found.append(
            f"{entry.fate} {entry.device or 'plain'}: {old} -> {new}" if old != new else f"{entry.fate}: {old}"
        )
    return found


PLAIN = """
class A(TestCase):
    def test_a(self): pass
"""
ON_CUDA = """
class A(TestCase):
    def test_a(self, device): pass

instantiate_device_type_tests(A, globals(), only_for="cuda")
"""
ON_TWO = ON_CUDA.replace('"cuda"', '("cpu", "cuda")')


def test_nothing_changes() -> None:
    manifest = compare(ids(PLAIN), ids(PLAIN))
    assert not manifest.changed
    assert manifest.by_device() == {"": {"kept": 1, "renamed": 0, "new": 0, "moved": 0, "lost": 0}}


def test_a_class_that_is_instantiated_keeps_its_tests_under_other_names() -> None:
    assert fates(PLAIN, ON_CUDA) == ["renamed cuda: A.test_a -> ACUDA.test_a_cuda"]
    assert fates(PLAIN, ON_TWO) == ["renamed cpu: A.test_a -> ACPU.test_a_cpu", "new cuda: - -> ACUDA.test_a_cuda"]


def test_a_device_that_is_left_out_is_a_loss() -> None:
    assert fates(ON_TWO, ON_CUDA) == ["kept: ACUDA.test_a_cuda", "lost cpu: ACPU.test_a_cpu -> -"]


def test_a_test_that_is_gone_is_lost_on_every_device() -> None:
    without = ON_TWO.replace("test_a", "test_b")
    assert [f.split(":")[0] for f in fates(ON_TWO, without)] == ["new cpu", "new cuda", "lost cpu", "lost cuda"]


def test_a_renamed_test_is_followed_where_the_change_says_so() -> None:
    after = ON_CUDA.replace("test_a", "test_b").replace("A(", "B(").replace("(A", "(B")
    assert fates(ON_CUDA, after, {("A", "test_a"): ("B", "test_b")}) == [
        "renamed cuda: ACUDA.test_a_cuda -> BCUDA.test_b_cuda"
    ]
    assert len(compare(ids(ON_CUDA), ids(after)).lost) == 1


def test_an_inherited_test_that_instantiation_takes_away_is_lost() -> None:
    before = """
class Base(TestCase):
    def test_a(self): pass
class Sub(Base):
    def test_b(self): pass
"""
    after = before + "\ninstantiate_device_type_tests(Base, globals(), only_for='cpu')\n"
    lost = [str(e.before) for e in compare(ids(before), ids(after)).lost]
    assert lost == [f"{PATH}::Sub::test_a"]


def test_parameters_that_go_are_lost_and_those_that_come_are_new() -> None:
    three = """
class A(TestCase):
    @parametrize("n", [1, 2, 3])
    def test_a(self, n): pass
instantiate_parametrized_tests(A)
"""
    two = three.replace("2, 3", "2")
    assert [f.split(":")[0] for f in fates(three, two)] == ["kept", "kept", "lost plain"]
    assert [f.split(":")[0] for f in fates(two, three)] == ["kept", "kept", "new plain"]
    on_cpu = three.replace("parametrized_tests(A)", "device_type_tests(A, globals(), only_for='cpu')")
    assert [f.split(":")[0] for f in fates(three, on_cpu)] == ["renamed cpu"] * 3
    assert [f.split(":")[0] for f in fates(on_cpu, three)] == ["renamed plain"] * 3


def test_names_that_cannot_be_read_are_no_loss() -> None:
    known = """
class A(TestCase):
    @parametrize("n", [1, 2])
    def test_a(self, n): pass
instantiate_parametrized_tests(A)
"""
    unknown = known.replace("[1, 2]", "numbers()")
    assert not compare(ids(known), ids(unknown)).lost


def test_a_test_that_was_always_skipped_on_a_device_has_moved() -> None:
    before = """
    class A(TestCase):
        def test_a(self, device): pass
        @onlyCPU
        def test_b(self, device): pass

    instantiate_device_type_tests(A, globals(), only_for=("cpu", "cuda"))
    """
    after = """
    class A(TestCase):
        def test_a(self, device): pass
    class B(TestCase):
        @onlyCPU
        def test_b(self, device): pass

    instantiate_device_type_tests(A, globals(), only_for=("cpu", "cuda"))
    instantiate_device_type_tests(B, globals(), only_for="cpu")
    """
    renames = {("A", "test_b"): ("B", "test_b")}
    assert fates(before, after, renames) == [
        "kept: ACPU.test_a_cpu",
        "kept: ACUDA.test_a_cuda",
        "renamed cpu: ACPU.test_b_cpu -> BCPU.test_b_cpu",
        "moved cuda: ACUDA.test_b_cuda -> -",
    ]
    gone = after.replace('only_for="cpu"', 'only_for="cuda"')
    assert "lost cpu: ACPU.test_b_cpu -> -" in fates(before, gone, renames)
    assert "lost cuda: ACUDA.test_b_cuda -> -" in fates(before, after.split("class B")[0], {})


FREE = ON_TWO.replace("self, device", "self")


def test_what_did_the_same_on_each_device_is_one_plain_test() -> None:
    assert fates(FREE, PLAIN) == ["renamed plain: ACPU.test_a_cpu -> A.test_a", "moved cuda: ACUDA.test_a_cuda -> -"]


def test_what_knows_its_device_is_lost_on_the_others() -> None:
    for knows in (
        ON_TWO,
        FREE.replace("pass", "self.device_type"),
        FREE.replace("    def test_a(self)", "    @dtypes(torch.float32)\n    def test_a(self, dtype)"),
        FREE.replace("    def test_a(self)", "    @ops(all_of_them)\n    def test_a(self, op)"),
    ):
        assert "lost cuda" in [f.split(":")[0] for f in fates(knows, PLAIN)]


def test_fewer_plain_tests_than_there_were_on_a_device_is_a_loss() -> None:
    two = '    @parametrize("n", [1, 2])\n    def test_a(self, n)'
    before = FREE.replace("    def test_a(self)", two)
    assert len(compare(ids(before), ids(PLAIN)).lost) == 3
    plain = PLAIN.replace("    def test_a(self)", two) + "\ninstantiate_parametrized_tests(A)\n"
    assert [f.split(":")[0] for f in fates(before, plain)] == ["renamed plain"] * 2 + ["moved cuda"] * 2
