"""Where a command's result goes: standard output or a file, in colour or not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from hwlint.errors import UsageError


def use_color(wish: bool | None, output: Path | None) -> bool:
    """Whether to colour: as ``--color``/``--no-color`` say, else only on a terminal whose user has not said no.

    NO_COLOR as https://no-color.org has it; FORCE_COLOR is its opposite.
    """
    if wish is not None:
        return wish
    if output is not None or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def write_output(text: str, output: Path | None = None, *, utf8: bool = True) -> None:
    """Write a result to ``output``, or to standard output where that is None.

    ``utf8`` is for what programs read; what people read goes out in the terminal's encoding, and what that cannot say
    is escaped. UsageError where the file cannot be written.
    """
    encoding = "utf-8" if utf8 or output is not None else (sys.stdout.encoding or "utf-8")
    data = text.encode(encoding, "backslashreplace")
    if output is None:
        click.echo(data, nl=False)
        return
    from hwlint.atomic import write_atomic

    try:
        if output.exists() and not output.is_file():
            output.write_bytes(data)  # /dev/stdout and named pipes can be written to, not replaced.
        else:
            write_atomic(output, data)
    except OSError as error:
        raise UsageError(f"{output}: cannot be written: {error.strerror or error}") from None


def note(text: str) -> None:
    """A diagnostic, on standard error."""
    click.echo(text, err=True)
