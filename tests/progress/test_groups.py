from __future__ import annotations

import pytest

from hwlint.progress.groups import group_of

CONFIGURED = (("a", ("test/nn",)), ("b", ("test", "test/nn/deep/*.py")), ("c", ("test/nn",)))


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("test/test_sort.py", "core"),
        ("test/distributed/fsdp/test_shard.py", "distributed"),
        ("test/inductor/test_fuse.py", "graph"),
        ("test/distributed_helpers.py", "core"),
    ],
)
def test_default_groups(path: str, group: str) -> None:
    assert group_of(path, ()) == group


@pytest.mark.parametrize(
    ("path", "group"),
    [("test/test_a.py", "b"), ("test/nn/test_a.py", "a"), ("test/nn/deep/test_a.py", "b"), ("x/test_a.py", "other")],
)
def test_longest_pattern_wins_then_the_first_name(path: str, group: str) -> None:
    assert group_of(path, CONFIGURED) == group
