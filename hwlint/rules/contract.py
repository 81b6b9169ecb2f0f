"""HW101-HW107, HW109 and HW110: what a classification asks of its class.

Level ``upstream`` reports what PyTorch's own TEST_LINTER reports (pytorch/pytorch#190173), in the version that
``upstream-linter`` names, no more and no less. Level ``full`` reads the same contract with more understanding: classes
in blocks, async tests, qualified spellings, inherited classifications, instantiations by a qualified call or in a
block, and ``only_for`` through a module constant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from hwlint.findings import Finding, Fix, Severity
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.subjects import UPSTREAM_FUNCTION, Subject, subjects
from hwlint.scan.facts import DEVICE_LABELS, LABELS, Argument, Function, Instantiation, Tag
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.devices import argument
from hwlint.suite.model import LinkedClass

DEVICE_PARAMETERS = ("device", "devices")


class ContractRule(Rule):
    """A rule of the contract: reported at both levels."""

    levels = ("upstream", "full")
    references = ("https://github.com/pytorch/pytorch/pull/190173",)

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for subject in subjects(context):
            yield from self.check_class(context, subject)

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        raise NotImplementedError

    def at_class(
        self, subject: Subject, message: str, severity: Severity | None = None, fix: Fix | None = None
    ) -> Finding:
        cls = subject.cls
        return Finding(
            code=self.code,
            path=cls.path,
            span=class_span(cls.facts),
            severity=severity or self.severity,
            message=message,
            symbol=cls.facts.qualname,
            fix=fix,
            upstream=True,
        )

    def at_test(self, subject: Subject, function: Function, message: str, detail: str = "") -> Finding:
        return Finding(
            code=self.code,
            path=subject.cls.path,
            span=function_span(function),
            severity=self.severity,
            message=message,
            symbol=f"{subject.facts.qualname}.{function.name}",
            detail=detail,
            upstream=True,
        )

    def at_call(self, subject: Subject, call: Instantiation, message: str) -> Finding:
        return Finding(
            code=self.code,
            path=subject.cls.path,
            span=call.span,
            severity=self.severity,
            message=message,
            symbol=subject.facts.qualname,
            upstream=True,
        )


class MissingClassification(ContractRule):
    code = "HW101"
    name = "missing-classification"
    summary = "A test class has no hw_classification."
    why = (
        "`--hw-classification` selects tests by the class attribute of that name "
        "(torch/testing/_internal/common_utils.py). A class without one is left out of every such run, and only a line "
        "in the summary says so (pytorch/pytorch#186918). A subclass inherits the attribute; upstream's linter asks "
        "for it all the same, so at level full an inherited one is reported as information."
    )
    bad = """\
from torch.testing._internal.common_utils import TestCase


class ParserTest(TestCase):
    def test_empty(self):
        self.assertEqual([], [])
"""
    good = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual([], [])
"""

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        if subject.facts.tag is not None:
            return
        name = subject.facts.name
        if not subject.label:
            if subject.cls.is_test_case is False and subject.cls.subclasses() and context.settings.level == "full":
                if all(s.label for s in subject.cls.subclasses() if s.is_test_case is not False):
                    return
            fix = Fix(f"add `hw_classification = HardwareClassification.<MEMBER>`, one of {', '.join(LABELS)}")
            if context.settings.level == "full":
                fix = suggestion(subject.cls) or fix
            yield self.at_class(subject, f"test class '{name}' has no hw_classification", fix=fix)
        elif subject.inherited and subject.tests and context.settings.migrate.subclass_tags == "own":
            source = subject.cls.tag_owner.name if subject.cls.tag_owner is not None else "its framework base"
            yield self.at_class(
                subject,
                f"test class '{name}' inherits {subject.label} from {source}; upstream's linter asks for its own",
                Severity.INFO,
            )


def suggestion(cls: LinkedClass) -> Fix | None:
    """The label that the evidence argues for, where it is certain or likely; None where it does not tell."""
    from hwlint.classify.judge import judge_class, split_counts

    verdict = judge_class(cls)
    if verdict is None or verdict.confidence == "unsure":
        return None
    if verdict.label == "SPLIT":
        return Fix(f"split it: its tests belong to several labels ({split_counts(verdict)}); see `hwlint classify`")
    why = f": {verdict.evidence[0].message}" if verdict.evidence else ""
    text = f"add `hw_classification = HardwareClassification.{verdict.label}` ({verdict.confidence}{why})"
    return Fix(text, "safe" if verdict.confidence == "certain" else "shown")


class InvalidClassification(ContractRule):
    code = "HW102"
    name = "invalid-classification"
    summary = "A hw_classification that is no member of HardwareClassification."
    why = (
        "The loader raises for a value that is no HardwareClassification member, and upstream's linter takes only "
        "`HardwareClassification.<MEMBER>`, plain or annotated with that name. At level full another spelling that "
        "still means a member is HW109, a warning."
    )
    bad = """\
from torch.testing._internal.common_utils import TestCase


class ParserTest(TestCase):
    hw_classification = "generic"

    def test_empty(self):
        self.assertEqual([], [])
"""
    good = MissingClassification.good

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        tag = subject.facts.tag
        if tag is None:
            return
        valid = tag.upstream if context.settings.level == "upstream" else bool(tag.label)
        if valid:
            return
        finding = self.at_class(
            subject,
            f"test class '{subject.facts.name}': `{tag.text}` is no classification that upstream accepts",
            fix=Fix(f"write `hw_classification = HardwareClassification.<MEMBER>`, one of {', '.join(LABELS)}"),
        )
        yield finding


class Instantiated(ContractRule):
    code = "HW103"
    name = "classification-instantiation"
    summary = "A class is instantiated although it is GENERIC, or is not although its label asks for it."
    why = (
        "`instantiate_device_type_tests` makes one class for each device type. A GENERIC class has nothing to say "
        "about devices, and an ACCELERATOR or device-specific one that is not instantiated never gets a device."
    )
    bad = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class SortTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_stable(self, device):
        pass
"""
    good = (
        bad.replace(
            "import HardwareClassification, TestCase",
            "import HardwareClassification, TestCase\n"
            "from torch.testing._internal.common_device_type import instantiate_device_type_tests",
        )
        + "\n\ninstantiate_device_type_tests(SortTest, globals())\n"
    )

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        if not subject.is_asked or (subject.inherited and not subject.tests):
            return
        required = subject.label != "GENERIC"
        if bool(subject.instantiations) == required:
            return
        cls = subject.cls
        if required and context.settings.level == "full" and not cls.own_test_case and cls.subclasses():
            return
        must = "must be" if required else "must not be"
        yield self.at_class(
            subject, f"{subject.label} class '{subject.facts.name}' {must} instantiated by {UPSTREAM_FUNCTION}"
        )


class DeviceParameter(ContractRule):
    code = "HW104"
    name = "classification-device-parameter"
    summary = "A test takes `device` although its class is GENERIC, or does not although its label asks for it."
    why = (
        "The instantiated test gets its device through a parameter `device` (or `devices` under deviceCountAtLeast). "
        "Without it the test runs once for each device type and cannot know which; in a GENERIC class nothing passes "
        "it."
    )
    bad = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self, device):
        self.assertEqual([], [])
"""
    good = MissingClassification.good

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        if not subject.is_asked:
            return
        required = subject.label != "GENERIC"
        action = "must accept" if required else "must not accept"
        for function in subject.tests:
            if any(p in function.parameters for p in DEVICE_PARAMETERS) == required or "alias" in function.flags:
                continue
            if not required and context.settings.level == "full" and _parametrizes_device(function):
                continue
            yield self.at_test(
                subject,
                function,
                f"{subject.label} test '{subject.facts.name}.{function.name}' {action} "
                "a 'device' or 'devices' parameter",
            )


def _parametrizes_device(function: Function) -> bool:
    """Whether a parametrizing decorator passes the parameter, as in tests of fake devices."""
    for decorator in function.decorators:
        first = decorator.arguments[0].value if decorator.arguments else None
        if isinstance(first, str) and any(p.strip() in DEVICE_PARAMETERS for p in first.split(",")):
            return True
    return False


class OnlyDecorator(ContractRule):
    code = "HW105"
    name = "classification-only-decorator"
    summary = "A test of an ACCELERATOR class is restricted by an `@only...` decorator."
    why = (
        "ACCELERATOR says that the test holds on every accelerator. `onlyAccelerator` is the one restriction that "
        "agrees with it; a test for one device type belongs in a class of that classification."
    )
    bad = """\
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyCUDA
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class SortTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    @onlyCUDA
    def test_stable(self, device):
        pass


instantiate_device_type_tests(SortTest, globals())
"""
    good = bad.replace("onlyCUDA", "onlyAccelerator")

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        if subject.label != "ACCELERATOR":
            return
        for function in subject.tests:
            for decorator in function.decorators:
                name = decorator.name.rpartition(".")[2]
                if subject.linter.forbids(name):
                    yield self.at_test(
                        subject,
                        function,
                        f"ACCELERATOR test '{subject.facts.name}.{function.name}' must not use '@{name}'; "
                        "only '@onlyAccelerator' is allowed",
                        detail=name,
                    )


class OnlyFor(ContractRule):
    code = "HW106"
    name = "classification-only-for"
    summary = "`only_for` on an ACCELERATOR class, or one that is not exactly the class's own device."
    why = (
        "`only_for` keeps a class from accelerators nobody thought of, so ACCELERATOR may not have it (use "
        "`except_for`); a device-specific class has to name its one device, as a literal that a static reader can see."
    )
    bad = """\
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class SortTest(TestCase):
    hw_classification = HardwareClassification.ACCELERATOR

    def test_stable(self, device):
        pass


instantiate_device_type_tests(SortTest, globals(), only_for=("cuda", "xpu"))
"""
    good = bad.replace(', only_for=("cuda", "xpu")', "")

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        for call in subject.instantiations:
            given = _device_list(call, "only_for", context.settings.level)
            name = subject.facts.name
            if subject.label == "ACCELERATOR":
                if given is not None:
                    yield self.at_call(
                        subject, call, f"ACCELERATOR class '{name}' must not use only_for; use except_for instead"
                    )
            elif subject.is_asked and subject.label in DEVICE_LABELS:
                expected = subject.label.lower()
                if given is None or given == UNKNOWN:
                    yield self.at_call(subject, call, f"{subject.label} class '{name}' must use only_for='{expected}'")
                elif given != (expected,):
                    listed = ", ".join(map(repr, given))
                    yield self.at_call(
                        subject,
                        call,
                        f"{subject.label} class '{name}' has only_for [{listed}], it must be exactly '{expected}'",
                    )


class ExceptFor(ContractRule):
    code = "HW107"
    name = "classification-except-for"
    summary = "`except_for` on a class that is for one device."
    why = "A device-specific class names its device with `only_for`; a list of the others can only go stale."
    bad = """\
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class PoolTest(TestCase):
    hw_classification = HardwareClassification.CUDA

    def test_pool(self, device):
        pass


instantiate_device_type_tests(PoolTest, globals(), only_for="cuda", except_for="cpu")
"""
    good = bad.replace(', except_for="cpu"', "")

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        if not subject.is_asked or subject.label not in DEVICE_LABELS:
            return
        for call in subject.instantiations:
            if _device_list(call, "except_for", context.settings.level) is not None:
                yield self.at_call(
                    subject, call, f"{subject.label} class '{subject.facts.name}' must not use except_for"
                )


UNKNOWN = ("?",)


def _device_list(call: Instantiation, name: str, level: str) -> tuple[str, ...] | None:
    """The devices of ``only_for``/``except_for``: None for not given, UNKNOWN where they cannot be read.

    At level upstream only a keyword with a literal in place counts: a string, or a list or tuple of strings.
    """
    given: Argument | None = call.argument(name) if level == "upstream" else argument(call, name)
    if given is None:
        return None
    literal = given.literal if level == "upstream" else given.known
    if not literal or given.text.startswith("{"):
        return UNKNOWN
    if given.value is None:
        return None
    if isinstance(given.value, str):
        return (given.value,)
    if isinstance(given.value, tuple) and all(isinstance(v, str) for v in given.value):
        return tuple(str(v) for v in given.value)
    return UNKNOWN


class Placement(Rule):
    code = "HW109"
    name = "classification-placement"
    severity = Severity.WARNING
    summary = "A classification above the docstring, or spelled in a way that upstream's linter does not accept."
    why = (
        "Above the docstring the attribute turns the docstring into a plain string: `__doc__` becomes None, and tests "
        "that read it fail (pytorch/pytorch#193000, #191832). An alias or a qualified name works at run time, but "
        "upstream's linter takes `HardwareClassification.<MEMBER>` only (#193309, #193305)."
    )
    bad = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):
    hw_classification = HardwareClassification.GENERIC
    \"\"\"Checks the parser.\"\"\"

    def test_empty(self):
        self.assertEqual([], [])
"""
    good = """\
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):
    \"\"\"Checks the parser.\"\"\"

    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        self.assertEqual([], [])
"""
    fix_safety = (
        "Moving the attribute below the docstring gives the class its `__doc__` back; normalising the spelling is safe."
    )

    def check(self, context: RuleContext) -> Iterator[Finding]:
        for cls in context.suite.classes_in(context.module.path):
            tag = cls.facts.tag
            if tag is None:
                continue
            if tag.above_docstring:
                yield self._finding(
                    cls,
                    tag,
                    f"the classification of '{cls.name}' stands above the docstring, which is then none",
                    "docstring",
                    Fix("move it below the docstring", "safe"),
                )
            if tag.label and not tag.upstream:
                wanted = f"hw_classification = HardwareClassification.{tag.label}"
                yield self._finding(
                    cls,
                    tag,
                    f"`{tag.text}` works, but upstream's linter accepts `{wanted}` only",
                    "spelling",
                    Fix(f"write `{wanted}`", "safe"),
                )

    def _finding(self, cls: LinkedClass, tag: Tag, message: str, detail: str, fix: Fix) -> Finding:
        return Finding(self.code, cls.path, tag.span, self.severity, message, cls.facts.qualname, detail, fix=fix)


class AcceleratorCallInGeneric(ContractRule):
    code = "HW110"
    name = "classification-accelerator-call"
    summary = "A GENERIC class calls something of a device module."
    why = (
        "What such a class does would depend on the accelerators there are. Upstream's linter looks for it since its "
        'newest version (`upstream-linter = "current"`): each call of `torch....` with the name of a device module '
        "between two dots, `torch.cuda.is_available()` first of all, wherever in the class it stands. The older one "
        "does not look into bodies; what a test does there with a device is HW108's to say."
    )
    bad = """\
import torch
from torch.testing._internal.common_utils import HardwareClassification, TestCase


class ParserTest(TestCase):
    hw_classification = HardwareClassification.GENERIC

    def test_empty(self):
        if not torch.cuda.is_available():
            self.skipTest("no CUDA")
        self.assertEqual([], [])
"""
    good = MissingClassification.good
    example_settings: ClassVar[dict[str, Any]] = {"upstream_linter": "current"}

    def check_class(self, context: RuleContext, subject: Subject) -> Iterator[Finding]:
        modules = subject.linter.call_modules
        if subject.label != "GENERIC" or not modules:
            return
        for call in subject.facts.accelerator_calls:
            if modules.isdisjoint(call.name.split(".")):
                continue
            owner = f"{subject.facts.qualname}.{call.owner}" if call.owner else subject.facts.qualname
            yield Finding(
                code=self.code,
                path=subject.cls.path,
                span=call.span,
                severity=self.severity,
                message=f"GENERIC class '{subject.facts.name}' must not call '{call.name}()'",
                symbol=owner,
                detail=call.name,
                upstream=True,
            )


RULES: tuple[type[Rule], ...] = (
    MissingClassification,
    InvalidClassification,
    Instantiated,
    DeviceParameter,
    OnlyDecorator,
    OnlyFor,
    ExceptFor,
    Placement,
    AcceleratorCallInGeneric,
)
