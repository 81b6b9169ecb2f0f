"""Registers hwlint's reference device, in the runner's process and in those that a test starts.

The processes of a test inherit the environment: with the runner's folder on ``PYTHONPATH`` torch finds an entry point
of the group ``torch.backends`` there and calls it at the end of ``import torch`` (``torch._import_device_backends``),
as it does for a back end that is installed.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

PACKAGE_VARIABLE = "HWLINT_REFERENCE_DEVICE"
"""The environment variable with the folder of ``hwlint.reference_device``; without it nothing is registered."""

_NAME = "hwlint_reference_device"


def autoload() -> None:
    """The entry point: register the device if the environment asks for it."""
    if os.environ.get(PACKAGE_VARIABLE):
        register(os.environ[PACKAGE_VARIABLE])


def register(folder: str) -> str:
    """Load the package from its folder, since hwlint need not be installed here, and register the device.

    Returns the device type. Raises what the registration raises, and ImportError if there is no such package.
    """
    if _NAME not in sys.modules:
        init = Path(folder) / "__init__.py"
        spec = importlib.util.spec_from_file_location(_NAME, init, submodule_search_locations=[folder])
        if spec is None or spec.loader is None:
            raise ImportError(f"no package in {folder}")
        package = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = package
        spec.loader.exec_module(package)
    return str(sys.modules[_NAME].register())
