from __future__ import annotations

from hwlint.verify.matching import match_tests
from hwlint.verify.model import LoadedTest


def test(name: str, device: str | None = None, template: str | None = None) -> LoadedTest:
    class_name, _, method = name.rpartition(".")
    template_class, _, template_test = (template or name).rpartition(".")
    return LoadedTest(f"__main__.{name}", class_name, method, device, template_class, template_test)


test.__test__ = False  # type: ignore[attr-defined]  # a helper, in spite of its name


def pairs(before: list[LoadedTest], after: list[LoadedTest], **renames: str) -> list[tuple[str, list[str], str]]:
    matching = match_tests(before, after, renames)
    return [(match.before.name, [other.name for other in match.after], match.how) for match in matching.matches]


def test_same_id() -> None:
    assert pairs([test("TestA.test_x")], [test("TestA.test_x")]) == [("TestA.test_x", ["TestA.test_x"], "ID")]


def test_instantiated_since() -> None:
    after = [test("TestACPU.test_x_cpu", "cpu", "TestA.test_x")]
    assert pairs([test("TestA.test_x")], after) == [("TestA.test_x", ["TestACPU.test_x_cpu"], "template")]


def test_class_whose_name_ends_like_a_device_keeps_its_own_test() -> None:
    before = [test("TestACPU.test_x"), test("TestA.test_x")]
    after = [test("TestACPU.test_x"), test("TestAPRIVATEUSE1.test_x_refdev", "refdev", "TestA.test_x")]
    assert pairs(before, after) == [
        ("TestACPU.test_x", ["TestACPU.test_x"], "ID"),
        ("TestA.test_x", ["TestAPRIVATEUSE1.test_x_refdev"], "template"),
    ]


def test_device_was_a_parameter() -> None:
    before = [test("TestA.test_x_device_cpu"), test("TestA.test_x_device_cuda")]
    after = [test("TestACPU.test_x_cpu", "cpu", "TestA.test_x")]
    assert [taken for _, taken, _ in pairs(before, after)] == [["TestACPU.test_x_cpu"], ["TestACPU.test_x_cpu"]]


def test_parametrised_since() -> None:
    after = [test(f"TestACPU.test_x_cpu_{t}", "cpu", f"TestA.test_x_{t}") for t in ("float32", "float64")]
    assert pairs([test("TestA.test_x")], after)[0][1:] == ([other.name for other in after], "parametrised")


def test_parametrised_does_not_take_another_test_of_the_same_beginning() -> None:
    before = [test("TestA.test_x"), test("TestA.test_x_out")]
    after = [test("TestACPU.test_x_out_cpu", "cpu", "TestA.test_x_out")]
    assert pairs(before, after) == [
        ("TestA.test_x", [], "lost"),
        ("TestA.test_x_out", ["TestACPU.test_x_out_cpu"], "template"),
    ]


def test_lost_and_new() -> None:
    matching = match_tests([test("TestA.test_x")], [test("TestB.test_y")])
    assert [match.how for match in matching.matches] == ["lost"]
    assert [other.name for other in matching.new] == ["TestB.test_y"]


def test_a_class_that_was_split_off() -> None:
    kept = test("TestACPU.test_x_cpu", "cpu", "TestA.test_x")
    before = [kept, test("TestACPU.test_y_cpu", "cpu", "TestA.test_y")]
    there = test("TestACpuOnlyCPU.test_y_cpu", "cpu", "TestACpuOnly.test_y")
    assert pairs(before, [kept, there])[1] == ("TestACPU.test_y_cpu", ["TestACpuOnlyCPU.test_y_cpu"], "split off")
    elsewhere = test("TestBCPU.test_y_cpu", "cpu", "TestB.test_y")
    assert pairs(before, [kept, elsewhere])[1][2] == "lost", "another class may well have a test of that name"
    twice = [there, test("TestADeviceCPU.test_y_cpu", "cpu", "TestADevice.test_y")]
    assert pairs(before, [kept, *twice])[1][2] == "lost", "which of the two it became cannot be told"
    old = test("TestACpuOnlyCPU.test_z_cpu", "cpu", "TestACpuOnly.test_z")
    assert pairs([*before, old], [kept, there, old])[1][2] == "lost", "that class was there before"


def test_renamed_class_and_test() -> None:
    assert pairs([test("TestA.test_x")], [test("TestB.test_x")], TestA="TestB")[0][1] == ["TestB.test_x"]
    matching = match_tests([test("TestA.test_x")], [test("TestB.test_z")], {"TestA.test_x": "TestB.test_z"})
    assert [other.name for match in matching.matches for other in match.after] == ["TestB.test_z"]


def test_functions_without_a_class() -> None:
    function = LoadedTest("test_m.test_f", "", "test_f", None, "", "test_f")
    assert match_tests([function], [function]).matches[0].how == "ID"
