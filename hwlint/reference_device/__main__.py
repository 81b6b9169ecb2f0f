"""``python -m hwlint.reference_device script.py [args]``: run a script with the reference accelerator registered."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Sequence

from . import register

USAGE = """usage: python -m hwlint.reference_device [--name NAME] [--device-count N] script.py [args]

Runs a script with a CPU-backed reference accelerator registered with torch.
"""


def main(arguments: Sequence[str]) -> int:
    """Register the device and run the script as ``__main__``. Returns 2 for bad arguments, otherwise 0."""
    name, device_count = "refdev", 2
    rest = list(arguments)
    while rest and rest[0].startswith("--"):
        option = rest.pop(0)
        if option == "--help":
            print(USAGE, end="")
            return 0
        if option == "--name" and rest:
            name = rest.pop(0)
        elif option == "--device-count" and rest and rest[0].isdigit():
            device_count = int(rest.pop(0))
        else:
            print(f"{USAGE}error: unknown option or missing value: {option}", file=sys.stderr)
            return 2
    if not rest or not os.path.isfile(rest[0]):
        print(f"{USAGE}error: no such script: {rest[0] if rest else '(none given)'}", file=sys.stderr)
        return 2
    try:
        register(name, device_count)
    except ImportError as error:
        print(f"error: the reference device needs a recent torch: {error}", file=sys.stderr)
        return 2
    sys.argv = rest
    sys.path[0] = os.path.dirname(os.path.abspath(rest[0]))
    runpy.run_path(rest[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
