"""Classes linked across files: bases, own and inherited tests, effective classification, instantiations."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from hwlint.catalog import Catalog, FrameworkBase
from hwlint.scan.facts import Class, Constant, Function, Instantiation, ModuleFacts, Tag
from hwlint.suite.devices import DeviceSet, device_set


@dataclass(frozen=True)
class Base:
    """One base of a class: in the tree (``target``), known to the catalog (``framework``), or opaque (neither)."""

    name: str
    """Qualified, or the source text where it is no dotted name."""
    target: LinkedClass | None = None
    framework: FrameworkBase | None = None

    @property
    def opaque(self) -> bool:
        if self.target is not None or self.framework is not None or hasattr(builtins, self.name):
            return False
        # Nor does a base of the standard library that the catalog does not have (abc.ABC) bring tests or a device.
        head = self.name.partition(".")[0]
        return head == "unittest" or head not in sys.stdlib_module_names


@dataclass(frozen=True)
class InheritedTest:
    """A test that a class has from a base in the tree."""

    owner: LinkedClass
    function: Function


@dataclass(eq=False)
class LinkedClass:
    """A class with what it is linked to. Compared by identity; (path, qualname) is unique but for redefinitions."""

    suite: Suite = field(repr=False)
    module: ModuleFacts = field(repr=False)
    facts: Class
    bases: tuple[Base, ...] = ()
    instantiations: tuple[Instantiation, ...] = ()
    """Uses of the two instantiate functions in this class's module."""
    templates: tuple[tuple[LinkedClass, str], ...] = ()
    """Classes in the tree whose tests ``copy_tests`` puts into this one, and the suffix that it gives them."""
    foreign_instantiations: tuple[tuple[str, Instantiation], ...] = ()
    """Those of other modules that import the class, with their path."""

    @property
    def path(self) -> str:
        return self.module.path

    @property
    def name(self) -> str:
        return self.facts.name

    @cached_property
    def mro(self) -> tuple[LinkedClass, ...]:
        """This class and its bases in the tree, nearest first (depth first, without repeats; not C3)."""
        seen: dict[int, LinkedClass] = {}

        def visit(cls: LinkedClass) -> None:
            if id(cls) not in seen:
                seen[id(cls)] = cls
                for base in cls.bases:
                    if base.target is not None:
                        visit(base.target)

        visit(self)
        return tuple(seen.values())

    @cached_property
    def framework_bases(self) -> tuple[FrameworkBase, ...]:
        """Known framework bases anywhere above."""
        return tuple(b.framework for c in self.mro for b in c.bases if b.framework is not None)

    @property
    def framework_devices(self) -> bool:
        """Whether a framework base above picks or fixes a device."""
        return any(f.accelerator_fixture or f.device for f in self.framework_bases)

    @cached_property
    def opaque_bases(self) -> tuple[str, ...]:
        """Bases anywhere above that are neither in the tree nor known."""
        return tuple(b.name for c in self.mro for b in c.bases if b.opaque)

    @cached_property
    def own_tests(self) -> tuple[Function, ...]:
        """Last definition of each name, in order of first appearance."""
        return tuple({f.name: f for f in self.facts.tests}.values())

    @cached_property
    def inherited_tests(self) -> tuple[InheritedTest, ...]:
        """Tests of bases in the tree that this class does not define itself."""
        seen = {f.name for f in self.facts.methods} | {name for name, _ in self.facts.attributes}
        found: list[InheritedTest] = []
        for owner in self.mro[1:]:
            for function in owner.own_tests:
                if function.name not in seen:
                    seen.add(function.name)
                    found.append(InheritedTest(owner, function))
            seen.update(name for name, _ in owner.facts.attributes)
        return tuple(found)

    @cached_property
    def grafted_tests(self) -> tuple[InheritedTest, ...]:
        """Tests that ``copy_tests`` puts here, under their names in the template."""
        return tuple(InheritedTest(t, f) for t, _ in self.templates for f in t.own_tests)

    @cached_property
    def is_test_case(self) -> bool | None:
        """Whether it derives from unittest.TestCase; None where an opaque base leaves it open."""
        if any(f.kind != "mixin" for f in self.framework_bases):
            return True
        return None if self.opaque_bases else False

    @property
    def own_test_case(self) -> bool:
        """Whether unittest collects this class itself (False for a mixin; an opaque base counts as a test case)."""
        return self.is_test_case is not False

    @cached_property
    def loader_sees(self) -> bool | None:
        """Whether it derives from common_utils.TestCase, all that the loader behind ``--hw-classification`` looks
        at.
        """
        if any(f.is_test_case for f in self.framework_bases):
            return True
        return None if self.opaque_bases else False

    @property
    def is_test_class(self) -> bool:
        """A class with tests of its own, or one that unittest would run with inherited or grafted ones."""
        if self.own_tests:
            return True
        return self.is_test_case is not False and bool(self.inherited_tests or self.grafted_tests)

    @cached_property
    def tag_owner(self) -> LinkedClass | None:
        """The class, this one or the nearest base in the tree, whose ``hw_classification`` counts."""
        return next((c for c in self.mro if c.facts.tag is not None), None)

    @property
    def tag(self) -> Tag | None:
        return self.facts.tag

    @cached_property
    def label(self) -> str:
        """Effective classification: own, else inherited (also from a framework base), '' for none or an invalid one."""
        if self.tag_owner is not None and self.tag_owner.facts.tag is not None:
            return self.tag_owner.facts.tag.label
        return next((f.hw_classification for f in self.framework_bases if f.hw_classification), "")

    @property
    def label_inherited(self) -> bool:
        return bool(self.label) and self.tag_owner is not self

    @cached_property
    def device_type_instantiations(self) -> tuple[Instantiation, ...]:
        return tuple(i for i in self.instantiations if i.kind == "device_type")

    @property
    def is_instantiated(self) -> bool:
        return bool(self.device_type_instantiations)

    @property
    def is_parametrized(self) -> bool:
        return any(i.kind == "parametrized" for i in self.instantiations)

    @cached_property
    def devices(self) -> DeviceSet:
        """Devices its instantiations make it for, together."""
        sets = [device_set(i, self.suite.catalog) for i in self.device_type_instantiations]
        return DeviceSet.union(sets)

    def find_method(self, name: str) -> tuple[LinkedClass, Function] | None:
        """The method that ``self.name`` calls, as far as the tree tells."""
        for owner in self.mro:
            for function in reversed(owner.facts.methods):
                if function.name == name:
                    return owner, function
        return None

    def subclasses(self) -> tuple[LinkedClass, ...]:
        """Direct and indirect subclasses in the suite."""
        return self.suite.subclasses_of(self)


class Suite:
    """All modules of a run, linked. Built by :func:`hwlint.suite.link.link`."""

    def __init__(self, catalog: Catalog, modules: Iterable[ModuleFacts]) -> None:
        self.catalog = catalog
        self.modules: dict[str, ModuleFacts] = {m.path: m for m in modules}
        self.classes: dict[str, list[LinkedClass]] = {}
        """By path, in source order."""
        self._subclasses: dict[int, list[LinkedClass]] | None = None

    def classes_in(self, path: str) -> list[LinkedClass]:
        return self.classes.get(path, [])

    def test_classes_in(self, path: str) -> list[LinkedClass]:
        return [c for c in self.classes_in(path) if c.is_test_class]

    def all_classes(self) -> Iterator[LinkedClass]:
        for classes in self.classes.values():
            yield from classes

    def find_class(self, path: str, qualname: str) -> LinkedClass | None:
        return next((c for c in reversed(self.classes_in(path)) if c.facts.qualname == qualname), None)

    def find_function(self, path: str, name: str) -> Function | None:
        module = self.modules.get(path)
        if module is None:
            return None
        return next((f for f in reversed(module.functions) if f.name == name), None)

    def find_constant(self, path: str, name: str) -> Constant | None:
        module = self.modules.get(path)
        if module is None:
            return None
        return next((c for c in reversed(module.constants) if c.name == name), None)

    def subclasses_of(self, cls: LinkedClass) -> tuple[LinkedClass, ...]:
        if self._subclasses is None:
            self._subclasses = {}
            for candidate in self.all_classes():
                for base in candidate.mro[1:]:
                    self._subclasses.setdefault(id(base), []).append(candidate)
        return tuple(self._subclasses.get(id(cls), ()))
