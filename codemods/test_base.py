"""``unittest.TestCase`` -> ``common_utils.TestCase``, which is all that the loader behind ``--hw-classification``
sees. Opt-in.

The base resets seeds and default dtype before each test and compares tensors in ``assertEqual``
(torch/testing/_internal/common_utils.py), so that a set-up method which does not call ``super()`` would break it:
such a class is left. Seen in pytorch/pytorch#193093 and #192201.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codemods.edit import SourceFile, Splice, rewrite
from codemods.imports import is_taken
from codemods.plan import COMMON_UTILS, Change, Codemod, Context, Import, Plan, PlanBuilder
from hwlint.scan.names import dotted, span_of
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass

BASE = Import(COMMON_UTILS, "TestCase")
RUN = Import(COMMON_UTILS, "run_tests")
FIXTURES = ("setUp", "tearDown", "setUpClass", "tearDownClass")
UNITTEST = ("unittest.TestCase", "unittest.case.TestCase")


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseChange(Change):
    """A new text for the expression at ``span``."""

    text: str


class TestBase(Codemod):
    __test__ = False

    name = "test_base"
    summary = "Derives from `common_utils.TestCase` in place of `unittest.TestCase` (opt-in: test-base, or --only)."

    def enabled(self, context: Context) -> bool:
        return context.settings.migrate.test_base or self.name in context.options.only

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        converted = 0
        for cls in context.test_classes():
            if any(b.name in UNITTEST for b in cls.bases):
                converted += _plan_class(plan, context, cls)
        left = len(plan.refusals)
        if converted and not left:
            _plan_main(plan, context)
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        import libcst as cst

        def expression(text: str) -> Callable[[cst.BaseExpression], cst.BaseExpression]:
            return lambda node: cst.parse_expression(text)

        return rewrite(file, [(c.span, expression(c.text)) for c in changes if isinstance(c, BaseChange)])


def _plan_class(plan: PlanBuilder, context: Context, cls: LinkedClass) -> bool:
    name, span = cls.facts.qualname, class_span(cls.facts)
    mixins = [b.target for b in cls.bases[:-1]]
    if cls.bases[-1].name not in UNITTEST or not all(m is not None and m.is_test_case is False for m in mixins):
        plan.refuse(name, "unknown-base", "it has bases beside unittest.TestCase that are not known to be mixins", span)
    elif is_taken(context.module, BASE):
        plan.refuse(name, "name-taken", "`TestCase` means something else in this file", span)
    else:
        wrong = next((text for one in (*cls.mro, *cls.subclasses()) if (text := _without_super(one))), "")
        if wrong:
            plan.refuse(name, "needs-super", wrong, span)
            return False
        base = context.source().class_at(cls.facts.line).bases[-1]
        plan.add(
            BaseChange(
                codemod=plan.codemod,
                symbol=name,
                span=span_of(base),
                description="derive from common_utils.TestCase",
                imports=(BASE,),
                text=BASE.name,
            )
        )
        return True
    return False


def _without_super(cls: LinkedClass) -> str:
    for method in cls.facts.methods:
        if method.name in FIXTURES and f"super.{method.name}" not in method.references:
            return f"{cls.facts.qualname}.{method.name} does not call `super().{method.name}()`"
    return ""


def _plan_main(plan: PlanBuilder, context: Context) -> None:
    """``unittest.main()`` at the end becomes ``run_tests()``; with arguments it stays."""
    if context.module.main is None or is_taken(context.module, RUN):
        return
    file = context.source()
    main = next((n for n in file.tree.body if span_of(n) == context.module.main), None)
    for node in ast.walk(main) if main is not None else ():
        if isinstance(node, ast.Call) and dotted(node.func) == "unittest.main" and not node.args and not node.keywords:
            plan.add(
                BaseChange(
                    codemod=plan.codemod,
                    symbol="",
                    span=span_of(node),
                    description="run the tests with run_tests()",
                    imports=(RUN,),
                    text="run_tests()",
                )
            )
