"""What the names of a class, its file and its tests say: some are about one vendor's device or library."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from hwlint.catalog import Catalog
from hwlint.classify.subject import DEVICE_LABELS, facts
from hwlint.suite.model import LinkedClass

PIECE = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
"""'TestCUDADeviceGuard' -> Test, CUDA, Device, Guard; 'test_matmul_cuda' -> test, matmul, cuda."""


@dataclass(frozen=True)
class Words:
    """Words that stand for one vendor's device, and that device's type."""

    devices: dict[str, str]

    @functools.cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self.devices)), re.IGNORECASE)

    def first(self, text: str) -> tuple[str, str]:
        """The first piece of a name that begins with one of the words, and the device; '' for none."""
        if self.pattern.search(text) is None:
            return "", ""
        for piece in PIECE.findall(text):
            match = self.pattern.match(piece)
            if match is not None:
                return piece.lower(), self.devices[match[0].lower()]
        return "", ""


@functools.lru_cache(maxsize=64)
def vendor_name(cls: LinkedClass) -> tuple[str, str]:
    """(word, device type) of what the class, its file, a folder or at least half of its tests are named after; '' for
    none.
    """
    libraries = vendor_libraries(cls.suite.catalog)
    *folders, file = cls.path.removesuffix(".py").split("/")
    homes = [folder for folder in folders if folder in DEVICES.devices]
    place = "_".join((*homes, file, cls.name))
    found = min(DEVICES.first(place), libraries.first(place), key=lambda one: not one[0])
    if found[0]:
        return found
    names = [function.name for function in cls.own_tests]
    listed = "\n".join(names).lower()
    if not any(library in listed for library in libraries.devices):
        return "", ""
    named = [one for name in names if (one := libraries.first(name))[0]]
    return named[0] if named and 2 * len(named) >= len(names) else ("", "")


def names_library(test: str, catalog: Catalog) -> bool:
    """Whether a test is named after a library of one vendor; a device in its name is mostly placement."""
    return bool(vendor_libraries(catalog).first(test)[0])


@functools.lru_cache(maxsize=4)
def vendor_libraries(catalog: Catalog) -> Words:
    """Libraries that one vendor's device alone has; its process-group back ends are some."""
    vendors: dict[str, str] = facts()["libraries"]["vendors"]
    found = {name: device for device, names in vendors.items() for name in names.split()}
    bound = {name: one.vendor for name, one in catalog.collectives.items() if one.vendor not in ("", "cpu")}
    return Words({**found, **bound})


DEVICES = Words({name: name for name in DEVICE_LABELS if name != "cpu"})
