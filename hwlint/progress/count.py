"""The test classes of a file, as far as labels and numbers of tests go.

This is all that a point of the history needs, so it asks for nothing but the facts that :func:`slim` keeps.
"""

from __future__ import annotations

from dataclasses import replace

from hwlint.progress.model import ClassState
from hwlint.scan.facts import Class, Function, ModuleFacts
from hwlint.suite.model import LinkedClass, Suite


def is_counted(cls: LinkedClass) -> bool:
    """Whether a report counts a class: one with tests that is no class made inside a function.

    As in upstream's contract, tests make the class: a mixin that holds some counts, for it needs a classification too.
    """
    return cls.is_test_class and not any(b.keyword == "def" for b in cls.facts.blocks)


def counted_classes(suite: Suite, path: str) -> list[LinkedClass]:
    return [cls for cls in suite.classes_in(path) if is_counted(cls)]


def class_states(suite: Suite, path: str) -> tuple[ClassState, ...]:
    """The counted classes of one file in source order, without any verdict."""
    return tuple(class_state(cls) for cls in counted_classes(suite, path))


def class_state(cls: LinkedClass) -> ClassState:
    return ClassState(
        name=cls.facts.qualname,
        line=cls.facts.line,
        label=cls.label,
        inherited=cls.label_inherited,
        tests=len(cls.own_tests),
        inherited_tests=len(cls.inherited_tests) + len(cls.grafted_tests),
    )


def function_tests(facts: ModuleFacts) -> int:
    """Test functions outside of any class: pytest runs them, ``--hw-classification`` passes them over."""
    return len({f.name for f in facts.functions if f.name.startswith("test")})


def slim(facts: ModuleFacts) -> ModuleFacts:
    """What linking and counting read of a module's facts, and no more."""
    return ModuleFacts(
        path=facts.path,
        module=facts.module,
        problem=facts.problem,
        imports=facts.imports,
        star_imports=facts.star_imports,
        classes=tuple(_slim_class(cls) for cls in facts.classes),
        functions=tuple(_slim_function(f) for f in facts.functions if f.name.startswith("test")),
        grafts=facts.grafts,
        owners=facts.owners,
    )


def _slim_class(cls: Class) -> Class:
    return replace(cls, decorators=(), methods=tuple(map(_slim_function, cls.methods)), attribute_uses=(), gates=())


def _slim_function(function: Function) -> Function:
    return Function(function.name, function.span, function.line, function.kind, ())
