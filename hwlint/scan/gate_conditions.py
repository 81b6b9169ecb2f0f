"""What must be there for a condition to be true: flags and calls of the catalog, ``not``, ``and``, ``or``, counts and
capabilities.

One flag may imply several requirements (TEST_CUDNN: the library, on CUDA); ``combine`` stays '' for it, and says how
they combine only where the source itself combines.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping
from dataclasses import replace

from hwlint.catalog import ANY_ACCELERATOR, Catalog, Flag
from hwlint.scan.context import ScanContext
from hwlint.scan.device_places import DEVICE_NAME
from hwlint.scan.device_words import Words, words_of
from hwlint.scan.facts import Requirement
from hwlint.scan.gate_formula import FALSE, TRUE, Condition, Formula, absent, flatten, leaf
from hwlint.scan.names import dotted, source_of


def read_condition(expr: ast.expr, context: ScanContext, local_values: Mapping[str, ast.expr] = {}) -> Condition:
    """What must be there for ``expr`` to be true, and how that combines: 'all', 'any', 'mixed', '' for one thing.

    ``local_values`` are the values of local names. What is not known is a requirement of kind 'unknown' with its source
    text. A count is '2', of any accelerator unless a 'device' requirement is beside it; a capability is 'sm_80' or a
    flag's name.
    """
    return flatten(ConditionReader(context, local_values).read(expr, True))


def read_negated(expr: ast.expr, context: ScanContext, local_values: Mapping[str, ast.expr] = {}) -> Condition:
    """What must be there for ``expr`` to be false: what a test needs in order not to be skipped by it."""
    return flatten(ConditionReader(context, local_values).read(expr, False))


def asks_device(requirements: Iterable[Requirement], context: ScanContext) -> bool:
    """Whether any of the requirements is about a device, its number, its capabilities or a library bound to it."""
    libraries = device_libraries(context.catalog)
    return any(
        r.kind in ("device", "accelerator", "count", "capability")
        or (r.kind == "library" and r.value in libraries)
        or (r.kind == "platform" and r.value == "rocm")
        for r in requirements
    )


@functools.cache
def device_libraries(catalog: Catalog) -> frozenset[str]:
    """Libraries that the catalog ties to an accelerator, and those that stand for one."""
    tied = {f.library for f in catalog.flags.values() if f.library and f.device not in ("", "cpu")}
    tied |= {d.library for d in catalog.decorators.values() if d.library and "cpu" not in d.devices and d.devices}
    return frozenset(tied | set(catalog.collectives) | {"triton", "distributed"})


def flag_requirements(flag: Flag, count: int = 0) -> tuple[Requirement, ...]:
    """What a flag of the catalog asks for, and what that implies."""
    device = device_requirement(flag.device)
    library = (Requirement("library", flag.library),) if flag.library else ()
    name = flag.name.rpartition(".")[2]
    if flag.asks in ("device", "accelerator"):
        return device + library
    if flag.asks == "count":
        number = count or flag.count or 1
        return (Requirement("count", str(number)), *device) if number > 1 else device
    if flag.asks == "capability":
        return (Requirement("capability", _capability(name, flag.capability)), *device)
    if flag.asks == "library":
        return (Requirement("library", flag.library or name), *device)
    if flag.asks == "platform":
        if flag.name.startswith("torch.version.") and flag.name.endswith((".cuda", ".xpu")):
            return device
        rocm = "ROCm" in flag.note or name in ("hip", "rocm")
        return (Requirement("platform", "rocm" if rocm else name), *(device if rocm else ()))
    return (Requirement("flag", name),)


def device_requirement(device: str) -> tuple[Requirement, ...]:
    if not device:
        return ()
    return (
        Requirement("accelerator", ANY_ACCELERATOR) if device == ANY_ACCELERATOR else Requirement("device", device),
    )


def _capability(name: str, capability: str) -> str:
    """'sm_80' for SM80OrLater, else the flag's own name."""
    if capability == "sm" and name.startswith("SM") and name.endswith("OrLater"):
        return f"sm_{name[2:-7]}"
    return name


class ConditionReader:
    """Reads one expression into a formula."""

    def __init__(self, context: ScanContext, local_values: Mapping[str, ast.expr]) -> None:
        self.context = context
        self.local_values = local_values
        self.words: Words = words_of(context.catalog)
        self.open: set[str] = set()

    def read(self, node: ast.expr, positive: bool) -> Formula:
        """The formula of ``node`` being true, or false."""
        found = self._true(node)
        return found if positive else absent(found)

    def _true(self, node: ast.expr) -> Formula:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return absent(self._true(node.operand))
        if isinstance(node, ast.BoolOp):
            return Formula("all" if isinstance(node.op, ast.And) else "any", parts=tuple(map(self._true, node.values)))
        if isinstance(node, ast.Constant):
            return TRUE if node.value else FALSE
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._name(node) or self._unknown(node)
        if isinstance(node, ast.Call):
            return self._call(node) or self._unknown(node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compare(node.left, node.ops[0], node.comparators[0]) or self._unknown(node)
        if isinstance(node, ast.NamedExpr):
            return self._true(node.value)
        if isinstance(node, ast.Lambda):
            return self._true(node.body)
        return self._unknown(node)

    def _unknown(self, node: ast.expr) -> Formula:
        """What is not understood; where it asks a device API, a capability of that device."""
        return self._api(node) or leaf(Requirement("unknown", source_of(node)))

    def _api(self, node: ast.expr) -> Formula | None:
        """A device API, a part of its result, or a comparison of it; nothing deeper in another expression."""
        if isinstance(node, ast.Compare):
            return self._api(node.left) or self._api(node.comparators[0])
        while not dotted(node):
            if not isinstance(node, (ast.Call, ast.Attribute, ast.Subscript)):
                return None
            node = node.func if isinstance(node, ast.Call) else node.value
        qualified = self.context.names.qualify(node)
        module = self.words.module_of(qualified)
        if not module:
            return None
        known = self.context.catalog.find_flag(module)
        if known is not None:
            return leaf(*flag_requirements(known))
        if qualified == module:
            return None
        return leaf(Requirement("capability", qualified), *device_requirement(self.words.modules[module]))

    def find_flag(self, node: ast.expr) -> Flag | None:
        """The flag of the catalog that a name or a callee is, where the module does not define it itself."""
        written = dotted(node)
        if not written or written in self.context.constants:
            return None
        qualified = self.context.names.qualify_name(written)
        catalog = self.context.catalog
        found = catalog.find_flag(qualified)
        if found is None and "." not in written.removeprefix("self."):
            found = catalog.flags.get(qualified.rpartition(".")[2])
        elif found is None and not qualified.startswith(("torch.", "self.")):
            found = catalog.flags.get(qualified.rpartition(".")[2])
        if found is not None and found.asks == "value":
            # A number of devices is asked about as a count; other values are no questions.
            return replace(found, asks="count") if "number of devices" in found.note else None
        return found

    def _name(self, node: ast.expr) -> Formula | None:
        written = dotted(node)
        value = self.local_values.get(written)
        if value is not None and written not in self.open:
            self.open.add(written)
            found = self._true(value)
            self.open.discard(written)
            # A result kept in a name and compared later (memory in use) is no question about what the host has.
            measured = found.kind == "leaf" and found.requirements[0].value.startswith("torch.")
            return None if measured else found
        constant = self.context.constants.get(written)
        if constant is not None:
            if not constant.requirements:
                return None
            parts = tuple(map(leaf, constant.requirements))
            if constant.combine == "any":
                return Formula("any", parts=parts)
            if constant.combine == "all":
                return Formula("all", parts=parts)
            if constant.combine == "mixed":
                return Formula("leaf", constant.requirements, mixed=True)
            return leaf(*constant.requirements)
        flag = self.find_flag(node)
        if flag is None:
            return None
        found = leaf(*flag_requirements(flag))
        return absent(found) if flag.name.startswith("NOTEST_") else found

    def _call(self, node: ast.Call) -> Formula | None:
        last = dotted(node.func).rpartition(".")[2]
        if last in ("bool", "LazyVal", "callable") and node.args:
            return self._true(node.args[0])
        if last in ("any", "all") and len(node.args) == 1 and isinstance(node.args[0], (ast.List, ast.Tuple)):
            parts = tuple(map(self._true, node.args[0].elts))
            return Formula("any" if last == "any" else "all", parts=parts)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "startswith" and node.args:
            return self._holds_device(node.func.value, node.args[0])
        flag = self.find_flag(node.func)
        if flag is None:
            name = dotted(node.func)
            return self._name(node.func) if name in self.local_values or name in self.context.constants else None
        if last == "is_backend_available":
            first = node.args[0] if node.args else None
            name = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else ""
            collective = self.context.catalog.collectives.get(name)
            return leaf(
                Requirement("library", name or "?"), *device_requirement(collective.vendor if collective else "")
            )
        first = node.args[0] if node.args else None
        count = first.value if isinstance(first, ast.Constant) and isinstance(first.value, int) else 0
        return leaf(*flag_requirements(flag, count))

    # -- comparisons ------------------------------------------------------------------------------------------------

    def _compare(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Formula | None:
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self._membership(left, right)
            return absent(found) if found is not None and isinstance(op, ast.NotIn) else found
        if isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
            left, right, op = right, left, _MIRRORED.get(op.__class__, op.__class__)()
        if isinstance(right, ast.Constant) and right.value is None:
            asked = self._none(left)
            return absent(asked) if asked is not None and isinstance(op, (ast.Is, ast.Eq)) else asked
        if isinstance(right, ast.Constant) and isinstance(right.value, str):
            held = self._holds_device(left, right)
            if held is not None:
                return held if isinstance(op, (ast.Eq, ast.Is)) else absent(held)
            return None
        quantity = self._quantity(left, op, self._number(right))
        if quantity is None:
            return None
        return absent(quantity[0]) if quantity[1] else quantity[0]

    def _number(self, node: ast.expr) -> int | tuple[int, ...] | None:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return int(node.value)
        if isinstance(node, ast.Tuple):
            parts = [e.value for e in node.elts if isinstance(e, ast.Constant) and isinstance(e.value, int)]
            return tuple(parts) if len(parts) == len(node.elts) else None
        if isinstance(node, ast.Name):
            constant = self.context.constants.get(node.id)
            if constant is not None and constant.known and isinstance(constant.value, int):
                return constant.value
        return None

    def _quantity(
        self, left: ast.expr, op: ast.cmpop, number: int | tuple[int, ...] | None
    ) -> tuple[Formula, bool] | None:
        """A count or a capability against a number: the formula, and whether it has to be missing."""
        negative = isinstance(op, (ast.Lt, ast.LtE)) or (isinstance(op, ast.Eq) and number == 0)
        formula = self._asked(left)
        if formula is None or formula.kind != "leaf":
            return None
        first = formula.requirements[0]
        if self._counts(left):
            if not isinstance(number, int):
                return leaf(Requirement("count", "?"), *formula.requirements), negative
            least = number + isinstance(op, (ast.Gt, ast.LtE))
            if isinstance(op, (ast.Eq, ast.NotEq)) and number == 0:
                least, negative = 1, isinstance(op, ast.Eq)
            devices = tuple(r for r in formula.requirements if r.kind != "count")
            return leaf(*((Requirement("count", str(least)),) if least > 1 else ()), *devices), negative
        if first.kind == "capability" and "get_device_capability" in first.value and number is not None:
            parts = number if isinstance(number, tuple) else (number, 0)
            name = "sm_" + "".join(map(str, parts[:2]))
            return leaf(Requirement("capability", name), *formula.requirements[1:]), negative
        return formula, negative

    def _asked(self, node: ast.expr) -> Formula | None:
        """What a compared value asks for: a flag, a call, or a part of its result."""
        while isinstance(node, (ast.Subscript, ast.Attribute)) and not dotted(node):
            node = node.value
        if isinstance(node, ast.Call):
            if dotted(node.func) in ("len", "int", "min", "max") and node.args:
                return self._asked(node.args[0])
            return self._call(node) or self._api(node)
        return self._name(node)

    def _counts(self, node: ast.expr) -> bool:
        flag = self.find_flag(node.func if isinstance(node, ast.Call) else node)
        if isinstance(node, ast.Call) or flag is not None:
            return flag is not None and flag.asks == "count"
        written = dotted(node)
        value = self.local_values.get(written)
        if value is not None and written not in self.open:
            return self._counts(value)
        constant = self.context.constants.get(written)
        return (
            constant is not None
            and bool(constant.requirements)
            and not constant.known
            and "count" in written.lower() + "".join(r.kind for r in constant.requirements)
        )

    def _none(self, node: ast.expr) -> Formula | None:
        """``torch.version.cuda is not None``: the thing is there."""
        return self._asked(node)

    def _membership(self, left: ast.expr, right: ast.expr) -> Formula | None:
        if isinstance(left, ast.Constant):
            return self._holds_device(right, left)
        if isinstance(right, (ast.Tuple, ast.List, ast.Set)):
            parts = [self._holds_device(left, element) for element in right.elts]
            known = tuple(p for p in parts if p is not None)
            return Formula("any", parts=known) if known and len(known) == len(parts) else None
        return None

    def _holds_device(self, holder: ast.expr, text: ast.expr) -> Formula | None:
        """``device == "cuda"``, ``"cuda" in device``, ``x.device.type == "cuda"``: the test runs on that device."""
        if not (isinstance(text, ast.Constant) and isinstance(text.value, str)):
            return None
        device = self.words.device_of_text(text.value)
        while (
            isinstance(holder, ast.Call) and dotted(holder.func).rpartition(".")[2] in ("str", "device") and holder.args
        ):
            holder = holder.args[0]
        if isinstance(holder, ast.Call):
            known = dotted(holder.func).rpartition(".")[2] == "get_all_device_types"
        else:
            name = holder.attr if isinstance(holder, ast.Attribute) else dotted(holder)
            owner = holder.value if isinstance(holder, ast.Attribute) and name == "type" else None
            known = bool(DEVICE_NAME.search(name)) or owner is not None or name in self.words.device_values
        return leaf(Requirement("device", device.partition(":")[0])) if device and known else None


_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}
