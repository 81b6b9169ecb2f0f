"""What the text that device_parameter writes reads: the loader's function, ``onlyAccelerator``, ``torch`` itself."""

from __future__ import annotations

from collections.abc import Sequence

from codemods.device_spots import newer_than
from codemods.device_values import Blocked, FunctionEdit
from codemods.imports import is_taken
from codemods.plan import COMMON_DEVICE_TYPE, Context, Import

ONLY = Import(COMMON_DEVICE_TYPE, "onlyAccelerator")
TORCH = Import("torch")
INSTANTIATE = Import(COMMON_DEVICE_TYPE, "instantiate_device_type_tests")


def check_imports(context: Context) -> None:
    """Raise Blocked where one of the names cannot be had."""
    for one in (INSTANTIATE, ONLY):
        if is_taken(context.module, one):
            raise Blocked("name-taken", f"`{one.name}` means something else in this file")
    if newer_than(context.catalog.decorators["onlyAccelerator"].since, context.settings):
        since = context.catalog.decorators["onlyAccelerator"].since
        raise Blocked("needs-newer-torch", f"@onlyAccelerator is there from torch {since} on")
    check_torch(context)


def check_torch(context: Context) -> None:
    """Raise Blocked where `torch` is not, and cannot be, imported under its name."""
    if is_taken(context.module, TORCH):
        raise Blocked("name-taken", "`torch` means something else in this file")
    if any(name == "torch" != local for local, name in context.module.imports):
        raise Blocked("name-taken", "`torch` is imported under another name")


def torch_for(context: Context, edits: Sequence[FunctionEdit]) -> tuple[Import, ...]:
    """The import of torch, where it is not there and the new text reads it."""
    if "torch" in dict(context.module.imports) or not any(_reads_torch(edit) for edit in edits):
        return ()
    return (TORCH,)


def _reads_torch(edit: FunctionEdit) -> bool:
    own = edit.value.per_rank and bool(edit.spots or edit.pass_to) and not edit.value.is_type
    own = own or any("torch." in passed.form for passed in edit.passed)
    return own or any(spot.action not in ("value", "move") or "torch." in spot.new for spot in edit.spots)
