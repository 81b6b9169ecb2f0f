"""Small sources through the codemods, and what must hold of every outcome."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence

from codemods.guard import comments
from codemods.neighbours import Neighbourhood
from codemods.pipeline import FileRun, Outcome
from codemods.plan import Options
from codemods.registry import chosen
from hwlint.catalog import load_catalog
from hwlint.catalog.upstream_linter import LinterName
from hwlint.config import MigrateSettings, Settings
from hwlint.scan.facts import Problem
from hwlint.scan.module import scan_module
from hwlint.scan.reading import SourceText, read_source
from hwlint.suite.link import link

PATH = "test/test_sample.py"


def migrate(
    source: str | bytes,
    *only: str,
    files: Mapping[str, str] | None = None,
    labels: Sequence[tuple[str, str]] = (),
    unsafe: bool = False,
    split: bool = False,
    path: str = PATH,
    linter: LinterName = "proposed",
    torch: str = "",
    **settings: object,
) -> Outcome:
    """The outcome of one file; ``files`` are others of the suite by path, ``settings`` those of migrate."""
    data = source if isinstance(source, bytes) else source.encode()
    catalog = load_catalog()
    contents = {name: text.encode() for name, text in (files or {}).items()} | {path: data}
    modules = [scan_module(content, name, catalog) for name, content in contents.items()]
    suite = link(modules, catalog)
    neighbourhood = Neighbourhood(suite, path)
    module = suite.modules[path]
    run = FileRun(
        neighbourhood,
        Settings(upstream_linter=linter, torch=torch, migrate=MigrateSettings(**settings)),  # type: ignore[arg-type]
        Options(only=only, unsafe=unsafe, split=split, labels=tuple(labels)),
        [codemod() for codemod in chosen(only)],
    )
    return run.run(data, module, neighbourhood.link_with(module))


def migrated(source: str, *only: str, **options: object) -> str:
    """The text after the codemods."""
    return migrate(source, *only, **options).after.decode()  # type: ignore[arg-type]


def checked(source: str, *only: str, **options: object) -> str:
    """The text after the codemods, which broke nothing that they must keep."""
    outcome = migrate(source, *only, **options)  # type: ignore[arg-type]
    check_invariants(outcome, *only, **options)
    return outcome.after.decode()


def reasons(outcome: Outcome) -> dict[str, str]:
    """Refusal reasons by symbol."""
    return {r.symbol: r.reason for r in outcome.refusals}


def check_invariants(outcome: Outcome, *only: str, **options: object) -> None:
    """What no codemod may break, in whatever file."""
    assert not outcome.crash, outcome.crash
    assert "guard" not in {r.reason for r in outcome.refusals}, outcome.refusals
    before, after = _read(outcome.before), _read(outcome.after)
    if before is None:
        assert outcome.before == outcome.after
        return
    assert after is not None
    ast.parse(after.text)
    assert (before.bom, before.encoding) == (after.bom, after.encoding)
    assert _kinds(after.text) <= _kinds(before.text) or not _kinds(before.text)
    assert before.text.endswith("\n") == after.text.endswith("\n")
    lost = Counter(comments(before.text)) - Counter(comments(after.text))
    assert not lost, f"comments lost: {lost}"
    assert not outcome.manifest.lost
    again = migrate(outcome.after, *only, path=outcome.path, **options)  # type: ignore[arg-type]
    assert again.after == outcome.after, "the second run changes something"
    assert len(outcome.lines) in (0, len(_lines(after.text)))


def _read(data: bytes) -> SourceText | None:
    source = read_source(data, PATH)
    return None if isinstance(source, Problem) else source


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _kinds(text: str) -> set[str]:
    crlf = text.count("\r\n")
    return ({"\r\n"} if crlf else set()) | ({"\n"} if text.count("\n") > crlf else set())
