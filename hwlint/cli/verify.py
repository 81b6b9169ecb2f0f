"""``hwlint verify``: the command line of ``hwlint.verify``."""

from __future__ import annotations

import sys

import click


@click.command(name="verify", short_help="Run test files before and after a change, on the CPU and a reference device.")
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option("--base", metavar="REV", help="The git revision that holds the files before the change.")
@click.option("--before", metavar="PATH", help="The file before the change, or a folder that has it.")
@click.option("--python", default=None, metavar="PYTHON", help="The interpreter that has torch [default: this one].")
@click.option(
    "--device", "devices", multiple=True, metavar="NAME",
    help="cpu, reference, or a device type of torch or of --backend-module; repeatable [default: cpu and reference].",
)  # fmt: skip
@click.option("--backend-module", metavar="NAME", help="A module that registers the device type given with --device.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=1800.0, show_default=True, metavar="S",
              help="Seconds for one run of one file.")  # fmt: skip
@click.option("--memory-limit", type=click.IntRange(min=0), default=None, metavar="MB",
              help="Megabytes for one run; 0 for no limit [default: 80% of the machine's].")  # fmt: skip
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, metavar="N", help="Runs at a time.")
@click.option("--runner", type=click.Choice(["unittest", "pytest"]), default="unittest", show_default=True,
              help="How the tests are loaded and run.")  # fmt: skip
@click.option("--rename", "renames", multiple=True, metavar="OLD=NEW",
              help="A class, or Class.test, that the change renamed; repeatable.")  # fmt: skip
@click.option("--format", "output_format", type=click.Choice(["text", "json", "markdown"]), default="text",
              show_default=True)  # fmt: skip
def verify(
    files: tuple[str, ...], base: str | None, before: str | None, python: str | None, devices: tuple[str, ...],
    backend_module: str | None, timeout: float, memory_limit: int | None, jobs: int, runner: str,
    renames: tuple[str, ...], output_format: str,
) -> None:  # fmt: skip
    """Run test FILES with real torch, before and after a change, and compare what became of each test.

    This command, unlike all others, runs the code it is given. Exit status: 0 no test was lost or got worse, 1 one was
    (without --base or --before: one fails), 2 it could not be run, 3 an internal error.
    """
    from hwlint.verify import render
    from hwlint.verify.model import VerifyError
    from hwlint.verify.process import Limits, default_memory_limit
    from hwlint.verify.runs import Interpreter
    from hwlint.verify.verify import Request
    from hwlint.verify.verify import verify as run_verify

    if base is not None and before is not None:
        raise click.UsageError("--base and --before exclude each other")
    if backend_module is not None and not set(devices) - {"cpu", "reference"}:
        raise click.UsageError("--backend-module needs a --device that it registers")
    pairs = [rename.partition("=") for rename in renames]
    if not all(old and new for old, _, new in pairs):
        raise click.UsageError("--rename takes OLD=NEW")
    limit = default_memory_limit(jobs) if memory_limit is None else memory_limit
    request = Request(
        files=tuple(dict.fromkeys(files)),
        interpreter=Interpreter(python or sys.executable, Limits(timeout, limit), runner, backend_module),
        devices=tuple(dict.fromkeys(devices)) or ("cpu", "reference"),
        base=base,
        before=before,
        jobs=jobs,
        renames={old: new for old, _, new in pairs},
    )
    try:
        report = run_verify(request, progress=lambda line: click.echo(f"running {line}", err=True))
    except VerifyError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(2)
    rendering = {"text": render.render_text, "json": render.render_json, "markdown": render.render_markdown}
    click.echo(rendering[output_format](report), nl=False)
    sys.exit(1 if report.is_bad else 0)
