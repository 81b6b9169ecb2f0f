"""The gates of a module, each with the function or class it stands at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hwlint.catalog import Catalog
from hwlint.catalog import Decorator as DecoratorEntry
from hwlint.rules.base import RuleContext
from hwlint.rules.bodies import Body, bodies_of
from hwlint.scan.facts import Decorator, Function, Gate
from hwlint.suite.model import LinkedClass


@dataclass(frozen=True, slots=True)
class Placed:
    """A gate, and the function or class it stands at."""

    gate: Gate
    symbol: str
    function: Function | None
    owner: LinkedClass | None
    classes: tuple[LinkedClass, ...]
    """Classes whose tests it lets pass."""
    decorator: Decorator | None = None
    entry: DecoratorEntry | None = None


def placed_gates(context: RuleContext) -> tuple[Placed, ...]:
    """The gates of the module's functions and classes, kept on the suite; those of the file itself are HW506's."""
    memo: dict[str, tuple[Placed, ...]] = vars(context.suite).setdefault("_placed_gates", {})
    found = memo.get(context.module.path)
    if found is None:
        found = memo[context.module.path] = tuple(_read_gates(context))
    return found


def _read_gates(context: RuleContext) -> Iterator[Placed]:
    suite, path = context.suite, context.module.path
    bodies = {id(b.function): b for b in bodies_of(context).bodies if b.function is not None}
    for cls in suite.classes_in(path):
        if not cls.facts.gates and not any(m.gates for m in cls.facts.methods):
            continue
        runners = tuple(c for c in (cls, *cls.subclasses()) if c.is_test_class)
        for gate in cls.facts.gates:
            if gate.form == "class_decorator":
                decorator, entry = _decorator_of(gate, cls.facts.decorators, context.catalog)
                yield Placed(gate, cls.facts.qualname, None, cls, runners, decorator, entry)
        for method in cls.facts.methods:
            if method.gates:
                yield from _of_function(context, method, cls, bodies.get(id(method)))
    for function in context.module.functions:
        if function.gates:
            yield from _of_function(context, function, None, bodies.get(id(function)))


def _of_function(
    context: RuleContext, function: Function, owner: LinkedClass | None, body: Body | None
) -> Iterator[Placed]:
    symbol = f"{owner.facts.qualname}.{function.name}" if owner is not None else function.name
    for gate in function.gates:
        decorator, entry = _decorator_of(gate, function.decorators, context.catalog)
        yield Placed(gate, symbol, function, owner, body.classes if body is not None else (), decorator, entry)


def _decorator_of(
    gate: Gate, decorators: tuple[Decorator, ...], catalog: Catalog
) -> tuple[Decorator | None, DecoratorEntry | None]:
    found = next((d for d in decorators if d.span == gate.span), None)
    return found, catalog.find_decorator(found.qualified) if found is not None else None


def short(name: str) -> str:
    """A condition or decorator for a message."""
    name = " ".join(name.split())
    return name if len(name) <= 60 else name[:57] + "..."
