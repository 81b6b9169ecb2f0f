"""What a test reaches: its own body, the helpers it calls, its fixtures, the constants it reads, the gates before it.

``reach(cls, test)`` is for one test, ``class_reach(cls)`` for all tests of a class together. Names are followed
statically: ``self.x`` and ``cls.x`` through the bases of the class that runs the test (also in other files),
``super().x`` through the bases behind the class where it is written, plain names through the module's functions,
constants, helper classes and imports of modules in the suite. What cannot be followed is named in ``unknown``; nothing
is guessed. Results are kept for as long as the suite is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from hwlint.catalog.packages import foreign_packages, touches_no_hardware
from hwlint.scan.facts import Constant, DeviceUse, Function, Gate, ModuleFacts
from hwlint.suite.imports import candidate_paths
from hwlint.suite.model import LinkedClass, Suite

GateScope = Literal["test", "class", "file", "setup", "helper"]
MAX_HOPS = 6
"""Re-exports followed before a name is given up."""
FOREIGN = foreign_packages()
"""Packages whose functions are no helpers of the test suite."""


@dataclass(frozen=True, slots=True)
class Reached:
    """A function where it is defined."""

    module: ModuleFacts = field(repr=False)
    owner: LinkedClass | None
    """The class that defines it, None for a function of the module."""
    function: Function
    receiver: LinkedClass | None = field(default=None, repr=False)
    """The class that ``self`` is of: the test's own class, or the helper class that is called."""

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def symbol(self) -> str:
        """'Class.method' or 'function'."""
        return f"{self.owner.facts.qualname}.{self.function.name}" if self.owner else self.function.name


@dataclass(frozen=True, slots=True)
class ReachedUse:
    """A device use, and the function, class body or constant (``symbol``) that it stands in."""

    path: str
    symbol: str
    use: DeviceUse


@dataclass(frozen=True, slots=True)
class ReachedGate:
    """A gate, and whether it stands at the test, its class, its file, a fixture or a helper."""

    path: str
    scope: GateScope
    gate: Gate
    function: Function | None = None
    """The one that it stands in, or at."""


@dataclass(frozen=True, slots=True)
class ReachedConstant:
    """A module constant that holds a device or is a gate, where it is defined."""

    path: str
    constant: Constant


@dataclass(frozen=True, slots=True)
class Reach:
    """All that a test reaches, each thing once, nearest first."""

    functions: tuple[Reached, ...] = ()
    """The test itself, then its fixtures (set-up methods, properties, class methods), then helpers breadth first."""
    uses: tuple[ReachedUse, ...] = ()
    """Of the functions, of the bodies of the classes they belong to, and of the constants."""
    gates: tuple[ReachedGate, ...] = ()
    constants: tuple[ReachedConstant, ...] = ()
    unknown: tuple[str, ...] = ()
    """What could not be followed: 'self.helper' behind an unknown base, 'package.helper' from an unknown module."""
    classes: tuple[LinkedClass, ...] = ()
    """The test's class, its bases, and the helper classes it makes objects of."""
    rest: Reach | None = field(default=None, repr=False, compare=False)
    """The same without the test itself: one object for all tests of the class that lead to the same. None for a test
    that is reached from there.
    """


def reach(cls: LinkedClass, function: Function) -> Reach:
    """What ``function``, a test of ``cls`` (its own or inherited), reaches when it runs as a test of ``cls``."""
    return _follower(cls.suite).reach(cls, function)


def class_reach(cls: LinkedClass) -> Reach:
    """What all tests of ``cls``, own and inherited, reach together."""
    return _follower(cls.suite).class_reach(cls)


def all_tests(cls: LinkedClass) -> tuple[tuple[LinkedClass, Function], ...]:
    """Own and inherited tests with the class that defines each."""
    return (*((cls, f) for f in cls.own_tests), *((t.owner, t.function) for t in cls.inherited_tests))


@dataclass(slots=True)
class _Scope:
    """Names of one module."""

    functions: dict[str, Reached]
    constants: dict[str, ReachedConstant]
    helper_classes: dict[str, LinkedClass]
    test_classes: dict[str, LinkedClass]
    imports: dict[str, str]


@dataclass(slots=True)
class _Edges:
    """Where the references of one function lead."""

    functions: tuple[Reached, ...]
    constants: tuple[ReachedConstant, ...]
    classes: tuple[LinkedClass, ...]
    unknown: tuple[str, ...]


def _follower(suite: Suite) -> _Follower:
    """The suite's follower, kept on the suite so that both go together."""
    kept = vars(suite)
    found = kept.get("_follower")
    if not isinstance(found, _Follower):
        found = kept["_follower"] = _Follower(suite)
    return found


class _Follower:
    """Follows references in one suite and keeps what it has found."""

    def __init__(self, suite: Suite) -> None:
        self.classes = suite.classes
        self.modules = suite.modules
        self.imported: dict[tuple[str, str], ModuleFacts | None] = {}
        self.scopes: dict[str, _Scope] = {}
        self.own: dict[int, dict[str, Function]] = {}
        self.methods: dict[int, dict[str, Reached | None]] = {}
        self.fixtures: dict[int, list[Reached]] = {}
        self.shared: dict[tuple[object, ...], Reach] = {}
        self.edges: dict[tuple[int, int], _Edges] = {}
        self.reaches: dict[tuple[int, int], Reach] = {}

    def reach(self, cls: LinkedClass, function: Function) -> Reach:
        key = (id(cls), id(function))
        found = self.reaches.get(key)
        if found is None:
            test = self._reached_test(cls, function)
            found = self.reaches[key] = self._beside_others(cls, test) or self._follow(cls, [test])
        return found

    def class_reach(self, cls: LinkedClass) -> Reach:
        key = (id(cls), 0)
        found = self.reaches.get(key)
        if found is None:
            roots = [Reached(owner.module, owner, f, cls) for owner, f in all_tests(cls)]
            found = self.reaches[key] = self._follow(cls, roots)
        return found

    def _reached_test(self, cls: LinkedClass, function: Function) -> Reached:
        for owner in cls.mro:
            # Of two tests of one name, only the last is in the table.
            if self._own(owner).get(function.name) is function or any(f is function for f in owner.facts.methods):
                return Reached(owner.module, owner, function, cls)
        return Reached(cls.module, cls, function, cls)

    def _beside_others(self, cls: LinkedClass, test: Reached) -> Reach | None:
        """What a test reaches by itself, and what all tests of its class reach that lead to the same as it does: most
        lead nowhere, or to one helper. None for one that is reached from there.
        """
        edges = self._edges(test)
        ends = (edges.functions, edges.constants, edges.classes)
        key = (id(cls), edges.unknown, *(tuple(map(id, targets)) for targets in ends))
        shared = self.shared.get(key)
        if shared is None:
            shared = self.shared[key] = self._follow(cls, [], edges)
        function = test.function
        if any(r.function is function for r in shared.functions):
            return None
        uses, gates = shared.uses, shared.gates
        if function.uses:
            symbol = test.symbol
            uses = (*[ReachedUse(test.path, symbol, use) for use in function.uses], *uses)
        if function.gates:
            gates = (*[ReachedGate(test.path, "test", gate, function) for gate in function.gates], *gates)
        functions = (test, *shared.functions)
        return Reach(functions, uses, gates, shared.constants, shared.unknown, shared.classes, rest=shared)

    def _follow(self, cls: LinkedClass, roots: list[Reached], first: _Edges | None = None) -> Reach:
        """What ``roots`` and the class's fixtures lead to, in that order; ``first``: the edges of a root left out."""
        tests = {id(r.function) for r in roots}
        fixtures = self._fixtures(cls)
        setups = {id(f.function) for f in fixtures}
        queue = [*roots, *fixtures]
        seen = {(id(r.receiver), id(r.function)) for r in queue}
        constants: dict[int, ReachedConstant] = {}
        classes: dict[int, LinkedClass] = {id(c): c for c in cls.mro}
        unknown: dict[str, None] = {}
        left_out = [("test", first)] if first is not None else []
        read = ((reached.function.kind, self._edges(reached)) for reached in queue)  # which grows meanwhile
        for kind, edges in chain(left_out, read):
            for target in edges.functions:
                key = (id(target.receiver), id(target.function))
                if key not in seen:
                    seen.add(key)
                    queue.append(target)
                    if kind == "setup" and target.function.kind == "setup":
                        setups.add(id(target.function))
            for constant in edges.constants:
                constants.setdefault(id(constant.constant), constant)
            for helper in edges.classes:
                classes.setdefault(id(helper), helper)
            unknown.update(dict.fromkeys(edges.unknown))
        gates: list[ReachedGate] = []
        for reached in queue:
            if reached.function.gates:
                here = id(reached.function)
                scope: GateScope = "test" if here in tests else "setup" if here in setups else "helper"
                gates.extend(ReachedGate(reached.path, scope, g, reached.function) for g in reached.function.gates)
        for owner in cls.mro:
            gates.extend(ReachedGate(owner.path, "class", gate) for gate in owner.facts.gates)
        gates.extend(ReachedGate(cls.path, "file", gate) for gate in cls.module.gates)
        return Reach(
            functions=tuple(queue),
            uses=_uses(queue, classes.values(), constants.values()),
            gates=tuple(gates),
            constants=tuple(constants.values()),
            classes=tuple(classes.values()),
            unknown=tuple(unknown),
        )

    def _fixtures(self, cls: LinkedClass) -> list[Reached]:
        found = self.fixtures.get(id(cls))
        if found is None:
            found = self.fixtures[id(cls)] = []
            for at, owner in enumerate(cls.mro):
                for name, function in self._own(owner).items():
                    if _is_fixture(function) and not any(name in self._own(nearer) for nearer in cls.mro[:at]):
                        found.append(Reached(owner.module, owner, function, cls))
        return found

    def _edges(self, reached: Reached) -> _Edges:
        key = (id(reached.receiver), id(reached.function))
        found = self.edges.get(key)
        if found is None:
            found = self.edges[key] = self._read_edges(reached)
        return found

    def _read_edges(self, reached: Reached) -> _Edges:
        scope = self._scope(reached.module)
        functions: list[Reached] = []
        constants: list[ReachedConstant] = []
        classes: list[LinkedClass] = []
        unknown: list[str] = []
        for reference in reached.function.references:
            head, dot, rest = reference.partition(".")
            if head in ("self", "cls", "super") and dot:
                self._follow_member(reached, head, rest.partition(".")[0], functions, unknown)
            elif head in scope.functions:
                functions.append(scope.functions[head])
            elif head in scope.constants:
                constants.append(scope.constants[head])
            elif head in scope.helper_classes:
                classes.append(scope.helper_classes[head])
            elif head in scope.test_classes:
                member = self._method(scope.test_classes[head], rest)
                if member is not None:
                    functions.append(member)
            elif head in scope.imports:
                qualified = scope.imports[head] + dot + rest
                if not dot and self._read_by_member(reached, head, qualified):
                    continue
                self._follow_import(reached.module, qualified, functions, constants, classes, unknown)
            elif reached.module.star_imports:
                self._follow_name(reached.module, head, functions, constants, classes, hops=0)
        for helper in classes:
            functions.extend(self._methods(helper))
        return _Edges(tuple(functions), tuple(constants), tuple(classes), tuple(unknown))

    def _follow_member(
        self, reached: Reached, head: str, name: str, functions: list[Reached], unknown: list[str]
    ) -> None:
        receiver = reached.receiver
        if receiver is None:
            return
        if head == "super":
            found = self._behind(receiver, reached.owner, name)
        else:
            found = self._method(receiver, name)
        if found is not None:
            functions.append(found)
        elif not name.startswith("assert") and name not in _UNITTEST:
            if any(b.partition(".")[0] not in FOREIGN for b in receiver.opaque_bases):
                unknown.append(f"{head}.{name}")

    def _behind(self, receiver: LinkedClass, owner: LinkedClass | None, name: str) -> Reached | None:
        """The method that ``super().name`` in ``owner`` calls on a ``receiver``."""
        order = receiver.mro
        at = next((i for i, c in enumerate(order) if c is owner), len(order))
        for base in order[at + 1 :]:
            for function in reversed(base.facts.methods):
                if function.name == name:
                    return Reached(base.module, base, function, receiver)
        return None

    def _own(self, cls: LinkedClass) -> dict[str, Function]:
        """The class's own methods, the last definition of each name."""
        found = self.own.get(id(cls))
        if found is None:
            found = self.own[id(cls)] = {f.name: f for f in cls.facts.methods}
        return found

    def _method(self, cls: LinkedClass, name: str) -> Reached | None:
        """The method that a name of the class means: the last definition in the nearest class that has one."""
        table = self.methods.setdefault(id(cls), {})
        if name not in table:
            owners = ((owner, self._own(owner).get(name)) for owner in cls.mro)
            table[name] = next((Reached(o.module, o, f, cls) for o, f in owners if f is not None), None)
        return table[name]

    def _methods(self, cls: LinkedClass) -> list[Reached]:
        """What each name of the class means, methods only."""
        names = dict.fromkeys(name for owner in cls.mro for name in self._own(owner))
        return [found for name in names if (found := self._method(cls, name)) is not None]

    def _read_by_member(self, reached: Reached, head: str, qualified: str) -> bool:
        """Whether ``head`` is a module of the suite that the function reads members of: each is a reference itself."""
        if self._module(reached.module.path, qualified) is None:
            return False
        return any(reference.startswith(f"{head}.") for reference in reached.function.references)

    def _follow_import(
        self,
        module: ModuleFacts,
        qualified: str,
        functions: list[Reached],
        constants: list[ReachedConstant],
        classes: list[LinkedClass],
        unknown: list[str],
    ) -> None:
        if qualified.partition(".")[0] in FOREIGN:
            return
        parts = qualified.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            target = self._module(module.path, ".".join(parts[:cut]))
            if target is not None:
                found = self._follow_name(target, parts[cut], functions, constants, classes, hops=0)
                if not found and self._module(module.path, qualified) is not None:
                    unknown.append(qualified)
                return
        if not touches_no_hardware(qualified):
            unknown.append(qualified)

    def _follow_name(
        self,
        module: ModuleFacts,
        name: str,
        functions: list[Reached],
        constants: list[ReachedConstant],
        classes: list[LinkedClass],
        hops: int,
    ) -> bool:
        """Add what ``name`` means in ``module``, re-exports followed; False where it means nothing there."""
        scope = self._scope(module)
        if name in scope.functions:
            functions.append(scope.functions[name])
        elif name in scope.constants:
            constants.append(scope.constants[name])
        elif name in scope.helper_classes:
            classes.append(scope.helper_classes[name])
        elif hops < MAX_HOPS and name in scope.imports:
            source, _, member = scope.imports[name].rpartition(".")
            target = None if source.partition(".")[0] in FOREIGN else self._module(module.path, source)
            return target is not None and self._follow_name(target, member, functions, constants, classes, hops + 1)
        elif hops < MAX_HOPS:
            targets = (self._module(module.path, star) for star in module.star_imports)
            return any(
                self._follow_name(target, name, functions, constants, classes, hops + 1)
                for target in targets
                if target is not None
            )
        else:
            return False
        return True

    def _module(self, importer: str, name: str) -> ModuleFacts | None:
        """The module of the suite that ``import name`` finds in the file ``importer``, None for one outside it."""
        key = (importer, name)
        if key not in self.imported:
            found = (self.modules[path] for path in candidate_paths(name, importer) if path in self.modules)
            self.imported[key] = next(found, None)
        return self.imported[key]

    def _scope(self, module: ModuleFacts) -> _Scope:
        found = self.scopes.get(module.path)
        if found is None:
            helpers: dict[str, LinkedClass] = {}
            tests: dict[str, LinkedClass] = {}
            for cls in self.classes.get(module.path, ()):
                if cls.facts.top_level or not any(b.keyword in ("def", "class") for b in cls.facts.blocks):
                    # A test class that is named is not run by that: super(Test, self), Test.helper().
                    is_test = cls.is_test_case is True or cls.is_test_class
                    (tests if is_test else helpers)[cls.name] = cls
            found = self.scopes[module.path] = _Scope(
                {f.name: Reached(module, None, f) for f in module.functions},
                {c.name: ReachedConstant(module.path, c) for c in module.constants},
                helpers,
                tests,
                dict(module.imports),
            )
        return found


def _is_fixture(function: Function) -> bool:
    """What the framework calls without the test: setUp and its like, and overridden properties and class methods."""
    return function.kind == "setup" or (
        bool(function.decorators) and any(d.name in _HOOKS for d in function.decorators)
    )


_HOOKS = ("property", "classmethod", "cached_property", "functools.cached_property")
_UNITTEST = frozenset(
    "setUp tearDown setUpClass tearDownClass id skipTest fail subTest addCleanup doCleanups enterContext run debug "
    "_testMethodName device_type precision rel_tol __class__ __name__".split()
)


def _uses(
    functions: Iterable[Reached], classes: Iterable[LinkedClass], constants: Iterable[ReachedConstant]
) -> tuple[ReachedUse, ...]:
    found = [ReachedUse(r.path, r.symbol, use) for r in functions for use in r.function.uses]
    found += [ReachedUse(c.path, c.facts.qualname, use) for c in classes for use in c.facts.attribute_uses]
    found += [ReachedUse(c.path, c.constant.name, use) for c in constants for use in c.constant.uses]
    return tuple(found)
