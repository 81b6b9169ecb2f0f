"""What one module says, as frozen facts: the only thing that leaves the scan.

Everything here is a plain value (tuples, strings, numbers), so that it pickles small and fast, compares by value and
can be built by hand in a test. Positions are those of ``ast``: lines from 1, columns in UTF-8 bytes from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

LABELS = ("GENERIC", "ACCELERATOR", "CPU", "CUDA", "MPS", "XPU")
"""Members of torch.testing._internal.common_utils.HardwareClassification (torch 2.14.1), in its order."""
DEVICE_LABELS = LABELS[2:]
"""Those for one device type, whose name they are."""


class Span(NamedTuple):
    """A stretch of source text, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def holds(self, other: Span) -> bool:
        """Whether ``other`` lies in it, from one end to the other at most."""
        return self[:2] <= other[:2] and other[2:] <= self[2:]


Literals = str | int | float | bool | None | tuple["Literals", ...]
"""A value that ``ast.literal_eval`` would give, lists and sets as tuples."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a decorator or an instantiation: ``name`` is '' for a positional one, '*' or '**' for an
    unpacked one.
    """

    name: str
    value: Literals
    known: bool
    """Whether ``value`` is what the program will see; False leaves ``value`` None."""
    text: str
    """The source, as ``ast.unparse`` writes it."""
    literal: bool = True
    """Written as a literal in place (what the upstream linter accepts), not through a module constant."""


@dataclass(frozen=True, slots=True)
class Decorator:
    """``@name`` or ``@name(arguments)``."""

    name: str
    """Dotted as written: 'onlyCUDA', 'unittest.skipIf'; '' where it is no dotted name."""
    qualified: str
    """The same with the module's imports applied: 'torch.testing._internal.common_device_type.onlyCUDA'."""
    span: Span
    """From after the '@' to the end."""
    called: bool
    arguments: tuple[Argument, ...] = ()


Role = Literal[
    "placement", "comparison", "text", "fake", "key", "parametrization", "profiler", "api", "backend", "unknown"
]
Construct = Literal[
    "string",  # "cuda", "cuda:0"
    "fstring",  # f"cuda:{i}", "cuda:" + str(i), "cuda:%d" % i
    "method",  # x.cuda(), x.xpu(), x.cpu()
    "api",  # torch.cuda.synchronize
    "constant",  # GPU_TYPE, DEVICE, device_type: a name that holds a device
    "tensor_type",  # torch.cuda.FloatTensor
    "activity",  # ProfilerActivity.CUDA
    "profiler_field",  # use_cuda=True, sort_by="cuda_time_total"
    "backend",  # "nccl", "gloo"
    "attribute",  # x.is_cuda
    "bare_device",  # the injected device parameter compared with a bare type, or formatted as f"{device}:0"
]


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """One place that names a device."""

    span: Span
    role: Role
    construct: Construct
    device: str
    """Device type ('cuda', 'cpu'), with an index where it is literal ('cuda:1'); 'accelerator' for GPU_TYPE and kin;
    '?' unknown.
    """
    name: str
    """The literal, the API's qualified name, the constant's name, the method's name."""
    context: str = ""
    """Where it stands, in words of the source: 'torch.randn(device=)', '.to()', 'self.assertEqual()', '== '."""
    via: str = ""
    """The local name, attribute, constant or parameter that carries it here, '' when it stands here itself."""
    traced: bool = False
    """Inside code that torch.compile or make_fx traces."""
    sure: bool = True
    """False where the role is a guess (an argument of a function that is not known)."""


RequirementKind = Literal["device", "accelerator", "count", "capability", "library", "platform", "flag", "unknown"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One thing that a gate asks for: a device type ('cuda'), any accelerator, a count ('2'), a capability, a
    library.
    """

    kind: RequirementKind
    value: str
    absent: bool = False
    """The test runs only where it is missing ('skip if CUDA is there')."""


Combine = Literal["", "all", "any", "mixed"]
"""How several requirements combine; '' for one alone."""

GateForm = Literal[
    "decorator",
    "class_decorator",
    "skip_call",
    "raise_skip",
    "early_return",
    "if_block",
    "if_class",
    "module_exit",
    "setup",
]


@dataclass(frozen=True, slots=True)
class Gate:
    """A skip or guard that asks for a device."""

    span: Span
    form: GateForm
    name: str
    """The decorator or the condition, as written."""
    requirements: tuple[Requirement, ...]
    combine: Combine = ""
    """How several requirements combine; '' for one alone."""
    reason: str = ""
    blocking: bool = True
    """False for a guard that only leaves out part of the test (an ``if`` around some statements)."""

    @property
    def compound(self) -> bool:
        """Several conditions put together; one flag that implies several requirements is not."""
        return self.combine != ""


FunctionKind = Literal["test", "setup", "helper"]


@dataclass(frozen=True, slots=True)
class Function:
    """A function or method, with what it does about devices."""

    name: str
    span: Span
    """From the first decorator or ``def`` to the end of the body."""
    line: int
    """Of ``def`` itself, as upstream's linter counts."""
    kind: FunctionKind
    parameters: tuple[str, ...]
    defaulted: tuple[str, ...] = ()
    """Those of ``parameters`` that have a default."""
    is_async: bool = False
    decorators: tuple[Decorator, ...] = ()
    references: tuple[str, ...] = ()
    """Names it reads, sorted: 'helper', 'CONSTANT', 'self.attr', 'cls.attr', 'super.setUp'; dotted heads only for
    module names.
    """
    uses: tuple[DeviceUse, ...] = ()
    gates: tuple[Gate, ...] = ()
    reads_device: bool = True
    """Whether the body reads its ``device``/``devices`` parameter (True where it has none)."""
    mixed: tuple[Span, ...] = ()
    """Expressions that combine tensors placed on ``device`` with tensors placed elsewhere."""
    flags: tuple[str, ...] = ()
    """Of 'string_program', 'golden', 'traced', 'fake_mode', 'subprocess', 'dynamic', 'only_super': what makes a
    rewrite unsafe; 'unread' where code that it runs as text, or reaches by a computed name, does not stand in it.
    """
    closing_line: int = 0


@dataclass(frozen=True, slots=True)
class Tag:
    """A ``hw_classification`` attribute as written."""

    span: Span
    """Of the whole statement."""
    label: str
    """One of LABELS, or '' where the value is no member."""
    upstream: bool
    """Whether upstream's linter accepts the spelling (see the contract in tests/test_contract.py)."""
    text: str
    above_docstring: bool = False


@dataclass(frozen=True, slots=True)
class AcceleratorCall:
    """``torch.cuda.is_available()``, ``torch.ones(2).cuda()``: a call that names a device module."""

    span: Span
    name: str
    """What is called, as ``ast.unparse`` writes it."""
    owner: str
    """The method it stands in, '' for one in the class body itself."""


@dataclass(frozen=True, slots=True)
class Block:
    """A compound statement around a class: ``if TEST_CUDA:``."""

    keyword: str
    """'if', 'elif', 'else', 'try', 'except', 'finally', 'with', 'for', 'while', 'match', 'def', 'class'."""
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Class:
    """A class wherever it stands."""

    name: str
    qualname: str
    """'Outer.Inner', 'function.<locals>.Inner'."""
    span: Span
    line: int
    """Of ``class`` itself."""
    bases: tuple[str, ...]
    """Qualified by the imports; '' for a base that is no dotted name (a call, a subscript)."""
    base_texts: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    decorators: tuple[Decorator, ...] = ()
    tag: Tag | None = None
    methods: tuple[Function, ...] = ()
    """Own functions in order, also those in an ``if`` of the class body; the last of a name is what Python keeps."""
    attributes: tuple[tuple[str, Literals], ...] = ()
    """Own attributes that are literals, and method aliases ``test_b = test_a`` as 'name' values."""
    attribute_uses: tuple[DeviceUse, ...] = ()
    """Devices named in the class body itself."""
    accelerator_calls: tuple[AcceleratorCall, ...] = ()
    """Calls of device modules anywhere in the body, in the order of their places."""
    blocks: tuple[Block, ...] = ()
    gates: tuple[Gate, ...] = ()
    """Of its decorators and of the blocks around it."""
    docstring: Span | None = None
    top_level: bool = True
    dynamic: bool = False
    """Members are added in ways that cannot be read (setattr in a loop, exec, a metaclass)."""

    @property
    def tests(self) -> tuple[Function, ...]:
        return tuple(m for m in self.methods if m.kind == "test")


InstantiateKind = Literal["device_type", "parametrized"]


@dataclass(frozen=True, slots=True)
class Instantiation:
    """One use of ``instantiate_device_type_tests`` or ``instantiate_parametrized_tests``."""

    kind: InstantiateKind
    target: str
    """Name of the class; '' where it is no plain name."""
    span: Span
    line: int
    form: Literal["call", "decorator", "assignment"]
    spelling: str
    """The function as written: 'instantiate_device_type_tests', 'common_device_type.instantiate_device_type_tests'."""
    arguments: tuple[Argument, ...]
    blocks: tuple[Block, ...] = ()
    top_level_statement: bool = True
    """A plain expression statement of the module (all that the strict upstream contract counts)."""
    scope_is_globals: bool = True

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)


@dataclass(frozen=True, slots=True)
class Constant:
    """A module-level name bound to something that matters: a literal, a device, a gate."""

    name: str
    span: Span
    value: Literals = None
    known: bool = False
    device: str = ""
    """The device it holds ('cuda', 'accelerator', '?'), '' for none."""
    requirements: tuple[Requirement, ...] = ()
    """What it asks for, where it is a gate (``RUN = torch.cuda.is_available()``)."""
    combine: Combine = ""
    uses: tuple[DeviceUse, ...] = ()


@dataclass(frozen=True, slots=True)
class NameUse:
    """A module-level read of a name, for names that are gone after instantiation."""

    name: str
    span: Span
    deferred: bool
    """Inside a function: read when it is called, not when the module is."""
    owner: str = ""
    """'Class.method' or 'function' for a deferred one."""


@dataclass(frozen=True, slots=True)
class Graft:
    """``copy_tests(Template, Target, suffix)``: the tests of one class copied to another under other names."""

    template: str
    target: str
    """Both as written, dotted."""
    suffix: str
    """Put after each name, where it is a literal."""
    span: Span


@dataclass(frozen=True, slots=True)
class Suppression:
    """``# hwlint: ignore[HW201]  reason``."""

    span: Span
    """Of the comment."""
    codes: tuple[str, ...]
    reason: str
    first_line: int
    last_line: int
    """The lines it covers; a whole file: 1 to the last."""
    whole_file: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file could not be read or parsed (HW001), or a malformed suppression."""

    line: int
    column: int
    message: str
    kind: Literal["read", "syntax", "newer-syntax", "encoding", "crash", "suppression"] = "syntax"


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """All that is known of one file."""

    path: str
    """Relative to the root, with forward slashes."""
    module: str
    """Dotted name as far as the path tells: 'test.nn.test_pooling'."""
    problem: Problem | None = None
    imports: tuple[tuple[str, str], ...] = ()
    """Local name, qualified name: ('F', 'torch.nn.functional'); relative ones made absolute against ``module``."""
    star_imports: tuple[str, ...] = ()
    constants: tuple[Constant, ...] = ()
    classes: tuple[Class, ...] = ()
    functions: tuple[Function, ...] = ()
    """Module-level functions, and those of blocks."""
    instantiations: tuple[Instantiation, ...] = ()
    gates: tuple[Gate, ...] = ()
    """Of the whole file: ``sys.exit`` and ``raise SkipTest`` at import, ``if HAS_GPU: run_tests()``."""
    module_uses: tuple[DeviceUse, ...] = ()
    """Devices named at module level outside any constant, class and function."""
    name_uses: tuple[NameUse, ...] = ()
    dynamic_classes: tuple[NameUse, ...] = ()
    """Names bound at module level to classes made by calls (``type(...)``, factories): opaque."""
    grafts: tuple[Graft, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    bad_suppressions: tuple[Problem, ...] = ()
    owners: tuple[str, ...] = ()
    """Of the ``# Owner(s): ["module: x"]`` comment."""
    lines: int = 0
    size: int = 0
    main: Span | None = None
    """The ``if __name__ == "__main__":`` block."""
