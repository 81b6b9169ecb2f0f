"""Patches that git takes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemods.patch import colored, unified_diff

BEFORE = b"a\nb\nc\nd\ne\nf\ng\nh\n"


def applied(folder: Path, path: str, before: bytes, after: bytes) -> bytes:
    """What ``git apply`` makes of ``before`` with the patch."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(before)
    patch = unified_diff(path, before, after)
    subprocess.run(["git", "apply", "-p1", "--whitespace=nowarn", "-"], input=patch, cwd=folder, check=True)
    return target.read_bytes()


@pytest.mark.parametrize(
    "after",
    [
        BEFORE.replace(b"b\n", b"B\nB2\n"),
        BEFORE.replace(b"h\n", b"h"),
        b"x\n" + BEFORE,
        BEFORE + b"y",
        BEFORE.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + BEFORE.replace(b"d", b"\xe9\x00"),
        b"\n".join(reversed(BEFORE.split(b"\n"))),
        b"one",
    ],
)
def test_git_applies_it(tmp_path: Path, after: bytes) -> None:
    assert applied(tmp_path, "test/test_a.py", BEFORE, after) == after
    assert applied(tmp_path, "test/test_a.py", after, BEFORE) == BEFORE


@pytest.mark.parametrize("path", ["a b.py", "test/é.py", 'quote".py', "back\\slash.py", "tab\t.py"])
def test_git_applies_it_to_odd_names(tmp_path: Path, path: str) -> None:
    assert applied(tmp_path, path, BEFORE, b"x\n" + BEFORE) == b"x\n" + BEFORE


LINE = st.sampled_from((b"a\n", b"b\n", b"\n", b"--- a\n", b"c\r\n", b"+\n")) | st.integers(0, 20).map(b"%d\n".__mod__)
LINES = st.lists(LINE, max_size=30).map(b"".join)


@settings(max_examples=80, deadline=None)
@given(LINES, LINES, st.sampled_from((b"", b"end")), st.sampled_from((b"", b"end")))
def test_git_applies_whatever_it_is(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes, old_end: bytes, new_end: bytes
) -> None:
    before, after = before + old_end, after + new_end
    if before == after or not before or not after:
        return
    assert applied(tmp_path_factory.mktemp("patch"), "a.py", before, after) == after


def test_nothing_for_nothing() -> None:
    assert unified_diff("a.py", BEFORE, BEFORE) == b""


def test_colours_leave_no_control_characters_of_the_file() -> None:
    diff = unified_diff("a.py", b"a\n", b"\x1b[31mred\x07\n")
    text = colored(diff)
    assert "\x1b[32m" in text and "\x1b[31mred" not in text and "\x07" not in text


def test_what_moves_is_the_helper_and_not_the_class() -> None:
    """As many lines stay as can: reviewers read every one that does not (pytorch/pytorch#191079)."""
    tests = [b"    def test_%d(self):\n        self.check(%d)\n\n" % (n, n) for n in range(50)]
    helper = b"    def check(self, n):\n        self.assertTrue(n)\n        self.assertTrue(n + 1)\n\n"
    before = b"class T(TestCase):\n" + b"".join([*tests[:25], helper, *tests[25:]])
    after = b"class _TBase:\n" + helper + b"\nclass T(_TBase, TestCase):\n" + b"".join(tests)
    lines = unified_diff("a.py", before, after).splitlines()[3:]
    assert sum(line.startswith(b"-") for line in lines) == 1 + 4
    assert sum(line.startswith(b"+") for line in lines) == 1 + 4 + 2
