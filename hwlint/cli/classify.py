"""``hwlint classify``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hwlint.classify.verdict import Verdict
from hwlint.cli import FINDINGS, OK
from hwlint.cli.common import RunOptions, open_cache, open_project, output_options, progress_bar, run_options
from hwlint.cli.output import write_output
from hwlint.scan.facts import LABELS

if TYPE_CHECKING:
    from hwlint.engine import Analysis

FORMATS = ("text", "json", "csv", "markdown")
CONFIDENCES = ("certain", "likely", "unsure")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a run remembers."""

    verdicts: tuple[Verdict, ...]


@click.command("classify")
@run_options
@output_options(FORMATS)
@click.option("--tests", is_flag=True, help="The judgement on each test too (text; json has it always).")
@click.option("--only-unclassified", is_flag=True, help="Classes that have no classification, own or inherited.")
@click.option("--disagree", is_flag=True, help="Classes whose classification is another than the verdict.")
@click.option("--label", "labels", multiple=True, type=click.Choice([*LABELS, "SPLIT"]), help="Verdicts of this label.")
@click.option("--confidence", "confidences", multiple=True, type=click.Choice(CONFIDENCES), help="Verdicts that sure.")
def classify(
    run: RunOptions,
    format_name: str,
    output: Path | None,
    color: bool | None,
    tests: bool,
    only_unclassified: bool,
    disagree: bool,
    labels: tuple[str, ...],
    confidences: tuple[str, ...],
) -> int:
    """Say which hardware classification each test class should have, how sure that is, and why.

    -v shows the evidence. SPLIT is a class whose tests belong to more than one label. 'certain' is what migrate may
    write without asking; 'likely' is for a person to confirm; 'unsure' says that the code does not tell.

    Exit status: 0; 1 where --disagree finds any; 2 where hwlint could not do what was asked.
    """
    project = open_project(replace(run, verbose=False))
    settings = replace(project.settings, level="full")
    with open_cache(run, settings) as cache, progress_bar(run) as bar:
        from hwlint.engine import remembered

        found = remembered(
            _classify, Verdicts, "classify", settings, project.discovery, jobs=run.jobs or 0, cache=cache, progress=bar
        )
    shown = [
        v
        for v in found.verdicts
        if (not only_unclassified or not v.current)
        and (not disagree or (v.current not in ("", v.label)))
        and (not labels or v.label in labels)
        and (not confidences or v.confidence in confidences)
    ]
    from hwlint.output import verdicts as formats

    if format_name == "text":
        text = formats.as_text(shown, evidence=run.verbose, tests=tests)
    else:
        text = formats.FORMATS[format_name](shown)
    write_output(text, output, utf8=format_name != "text")
    return FINDINGS if disagree and shown else OK


def _classify(analysis: Analysis) -> Verdicts:
    from hwlint.classify.judge import classify as judge

    return Verdicts(judge(analysis.suite, analysis.checked, analysis.settings))


command = classify
