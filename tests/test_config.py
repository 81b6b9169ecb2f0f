"""[tool.hwlint] -> Settings, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hwlint import globs
from hwlint.catalog import Backend
from hwlint.config import Settings, load_settings, read_table
from hwlint.errors import ConfigError


def load(folder: Path, text: str) -> Settings:
    (folder / "pyproject.toml").write_text(text, encoding="utf-8")
    read_table.cache_clear()
    return load_settings(folder)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        load(folder, text)
    message = str(caught.value)
    assert message.startswith(f"{folder / 'pyproject.toml'}: ")
    return message.removeprefix(f"{folder / 'pyproject.toml'}: ")


def test_without_a_file_all_is_default(tmp_path: Path) -> None:
    assert load_settings(tmp_path) == Settings(root=tmp_path)


def test_a_file_without_the_table_is_no_configuration(tmp_path: Path) -> None:
    assert load(tmp_path, "[project]\nname = 'x'\n").source is None
    assert load(tmp_path, "# hwlint is not set up here\n[tool.other]\na = 1\n").source is None


def test_every_kind_of_value_is_read(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        """
        [tool.hwlint]
        include = ["test"]
        level = "upstream"
        jobs = 3
        force-exclude = true
        torch = "2.9"
        [tool.hwlint.per-file-ignores]
        "test/b.py" = ["HW2"]
        "test/a.py" = ["HW201"]
        [tool.hwlint.severity]
        HW207 = "error"
        [tool.hwlint.migrate]
        only-for = "except-for"
        [tool.hwlint.progress.groups]
        graph = ["test/dynamo"]
        [[tool.hwlint.backends]]
        name = "npu"
        module = "torch_npu.npu"
        decorators = ["onlyNPU"]
        """,
    )
    assert settings.include == ("test",)
    assert (settings.level, settings.jobs, settings.force_exclude, settings.torch) == ("upstream", 3, True, "2.9")
    assert settings.per_file_ignores == (("test/a.py", ("HW201",)), ("test/b.py", ("HW2",)))
    assert settings.severity == (("HW207", "error"),)
    assert settings.migrate.only_for == "except-for"
    assert settings.progress.groups == (("graph", ("test/dynamo",)),)
    assert settings.backends == (Backend(name="npu", module="torch_npu.npu", decorators=("onlyNPU",)),)
    assert settings.source == tmp_path / "pyproject.toml"
    assert isinstance(hash(settings), int)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[tool.hwlint]\ninclde = []", "[tool.hwlint] has no key 'inclde'; did you mean 'include'?"),
        ("[tool.hwlint]\ntest_files = []", "[tool.hwlint] has no key 'test_files'; did you mean 'test-files'?"),
        (
            "[tool.hwlint.migrate]\nsubclas-tags = 'own'",
            "[tool.hwlint.migrate] has no key 'subclas-tags'; did you mean 'subclass-tags'?",
        ),
        (
            "[[tool.hwlint.backends]]\nname = 'npu'\nmodul = 'x'",
            "[tool.hwlint.backends] has no key 'modul'; did you mean 'module'?",
        ),
        ("[tool.hwlint]\ninclude = 'a'", "'include' in [tool.hwlint] must be a list of strings, not a string ('a')"),
        ("[tool.hwlint]\njobs = true", "'jobs' in [tool.hwlint] must be a number, 0 or more, not true"),
        ("[tool.hwlint]\njobs = -1", "'jobs' in [tool.hwlint] must be a number, 0 or more, not a number (-1)"),
        (
            "[tool.hwlint]\nforce-exclude = 1",
            "'force-exclude' in [tool.hwlint] must be true or false, not a number (1)",
        ),
        (
            "[tool.hwlint]\nlevel = 'ful'",
            "'level' in [tool.hwlint] must be one of 'upstream', 'full' (did you mean 'full'?), not a string ('ful')",
        ),
        (
            "[tool.hwlint]\ntorch = 2.6",
            "'torch' in [tool.hwlint] must be a version in quotes such as '2.6', not a number (2.6)",
        ),
        ("[tool]\nhwlint = 3", "[tool.hwlint] must be a table, not a number (3)"),
        ("[tool.hwlint]\nmigrate = []", "'migrate' in [tool.hwlint] must be a table, not a list ([])"),
        (
            "[[tool.hwlint.backends]]\nmodule = 'x'",
            "'backends' in [tool.hwlint] must be tables that each have a 'name', the device type, not a list"
            " ([{'module': 'x'}])",
        ),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == message


def test_a_code_that_is_none_is_refused(tmp_path: Path) -> None:
    assert "which 'hw201' is not" in refusal(tmp_path, "[tool.hwlint]\nselect = ['hw201']")
    assert "which 'HW2011' is not" in refusal(tmp_path, "[tool.hwlint.severity]\nHW2011 = 'error'")


def test_a_pattern_that_cannot_be_is_refused(tmp_path: Path) -> None:
    assert "'exclude' in [tool.hwlint] must be a list of path patterns" in refusal(
        tmp_path, "[tool.hwlint]\nexclude = ['[z-a]']"
    )


def test_broken_toml_is_an_error(tmp_path: Path) -> None:
    assert refusal(tmp_path, "[tool.hwlint\n").startswith("not valid TOML: ")


def test_a_named_file_must_be_there_and_have_the_table(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_settings(tmp_path, tmp_path / "none.toml")
    (tmp_path / "other.toml").write_text("[tool.x]\n")
    with pytest.raises(ConfigError, match=r"no \[tool.hwlint\]"):
        load_settings(tmp_path, tmp_path / "other.toml")


def test_the_command_line_wins(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.hwlint]\nlevel = 'upstream'\n")
    read_table.cache_clear()
    assert load_settings(tmp_path, overrides={"level": "full"}).level == "full"


@pytest.mark.parametrize(
    "select, ignore, expected",
    [
        ((), (), True),
        ((), ("HW2",), False),
        ((), ("HW3",), True),
        (("HW2",), (), True),
        (("HW3",), (), False),
        (("HW201",), ("HW2",), True),
        (("HW2",), ("HW201",), False),
        (("HW201",), ("HW201",), False),
    ],
)
def test_the_longer_code_wins(select: tuple[str, ...], ignore: tuple[str, ...], expected: bool) -> None:
    assert Settings(select=select, ignore=ignore).is_selected("HW201") is expected


def test_ignores_by_file() -> None:
    settings = Settings(per_file_ignores=(("test/cpp/*.py", ("HW2",)),))
    assert not settings.is_selected("HW201", "test/cpp/test_a.py")
    assert settings.is_selected("HW201", "test/test_a.py")
    assert settings.is_selected("HW301", "test/cpp/test_a.py")


def test_a_reason_is_required_at_level_full_unless_said_otherwise() -> None:
    assert Settings(level="full").reason_required
    assert not Settings(level="upstream").reason_required
    assert not Settings(level="full", require_reason=False).reason_required


def test_test_files_are_those_of_upstream() -> None:
    settings = Settings()
    assert settings.is_test_file("test/nn/test_pooling.py")
    assert settings.is_test_file("test/distributed/pooling_test.py")
    assert not settings.is_test_file("test/test_data/helper.py")
    assert not settings.is_test_file("test/testing.py")


@pytest.mark.parametrize(
    "path, pattern, expected",
    [
        ("a/b/c.py", "b", True),
        ("a/bb/c.py", "b", False),
        ("a/b/c.py", "a/b", True),
        ("x/a/b/c.py", "a/b", False),
        ("a/b/c.py", "/a", True),
        ("x/a/c.py", "/a", False),
        ("a/b/c.py", "a/*.py", False),
        ("a/c.py", "a/*.py", True),
        ("a/b/c.py", "a/**/*.py", True),
        ("a/c.py", "a/**/*.py", True),
        ("a/b/c.py", "**/b/", True),
        ("c.py", "?.py", True),
        ("cc.py", "?.py", False),
        ("c.py", "[a-c].py", True),
        ("d.py", "[!a-c].py", True),
        ("c+.py", "c+.py", True),
        ("a/b.py", "./a", True),
        ("a/b.py", ".", True),
    ],
)
def test_patterns(path: str, pattern: str, expected: bool) -> None:
    assert globs.matches(path, [pattern]) is expected


def test_anchored_patterns_start_at_the_root() -> None:
    assert globs.matches("test/a.py", ["test"], anchored=True)
    assert not globs.matches("lib/test/a.py", ["test"], anchored=True)
    assert globs.matches("lib/test/a.py", ["tes?"], anchored=True)


@pytest.mark.parametrize(
    ("text", "version"), [('"""Rules: accelerator_availability"""', "current"), ("x = 1", "proposed")]
)
def test_the_linter_of_a_checkout_is_the_contract(tmp_path: Path, text: str, version: str) -> None:
    copy = tmp_path / "tools/linter/adapters/test_linter.py"
    copy.parent.mkdir(parents=True)
    copy.write_text(text)
    assert load_settings(tmp_path).upstream_linter == version
    (tmp_path / "pyproject.toml").write_text('[tool.hwlint]\nupstream-linter = "current"\n')
    assert load_settings(tmp_path).upstream_linter == "current"


def test_without_a_linter_in_the_checkout_the_proposed_one_is_the_contract(tmp_path: Path) -> None:
    assert load_settings(tmp_path).linter.name == "proposed"
