"""What a codemod is: it plans changes from facts alone, and turns the accepted ones into splices of the source.

Writing one
-----------
A codemod is a module of this package with one :class:`Codemod` subclass, named in :data:`codemods.registry.ORDER`. It
has two methods:

``plan(context) -> Plan``
    Reads facts, links and verdicts, and imports no libcst; ``context.file`` (the text and its syntax tree) only where
    the facts say that there is something to do. It gives a :class:`Change` for each thing it can do, all or nothing,
    and a :class:`Refusal` with a reason of :data:`REASONS` for each thing in its field that it leaves. A class or
    test that is none of its business gets neither. What only ``edit`` needs goes into fields of a subclass of Change
    (frozen, plain values: changes are compared, pickled and shown). Two changes of one plan must not touch the same
    text.
``edit(file, changes) -> list[Splice]``
    Turns changes, any subset of those planned, into splices of ``file``. Positions in facts are those of ``file``.
    Insertions are splices by themselves, for which :mod:`codemods.class_edits` has the usual ones (first statement of
    a class, statement below a class, one more parameter); expressions are rewritten with libcst, through
    :func:`codemods.edit.rewrite`, which parses no more than the statement they stand in: ``rewrite(file, [(use.span,
    lambda node: cst.Name("device"))])``. May raise :class:`CannotEdit` for a layout that it does not know: the change
    becomes a refusal.

Around them the framework (:mod:`codemods.run`) does the rest: it adds ``Change.imports`` in the style of the file,
applies the splices, reads the result anew, proves it with :mod:`codemods.guard` (parses, comments kept, findings only
went down, no test lost, a second plan is empty), takes back what fails, and gives the next codemod fresh facts, links
and verdicts. A pass over all codemods is repeated until nothing changes. A codemod keeps no state between files.

Worked example, shortened from :mod:`codemods.tag_class`::

    @dataclass(frozen=True, slots=True, kw_only=True)
    class TagChange(Change):
        label: str

    class TagClass(Codemod):
        name = "tag_class"
        summary = "Gives each test class its hw_classification."

        def plan(self, context: Context) -> Plan:
            plan = PlanBuilder(self.name)
            for cls in context.classes():
                verdict = context.verdict(cls)
                if verdict is None or verdict.confidence != "certain":
                    plan.refuse(cls.facts.qualname, "uncertain", "...", class_span(cls.facts))
                else:
                    plan.add(TagChange(
                        codemod=self.name, symbol=cls.facts.qualname, span=class_span(cls.facts),
                        description=f"tag {verdict.label}", imports=(Import(COMMON_UTILS, "HardwareClassification"),),
                        label=verdict.label,
                    ))
            return plan.done()

        def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
            return [insert_first(file, change.span.line, "hw_classification = ...") for change in changes]

Tests: rows in ``tests/codemods/test_adversarial.py`` (every codemod goes through every layout there) and golden cases
of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from codemods.importers import Importers, Replacement
from codemods.keyed_tests import KeyedTests
from hwlint.catalog import Catalog
from hwlint.classify.verdict import Verdict
from hwlint.config import Settings
from hwlint.scan.facts import ModuleFacts, Span
from hwlint.suite.link import link
from hwlint.suite.model import LinkedClass, Suite

if TYPE_CHECKING:
    from codemods.edit import SourceFile, Splice

COMMON_UTILS = "torch.testing._internal.common_utils"
COMMON_DEVICE_TYPE = "torch.testing._internal.common_device_type"

REASONS: Mapping[str, str] = {
    "uncertain": "look at the evidence (`hwlint classify`), then `--confidence likely` or `--label CLASS=X`",
    "no-verdict": "say the label with `--label CLASS=X`",
    "split": "the tests belong to several labels: split the class by hand, or with `--split`",
    "contract": "the class has to meet the contract of its label first",
    "only-for": "the contract wants no `only_for` on an ACCELERATOR class: say which devices shall run it",
    "new-error": "mend what the error names first",
    "contradiction": "the evidence disagrees with the tag that is there: decide which is wrong",
    "policy": "the configuration asks to leave it",
    "suppressed": "a suppression comment asks to leave it",
    "generated-class": "the class is made by a function or a call: change what makes it",
    "dynamic": "members are added at run time: nothing can be proved",
    "inherited-tests": "instantiation would lose inherited tests: move them to a test-less base, or declare them anew",
    "subclassed": "classes derive from it, and would change with it",
    "unknown-base": "a base cannot be read: add its file to the run",
    "name-taken": "rename what holds the name",
    "name-doubled": 'set `names = "drop-device"` in [tool.hwlint.migrate], or rename by hand',
    "name-collision": "a generated name is taken already",
    "name-used-later": "the name is gone from the module once the class is instantiated",
    "imported-elsewhere": "another file imports it: change that file first",
    "already-instantiated": "the class is instantiated in another way",
    "layout": "reformat the statement, then run again",
    "string-program": "the code stands in a string: change it by hand",
    "golden-text": "the device is part of an expected text",
    "traced": "the code is traced: the device construct is what is tested",
    "fake-mode": "no hardware is touched there",
    "subprocess": "the code runs in another process",
    "comparison": "the device is compared with, not placed on",
    "mixed-devices": "tensors on several devices meet: decide which one is meant",
    "unknown-use": "what the device is used for cannot be told",
    "unknown-name": "a name that is reached cannot be followed",
    "unknown-caller": "a helper is called from where no device can be passed",
    "shared-helper": "a helper or constant is used by other tests or files too",
    "parametrized": "the parametrization names devices and more",
    "loop": "the loop over devices does more than run its body on each",
    "compound-gate": "the condition asks for several things at once",
    "capability-gate": "the gate asks for a capability, not for a device",
    "import-time-gate": "the gate stands at import and protects more than tests",
    "unknown-gate": "what the gate asks for cannot be told",
    "device-count": "the test needs several devices",
    "device-claim": "the assertion is about one vendor's numerics or kernels: keep it there",
    "class-member": "instantiation rebinds static and class methods: move them out of the class first",
    "needs-newer-torch": "the device-generic form is newer than the oldest torch of [tool.hwlint]",
    "vendor-api": "an API without a device-generic form is used",
    "result-type": "the equivalent's result is of another type, and it is used",
    "raises-without-accelerator": "the equivalent raises where there is no accelerator",
    "needs-super": "setUp and kin have to call super()",
    "unused-device": "nothing shows that the test gets to the device: one that does the same everywhere is GENERIC",
    "encoding": "save the file as UTF-8 with one kind of line end",
    "unreadable": "mend the file first",
    "conflict": "two changes meet: run again",
    "guard": "a bug of hwlint: please report it with the file",
}
"""Why a change is not made, and what it would take. A refusal's reason is one of these keys; its text says it in
full."""

Applicability = Literal["safe", "unsafe"]


class CannotEdit(Exception):
    """A layout that a codemod does not rewrite; the text goes into the refusal."""


@dataclass(frozen=True, slots=True)
class Import:
    """``from module import name``, or ``import module`` where ``name`` is ''."""

    module: str
    name: str = ""


TestKey = tuple[str, str]
"""(qualified name of the class, name of the test) in the source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing done to one file, all or nothing. Codemods derive from it what their ``edit`` needs."""

    codemod: str
    symbol: str
    """'Class', 'Class.test', 'function', '' for the module."""
    span: Span
    description: str
    """What it does, one line, in the infinitive: 'tag GENERIC'."""
    applicability: Applicability = "safe"
    imports: tuple[Import, ...] = ()
    """Names that the new text reads; the framework imports those that are not there."""
    renames: tuple[tuple[TestKey, TestKey], ...] = ()
    """Tests and helpers, as (class, function), that stand in another class or go by another name afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedChange(Change):
    """A change to a class that other files may import: see codemods/imported_change.py."""

    cls: str = ""
    """The name that they know it by."""
    importers: tuple[str, ...] = ()
    """Those that do, and import something else afterwards."""

    @property
    def becomes(self) -> tuple[str, ...]:
        """The classes of the module that have its tests afterwards."""
        return (self.cls,)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change not made, and why."""

    codemod: str
    symbol: str
    reason: str
    """A key of REASONS."""
    text: str
    span: Span

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"{self.reason!r} is no reason for a refusal")

    @property
    def advice(self) -> str:
        return REASONS[self.reason]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a codemod would do to one file."""

    changes: tuple[Change, ...] = ()
    refusals: tuple[Refusal, ...] = ()


@dataclass
class PlanBuilder:
    """Collects a plan."""

    codemod: str
    changes: list[Change] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)

    def add(self, change: Change) -> None:
        self.changes.append(change)

    def refuse(self, symbol: str, reason: str, text: str, span: Span) -> None:
        self.refusals.append(Refusal(self.codemod, symbol, reason, " ".join(text.split()), span))

    def done(self) -> Plan:
        return Plan(tuple(self.changes), tuple(self.refusals))


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line adds to the settings."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    unsafe: bool = False
    split: bool = False
    labels: tuple[tuple[str, str], ...] = ()
    """``--label``: ('Class' or 'path::Class', label)."""


@dataclass(frozen=True)
class Context:
    """What a codemod plans from: one module as it is now, the suite around it, the verdicts on its classes."""

    module: ModuleFacts
    suite: Suite
    settings: Settings
    verdicts: Mapping[tuple[str, int], Verdict] = field(default_factory=dict)
    """By class name and line."""
    options: Options = Options()
    file: SourceFile | None = None
    """The text that ``module`` was read from."""
    original: SourceFile | None = None
    """The text before the first codemod."""
    importers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Other files that import a name of this module, by name; '*' for those that import all."""
    keys: KeyedTests = field(default_factory=KeyedTests)
    """Tests that the tree knows by their names."""
    others: Importers = field(default_factory=Importers)
    """The files of the run, as those that import from this one."""
    replacements: tuple[Replacement, ...] = ()
    """What this file is to import, now that other files have changed."""
    made: tuple[Change, ...] = ()
    """What was changed in this file before."""
    native_devices: frozenset[str] | None = None
    """``NATIVE_DEVICES`` of the checkout, None where it is not there to be read."""

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def catalog(self) -> Catalog:
        return self.suite.catalog

    def classes(self) -> list[LinkedClass]:
        """All classes of the module, in source order."""
        return self.suite.classes_in(self.path)

    def test_classes(self) -> Iterator[LinkedClass]:
        """Classes that hold tests or run inherited ones, where the module is a test file; not those that a function
        makes.
        """
        if self.settings.is_test_file(self.path):
            for cls in self.classes():
                if cls.is_test_class and not any(b.keyword == "def" for b in cls.facts.blocks):
                    yield cls

    def verdict(self, cls: LinkedClass) -> Verdict | None:
        return self.verdicts.get((cls.name, cls.facts.line))

    def source(self) -> SourceFile:
        """``file``, which the framework always gives. Raises CannotEdit where a test left it out."""
        if self.file is None:
            raise CannotEdit("there is no text")
        return self.file

    def suite_with(self, module: ModuleFacts) -> Suite:
        """The suite as it would be with other facts for this module."""
        others = (m for m in self.suite.modules.values() if m.path != module.path)
        return link((*others, module), self.catalog)

    def label_option(self, cls: LinkedClass) -> str:
        """The label that ``--label`` gives the class, '' for none; the last one said holds."""
        names = (cls.name, cls.facts.qualname, f"{cls.path}::{cls.name}", f"{cls.path}::{cls.facts.qualname}")
        return next((label for name, label in reversed(self.options.labels) if name in names), "")

    def imported_by(self, name: str) -> tuple[str, ...]:
        """Other files that import ``name`` from this one."""
        return (*self.importers.get(name, ()), *self.importers.get("*", ()))

    def is_suppressed(self, code: str, line: int) -> bool:
        """Whether a comment suppresses ``code`` at ``line``."""
        return any(
            s.whole_file or s.first_line <= line <= s.last_line for s in self.module.suppressions if code in s.codes
        )


class Codemod:
    """Base of the codemods."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """What it does, one line."""
    follows: ClassVar[bool] = False
    """Whether it only does what the change of another file asks for."""

    def enabled(self, context: Context) -> bool:
        """Whether the settings and options ask for it (opt-in codemods override this)."""
        return True

    def plan(self, context: Context) -> Plan:
        raise NotImplementedError

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        raise NotImplementedError
