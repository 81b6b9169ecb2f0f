"""What a test asks of the host, and can ask of its own device instead.

``if torch.cuda.is_available():`` leaves a part of a test out where there is no accelerator. In an instantiated class
``if self.device_type != "cpu":`` leaves the same part out of the CPU variant: between them, the variants of a host do
what the test did there. So too for a test that skips or returns where there is none. Only a plain question in a method
of the class itself is taken; any other keeps the test as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codemods.device_tree import FunctionTree
from codemods.device_values import MEANT
from codemods.plan import Context
from hwlint.scan.facts import Function, Gate, Span
from hwlint.scan.names import dotted, span_of
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import ReachedGate

STOPS = ("skip_call", "raise_skip", "early_return", "setup")
"""Forms of gates that end the function."""


@dataclass(frozen=True, slots=True)
class Question:
    """A condition that asks the host for an accelerator, and the part of the function that hangs on it."""

    span: Span
    """Of the condition."""
    text: str
    """What asks the device instead."""
    region: Span | None
    """What runs only where there is an accelerator."""
    keeps_off: bool = False
    """It ends the set-up: no test of the class runs where there is none."""
    names_cuda: bool = False

    def shelters(self, span: Span) -> bool:
        """Whether ``span`` is reached only with an accelerator, as far as this question goes."""
        return self.region is not None and self.region.holds(span)


def questions_of(
    context: Context, cls: LinkedClass, function: Function, gates: Iterable[ReachedGate]
) -> tuple[Question, ...]:
    """The questions among the ``gates`` that the test ``function`` reaches; each once, in their order."""
    found: dict[Span, Question] = {}
    for reached in gates:
        asking = reached.function or function
        if reached.path == context.path and _is_own_method(cls, asking) and is_plain(reached.gate):
            question = _question(context, asking, reached.gate)
            if question is not None:
                found[question.span] = question
    return tuple(found.values())


def _is_own_method(cls: LinkedClass, function: Function) -> bool:
    """Whether it is a method of the class that has a ``self`` of its own."""
    if function.kind == "setup" and function.name != "setUp":
        return False
    return any(m is function for m in cls.facts.methods) and function.parameters[:1] == ("self",)


def is_plain(gate: Gate) -> bool:
    """Whether it asks for one accelerator and nothing else."""
    if gate.form not in (*STOPS, "if_block") or gate.combine or len(gate.requirements) != 1:
        return False
    asked = gate.requirements[0]
    return asked.kind in ("device", "accelerator") and asked.value in MEANT


def _question(context: Context, function: Function, gate: Gate) -> Question | None:
    """The question that ``gate`` is, None where it is put in another way than an ``if`` statement of the function."""
    tree = FunctionTree(context.source(), context.source().function_at(function.line))
    node = next((n for n in ast.walk(tree.node) if isinstance(n, ast.If) and span_of(n.test) == gate.span), None)
    if node is None or next(tree.scopes_between(node), None) is not None:
        return None
    negated = isinstance(node.test, ast.UnaryOp) and isinstance(node.test.op, ast.Not)
    if not is_question(tree, node.test.operand if isinstance(node.test, ast.UnaryOp) else node.test):
        return None
    requirement = gate.requirements[0]
    region: Span | None
    if gate.form in STOPS:
        caught = any(isinstance(up, ast.Try) for up in tree.ancestors(node))  # Then it may go on all the same.
        if not negated or requirement.absent or node.orelse or not gate.blocking or caught:
            return None
        end = function.span
        without, region = node.body, Span(node.end_lineno or 0, node.end_col_offset or 0, end.end_line, end.end_column)
    else:
        if negated != requirement.absent:
            return None
        within, without = (node.orelse, node.body) if negated else (node.body, node.orelse)
        region = _span_of_block(within)
    if any(_names_accelerator(function, statement) for statement in without):
        return None
    rest = _span_of_block(without)
    if rest is not None and any(rest.holds(other.span) for other in function.gates):
        return None  # `elif` asks for another device: what runs on which is told by both together.
    return Question(
        span=gate.span,
        text=f'self.device_type {"==" if negated else "!="} "cpu"',
        region=region,
        keeps_off=gate.form == "setup",
        names_cuda=requirement.value == "cuda",
    )


def is_question(tree: FunctionTree, node: ast.expr) -> bool:
    """``TEST_CUDA``, ``torch.cuda.is_available()``: nothing that the function binds itself."""
    if isinstance(node, ast.Call) and (node.args or node.keywords):
        return False
    name = dotted(node.func if isinstance(node, ast.Call) else node)
    return bool(name) and not tree.binds(name.partition(".")[0])


def _span_of_block(body: list[ast.stmt]) -> Span | None:
    if not body:
        return None
    first, last = body[0], body[-1]
    return Span(first.lineno, first.col_offset, last.end_lineno or last.lineno, last.end_col_offset or 0)


def _names_accelerator(function: Function, statement: ast.stmt) -> bool:
    """Whether a statement that runs where there is no accelerator names one all the same."""
    first, last = statement.lineno, statement.end_lineno or statement.lineno
    return any(first <= use.span.line <= last and use.device != "cpu" for use in function.uses)


def sheltered(span: Span, questions: Iterable[Question]) -> bool:
    """Whether what stands at ``span`` runs only with an accelerator, because of one of the questions."""
    return any(question.shelters(span) for question in questions)


def within(span: Span, questions: Iterable[Question]) -> Iterator[Question]:
    """The questions that stand inside ``span``."""
    return (q for q in questions if span.holds(q.span))
