"""What a file needs next, with the command to run.

=============== =========================================================================================
repair          it cannot be read
migrate         ``hwlint migrate`` classifies all of it by itself
migrate-partly  the same but for one refusal
by-hand         several refusals
unbind          every class is classified, yet tagged classes are bound to a device
contract        every class is classified, yet one breaks the contract of its label
unlist          nothing is left to do but to take it off the allowlist
done, empty     nothing to do; no test class
=============== =========================================================================================
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from hwlint.progress.model import UNCLASSIFIED, Construct, FileState, Step, StepKind

TITLES: dict[StepKind, str] = {
    "repair": "repair",
    "migrate": "migrate finishes it",
    "migrate-partly": "migrate, one refusal",
    "by-hand": "by hand",
    "unbind": "unbind from the device",
    "contract": "keep the contract",
    "unlist": "take off the allowlist",
    "done": "done",
    "empty": "no test class",
}
"""In the order of the work, for people."""
CHEAP: tuple[StepKind, ...] = ("unlist", "migrate", "migrate-partly")


def next_step(file: FileState) -> Step:
    """The step for a file whose other fields are set."""
    path = shlex.quote(file.path)
    if file.problem:
        return Step("repair", f"hwlint check {path}", (file.problem,))
    if file.unclassified:
        refusals = [f"{c.name}: {why}" for c in file.classes if c.label == UNCLASSIFIED for why in c.refusals]
        if not refusals:
            return Step("migrate", f"hwlint migrate {path}")
        if len(refusals) == 1:
            return Step("migrate-partly", f"hwlint migrate {_option(file)}{path}", tuple(refusals))
        return Step("by-hand", f"hwlint classify {path}", tuple(refusals))
    if file.bound:
        found = (one for cls in file.classes for one in cls.bound)
        return Step("unbind", f"hwlint check {path}", _described(found))
    if file.contract:
        return Step("contract", f"hwlint check --select HW1 {path}", _described(file.contract))
    if file.allowlisted and file.clean:
        return Step("unlist", "hwlint allowlist --update")
    return Step("done" if file.classes else "empty")


def _option(file: FileState) -> str:
    """What ``migrate`` has to be told to do what it refuses by itself."""
    refused = next(c for c in file.classes if c.label == UNCLASSIFIED and c.refusals)
    if refused.verdict == "SPLIT":
        return "--split "
    return "--confidence likely " if refused.confidence == "likely" else ""


def cheapest(files: Iterable[FileState]) -> tuple[FileState, ...]:
    """What costs least to finish: first what only needs to leave the allowlist, then what ``migrate`` finishes by
    itself, then what it finishes but for one refusal; of one kind the files with most unclassified classes first.
    """
    wanted = [file for file in files if file.step.kind in CHEAP]
    return tuple(sorted(wanted, key=lambda f: (CHEAP.index(f.step.kind), -f.unclassified, f.path)))


def _described(found: Iterable[Construct]) -> tuple[str, ...]:
    counts: dict[tuple[str, str], int] = {}
    for one in found:
        counts[one.code, one.name] = counts.get((one.code, one.name), 0) + one.count
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(f"{code} {name}".strip() + (f" ({count})" if count > 1 else "") for (code, name), count in ordered)
