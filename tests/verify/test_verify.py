"""The whole command with a stand-in for torch: how runs end, what is compared, and what it refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from hwlint.cli.verify import verify
from tests.gitrepo import Repository
from tests.verify.conftest import Called, call

pytestmark = pytest.mark.usefixtures("fake_torch")

HEAD = "import ctypes, os, sys, time\nfrom torch.testing._internal.common_utils import TestCase, run_tests\n\n"
FOOT = "\n\nif __name__ == '__main__':\n    run_tests()\n"


def write(path: Path, **bodies: str) -> Path:
    methods = "".join(f"    def {name}(self):\n        {body}\n" for name, body in bodies.items())
    path.write_text(f"{HEAD}class TestA(TestCase):\n{methods}{FOOT}")
    return path


def call_on_cpu(*arguments: object) -> Called:
    return call(*arguments, "--device", "cpu", "--python", sys.executable)


MISBEHAVING = {
    "test_a_passes": "pass",
    "test_b_hangs": "time.sleep(60)",
    "test_c_segfaults": "ctypes.string_at(0)",
    "test_d_exits": "os._exit(0)",
    "test_e_eats": "held = []\n        while True: held.append(bytearray(b'x') * 5_000_000); time.sleep(0.01)",
    "test_f_raises_memory_error": "raise MemoryError",
    "test_g_calls_exit": "sys.exit(1)",
    "test_h_fails": "self.fail('no')",
    "test_i_is_skipped": "self.skipTest('why')",
    "test_j_passes": "pass",
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_each_ending_is_reported_as_what_it_is(tmp_path: Path) -> None:
    bad = write(tmp_path / "test_bad.py", **MISBEHAVING)
    good = write(tmp_path / "test_good.py", test_x="pass")
    called = call_on_cpu(bad, good, "--timeout", "3", "--memory-limit", "300")
    assert called.status == 1
    assert {name.removeprefix("TestA."): outcome for name, outcome in called.outcomes().items()} == {
        "test_a_passes": "passed",
        "test_b_hangs": "timed out",
        "test_c_segfaults": "crashed",
        "test_d_exits": "ended the process",
        "test_e_eats": "out of memory",
        "test_f_raises_memory_error": "out of memory",
        "test_g_calls_exit": "error",
        "test_h_fails": "failed",
        "test_i_is_skipped": "skipped",
        "test_j_passes": "passed",
        "test_x": "passed",
    }
    endings = {ending["kind"]: ending for ending in called.report["runs"][0]["endings"]}
    assert set(endings) == {"hang", "crash", "exit", "out of memory", "completed"}
    assert endings["hang"]["during"] == "__main__.TestA.test_b_hangs"
    assert "test_b_hangs" in endings["hang"]["tail"]
    assert "SIGSEGV" in endings["crash"]["detail"]


def test_a_file_of_crashes_is_given_up(tmp_path: Path) -> None:
    file = write(tmp_path / "test_bad.py", **{f"test_{letter}": "os._exit(3)" for letter in "abcdefg"})
    outcomes = list(call_on_cpu(file).outcomes().values())
    assert (outcomes.count("ended the process"), outcomes.count("not run")) == (5, 2)


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("import no_such_module", "import error"),
        ("def f(:", "import error"),
        ("raise MemoryError", "out of memory"),
        ("import os; os._exit(5)", "exit"),
        ("import ctypes; ctypes.string_at(0)", "crash"),
        ("import sys; sys.exit('no')", "import error"),
    ],
)
def test_endings_while_importing(tmp_path: Path, source: str, kind: str) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(source)
    called = call_on_cpu(file)
    assert called.status == 1
    assert [ending["kind"] for ending in called.report["runs"][0]["endings"]] == [kind]


def test_lost_worse_new_and_kept(tmp_path: Path) -> None:
    before = write(tmp_path / "old.py", test_a="pass", test_b="pass", test_c="pass")
    after = write(tmp_path / "test_new.py", test_a="pass", test_b="self.fail()", test_d="pass")
    called = call_on_cpu(after, "--before", before)
    assert called.kinds() == {
        "TestA.test_a": "kept",
        "TestA.test_b": "worse",
        "TestA.test_c": "lost",
        "TestA.test_d": "new",
    }
    assert called.status == 1
    assert call_on_cpu(after, "--before", after).status == 0


def test_rename_option(tmp_path: Path) -> None:
    before, after = write(tmp_path / "old.py", test_a="pass"), write(tmp_path / "test_new.py", test_b="pass")
    assert call_on_cpu(after, "--before", before).status == 1
    assert call_on_cpu(after, "--before", before, "--rename", "TestA.test_a=TestA.test_b").status == 0


def test_flaky_test_is_not_worse(tmp_path: Path) -> None:
    before = write(tmp_path / "old.py", test_a="pass")
    body = "seen = os.path.exists('seen'); open('seen', 'w').close(); self.assertTrue(seen)"
    after = write(tmp_path / "test_new.py", test_a=body)
    called = call_on_cpu(after, "--before", before)
    assert (called.status, called.kinds()) == (0, {"TestA.test_a": "flaky"})


def test_base_revision_with_its_neighbours(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    source = (
        f"{HEAD}import helper\n\nclass TestA(TestCase):\n    def test_a(self):\n        assert helper.VALUE == 1{FOOT}"
    )
    repository.commit({"test/test_a.py": source, "test/helper.py": "VALUE = 1\n"})
    repository.write({"test/helper.py": "VALUE = 2\n", "test/test_new.py": source})
    file = repository.root / "test" / "test_a.py"
    called = call_on_cpu(file, "--base", "HEAD")
    assert called.outcomes(side="before") == {"TestA.test_a": "passed"}
    assert called.kinds() == {"TestA.test_a": "worse"}
    assert set(call_on_cpu(repository.root / "test" / "test_new.py", "--base", "HEAD").kinds().values()) == {
        "new and failing"
    }
    refused = call_on_cpu(file, "--base", "no-such-revision")
    assert (refused.status, "no such revision: no-such-revision" in refused.errors) == (2, True)


def test_setup_class_that_fails_fails_its_tests(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    fixture = "    @classmethod\n    def setUpClass(cls):\n        raise RuntimeError('no')\n"
    file.write_text(f"{HEAD}class TestA(TestCase):\n{fixture}    def test_a(self): pass\n{FOOT}")
    assert call_on_cpu(file).outcomes() == {"TestA.test_a": "error"}


def test_file_that_refuses_to_be_run_directly_is_imported(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(
        f"{HEAD}class TestA(TestCase):\n    def test_a(self): pass\n\n"
        "if __name__ == '__main__':\n    raise RuntimeError('not to be run directly')\n"
    )
    assert call_on_cpu(file).outcomes() == {"TestA.test_a": "passed"}


def test_subtests_and_forks(tmp_path: Path) -> None:
    file = write(
        tmp_path / "test_a.py",
        test_subtests="for i in range(2):\n            with self.subTest(i=i): self.assertEqual(i, 0)",
        test_fork="pid = os.fork()\n        if pid == 0: os._exit(0)\n        os.waitpid(pid, 0)",
    )
    assert call_on_cpu(file).outcomes() == {"TestA.test_fork": "passed", "TestA.test_subtests": "failed"}


def test_pytest_runner(tmp_path: Path) -> None:
    file = write(tmp_path / "test_a.py", test_a="pass", test_b="self.fail('no')", test_c="self.skipTest('why')")
    with file.open("a") as stream:
        stream.write(
            "\ndef test_function():\n    pass\n\n"
            "import pytest\n@pytest.mark.xfail\ndef test_expected():\n    assert False\n"
        )
    assert call_on_cpu(file, "--runner", "pytest").outcomes() == {
        "TestA.test_a": "passed",
        "TestA.test_b": "failed",
        "TestA.test_c": "skipped",
        "test_function": "passed",
        "test_expected": "expected failure",
    }
    file.write_text("import no_such_module\n")
    called = call_on_cpu(file, "--runner", "pytest")
    assert [ending["kind"] for ending in called.report["runs"][0]["endings"]] == ["import error"]


def test_a_torch_without_classification_gets_a_stand_in(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    file.write_text(
        "import unittest\nfrom torch.testing._internal.common_utils import HardwareClassification\n\n"
        "class TestA(unittest.TestCase):\n    hw_classification = HardwareClassification.GENERIC\n"
        f"    def test_a(self): pass\n\nclass TestB(TestA):\n    hw_classification = None\n{FOOT}".replace(
            "run_tests()", "unittest.main()"
        )
    )
    called = call_on_cpu(file)
    assert called.report["runs"][0]["stand_in"] is True
    assert any("stand-in" in note for note in called.report["notes"])
    assert [(check["label"], check["selected"]) for check in called.report["labels"]] == [("GENERIC", 1)]
    assert called.status == 0


def test_refusals(tmp_path: Path) -> None:
    file = write(tmp_path / "test_a.py", test_a="pass")
    for arguments in (
        (tmp_path / "no-such-file.py", "--device", "cpu"),
        (file, "--device", "no-such-device"),
        (file, "--device", "cpu", "--python", tmp_path / "no-such-python"),
        (file, "--device", "cpu", "--python", "/bin/echo"),
        (file, "--device", "cpu", "--before", tmp_path / "no-such-file.py"),
        (file, "--device", "cpu", "--before", file, "--base", "HEAD"),
        (file, "--device", "cpu", "--base", "HEAD"),
        (file, "--backend-module", "module"),
        (file, "--rename", "x"),
        (file, "--timeout", "0"),
        (),
    ):
        called = call("--python", sys.executable, *arguments)
        assert called.status == 2
        assert called.errors
        assert not called.report


def test_python_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH")
    called = call_on_cpu(write(tmp_path / "test_a.py", test_a="import torch"), "--python", sys.executable)
    if called.status == 0:
        pytest.skip("this interpreter has a torch of its own")
    assert (called.status, "no torch" in called.errors) == (2, True)


def test_text_and_markdown(tmp_path: Path) -> None:
    before = write(tmp_path / "old.py", test_a="pass", test_b="pass", test_c="pass")
    after = write(tmp_path / "test_new.py", test_a="pass", test_b="os._exit(3)")
    arguments = [str(after), "--before", str(before), "--device", "cpu", "--python", sys.executable]
    text = CliRunner().invoke(verify, arguments)
    assert "lost: TestA.test_c (passed -> not there)" in text.stdout
    assert "worse: TestA.test_b (passed -> ended the process) exit status 3" in text.stdout
    assert text.stdout.endswith("verdict: something was lost or got worse\n")
    assert "running" not in text.stdout and "running" in text.stderr
    markdown = CliRunner().invoke(verify, [*arguments, "--format", "markdown"]).stdout
    assert f"| `{after}` | cpu | 3 passed | 1 ended the process, 1 passed | 1 | 0 | 1 | 0 | 1 |" in markdown
    assert "* lost: `TestA.test_c`" in markdown
    alone = CliRunner().invoke(verify, [*arguments[:1], *arguments[3:]])
    assert "verdict: something fails" in alone.stdout
