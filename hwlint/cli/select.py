"""``hwlint select``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwlint.cli import OK
from hwlint.cli.common import RunOptions, open_cache, open_project, output_options, progress_bar, run_options
from hwlint.cli.output import note, write_output
from hwlint.scan.facts import LABELS
from hwlint.select.model import UNCLASSIFIED, Query, Selection
from hwlint.select.render import FORMATS, render, summary_lines

if TYPE_CHECKING:
    from hwlint.engine import Analysis

ANY = "any"


@click.command("select")
@run_options
@output_options(FORMATS)
@click.option(
    "--device", required=True, metavar="NAME", help="Device type: cpu, cuda, xpu, mps, or your back end's name."
)
@click.option(
    "--classification",
    multiple=True,
    metavar="LABELS",
    help=f"Labels that apply: {', '.join(LABELS)}, '{UNCLASSIFIED}' for classes without one, '{ANY}'."
    "  [default: GENERIC, ACCELERATOR and the device's own]",
)
@click.option("--summary", is_flag=True, help="Only how many tests apply, and why the others do not.")
def select(
    run: RunOptions,
    format_name: str,
    output: Path | None,
    color: bool | None,
    device: str,
    classification: tuple[str, ...],
    summary: bool,
) -> int:
    """List the tests that apply to a device, read off the source: neither torch nor any test is imported.

    The host is taken to have the device and the CPU. A name with '*' stands for tests whose parameters the source does
    not list. The summary goes to standard error, except with --format text.

    Exit status: 0, or 2 where hwlint could not do what was asked.
    """
    device = device.strip().lower()
    if not device.isidentifier():
        raise click.UsageError(f"--device {device!r}: must be a device type such as 'cuda', without an index")
    labels = _labels(classification)
    project = open_project(run)
    settings = replace(project.settings, level="full")
    with open_cache(run, settings) as cache, progress_bar(run) as bar:
        from hwlint.engine import remembered

        selection = remembered(
            partial(_select, device=device, labels=labels),
            Selection,
            ("select", device, labels),
            settings,
            project.discovery,
            jobs=run.jobs or 0,
            cache=cache,
            progress=bar,
        )
    text = "".join(f"{line}\n" for line in summary_lines(selection)) if summary else ""
    write_output(text or render(format_name, selection, summary=not run.quiet), output, utf8=format_name != "text")
    if not run.quiet and not summary and (format_name != "text"):
        for line in summary_lines(selection):
            note(line)
        patterns = sum(not s.exact for s in selection.selected)
        if format_name in ("pytest", "unittest") and patterns:
            known = (
                "1 name is only known as a pattern and is"
                if patterns == 1
                else f"{patterns} names are only known as patterns and are"
            )
            note(f"{known} left out; --format text lists all")
    return OK


def _labels(given: tuple[str, ...]) -> tuple[str, ...]:
    """The labels that were asked for, in their order; none for the default."""
    words = [word for value in given for word in value.replace(",", " ").split()]
    known = {word.upper(): word for word in LABELS} | {UNCLASSIFIED.upper(): UNCLASSIFIED, ANY.upper(): ANY}
    found = []
    for word in words:
        if word.upper() not in known:
            raise click.UsageError(f"--classification {word!r}: must be one of {', '.join(known.values())}")
        found.append(known[word.upper()])
    return (*LABELS, UNCLASSIFIED) if ANY in found else tuple(dict.fromkeys(found))


def _select(analysis: Analysis, device: str, labels: tuple[str, ...]) -> Selection:
    from hwlint.select.choose import default_labels
    from hwlint.select.choose import select as choose

    query = Query(device, labels or default_labels(device, analysis.catalog))
    return choose(analysis.suite, analysis.checked, query, analysis.settings)
