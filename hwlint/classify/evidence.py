"""The rules of evidence: each looks at one thing that a test reaches and says what it argues for.

What a kind of evidence weighs, and whether it proves anything by itself, is data: hwlint/catalog/evidence.toml. The
rules on gates are in gate_evidence.py.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from hwlint.catalog import SETTINGS_PREFIXES, Catalog, FrameworkBase
from hwlint.catalog.claims import class_claim, vendor_device
from hwlint.classify.gate_evidence import gates, unread_skip
from hwlint.classify.idle_attributes import is_idle_attribute
from hwlint.classify.names import vendor_name
from hwlint.classify.subject import (
    COMMON_ACCELERATORS,
    DEVICE_LABELS,
    EvidenceRule,
    Subject,
    accelerator_placement,
    device_types,
    facts,
    is_accelerator,
    label_of,
)
from hwlint.classify.verdict import Evidence
from hwlint.scan.device_record import is_question
from hwlint.scan.facts import Decorator, DeviceUse, Function, Instantiation
from hwlint.scan.spans import class_span, function_span
from hwlint.suite.devices import argument
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import ReachedUse


def instantiated(subject: Subject) -> Iterator[Evidence]:
    """The device types that the class is instantiated for."""
    cls = subject.cls
    if not cls.is_instantiated:
        return
    call = cls.device_type_instantiations[0]
    devices = cls.devices
    named = [d for d in devices.devices if d in DEVICE_LABELS]
    if devices.exact and len(devices.devices) == 1 and not _names_several(call):
        device = devices.devices[0]
        kind = "instantiated-for-cpu" if device == "cpu" else "instantiated-for-one"
        yield subject.evidence(
            kind, label_of(device), f"'{cls.name}' is instantiated for {device} alone", cls.path, call.span
        )
    elif devices.devices and (device := only_device(subject.function, subject.catalog)):
        message = f"'{cls.name}' is instantiated for several device types, but this test is kept to {device}"
        yield subject.evidence("restricted-to-one", "ACCELERATOR", message, cls.path, call.span)
    elif devices.devices:
        listed = ", ".join(named or devices.devices)
        yield subject.evidence(
            "instantiated", "ACCELERATOR", f"'{cls.name}' is instantiated for {listed}", cls.path, call.span
        )


def _names_several(call: Instantiation) -> bool:
    """``only_for=("cuda", "xpu")`` without ``allow_xpu``, ``only_for=GPU_TYPE``: not for CUDA, though it is alone."""
    given = argument(call, "only_for")
    return given is not None and isinstance(given.value, tuple) and len(given.value) > 1


def only_device(function: Function, catalog: Catalog) -> str:
    """The one accelerator that an ``@only...`` decorator keeps the test to, '' for none."""
    for decorator in function.decorators:
        entry = catalog.find_decorator(decorator.qualified)
        if entry is not None and entry.role == "whitelist" and len(entry.devices) == 1:
            device = entry.devices[0]
            return device if device not in ("cpu", "accelerator") else ""
    return ""


def device_parameter(subject: Subject) -> Iterator[Evidence]:
    """A ``device`` parameter that an instantiation, a parametrization or a caller passes."""
    function = subject.function
    taken = [p for p in ("device", "devices") if p in function.parameters]
    if not taken or subject.cls.is_instantiated:
        return
    values = parametrized_devices(function.decorators)
    if values and not any(is_accelerator(v, subject.catalog) for v in values):
        return
    yield subject.evidence("device-parameter", "ACCELERATOR", f"'{function.name}' takes `{taken[0]}`")


def parametrized_devices(decorators: Iterable[Decorator]) -> tuple[str, ...]:
    """The values of ``@parametrize("device", [...])``, where they are literals."""
    for decorator in decorators:
        if decorator.name.rpartition(".")[2] != "parametrize" or len(decorator.arguments) < 2:
            continue
        names, values = decorator.arguments[0], decorator.arguments[1]
        if isinstance(names.value, str) and names.value.strip() in ("device", "devices", "device_type"):
            if isinstance(values.value, tuple):
                return tuple(v for v in values.value if isinstance(v, str))
    return ()


def placements(subject: Subject) -> Iterator[Evidence]:
    """Where tensors are put: 'cuda' or the accelerator there is argues for ACCELERATOR, a rarer device for itself."""
    for reached in subject.reach.uses:
        use = reached.use
        if use.role not in ("placement", "parametrization") or use.construct == "bare_device":
            continue
        found = [d for d in device_types(use.device) if is_accelerator(d, subject.catalog)]
        if not found or is_idle_attribute(subject, reached):
            continue
        where = f"`{use.name}`" + (f" in {use.context}" if use.context else "")
        if use.role == "parametrization" and use.context == "for":
            yield _at(subject, reached, "device-loop", "ACCELERATOR", f"a loop over `{use.name}` runs on accelerators")
        elif "cpu" in device_types(use.device):
            yield _at(
                subject, reached, "optional-placement", "ACCELERATOR", f"{where} is an accelerator where there is one"
            )
        elif found[0] in COMMON_ACCELERATORS:
            # 'rank:0/cuda:0' describes where a shard would be; a test may never put one there.
            sure = use.sure and use.role == "placement" and not use.name.startswith("rank:")
            kind = "placement" if sure else "optional-placement"
            yield _at(subject, reached, kind, "ACCELERATOR", f"{where} places on {found[0]}")
        else:
            yield _at(subject, reached, "vendor-placement", label_of(found[0]), f"{where} places on {found[0]}")


def apis(subject: Subject) -> Iterator[Evidence]:
    """Device APIs: what one vendor alone has binds to it, what every accelerator has is portable."""
    asking = asking_fixtures(subject)
    constants = {(one.path, one.constant.name) for one in subject.reach.constants}
    for reached in subject.reach.uses:
        use = reached.use
        if use.construct not in ("api", "tensor_type") or use.role in ("fake", "text", "key"):
            continue
        place = (reached.path, reached.symbol)
        if place in asking or place in constants and is_question(use.name):
            continue  # What hangs on a constant that asks for a device is told by the gates that read it.
        if use.name.startswith(SETTINGS_PREFIXES):
            continue
        device = device_types(use.device)[0]
        entry = subject.catalog.find_api(use.name)
        if is_idle(use):
            continue
        if entry is not None and entry.family == "graph" and entry.kind != "vendor_only":
            yield _at(
                subject, reached, "graph-api", label_of(device), f"{use.name} captures graphs as {device} has them"
            )
        elif entry is not None and entry.kind == "vendor_only":
            yield _at(subject, reached, "vendor-api", label_of(device), f"{use.name} exists on {device} alone")
        elif is_accelerator(device, subject.catalog):
            label = "ACCELERATOR" if device in COMMON_ACCELERATORS else label_of(device)
            yield _at(subject, reached, "portable-api", label, f"{use.name} needs an accelerator")


def asking_fixtures(subject: Subject) -> set[tuple[str, str]]:
    """(path, symbol) of the fixtures that ask whether a device is there and go on without it: ``tearDown`` that clears
    the cache of a device, if there is one, does so after tests that are about none.
    """
    return {
        (reached.path, reached.symbol)
        for reached in subject.reach.functions
        if reached.function.kind == "setup"
        and any(not gate.blocking and any(not r.absent for r in gate.requirements) for gate in reached.function.gates)
    }


def is_idle(use: DeviceUse) -> bool:
    """Whether it does nothing where there is no device: it seeds it (torch/cuda/random.py), or sets a switch of its
    kernels.
    """
    if use.construct != "api":
        return False
    if use.name.rpartition(".")[2].startswith("manual_seed"):
        return True
    return any(use.name == name or use.name.startswith(f"{name}.") for name in facts()["settings"]["idle"].split())


def backends(subject: Subject) -> Iterator[Evidence]:
    """Process-group back ends."""
    for reached in subject.reach.uses:
        use = reached.use
        if use.role != "backend":
            continue
        entry = subject.catalog.collectives.get(use.name)
        device = accelerator_placement(subject)
        if entry is not None and use.context.startswith("self.") and device in entry.devices:
            # A default back end would be named where the group is made; one handed to a helper is what is tested.
            message = f"it hands {use.name} to `{use.context}` and places on {device}: that back end is what it tests"
            yield _at(subject, reached, "backend-subject", label_of(device), message)
        elif entry is not None and entry.vendor and entry.vendor != "cpu":
            yield _at(subject, reached, "backend", "ACCELERATOR", f"it asks for the back end {use.name}")


def is_plain_group(subject: Subject, use: DeviceUse) -> bool:
    """Whether it makes a process group on the CPU's default back end, which nothing around it asks for: the group is a
    means, and what goes through it stays on the CPU.
    """
    entry = subject.catalog.collectives.get(use.name) if use.role == "backend" else None
    if entry is None or "cpu" not in entry.default_for or "init_process_group(" not in use.context:
        return False
    asked = (one for reached in subject.reach.gates for one in reached.gate.requirements)
    return not any(one.kind == "library" and one.value == use.name for one in asked)


def profiler(subject: Subject) -> Iterator[Evidence]:
    """Profiler activities and arguments of an accelerator."""
    for reached in subject.reach.uses:
        if reached.use.role == "profiler" and is_accelerator(device_types(reached.use.device)[0], subject.catalog):
            yield _at(subject, reached, "profiler", "ACCELERATOR", f"it profiles with {reached.use.name}")


def only_decorators(subject: Subject) -> Iterator[Evidence]:
    """``@onlyCPU`` and kin on a test of an instantiated class: the ones for an accelerator are mostly placement."""
    if not subject.cls.is_instantiated:
        return
    for decorator in subject.function.decorators:
        entry = subject.catalog.decorators.get(decorator.name.rpartition(".")[2])
        if entry is None or entry.role != "whitelist" or len(entry.devices) != 1:
            continue
        device = entry.devices[0]
        kind, label = ("gate", "ACCELERATOR") if device in COMMON_ACCELERATORS else ("only-decorator", label_of(device))
        yield subject.evidence(kind, label, f"`@{decorator.name}` keeps it to {device}", span=decorator.span)


def fixtures(subject: Subject) -> Iterator[Evidence]:
    """Framework bases whose set-up picks the device."""
    at = (subject.cls.path, class_span(subject.cls.facts))
    for base in subject.cls.framework_bases:
        name = base.name.rpartition(".")[2]
        if base.accelerator_fixture:
            if base.starts and not is_started(subject, base):
                continue
            yield subject.evidence("fixture", "ACCELERATOR", f"{name} picks the accelerator", *at)
            if base.process_on_device and any(g.kind == "gate" and g.argues_for for g in gates(subject)):
                said = f"{name} runs each process on an accelerator"
                yield subject.evidence("process-device", "ACCELERATOR", said, *at)
        elif base.device and base.kind != "device":
            yield subject.evidence("fixture", label_of(base.device), f"{name} is for {base.device}", *at)


def is_started(subject: Subject, base: FrameworkBase) -> bool:
    """Whether the fixture of a base that only acts where it is asked to may act on a device in this test."""
    for decorator in subject.function.decorators:
        if decorator.name.rpartition(".")[2] == base.starts:
            given = {a.name: a.value for a in decorator.arguments if a.known}
            backend = subject.catalog.collectives.get(str(given.get("backend")))
            if backend is None or backend.vendor or given.get("init_rpc") is not False:
                return True
        elif subject.catalog.find_decorator(decorator.qualified) is None:
            return True  # It may well be made of the one above.
    calls = {f"self.{name}" for name in base.decides}
    if any(calls & set(reached.function.references) for reached in subject.reach.functions):
        return True
    # A spec that names devices says that it is about such a group, whoever starts it.
    placed = (one.use for one in subject.reach.uses if one.use.role == "placement")
    return any(is_accelerator(device, subject.catalog) for use in placed for device in device_types(use.device))


def attributes(subject: Subject) -> Iterator[Evidence]:
    """``device = "cpu"`` on a class that shares its tests with a twin for another device."""
    if not subject.cls.templates and subject.owner is subject.cls:
        yield from template(subject)
        return
    for name, value in subject.cls.facts.attributes:
        if name in ("device", "device_type") and isinstance(value, str):
            device = value.partition(":")[0]
            if device in DEVICE_LABELS or is_accelerator(device, subject.catalog):
                label = "ACCELERATOR" if device in COMMON_ACCELERATORS else label_of(device)
                yield subject.evidence(
                    "cpu-twin" if device == "cpu" else "device-attribute",
                    label,
                    f"'{subject.cls.name}' runs shared tests with {name} = {value!r}",
                    subject.cls.path,
                    class_span(subject.cls.facts),
                )


def template(subject: Subject) -> Iterator[Evidence]:
    """A test that reads ``self.device`` of a class that has none: its subclasses say which."""
    cls = subject.cls
    if cls.is_instantiated or any(name in SELF_DEVICE for name, _ in cls.facts.attributes):
        return
    for name in SELF_DEVICE:
        if f"self.{name}" in subject.function.references and cls.find_method(name) is None:
            yield subject.evidence("template", "ACCELERATOR", f"it reads self.{name}, which the class does not set")
            return


SELF_DEVICE = ("device", "device_type")


def comparisons(subject: Subject) -> Iterator[Evidence]:
    """Device names that are compared: no reason for a label, but one to be careful."""
    for reached in subject.reach.uses:
        if reached.use.role == "comparison" and is_accelerator(device_types(reached.use.device)[0], subject.catalog):
            yield _at(subject, reached, "comparison", "", f"`{reached.use.name}` is compared")


def vendor_names(subject: Subject) -> Iterator[Evidence]:
    """A class that is named after one vendor's device or library: placement alone would not make it ACCELERATOR."""
    word, device = vendor_name(subject.cls)
    if word and subject.reach.uses:
        message = f"'{subject.cls.name}', its file or its tests are named after {word}"
        yield subject.evidence(
            "vendor-name", label_of(device), message, subject.cls.path, class_span(subject.cls.facts)
        )


def vendor_classes(subject: Subject) -> Iterator[Evidence]:
    """A class of torch's own that is one vendor's, by its name: ``CUDACodeCache``, ``CudaInterface``. What helpers in
    other files use counts not: they may need it for what this test does not do.
    """
    imported = vendor_imports(subject.cls)
    for reached in subject.reach.functions if imported else ():
        for reference in reached.function.references if reached.path == subject.cls.path else ():
            name = imported.get(reference.partition(".")[0], "")
            if name:
                device = vendor_device(name)
                message = f"{name} is a class for {device}"
                yield subject.evidence("vendor-api", label_of(device), message, span=reached.function.span)


@functools.lru_cache(maxsize=64)
def vendor_imports(cls: LinkedClass) -> dict[str, str]:
    """Local name -> name of the classes of one vendor's that the module imports from torch."""
    found = {}
    for local, qualified in cls.module.imports:
        name = qualified.rpartition(".")[2]
        if class_claim().match(name) and qualified.startswith("torch.") and not cls.suite.catalog.find_api(qualified):
            found[local] = name
    return found


def unknowns(subject: Subject) -> Iterator[Evidence]:
    """What could not be followed."""
    for name in subject.cls.opaque_bases:
        yield subject.evidence(
            "unknown", "", f"the base {name} cannot be followed", subject.cls.path, class_span(subject.cls.facts)
        )
    if subject.cls.facts.dynamic:
        yield subject.evidence(
            "unknown", "", "members are added from outside the class", subject.cls.path, class_span(subject.cls.facts)
        )
    skip = unread_skip(subject.cls, subject.function)
    if skip is not None:
        message = f"`@{skip.name}` names a device, in a condition that cannot be read"
        yield subject.evidence("unknown", "", message, span=skip.span)
    for name in subject.reach.unknown[:3]:
        yield subject.evidence("unknown", "", f"{name} cannot be followed")
    for reached in subject.reach.functions:
        flags = reached.function.flags
        program = "string_program" in flags and any(u.role == "text" for u in reached.function.uses)
        if "unread" in flags or program:
            yield subject.evidence(
                "unknown",
                "",
                f"{reached.symbol} runs code that is made as text",
                reached.path,
                function_span(reached.function),
            )
            return


def _at(subject: Subject, reached: ReachedUse, kind: str, label: str, message: str) -> Evidence:
    return subject.evidence(kind, label, message, reached.path, reached.use.span)


def subject_api(subject: Subject) -> Iterator[Evidence]:
    """A class whose tests are mostly calls of one device module: that module is what it tests."""
    device, names, share = module_under_test(subject.cls)
    if device and any(u.use.construct == "api" or u.use.role == "placement" for u in subject.reach.uses):
        yield subject.evidence(
            "subject",
            label_of(device),
            f"'{subject.cls.name}' is about the {device} module: {share:.0%} of its tests call it, {names} names",
            subject.cls.path,
            class_span(subject.cls.facts),
        )


@functools.lru_cache(maxsize=64)
def module_under_test(cls: LinkedClass) -> tuple[str, int, float]:
    """(device type, number of its module's names that the tests call, share of the tests that call any); '' for
    none.
    """
    limits = facts()["subject"]
    housekeeping = limits["housekeeping"].split()
    names: dict[str, set[str]] = {}
    callers: dict[str, int] = {}
    for function in cls.own_tests:
        called: set[str] = set()
        for use in function.uses:
            if use.construct != "api" or use.name.startswith(SETTINGS_PREFIXES):
                continue
            if use.name.rpartition(".")[2] not in housekeeping:
                device = device_types(use.device)[0]
                names.setdefault(device, set()).add(use.name)
                called.add(device)
        for device in called:
            callers[device] = callers.get(device, 0) + 1
    for device, found in names.items():
        share = callers[device] / len(cls.own_tests)
        if device in DEVICE_LABELS and len(found) >= limits["names"] and share >= limits["share"]:
            return device, len(found), share
    return "", 0, 0.0


RULES: tuple[EvidenceRule, ...] = (
    instantiated,
    device_parameter,
    placements,
    apis,
    backends,
    profiler,
    gates,
    only_decorators,
    fixtures,
    attributes,
    subject_api,
    comparisons,
    vendor_names,
    vendor_classes,
    unknowns,
)


ON_USES = (placements, apis, backends, profiler, subject_api, comparisons, vendor_names)
"""Those that say nothing of a test that reaches no use of a device, as most do."""
BESIDE_USES = tuple(rule for rule in RULES if rule not in ON_USES)


def gather(subject: Subject) -> tuple[Evidence, ...]:
    """All the evidence on a test: the first of each kind and label, with the strongest first."""
    found: dict[tuple[str, str], Evidence] = {}
    for rule in RULES if subject.reach.uses else BESIDE_USES:
        for one in rule(subject):
            found.setdefault((one.kind, one.argues_for), one)
    return tuple(sorted(found.values(), key=lambda e: -e.weight))
