"""Facts about PyTorch as data: device APIs, decorators, flags, framework bases, back ends, profiler names.

The facts are in the TOML files of this package, each with its sources at its head; ``tools/check_catalog.py``
compares them with an installed torch. ``load_catalog()`` gives the tables as read-only mappings, each read when
first asked for.
"""

from hwlint.catalog.load import Catalog, load_catalog
from hwlint.catalog.model import (
    ANY_ACCELERATOR,
    SETTINGS_PREFIXES,
    AcceleratorApi,
    Backend,
    Collective,
    Decorator,
    DeviceApi,
    Flag,
    FrameworkBase,
    NameKey,
    ProfilerName,
    SkipReplacement,
    TensorType,
)

__all__ = [
    "ANY_ACCELERATOR",
    "SETTINGS_PREFIXES",
    "AcceleratorApi",
    "Backend",
    "Catalog",
    "Collective",
    "Decorator",
    "DeviceApi",
    "Flag",
    "FrameworkBase",
    "NameKey",
    "ProfilerName",
    "SkipReplacement",
    "TensorType",
    "load_catalog",
]
