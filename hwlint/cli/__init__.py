"""The command line. A command's module is imported when the command is run, so that starting up costs little."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from hwlint import __version__

COMMANDS = {
    "check": "Report what is wrong with test classes and their devices.",
    "migrate": "Rewrite tests to device-generic form.",
    "classify": "Say which hardware classification each test class should have, and why.",
    "progress": "Show how far a test suite has come.",
    "select": "List the tests that apply to a device.",
    "verify": "Run tests on a stand-in device to show that they are device-generic.",
    "rule": "Explain a rule, or list them all.",
    "allowlist": "Check or update the list of files not yet migrated.",
    "baseline": "Record today's findings so that only new ones fail.",
}
"""Name and summary; the command is the function of that name in the module of that name in this package."""

OBJECTS_BETWEEN_COLLECTIONS = 2_000_000

OK, FINDINGS, FAILED, INTERNAL_ERROR, INTERRUPTED = 0, 1, 2, 3, 130
"""Exit statuses: nothing to report, findings, could not do what was asked, internal error, interrupted."""


class LazyGroup(click.Group):
    """Knows its commands by name; the help page needs none of their modules."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"hwlint.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="hwlint %(version)s")
def group() -> None:
    """Move PyTorch-style test suites off hardcoded devices, and keep them off.

    Exit status: 0 nothing to report, 1 findings, 2 hwlint could not do what was asked, 3 an internal error.
    """


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit status; every error is a message on standard error."""
    try:
        status = group.main(None if arguments is None else list(arguments), prog_name="hwlint", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough. Python would complain once more while it shuts down.
        sys.stdout = None
        return OK
    except Exception as error:
        return _failed(error)
    return status if isinstance(status, int) else OK


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """The ``hwlint`` script."""
    # A command is short and hardly makes a cycle: to look for them would take a tenth of its time, and more at the end.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    status = run(arguments)
    gc.freeze()
    sys.exit(status)


def _failed(error: Exception) -> int:
    from hwlint.errors import UserError

    if isinstance(error, UserError):
        click.echo(f"error: {error}", err=True)
        return FAILED
    import traceback

    click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    click.echo(f"internal error in hwlint {__version__}: please report it with the lines above", err=True)
    return INTERNAL_ERROR
