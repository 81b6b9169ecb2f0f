"""What the rules that judge bodies share: where a device use stands, which tests reach it, how much it weighs there.

A device use binds where a test that is meant for every device reaches it. It is right at *home* (a class for that very
device), *kept* where a vendor-only API ties the test to its device anyway, and of no consequence where no test gets.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from hwlint.catalog import Catalog
from hwlint.findings import Finding, Fix, Related, Severity
from hwlint.rules.base import RuleContext
from hwlint.rules.home import device_type, is_binding, is_home, is_kept
from hwlint.scan.facts import Constant, Construct, DeviceUse, Function, ModuleFacts
from hwlint.suite.model import LinkedClass, Suite
from hwlint.suite.reach import class_reach

Exposure = Literal["bound", "kept", "unreached", "home"]


@dataclass(frozen=True, slots=True)
class Body:
    """A function, a class body, a constant or the module itself, with the device uses in it."""

    symbol: str
    uses: tuple[DeviceUse, ...]
    function: Function | None = None
    owner: LinkedClass | None = None
    constant: Constant | None = None
    classes: tuple[LinkedClass, ...] = ()
    """The classes whose tests reach it."""

    @property
    def device_name(self) -> str:
        """The name that holds the device under test here, '' where there is none."""
        if self.function is None:
            return ""
        if "device" in self.function.parameters:
            return "device"
        if self.function.kind == "setup" and self.classes and all(c.is_instantiated for c in self.classes):
            return "cls.device_type" if self.function.name in ("setUpClass", "tearDownClass") else "self.device_type"
        return ""


@dataclass(slots=True)
class ModuleBodies:
    """The bodies of one module, those with device uses by the constructs in them."""

    bodies: tuple[Body, ...]
    with_uses: dict[str, list[Body]] = field(default_factory=dict)
    _exposures: dict[tuple[int, str], Exposure] = field(default_factory=dict)

    def exposure(self, body: Body, device: str, catalog: Catalog) -> Exposure:
        """How a use of ``device`` in ``body`` weighs."""
        key = (id(body), device)
        found = self._exposures.get(key)
        if found is None:
            found = self._exposures[key] = _exposure(body, device, catalog)
        return found


def _exposure(body: Body, device: str, catalog: Catalog) -> Exposure:
    if not body.classes:
        return "unreached"
    away = [c for c in body.classes if not is_home(c, device, catalog)]
    if not away:
        return "home"
    if body.function is not None and all(is_kept(c, body.function, device) for c in away):
        return "kept"
    return "bound"


def bodies_of(context: RuleContext) -> ModuleBodies:
    """The bodies of the module under check; kept on the suite, as all rules of a run ask for them."""
    memo: dict[str, ModuleBodies] = vars(context.suite).setdefault("_bodies", {})
    found = memo.get(context.module.path)
    if found is None:
        found = memo[context.module.path] = ModuleBodies(tuple(_read_bodies(context.module, context.suite)))
        for body in found.bodies:
            for construct in {use.construct for use in body.uses}:
                found.with_uses.setdefault(construct, []).append(body)
    return found


def _read_bodies(module: ModuleFacts, suite: Suite) -> Iterator[Body]:
    if not _names_a_device(module):
        return
    reached_by: dict[int, list[LinkedClass]] = {}
    for cls in _runners(module, suite):
        found = class_reach(cls)
        for reached in found.functions:
            if reached.module is module:
                _note(reached_by, reached.function, cls)
        for constant in found.constants:
            _note(reached_by, constant.constant, cls)
        for owner in found.classes:
            _note(reached_by, owner.facts, cls)
    for linked in suite.classes_in(module.path):
        name = linked.facts.qualname
        if linked.facts.attribute_uses:
            by = tuple(reached_by.get(id(linked.facts), ()))
            yield Body(name, linked.facts.attribute_uses, owner=linked, classes=by)
        for method in linked.facts.methods:
            if method.uses or method.gates:
                by = tuple(reached_by.get(id(method), ()))
                yield Body(f"{name}.{method.name}", method.uses, method, linked, classes=by)
    for function in module.functions:
        if function.uses or function.gates:
            yield Body(function.name, function.uses, function, classes=tuple(reached_by.get(id(function), ())))
    for one in module.constants:
        if one.device or one.uses:
            yield Body(one.name, one.uses, constant=one, classes=tuple(reached_by.get(id(one), ())))
    if module.module_uses:
        yield Body("", module.module_uses)


def _note(table: dict[int, list[LinkedClass]], what: object, cls: LinkedClass) -> None:
    classes = table.setdefault(id(what), [])
    if not classes or classes[-1] is not cls:
        classes.append(cls)


def _names_a_device(module: ModuleFacts) -> bool:
    functions = [*module.functions, *(m for c in module.classes for m in c.methods)]
    return bool(
        module.module_uses
        or any(c.uses or c.device for c in module.constants)
        or any(c.attribute_uses for c in module.classes)
        or any(f.uses or f.gates for f in functions)
    )


def _runners(module: ModuleFacts, suite: Suite) -> list[LinkedClass]:
    """Test classes that may get to code of ``module``: its own, their subclasses, and those of files that import it."""
    found: dict[int, LinkedClass] = {}
    for cls in suite.classes_in(module.path):
        for one in (cls, *cls.subclasses()):
            # A mixin does not run its tests itself, its subclasses do.
            if one.is_test_class and not (one.is_test_case is False and one.subclasses()):
                found.setdefault(id(one), one)
    for path in _importers(suite).get(module.path, ()):
        for one in suite.test_classes_in(path):
            found.setdefault(id(one), one)
    return list(found.values())


def _importers(suite: Suite) -> dict[str, list[str]]:
    """Path of a module -> paths of the test files that import from it."""
    kept = vars(suite).get("_importers")
    if not isinstance(kept, dict):
        by_name: dict[str, list[str]] = {}
        for path in suite.modules:
            by_name.setdefault(path.rpartition("/")[2].removesuffix(".py"), []).append(path)
        kept = vars(suite)["_importers"] = {}
        for path, module in suite.modules.items():
            words = {w for _, q in module.imports for w in q.split(".")} | {
                w for s in module.star_imports for w in s.split(".")
            }
            for word in words & by_name.keys():
                for target in by_name[word]:
                    if target != path:
                        kept.setdefault(target, []).append(path)
    return kept


ROLE_SEVERITY = {
    "placement": Severity.ERROR,
    "api": Severity.ERROR,
    "backend": Severity.WARNING,
    "comparison": Severity.WARNING,
    "profiler": Severity.WARNING,
    "unknown": Severity.WARNING,
}
"""By role of a use (design, decision 7); what is not named is information."""


def severity_of(use: DeviceUse, exposure: Exposure, worst: Severity = Severity.ERROR) -> Severity:
    """The severity of a use that is not at home."""
    if exposure in ("kept", "unreached"):
        return Severity.INFO
    ceiling = worst if use.sure else max(worst, Severity.WARNING, key=_rank)
    return max(ROLE_SEVERITY.get(use.role, Severity.INFO), ceiling, key=_rank)


def _rank(severity: Severity) -> int:
    return severity.rank


@dataclass(frozen=True, slots=True)
class Group:
    """Uses of one cause in one body, in source order."""

    body: Body
    exposure: Exposure
    uses: tuple[DeviceUse, ...]

    @property
    def first(self) -> DeviceUse:
        return self.uses[0]


def groups(
    context: RuleContext, constructs: tuple[Construct, ...], key: Callable[[Body, DeviceUse], Hashable | None]
) -> Iterator[Group]:
    """Device uses of the ``constructs`` by body, key and exposure; without a key, or at home, they are left out."""
    module = bodies_of(context)
    bodies = {id(body): body for construct in constructs for body in module.with_uses.get(construct, ())}
    for body in bodies.values():
        found: dict[tuple[Hashable, Exposure], list[DeviceUse]] = {}
        for use in body.uses:
            if use.construct not in constructs:
                continue
            kind = key(body, use)
            if kind is None or not is_binding(use.device, context.catalog):
                continue
            exposure = module.exposure(body, device_type(use.device), context.catalog)
            if exposure != "home":
                found.setdefault((kind, exposure), []).append(use)
        for (_, exposure), uses in found.items():
            yield Group(body, exposure, tuple(sorted(uses, key=lambda u: u.span)))


def finding(
    rule_code: str,
    context: RuleContext,
    group: Group,
    severity: Severity,
    message: str,
    detail: str,
    fix: Fix | None = None,
    related_message: str = "",
) -> Finding:
    """One finding for a group, at its first use, the others related; how it is mended is added to the message."""
    first = group.first
    path = context.module.path
    say = related_message or f"{shown(first)} again"
    related = tuple(Related(path, use.span, say) for use in group.uses[1:] if use.span != first.span)
    if group.exposure == "kept":
        message += "; a gate and a vendor-only API tie the test to this device anyway"
        fix = None
    elif group.exposure == "unreached":
        message += "; no test of the suite was seen to reach it"
    elif fix is not None:
        message += f"; {fix.message}"
    return Finding(
        code=rule_code,
        path=path,
        span=first.span,
        severity=severity,
        message=message,
        symbol=group.body.symbol,
        detail=detail,
        role=first.role,
        related=related,
        fix=fix,
    )


def shown(use: DeviceUse) -> str:
    """The use as the source has it, for a message."""
    if use.construct == "string":
        return f'"{use.name}"'
    if use.construct == "fstring":
        return 'f"' + use.name.replace("?", "{...}") + '"'
    if use.construct == "method":
        return f".{use.name}()"
    return use.name


def place(body: Body) -> str:
    """'in TestX.test_y', for a message."""
    return f"in {body.symbol}" if body.symbol else "at module level"


def obstacle(body: Body) -> str:
    """Why code of this body is not to be rewritten mechanically, '' where nothing speaks against it."""
    flags = body.function.flags if body.function is not None else ()
    for flag, why in OBSTACLES.items():
        if flag in flags:
            return why
    return ""


OBSTACLES = {
    "string_program": "a program in a string names the device too",
    "golden": "its expected text names the device",
    "subprocess": "it starts another process",
    "dynamic": "it runs code that cannot be read",
    "fake_mode": "it works on fake tensors",
}


def newer_than(since: str, context: RuleContext) -> bool:
    """Whether a name that came with torch ``since`` is missing in the oldest torch the suite runs with."""
    oldest = context.settings.torch
    return bool(since and oldest) and _numbers(since) > _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def device_words(device: str) -> str:
    """A device of a use, for a message."""
    kinds = dict.fromkeys(part.partition(":")[0] for part in device.split("|"))
    return " or ".join("the accelerator of the host" if kind == "accelerator" else kind for kind in kinds)


def is_attribute(use: DeviceUse) -> bool:
    """Whether the device comes from an attribute of the object, which is reported where it is set (HW201, HW402)."""
    return use.via.startswith(("self.", "cls."))
