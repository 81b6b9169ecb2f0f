"""Evidence -> verdicts: first on each test, then on its class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from hwlint.catalog import Catalog
from hwlint.classify.evidence import SELF_DEVICE, gather, is_idle, is_plain_group, vendor_imports
from hwlint.classify.gate_evidence import unread_skip
from hwlint.classify.names import names_library, vendor_libraries, vendor_name
from hwlint.classify.subject import DEVICE_LABELS, Subject, facts, kinds
from hwlint.classify.verdict import Confidence, Evidence, TestVerdict, Verdict
from hwlint.config import Settings
from hwlint.scan.facts import AcceleratorCall, Function
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.model import LinkedClass, Suite
from hwlint.suite.reach import class_reach, reach

ORDER: tuple[Confidence, ...] = ("certain", "likely", "unsure")
SPLIT = "SPLIT"
ASKS = ("is_available", "device_count")
"""Functions of a device module by which a test finds out whether it is there."""
SHOWN_EVIDENCE = 6


def classify(suite: Suite, paths: Iterable[str], settings: Settings) -> tuple[Verdict, ...]:
    """The verdict on each test class of ``paths``, in source order. Files that are no test files have none."""
    found: list[Verdict] = []
    for path in paths:
        if settings.is_test_file(path):
            for cls in suite.classes_in(path):
                verdict = judge_class(cls)
                if verdict is not None:
                    found.append(verdict)
    return tuple(found)


def judge_class(cls: LinkedClass) -> Verdict | None:
    """The verdict on one class; None for one that no loader collects tests from."""
    if any(b.keyword == "def" for b in cls.facts.blocks) or not cls.is_test_class:
        return None
    if reaches_nothing(cls):
        tests = tuple(_plain_verdict(cls, owner, function) for owner, function in collected(cls))
    else:
        tests = tuple(_judge_tests(cls))
    if not tests:
        return None
    label, confidence = combine(tests, cls.suite.catalog)
    if label == SPLIT and (library := _library_of(cls, tests)):
        label, confidence = library, "likely"
    evidence = strongest(cls, tests, label)
    asks = next((c for c in cls.facts.accelerator_calls if c.name.rpartition(".")[2] in ASKS), None)
    if label == "GENERIC" and asks is not None:
        confidence = _least((confidence, "likely"))
        evidence = (*evidence[: SHOWN_EVIDENCE - 1], _asks_for_a_device(cls, asks))
    return Verdict(
        path=cls.path,
        class_name=cls.facts.qualname,
        line=cls.facts.line,
        label=label,
        confidence=confidence,
        current=cls.label,
        current_inherited=cls.label_inherited,
        evidence=evidence,
        tests=tests,
    )


def _library_of(cls: LinkedClass, tests: tuple[TestVerdict, ...]) -> str:
    """The vendor whose library the class is named after (``TestCutlassBackend``), where some tests are that vendor's
    and the others for any accelerator; '' for none.
    """
    word, device = vendor_name(cls)
    if word not in vendor_libraries(cls.suite.catalog).devices or cls.is_instantiated:
        return ""
    label = DEVICE_LABELS.get(device, "")
    return label if {t.label for t in tests} == {label, "ACCELERATOR"} else ""


def _asks_for_a_device(cls: LinkedClass, call: AcceleratorCall) -> Evidence:
    """A GENERIC class that asks whether a device is there: upstream's newer linter takes no such class (HW110)."""
    message = f"`{call.name}()` is called in its body"
    return Evidence("accelerator-call", "", message, cls.path, call.span, kinds()["accelerator-call"].weight)


def reaches_nothing(cls: LinkedClass) -> bool:
    """Whether there is no evidence on any of its tests: most classes, told at once instead of test by test."""
    if cls.is_instantiated or cls.opaque_bases or cls.facts.dynamic or cls.templates or cls.framework_devices:
        return False
    if any("device" in f.parameters or "devices" in f.parameters for _, f in collected(cls)):
        return False
    if vendor_imports(cls) or any(unread_skip(cls, f) is not None for _, f in collected(cls)):
        return False
    found = class_reach(cls)
    return not (found.uses or found.gates or found.unknown) and not any(
        r.function.flags or any(f"self.{name}" in r.function.references for name in SELF_DEVICE)
        for r in found.functions
    )


def _plain_verdict(cls: LinkedClass, owner: LinkedClass, function: Function) -> TestVerdict:
    inherited = "" if owner is cls else f"{owner.path}::{owner.facts.qualname}"
    return TestVerdict(function.name, function.line, "GENERIC", "certain", (_no_device(owner, function),), inherited)


def _no_device(owner: LinkedClass, function: Function) -> Evidence:
    return Evidence("no-device", "GENERIC", NOTHING, owner.path, function_span(function), kinds()["no-device"].weight)


def _judge_tests(cls: LinkedClass) -> Iterator[TestVerdict]:
    """The verdict on each test; those that say nothing by themselves are judged once for what they lead to."""
    judged: dict[tuple[int, int], TestVerdict] = {}
    for owner, function in collected(cls):
        rest = reach(cls, function).rest
        if rest is None or rest.unknown or not _is_silent(cls, function):
            yield judge_test(cls, owner, function)
            continue
        key = (id(owner), id(rest))
        if key in judged:
            yield _like(judged[key], owner, function)
        else:
            judged[key] = judge_test(cls, owner, function)
            yield judged[key]


def _is_silent(cls: LinkedClass, function: Function) -> bool:
    """Whether no rule of evidence finds anything at the test itself."""
    if function.uses or function.gates or function.decorators or "unread" in function.flags:
        return False
    if not {reference.partition(".")[0] for reference in function.references}.isdisjoint(vendor_imports(cls)):
        return False
    if not cls.is_instantiated and ("device" in function.parameters or "devices" in function.parameters):
        return False
    return not any(f"self.{name}" in function.references for name in SELF_DEVICE)


def _like(verdict: TestVerdict, owner: LinkedClass, function: Function) -> TestVerdict:
    """The same verdict on another test."""
    evidence = verdict.evidence
    if evidence and evidence[0].kind == "no-device":
        evidence = (_no_device(owner, function), *evidence[1:])
    return TestVerdict(
        function.name, function.line, verdict.label, verdict.confidence, evidence, verdict.inherited_from
    )


def collected(cls: LinkedClass) -> Iterator[tuple[LinkedClass, Function]]:
    """The tests a class runs, with the class that defines each: own, inherited as far as the base keeps them,
    grafted.
    """
    for function in cls.own_tests:
        yield cls, function
    for one in cls.inherited_tests:
        if not one.owner.is_instantiated:
            yield one.owner, one.function
    for one in cls.grafted_tests:
        yield one.owner, one.function


def judge_test(cls: LinkedClass, owner: LinkedClass, function: Function) -> TestVerdict:
    """The verdict on one test as ``cls`` runs it."""
    subject = Subject(cls, owner, function, reach(cls, function), cls.suite.catalog)
    evidence = gather(subject)
    label, confidence = weigh(evidence, cls.path)
    if label == "GENERIC":
        evidence = (_nothing_found(subject), *evidence)
        if any(e.kind == "no-hardware" and not e.message.endswith(NO_DEVICE) for e in evidence):
            confidence = "likely" if confidence == "certain" else confidence
    inherited = "" if owner is cls else f"{owner.path}::{owner.facts.qualname}"
    return TestVerdict(function.name, function.line, label, confidence, evidence, inherited)


def weigh(evidence: tuple[Evidence, ...], path: str) -> tuple[str, Confidence]:
    """The label that the evidence argues for most, GENERIC where it argues for none, and how sure that is.

    The strongest reason decides; others of the same label only add to it, and reasons for another label that the first
    does not explain lower the confidence. An unknown makes it likely at best.
    """
    reasons_given = [e for e in evidence if e.argues_for and e.kind != "vendor-name"]
    for_many = any(e.kind == "instantiated" for e in evidence)
    restricted = any(e.kind in ("gate", "vendor-gate", "only-decorator") for e in evidence)
    arguments = [
        # A test that runs on the CPU too can only use one vendor's API under a condition.
        e
        for e in reasons_given
        if not (e.kind == "vendor-api" and for_many and not restricted)
    ]
    unknown = any(e.kind == "unknown" for e in evidence)
    if not arguments:
        compared = any(e.kind == "comparison" for e in evidence)
        return "GENERIC", "likely" if unknown or compared else "certain"
    scores: dict[str, float] = {}
    for one in sorted(arguments, key=lambda e: -e.weight):
        scores[one.argues_for] = scores[one.argues_for] + one.weight / 10 if one.argues_for in scores else one.weight
    label = max(scores, key=lambda name: scores[name])
    reasons = [e for e in arguments if e.argues_for == label]
    proven = is_proven(reasons, path)
    against = [
        name for name in scores if name != label and not (name == "ACCELERATOR" and label not in ("CPU", "GENERIC"))
    ]
    margin = scores[label] - max((scores[name] for name in against), default=0.0)
    if margin < 1:
        return label, "unsure"
    kinds_found = {e.kind for e in evidence}
    # A test that runs for several devices may well ask which one it is on: that is no doubt about what it is.
    compared = "comparison" in kinds_found and not ("instantiated" in kinds_found and label == "ACCELERATOR")
    named = "vendor-name" in kinds_found and label == "ACCELERATOR"
    optional = "partial-gate" in kinds_found and not kinds_found & {
        "gate",
        "vendor-gate",
        "instantiated",
        "restricted-to-one",
    }
    if (
        proven
        and not against
        and not unknown
        and not (compared or named)
        and not optional
        and len(arguments) == len(reasons_given)
    ):
        return label, "certain"
    return label, "likely" if proven or scores[label] >= 2 else "unsure"


NEEDS = ("gate", "fixture", "instantiated-for-one")
USES = ("portable-api", "optional-placement", "vendor-placement", "backend", "template", "process-device")


def is_proven(reasons: list[Evidence], path: str) -> bool:
    """Whether the reasons for a label prove it: one that does by itself, or a need for a device together with a use of
    it.

    Where the use is in another file than ``path``, the class's own, nothing is proved: other classes share that helper,
    and may need it for another reason.
    """
    if any(e.path != path for e in reasons):
        return False
    if any(kinds()[e.kind].proof for e in reasons):
        return True
    found = {e.kind for e in reasons}
    return any(kind in found for kind in NEEDS) and any(kind in found for kind in USES)


def combine(tests: tuple[TestVerdict, ...], catalog: Catalog) -> tuple[str, Confidence]:
    """The class's label from its tests': theirs where they agree, SPLIT where they do not.

    A class that its tests make one vendor's, and that is named after that, is so for certain.
    """
    label, confidence = _agreed(tests, catalog)
    if label in DEVICE_LABELS.values() and label != "CPU" and _is_named(tests, label):
        return label, "certain"
    return label, confidence


def _is_named(tests: tuple[TestVerdict, ...], label: str) -> bool:
    named = any(e.kind == "vendor-name" and e.argues_for == label for t in tests for e in t.evidence)
    return named and 2 * sum(t.confidence == "unsure" for t in tests) < len(tests)


def _agreed(tests: tuple[TestVerdict, ...], catalog: Catalog) -> tuple[str, Confidence]:
    counts = Counter(t.label for t in tests)
    if len(counts) == 1:
        label = tests[0].label
        return label, "certain" if carried(tests, label, catalog) else _least(t.confidence for t in tests)
    vendors = [name for name in counts if name in ("CUDA", "XPU", "MPS")]
    for_many = any(e.kind == "instantiated" for e in tests[0].evidence)
    subject = next((e.argues_for for t in tests for e in t.evidence if e.kind == "subject"), "")
    if subject and not for_many and counts[subject] > len(tests) / 2:
        return subject, "likely"
    if len(counts) == 2 and len(vendors) == 1 and "ACCELERATOR" in counts and not for_many:
        if counts[vendors[0]] >= facts()["split"]["vendor_share"] * len(tests):
            return vendors[0], "likely"
    return SPLIT, "unsure" if any(t.confidence == "unsure" for t in tests) else "likely"


def carried(tests: tuple[TestVerdict, ...], label: str, catalog: Catalog) -> bool:
    """Whether the certain ones among the tests, at least half of them, settle what the class is.

    Each other one has a reason for the same label that says where it runs: its fixture picks the device, it is made for
    several, it places tensors. What is in doubt may be split off; the class stays what it is.
    """
    share = facts()["carried"]["share"]
    if label == "GENERIC" or sum(t.confidence == "certain" for t in tests) < share * len(tests):
        return False
    return all(t.confidence == "certain" or _is_backed(t, label, catalog) for t in tests)


def _is_backed(test: TestVerdict, label: str, catalog: Catalog) -> bool:
    doubts = {e.kind for e in test.evidence} & {"unknown", "partial-gate", "vendor-name"}
    if test.confidence == "unsure" or "unknown" in doubts:
        return False
    if label == "ACCELERATOR" and (doubts or names_library(test.name, catalog)):
        return False
    reasons = facts()["carried"]["kinds"].split()
    return any(e.argues_for == label and e.kind in reasons for e in test.evidence)


def strongest(cls: LinkedClass, tests: tuple[TestVerdict, ...], label: str) -> tuple[Evidence, ...]:
    """The reasons to show for a class: the strongest of its tests', those for its own label first."""
    found: dict[tuple[str, str], Evidence] = {}
    for test in tests:
        for one in test.evidence:
            found.setdefault((one.kind, one.argues_for), one)
    ranked = sorted(found.values(), key=lambda e: (e.argues_for != label and label != SPLIT, -e.weight))
    if label == "GENERIC" and ranked and ranked[0].kind == "no-device":
        first = ranked[0]
        message = f"none of its {len(tests)} tests reaches a device" if len(tests) > 1 else "its test reaches no device"
        ranked[0] = Evidence(first.kind, first.argues_for, message, cls.path, class_span(cls.facts), first.weight)
    return tuple(ranked[:SHOWN_EVIDENCE])


NOTHING = "nothing it reaches names a device"
NO_DEVICE = ", no device"
TEXT_ROLES = ("text", "fake", "key")


def split_counts(verdict: Verdict) -> str:
    """'3 GENERIC, 1 CUDA'."""
    return ", ".join(f"{n} {label}" for label, n in Counter(t.label for t in verdict.tests).most_common())


def _nothing_found(subject: Subject) -> Evidence:
    uses = [
        u
        for u in subject.reach.uses
        if not (u.use.device.startswith("cpu") or is_idle(u.use) or is_plain_group(subject, u.use))
    ]
    if uses:
        first = next((u for u in uses if u.use.role not in TEXT_ROLES or not u.use.sure), uses[0])
        harmless = first.use.role in TEXT_ROLES and first.use.sure
        how = (
            f"{first.use.role}{NO_DEVICE}" if harmless else f"named, which may be no use of a device ({first.use.role})"
        )
        return subject.evidence("no-hardware", "GENERIC", f"`{first.use.name}` is {how}", first.path, first.use.span)
    return _no_device(subject.owner, subject.function)


def _least(confidences: Iterable[Confidence]) -> Confidence:
    return max(confidences, key=ORDER.index)
