"""``[tool.hwlint]`` of pyproject.toml -> Settings.

Each option is one line of a dataclass below: the field's name with dashes is the key, ``option`` gives its default and
how its value is read. A key nobody knows and a value of another type are errors that name the file and the key.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from hwlint import globs
from hwlint.catalog import Backend
from hwlint.catalog.upstream_linter import LINTER_PATH, UpstreamLinter, linter_of, upstream_linters
from hwlint.errors import ConfigError

SEVERITIES = ("error", "warning", "info")
DEFAULT_TEST_FILES = ("test_*.py", "*_test.py")

Reader = Callable[[object], Any]
"""Takes the TOML value and gives the setting; raises Expected where it is not what it must be."""


class Expected(Exception):
    """Says what a value must be: 'a list of strings'."""


def option(default: Any, read: Reader) -> Any:
    """A field of a settings table with its default and the reader of its value."""
    return field(default=default, metadata={"read": read})


def text(value: object) -> str:
    if not isinstance(value, str):
        raise Expected("a string")
    return value


def boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise Expected("true or false")
    return value


def count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Expected("a number, 0 or more")
    return value


def strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise Expected("a list of strings")
    return tuple(value)


def patterns(value: object) -> tuple[str, ...]:
    found = strings(value)
    try:
        globs.matches("", found)
    except re.error as error:
        raise Expected(f"a list of path patterns ({error})") from None
    return found


def codes(value: object) -> tuple[str, ...]:
    """Rule codes or the beginnings of some: 'HW201', 'HW2'."""
    found = strings(value)
    for code in found:
        if not re.fullmatch(r"HW\d{0,3}", code):
            raise Expected(f"a list of rule codes such as 'HW201' or 'HW2', which {code!r} is not")
    return found


def choice(*allowed: str) -> Reader:
    def read(value: object) -> str:
        if value not in allowed:
            near = _nearest(value, allowed) if isinstance(value, str) else ""
            hint = f" (did you mean {near!r}?)" if near else ""
            raise Expected("one of " + ", ".join(map(repr, allowed)) + hint)
        return str(value)

    return read


def version(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"\d+\.\d+(\.\d+)?", value):
        raise Expected("a version in quotes such as '2.6'")
    return value


def mapping(read_key: Reader, read_value: Reader) -> Reader:
    """A table of free keys, as sorted pairs."""

    def read(value: object) -> tuple[tuple[Any, Any], ...]:
        if not isinstance(value, dict):
            raise Expected("a table")
        return tuple(sorted((read_key(k), read_value(v)) for k, v in value.items()))

    return read


def table(cls: type[Any]) -> Reader:
    """A table with the keys of the dataclass ``cls``."""

    def read(value: object) -> Any:
        if not isinstance(value, dict):
            raise Expected("a table")
        return cls(**_read_fields(cls, value))

    return read


def code(value: object) -> str:
    return str(codes([value])[0])


def backends(value: object) -> tuple[Backend, ...]:
    """``[[tool.hwlint.backends]]``: the fields of :class:`hwlint.catalog.Backend`, ``name`` required."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Expected("a list of tables ([[tool.hwlint.backends]])")
    found = []
    for item in value:
        given: dict[str, Any] = {}
        known = {f.name.replace("_", "-"): f for f in fields(Backend)}
        for key, entry in item.items():
            one = known.get(key.replace("_", "-"))
            if one is None:
                raise _Unknown((), key, tuple(known))
            example = one.default if one.name != "name" else ""
            read = {bool: boolean, tuple: strings}.get(type(example), text)
            given[one.name] = _read_value(key, entry, read)
        if not given.get("name"):
            raise Expected("tables that each have a 'name', the device type")
        found.append(Backend(**given))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MigrateSettings:
    """``[tool.hwlint.migrate]``: where reviewers disagree, what ``migrate`` shall do. The defaults change least."""

    confidence: Literal["certain", "likely"] = option("certain", choice("certain", "likely"))
    """How sure a verdict must be for its label to be written."""
    subclass_tags: Literal["own", "inherit"] = option("own", choice("own", "inherit"))
    """Whether a subclass of a tagged class gets a tag of its own."""
    only_for: Literal["same-devices", "keep", "except-for", "drop"] = option(
        "same-devices", choice("same-devices", "keep", "except-for", "drop")
    )
    """What becomes of an ``only_for`` list on a class that turns ACCELERATOR, and may not have one."""
    add_cpu: bool = option(False, boolean)
    """Whether a test that ran on an accelerator alone may run on the CPU too."""
    names: Literal["keep", "drop-device"] = option("keep", choice("keep", "drop-device"))
    """Whether a device in the name of a class or test is taken out where it would be doubled."""
    device_classes: Literal["contract", "instantiate", "plain"] = option(
        "contract", choice("contract", "instantiate", "plain")
    )
    """Whether a class for one vendor's device is instantiated ``only_for`` it, or stays plain with a tag; 'contract':
    instantiated where upstream's linter asks for it.
    """
    unused_device: Literal["add", "instantiated", "refuse"] = option("add", choice("add", "instantiated", "refuse"))
    """Whether a test that does not use ``device`` gets it all the same, as the contract asks: wherever its class is, or
    becomes, one for devices; only where the class is instantiated already; or nowhere."""
    test_base: bool = option(False, boolean)
    """Whether ``unittest.TestCase`` becomes ``common_utils.TestCase``."""
    downstream: tuple[str, ...] = option((), strings)
    """Folders or JSON lists elsewhere that key on test names."""


@dataclass(frozen=True, slots=True)
class ClassifySettings:
    """``[tool.hwlint.classify]``."""


@dataclass(frozen=True, slots=True)
class ProgressSettings:
    """``[tool.hwlint.progress]``."""

    groups: tuple[tuple[str, tuple[str, ...]], ...] = option((), mapping(text, patterns))
    """Module groups: a name and the path patterns that belong to it."""
    depth: int = option(2, count)
    """Folder levels that the table by folder shows."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration. Paths in it are relative to ``root``."""

    root: Path = Path(".")
    """Folder of the configuration file, else of the repository: what all paths are relative to."""
    source: Path | None = None
    """The file that was read, None where there is none."""

    include: tuple[str, ...] = option((), patterns)
    """What is checked when no path is given."""
    exclude: tuple[str, ...] = option((), patterns)
    """What is never checked, unless named on the command line."""
    force_exclude: bool = option(False, boolean)
    """Whether ``exclude`` also holds for files named on the command line (as pre-commit names them)."""
    test_files: tuple[str, ...] = option(DEFAULT_TEST_FILES, patterns)
    """Which files hold test classes. The default is that of PyTorch's TEST_LINTER."""
    level: Literal["upstream", "full"] = option("full", choice("upstream", "full"))
    upstream_linter: Literal["auto", "proposed", "current"] = option("auto", choice("auto", "proposed", "current"))
    """Which version of PyTorch's own linter the contract is; 'auto': that of the checkout's own copy, 'proposed' where
    there is none.
    """
    select: tuple[str, ...] = option((), codes)
    """Codes to report, all where empty."""
    ignore: tuple[str, ...] = option((), codes)
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = option((), mapping(text, codes))
    severity: tuple[tuple[str, str], ...] = option((), mapping(code, choice(*SEVERITIES)))
    """Severities by code, in place of the rules' own."""
    require_reason: bool | None = option(None, boolean)
    """Whether a suppression has to give its reason; None: at level full."""
    allowlist: str = option("", text)
    baseline: str = option("", text)
    torch: str = option("", version)
    """Oldest torch that the suite runs with; empty: the newest one the catalog knows."""
    backends: tuple[Backend, ...] = option((), backends)
    cache_dir: str = option(".hwlint_cache", text)
    jobs: int = option(0, count)
    """Processes; 0: as many as there are cores."""
    migrate: MigrateSettings = option(MigrateSettings(), table(MigrateSettings))
    classify: ClassifySettings = option(ClassifySettings(), table(ClassifySettings))
    progress: ProgressSettings = option(ProgressSettings(), table(ProgressSettings))

    @property
    def linter(self) -> UpstreamLinter:
        """What PyTorch's own linter asks, in the version chosen."""
        linters = upstream_linters()
        return linters.get(self.upstream_linter, linters["proposed"])

    def is_test_file(self, path: str) -> bool:
        """Whether the rules about test classes look at ``path``."""
        return globs.matches(path, self.test_files)

    def is_selected(self, code: str, path: str = "") -> bool:
        """Whether ``code`` is reported at all (``select``, ``ignore``), and in ``path`` (``per-file-ignores``).

        Of ``select`` and ``ignore``, the longer match wins; ``ignore`` where they are equal.
        """
        chosen = 0 if not self.select else max((len(c) for c in self.select if code.startswith(c)), default=-1)
        ignored = max((len(c) for c in self.ignore if code.startswith(c)), default=-1)
        if chosen < 0 or ignored >= chosen > 0 or (ignored >= 0 and chosen == 0):
            return False
        return not (path and any(code.startswith(c) for c in self._ignored_in(path)))

    def _ignored_in(self, path: str) -> Iterable[str]:
        return (c for pattern, found in self.per_file_ignores if globs.matches(path, (pattern,)) for c in found)

    @property
    def reason_required(self) -> bool:
        return self.level == "full" if self.require_reason is None else self.require_reason

    def resolve(self, path: str) -> Path:
        """A path of the configuration (allowlist, baseline, cache) on this machine."""
        return self.root / os.path.expanduser(path)


def load_settings(root: Path, config: Path | None = None, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings for ``root`` (see :func:`hwlint.discover.find_root`), read from ``config`` where that is given.

    ``overrides`` are fields of Settings that the command line sets. Raises ConfigError.
    """
    source = config
    if source is None and (root / "pyproject.toml").is_file():
        source = root / "pyproject.toml"
    settings = Settings(root=root)
    if source is not None:
        values = read_table(source)
        if values is None and config is not None:
            raise ConfigError(f"{source}: there is no [tool.hwlint] in it")
        if values is not None:
            settings = replace(_settings_from(values, source), root=root, source=source)
    settings = replace(settings, **(overrides or {}))
    if settings.upstream_linter == "auto":
        settings = replace(settings, upstream_linter=_own_linter(root))
    return settings


def _own_linter(root: Path) -> Literal["auto", "proposed", "current"]:
    """The version of the linter that a PyTorch checkout holds; 'auto' where it holds none, or it cannot be read."""
    try:
        return linter_of((root / LINTER_PATH).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return "auto"


@functools.lru_cache(maxsize=64)
def read_table(source: Path) -> Any:
    """The content of ``[tool.hwlint]`` in a TOML file, None where it has none. Raises ConfigError for a broken file."""
    try:
        data = source.read_bytes()
    except OSError as error:
        raise ConfigError(f"{source}: cannot be read: {error.strerror or error}") from None
    if b"hwlint" not in data:
        return None
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        content = tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{source}: not valid TOML: {error}") from None
    tool = content.get("tool", {})
    return tool.get("hwlint") if isinstance(tool, dict) else None


class _Unknown(Exception):
    def __init__(self, tables: tuple[str, ...], key: str, known: tuple[str, ...]) -> None:
        super().__init__(key)
        self.tables, self.key, self.known = tables, key, known


class _Wrong(Exception):
    def __init__(self, keys: tuple[str, ...], expected: str, value: object) -> None:
        super().__init__(expected)
        self.keys, self.expected, self.value = keys, expected, value


def _settings_from(values: object, source: Path) -> Settings:
    try:
        if not isinstance(values, dict):
            raise _Wrong((), "a table", values)
        return Settings(**_read_fields(Settings, values))
    except _Unknown as error:
        where = ".".join(("tool.hwlint", *error.tables))
        near = _nearest(error.key.replace("_", "-"), error.known)
        hint = f"; did you mean '{near}'?" if near else "; it has " + (", ".join(error.known) or "none at all")
        raise ConfigError(f"{source}: [{where}] has no key '{error.key}'{hint}") from None
    except _Wrong as error:
        where = ".".join(("tool.hwlint", *error.keys[:-1]))
        key = f"'{error.keys[-1]}' in [{where}]" if error.keys else "[tool.hwlint]"
        raise ConfigError(f"{source}: {key} must be {error.expected}, not {_described(error.value)}") from None


def _read_fields(cls: type[Any], values: Mapping[str, object]) -> dict[str, Any]:
    known = {f.name.replace("_", "-"): f for f in fields(cls) if "read" in f.metadata}
    found: dict[str, Any] = {}
    for key, value in values.items():
        one = known.get(key)
        if one is None:
            raise _Unknown((), key, tuple(known))
        found[one.name] = _read_value(key, value, one.metadata["read"])
    return found


def _read_value(key: str, value: object, read: Reader) -> Any:
    try:
        return read(value)
    except Expected as error:
        raise _Wrong((key,), str(error), value) from None
    except _Wrong as error:
        raise _Wrong((key, *error.keys), error.expected, error.value) from None
    except _Unknown as error:
        raise _Unknown((key, *error.tables), error.key, error.known) from None


def _nearest(word: str, known: tuple[str, ...]) -> str:
    import difflib  # Only for an error: not worth its import on each run.

    return next(iter(difflib.get_close_matches(word, known, n=1)), "")


def _described(value: object) -> str:
    names = {
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "a string",
        list: "a list",
        dict: "a table",
    }
    name = names.get(type(value), f"a {type(value).__name__}")
    return (
        f"{str(value).lower()}" if isinstance(value, bool) else f"{name} ({value!r})" if len(repr(value)) < 60 else name
    )
