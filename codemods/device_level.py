"""Whether instantiating a class is a safe change: its tests run where they ran, but on further accelerators.

What the loader gives each variant beyond its device is told here as well, where a test could notice it.
"""

from __future__ import annotations

from collections.abc import Sequence

from codemods.device_unread import first_to_ask
from codemods.plan import Context
from hwlint.suite.ids import class_ids
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reach

NOTICED = ("memory", "stream", "graph")
"""Families of device APIs by which a test can tell CUDATestBase from its old base: that one checks for leaks and runs
each test on a stream of its own (torch/testing/_internal/common_device_type.py; pytorch/pytorch#195155)."""


def doubts(context: Context, cls: LinkedClass, label: str, reached: Sequence[Reach]) -> tuple[str, ...]:
    """Why it takes somebody's word to instantiate ``cls`` as ``label``, in words; nothing where the change is safe.

    ``reached`` is what its tests reach.
    """
    found = [_label(context, cls, label)]
    if label in ("ACCELERATOR", "CUDA"):
        found.append(_noticed(context, label, reached))
    if label != "CPU":
        found += (first_to_ask(context, cls), _fixture(cls))
    found.append(_keyed(context, cls))
    return tuple(why for why in found if why)


def _label(context: Context, cls: LinkedClass, label: str) -> str:
    """The doubt about the label that the class would get."""
    verdict = context.verdict(cls)
    if cls.label or context.label_option(cls) or verdict is None or verdict.confidence == "certain":
        return ""
    return "" if context.settings.migrate.confidence == "likely" else f"{label} is likely, not certain"


def _noticed(context: Context, label: str, reached: Sequence[Reach]) -> str:
    uses = [one.use.name for test in reached for one in test.uses if one.use.construct == "api"]
    found = next((name for name in uses if _may_notice(context, label, name)), "")
    if not found:  # Uses are of one vendor's device: the device-generic names of the families are none.
        apis = (entry for entry in context.catalog.apis.values() if entry.family in NOTICED)
        generic = sorted({e.replacement for e in apis if e.replacement and "(" not in e.replacement})
        found = next((name for name in generic if name in context.source().text), "")
    return f"CUDATestBase checks for leaks and uses a stream of its own, and {found} may notice" if found else ""


def _may_notice(context: Context, label: str, name: str) -> bool:
    """A class for CUDA alone may use what the catalog does not know."""
    entry = context.catalog.find_api(name)
    return label == "CUDA" if entry is None else entry.family in NOTICED


def _fixture(cls: LinkedClass) -> str:
    """CUDATestBase knows its device only from ``setUpClass``, which the loader therefore calls (as
    ``_init_and_get_primary_device``); what the framework's own bases do there is theirs to repeat."""
    if any(m.name == "setUpClass" for owner in cls.mro for m in owner.facts.methods):
        return "the loader calls its setUpClass when the file is imported"
    return ""


def _keyed(context: Context, cls: LinkedClass) -> str:
    for test in class_ids(cls):
        place = context.keys.place_of(test.class_name, test.name)
        if place:
            return f"{place} knows {test.class_name}.{test.name} by its name"
    return ""
