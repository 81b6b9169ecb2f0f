from __future__ import annotations

import pytest

from hwlint.progress.codeowners import read_code_owners

EXAMPLE = """\
# The last matching line decides.
*                  @all
/test/             @testers @org/team
test/nn/test_*.py  @nn   # a comment
*.toml             @config
docs/*             @docs
apps/              @apps
/scripts/**/run.py @scripts
test/secret/
test/with\\ space.py @space
!test/nn           @never
test/[ab].py       @never
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README", ("@all",)),
        ("test/test_a.py", ("@testers", "@org/team")),
        ("sub/test/test_a.py", ("@all",)),
        ("test/nn/test_a.py", ("@nn",)),
        ("test/nn/deep/test_a.py", ("@testers", "@org/team")),
        ("deep/down/a.toml", ("@config",)),
        ("docs/a.md", ("@docs",)),
        ("docs/more/a.md", ("@all",)),
        ("src/apps/a.py", ("@apps",)),
        ("apps", ("@all",)),
        ("scripts/run.py", ("@scripts",)),
        ("scripts/a/b/run.py", ("@scripts",)),
        ("test/secret/a.py", ()),
        ("test/with space.py", ("@space",)),
        ("test/a.py", ("@testers", "@org/team")),
    ],
)
def test_last_matching_line_decides(path: str, owners: tuple[str, ...]) -> None:
    assert read_code_owners(EXAMPLE).owners_of(path) == owners


def test_no_file_owns_nothing() -> None:
    assert read_code_owners("").owners_of("test/test_a.py") == ()
