"""What the names of a class, its file and its tests say: some are about one vendor's device or library."""

from __future__ import annotations

import functools
import re

from hwlint.catalog import Catalog
from hwlint.classify.subject import DEVICE_LABELS, facts
from hwlint.suite.model import LinkedClass

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""'TestCUDADeviceGuard' -> Test, CUDA, Device, Guard; 'test_matmul_cuda' -> test, matmul, cuda."""


@functools.lru_cache(maxsize=64)
def vendor_name(cls: LinkedClass) -> tuple[str, str]:
    """(word, device type) of what the class, its file, a folder or at least half of its tests are named after; '' for
    none.
    """
    libraries = vendor_libraries(cls.suite.catalog)
    devices = {name: name for name in DEVICE_LABELS if name != "cpu"}
    *folders, file = cls.path.removesuffix(".py").split("/")
    homes = [folder for folder in folders if folder in devices]
    found = _first("_".join((*homes, file, cls.name)), {**devices, **libraries})
    named = [one for function in cls.own_tests if (one := _first(function.name, libraries))[0]]
    if not found[0] and named and 2 * len(named) >= len(cls.own_tests):
        return named[0]
    return found


def names_library(test: str, catalog: Catalog) -> bool:
    """Whether a test is named after a library of one vendor; a device in its name is mostly placement."""
    return bool(_first(test, vendor_libraries(catalog))[0])


@functools.lru_cache(maxsize=4)
def vendor_libraries(catalog: Catalog) -> dict[str, str]:
    """Libraries that one vendor's device alone has -> that device; its process-group back ends are some."""
    vendors: dict[str, str] = facts()["libraries"]["vendors"]
    found = {name: device for device, names in vendors.items() for name in names.split()}
    bound = {name: one.vendor for name, one in catalog.collectives.items() if one.vendor not in ("", "cpu")}
    return {**found, **bound}


def _first(text: str, words: dict[str, str]) -> tuple[str, str]:
    """The first piece of a name that begins with one of the words, and what that word stands for."""
    for piece in PIECE.findall(text):
        for word, device in words.items():
            if piece.lower().startswith(word):
                return piece.lower(), device
    return "", ""
