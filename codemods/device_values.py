"""What stands for the device under test in a function, and why something there is left alone.

``device`` is the string that the loader passes (``cuda:0``), ``self.device_type`` and ``cls.device_type`` are bare
types. A bare type is asked for by what joins it with an index of its own, compares it, or looks it up
(pytorch/pytorch#170254, #192972).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from codemods.plan import REASONS, CannotEdit, ImportedChange
from hwlint.scan.facts import Span

MEANT = ("cuda", "accelerator")
"""Devices that a suite names when it means the accelerator there is."""
AVAILABLE = ("cuda", "xpu", "accelerator")
"""Devices that a test asks for when it asks whether there is an accelerator."""


class Blocked(CannotEdit):
    """Something that keeps a test as it is: ``reason`` is a key of REASONS, the text says it in full."""

    def __init__(self, reason: str, text: str, span: Span | None = None) -> None:
        super().__init__(text)
        if reason not in REASONS:
            raise ValueError(f"{reason!r} is no reason for a refusal")
        self.reason = reason
        self.text = text
        self.span = span


@dataclass(frozen=True, slots=True)
class DeviceValue:
    """How a function names the device it runs on."""

    text: str = "device"
    is_type: bool = False
    """Whether it is a bare type already."""
    per_rank: bool = False
    """Each process has a device of its own: the index of ``device`` is that of rank 0 and must not be used."""

    @property
    def type_text(self) -> str:
        return self.text if self.is_type else f"torch.device({self.text}).type"

    @property
    def place_text(self) -> str:
        """Where a tensor is put that was put on the current device."""
        return self.type_text if self.per_rank else self.text

    @property
    def needs_torch(self) -> bool:
        return not self.is_type


SELF_TYPE = DeviceValue("self.device_type", is_type=True)
CLS_TYPE = DeviceValue("cls.device_type", is_type=True)
NO_DEVICE = DeviceValue("torch", is_type=True)
"""That of a function which asks how many accelerators there are, and names no device."""


@dataclass(frozen=True, slots=True)
class Spot:
    """One place that is rewritten."""

    span: Span
    action: str
    """A key of codemods.device_edits.ACTIONS."""
    old: str = ""
    """What has to stand there: the value of the string, the name."""
    new: str = ""
    """Qualified name that takes its place, where it is no device value."""
    note: str = ""
    """What the edit has to see to: 'unused' (result), 'positional', 'index' ..."""


@dataclass(frozen=True, slots=True)
class Passed:
    """How the device is passed to a helper that has a parameter of its own for it (codemods.device_defaults)."""

    callee: str
    """As it is called: 'helper', 'self.helper', 'Model'."""
    position: int
    """Of the parameter among the positional arguments, -1 where it is passed by name alone."""
    form: str
    """What is passed, '{}' for the device: the default may be a ``torch.device``."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop over devices that goes, with the list that it runs over; its body stays."""

    span: Span
    """From the start of what goes to the end of what it runs over."""
    name: str
    """Its variable."""


@dataclass(frozen=True, slots=True)
class FunctionEdit:
    """What is done to one function or method."""

    line: int
    """Of its ``def``."""
    value: DeviceValue = field(default_factory=DeviceValue)
    parameter: str = ""
    """Name of the parameter that it gets: 'device', or '' for none."""
    spots: tuple[Spot, ...] = ()
    pass_to: tuple[str, ...] = ()
    """Callees that get the device as their first argument: 'helper', 'self.helper'."""
    passed: tuple[Passed, ...] = ()
    """How those of ``pass_to`` get it that have a parameter of their own for it."""
    required: bool = False
    """Its own ``device`` loses its default: whoever calls it passes one."""
    removed: tuple[Span, ...] = ()
    """Decorators that go."""
    added: tuple[str, ...] = ()
    """Decorators that come, outermost first, above all others."""
    swapped: tuple[tuple[Span, str], ...] = ()
    """Decorators with the text that takes their place."""
    rename: str = ""
    loop: Loop | None = None
    """The loop that is all of the function, and goes."""
    called: str = ""
    """How a method of another class is called (codemods.device_helpers)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceChange(ImportedChange):
    """A class that is instantiated, or tests of one that is already."""

    class_line: int
    functions: tuple[FunctionEdit, ...]
    helpers: tuple[int, ...] = ()
    """Lines of helpers that get a parameter."""
    fallback: tuple[FunctionEdit, ...] = ()
    """What is done instead where some helper is not just called: methods ask the class for its device type."""
    class_removed: tuple[Span, ...] = ()
    class_swapped: tuple[tuple[Span, str], ...] = ()
    ungated: tuple[int, ...] = ()
    """Lines of tests that nothing but their own literals keeps off the CPU: these must be reached whatever happens."""
    fixtures: tuple[int, ...] = ()
    """Lines of what runs before a test is skipped."""
    claims: tuple[int, ...] = ()
    """Lines of functions that must make no claim about one vendor's device: more devices run them afterwards."""
    arguments: str = ""
    """Of the instantiation, behind ``globals()``; starts with ', ' where there are any."""
    replaced: Span | None = None
    """The call of instantiate_parametrized_tests that is replaced."""
    above: str = ""
    """A statement that stands above the call."""
    instantiate: bool = False
    gone: tuple[int, ...] = ()
    """Lines of tests that go, since another does the same on whatever device."""
    static: tuple[int, ...] = ()
    """Lines of static methods that become ordinary ones."""
    pinned: tuple[Span, ...] = ()
    """Statements of the class body that go, as the loader says on which device it runs."""
