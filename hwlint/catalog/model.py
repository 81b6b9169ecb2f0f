"""What one entry of each catalog table says.

Names are qualified as PyTorch documents them (``torch.cuda.synchronize``); versions are ``"major.minor"``. An empty
``since`` means torch 2.6 or earlier, an empty ``until`` that the name is still there in the newest torch the
catalog was checked with (2.14).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ANY_ACCELERATOR = "accelerator"
"""In a list of devices: whichever accelerator the host has."""

SETTINGS_PREFIXES = ("torch.backends.", "torch.version.")
"""Settings and versions (torch/backends, torch/version.py): read and written on any build, they need no device."""

Inclusion = Literal["always", "available", "registered", "allow_mps", "allow_xpu", "include_lazy", "external", "never"]
ApiKind = Literal["same", "renamed", "no_wrapper", "vendor_only"]
ApiFamily = Literal["memory", "stream", "rng", "device", "graph", "sync", "other"]
DecoratorRole = Literal[
    "whitelist",
    "blacklist",
    "availability",
    "count",
    "capability",
    "library",
    "dtype",
    "resource",
    "platform",
    "mode",
    "parametrization",
]
Asks = Literal["device", "accelerator", "count", "capability", "library", "platform", "value", "mode"]
BaseKind = Literal[
    "unittest",
    "plain",
    "device",
    "jit",
    "dynamo",
    "inductor",
    "cpython",
    "quantization",
    "distributed",
    "fsdp",
    "dtensor",
    "mixin",
]
ProfilerKind = Literal["activity", "argument", "sort_key", "field"]


@dataclass(frozen=True, slots=True)
class Backend:
    """A device type. The configuration makes these for out-of-tree back ends; ``name`` and ``module`` are enough."""

    name: str
    """The device type, as in ``torch.device(name)``."""
    module: str = ""
    """Its device module, ``torch.cuda``; empty when there is none."""
    decorators: tuple[str, ...] = ()
    """Decorators that restrict a test to it, ``onlyCUDA``."""
    collective: str = ""
    """The process-group back end that is the default for it."""
    in_tree: bool = False
    suffix: str = ""
    """What its generated classes end in; empty: nothing is generated under its own name."""
    hw_classification: str = ""
    """The HardwareClassification member, where there is one."""
    inclusion: Inclusion = "registered"
    """When ``instantiate_device_type_tests`` makes a class for it."""
    accelerator: bool = True
    """``onlyAccelerator`` lets it through."""
    native: bool = False
    """``onlyNativeDeviceTypes`` lets it through."""
    profiler_activity: str = ""
    dispatch_key: str = ""
    tensor_module: str = ""
    """Where its legacy tensor types live: ``torch.cuda`` for ``torch.cuda.FloatTensor``."""
    tensor_method: str = ""
    """The tensor and module method that moves there: ``cuda`` for ``.cuda()``."""
    is_attribute: str = ""
    """``is_cuda``."""

    @property
    def private_use(self) -> bool:
        """It takes the PrivateUse1 slot: its classes are called ``<Name>PRIVATEUSE1``."""
        return self.inclusion == "registered"


@dataclass(frozen=True, slots=True)
class DeviceApi:
    """A name of a device module against its device-generic form."""

    name: str
    """``torch.cuda.synchronize``; for a prefix entry the prefix itself, ``torch.cuda.nvtx``."""
    kind: ApiKind
    """same, renamed: ``torch.accelerator`` (or another generic module) has it, under this name or another;
    no_wrapper: only device modules have it, reachable through ``torch.get_device_module(device)``, or a generic
    class stands for it; vendor_only: it makes the test device-specific."""
    family: ApiFamily
    replacement: str = ""
    """Qualified name of the generic form, ``torch.get_device_module(device).x`` where there is no wrapper; empty for
    vendor_only."""
    since: str = ""
    """The torch version the replacement first appeared in."""
    drop_in: bool = False
    """Putting the replacement in the place of the name is enough: arguments and type of the result stay."""
    returns_differ: str = ""
    """Why the result is not the same; empty when it is."""
    raises_without_accelerator: bool = False
    """The replacement raises in a build without an accelerator."""
    positional_only: bool = False
    """The replacement takes the device only by position."""
    note: str = ""
    introduced: str = ""
    """The first version the name itself was in."""
    until: str = ""
    """The last version the name itself was in."""


@dataclass(frozen=True, slots=True)
class AcceleratorApi:
    """A name of ``torch.accelerator``."""

    name: str
    since: str = ""
    raises_without_accelerator: bool = False
    positional_only: bool = False
    """Its device argument has no keyword."""
    deprecated_for: str = ""
    """The name to use instead."""


@dataclass(frozen=True, slots=True)
class Decorator:
    """A decorator of PyTorch's test support that gates, restricts, or changes the parameters of a test."""

    name: str
    modules: tuple[str, ...]
    """Modules that define it."""
    role: DecoratorRole
    """whitelist: runs only on the devices named (widen it); blacklist: not on the devices named, expected failures
    included (keep it); availability, count, capability, library, resource, platform: what it asks the host for;
    dtype: sets dtypes; mode: changes settings, skips nothing; parametrization: makes several tests."""
    devices: tuple[str, ...] = ()
    device_aware: bool = False
    """Looks at the running test's ``device_type`` or ``device``, so it needs an instantiated class."""
    parameter: str = ""
    """The parameters it passes to the test, space-separated: ``devices``, ``dtype``."""
    called: bool = False
    """Used with parentheses (``@skipCUDAIf(...)``); otherwise bare (``@onlyCUDA``)."""
    takes_reason: bool = False
    """Has a place for a reason."""
    library: str = ""
    """What it needs beside the device: ``nccl``, ``triton``, ``magma``."""
    generic_form: str = ""
    """Name of the device-generic decorator to use instead; empty: keep it, or decide by hand."""
    library_form: str = ""
    """Name of the one of the same module that asks for the same library, on any accelerator."""
    needs_bool: bool = False
    """Its condition has to be of type ``bool``: a LazyVal raises at import."""
    own_signature: bool = False
    """What it makes of a test hides the test's parameters from ``inspect.signature``, passes others, or runs
    differently once the test takes a ``device``. The others hand on whatever they are called with."""
    note: str = ""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class SkipReplacement:
    """A skip that looks at the host, and the one that looks at the running test's device.

    ``source`` is a decorator's name (``form`` "decorator") or the flag in ``unittest.skipIf(flag, reason)``
    ("skipIf") or in ``unittest.skipIf(not flag, reason)`` and ``unittest.skipUnless(flag, reason)`` ("skipUnless").
    ``replacement`` is decorator source text in which ``{reason}`` stands for the reason, if it has a place for one.
    """

    source: str
    form: Literal["decorator", "skipIf", "skipUnless"]
    replacement: str
    parameter: str = ""
    """The parameter that takes the place of ``device``: ``devices``."""
    widens: bool = False
    """More devices run the test afterwards."""
    since: str = ""

    @property
    def decorator(self) -> str:
        """The bare name to import."""
        return self.replacement.partition("(")[0]


@dataclass(frozen=True, slots=True)
class Flag:
    """A constant or a call that a gate asks, or that holds a device."""

    name: str
    """Bare name of a constant, qualified name of a callable."""
    asks: Asks
    """value: it holds a device rather than an answer; mode: how the suite is run (sanitizers, dynamo, slow)."""
    modules: tuple[str, ...] = ()
    device: str = ""
    """The device type, ``ANY_ACCELERATOR``, or empty when no device is meant; 'cuda|cpu' where it holds several."""
    library: str = ""
    """Needed beside the device, ``triton``."""
    count: int = 0
    """How many devices."""
    capability: str = ""
    """``sm_80``, ``fp8``."""
    lazy: bool = False
    """A LazyVal: not a ``bool``, evaluated when asked."""
    callable: bool = False
    generic_form: str = ""
    """The device-generic flag, call or decorator; empty: keep it."""
    holds: tuple[str, ...] | bool | None = None
    """What an imported name holds, where that is the same on every host: a list of device types, True; of a name that
    is one device type, all those that it may be.
    """
    note: str = ""
    since: str = ""
    until: str = ""

    @property
    def is_device_value(self) -> bool:
        return self.asks == "value"


@dataclass(frozen=True, slots=True)
class FrameworkBase:
    """A base class of PyTorch's test support or of the standard library."""

    name: str
    """Qualified."""
    kind: BaseKind
    """mixin: no TestCase at all; unittest: one, but not PyTorch's; the others derive from ``common_utils.TestCase``."""
    bases: tuple[str, ...] = ()
    """Qualified names of its own bases."""
    is_test_case: bool = True
    """Derived from ``common_utils.TestCase``: the loader behind ``--hw-classification`` sees its subclasses."""
    hw_classification: str = ""
    """The HardwareClassification member its subclasses inherit."""
    accelerator_fixture: bool = False
    """Its fixtures pick an accelerator: ``device_type``, world size or process group follow the host's accelerator."""
    process_on_device: bool = False
    """It puts each process of a test on an accelerator of its own, and joins that one's process group."""
    device: str = ""
    """The device type it fixes, where it fixes one."""
    device_attribute: str = ""
    """The attribute through which a test asks for its device."""
    on_device_type: str = ""
    """First torch release in which its fixture runs on the ``device_type`` of the class, the CPU's included, and asks
    the host for no device of its own: the CPU variant does what the class did on a host without accelerator."""
    decides: tuple[str, ...] = ()
    """Members that decide on which device its fixture runs."""
    starts: str = ""
    """The decorator without which the fixture does nothing on a device, unless the test calls one of ``decides``
    itself; with ``init_rpc=False`` and a back end of the CPU it does not either. '' where it always acts."""
    has_tests: bool = False
    """It has test methods of its own, which subclasses inherit."""
    members: tuple[str, ...] = ()
    """setUp-like methods that a subclass has to call when it overrides them."""
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class ProfilerName:
    """An activity, argument, sort key or field of the profilers that names a device."""

    name: str
    kind: ProfilerKind
    device: str
    replacement: str = ""
    """Text of the device-generic form; empty: there is none."""
    keep: bool = False
    """Left alone by default although a generic form exists: it is a name in a record, not a request."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Collective:
    """A process-group back end."""

    name: str
    devices: tuple[str, ...]
    """Device types it can move."""
    default_for: tuple[str, ...] = ()
    """Device types whose default it is."""
    available: str = ""
    """The call that says whether this build has it."""
    decorator: str = ""
    """The requirement decorator."""
    vendor: str = ""
    """The device type it is bound to; empty: it serves several."""
    in_tree: bool = True


@dataclass(frozen=True, slots=True)
class NameKey:
    """A place that knows tests by name, so that a renamed test falls out of it."""

    name: str
    pattern: str
    """Glob from the repository's root."""
    keyed_by: Literal["file_name", "json_key", "string", "import", "file"]
    form: str
    """What a key looks like; ``{cls}``, ``{test}``, ``{module}`` and ``{path}`` stand for the parts."""
    meaning: str


@dataclass(frozen=True, slots=True)
class TensorType:
    """A legacy tensor or storage type: a device and a dtype in one name."""

    name: str
    kind: Literal["tensor", "sparse", "storage"]
    device: str
    dtype: str
    """Qualified: ``torch.float32``."""
