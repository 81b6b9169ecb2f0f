"""Two tests that are one: ``test_sum_cpu`` and ``test_sum_cuda`` with the same body but for the device.

Once the class is instantiated, one test with ``device`` does what both did (pytorch/pytorch#182434, #189016). The test
for the CPU goes, the other is called what both names have in common, and loses its gate without getting another: it
runs on the CPU in the place of its twin.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

from codemods.device_unread import callers
from codemods.device_values import Blocked
from codemods.edit import FunctionNode, SourceFile, Splice, first_line
from codemods.plan import Context
from hwlint.scan.facts import Function, Span
from hwlint.scan.names import span_of
from hwlint.suite.model import LinkedClass

OTHERS = ("cuda", "gpu")
"""Words for an accelerator in the name of a test."""
CUDA = ("cuda", "cuda:0")


@dataclass(frozen=True, slots=True)
class Twins:
    """The test for the CPU, which goes, and the one that stays under a new name."""

    cpu: Function
    other: Function
    name: str


def twins_of(context: Context, cls: LinkedClass) -> tuple[Twins, ...]:
    """The pairs among the own tests of a class that say the same of the CPU and of CUDA."""
    by_name = {f.name: f for f in cls.own_tests}
    taken = {m.name for m in cls.facts.methods} | {name for name, _ in cls.facts.attributes}
    found = []
    for function in cls.own_tests:
        for other, name in _other_names(function.name):
            twin = by_name.get(other)
            if twin is None or name in taken or not _are_equal(context.source(), function, twin):
                continue
            if not any(line for one in (function, twin) for line in callers(context.source(), cls, one.name)):
                taken.add(name)  # Also for a second twin, which stays what it is.
                found.append(Twins(function, twin, name))
    return tuple(found)


def _other_names(name: str) -> Iterator[tuple[str, str]]:
    """What the twin of ``test_sum_cpu`` may be called, and the name without the device."""
    words = name.split("_")
    if words.count("cpu") == 1 and len(words) > 2:
        at = words.index("cpu")
        for word in OTHERS:
            yield "_".join((*words[:at], word, *words[at + 1 :])), "_".join((*words[:at], *words[at + 1 :]))


def _are_equal(file: SourceFile, cpu: Function, other: Function) -> bool:
    """Whether they differ in their devices and the gates of the other alone, and no comment goes with the first."""
    if cpu.is_async or other.is_async or cpu.parameters != other.parameters:
        return False
    first, second = file.function_at(cpu.line), file.function_at(other.line)
    if "#" in file.text[slice(*_lines_of(file, first))]:
        return False
    gates = {gate.span for gate in other.gates if gate.form == "decorator"}
    decorators = [d for d in second.decorator_list if span_of(d) not in gates]
    if [ast.dump(d) for d in first.decorator_list] != [ast.dump(d) for d in decorators]:
        return False
    return _generic(first, ("cpu",)) == _generic(second, CUDA)


def _generic(node: FunctionNode, devices: tuple[str, ...]) -> list[str]:
    """The statements of the body with ``device`` in the place of each of the devices."""
    return [ast.dump(_Generic(devices).visit(deepcopy(statement))) for statement in node.body]


class _Generic(ast.NodeTransformer):
    def __init__(self, devices: tuple[str, ...]) -> None:
        self.devices = devices

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        return ast.Name("device", ast.Load()) if node.value in self.devices else node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        bare = isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
        if bare and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda" and "cuda" in self.devices:
            node.func.attr = "to"
            node.args = [ast.Name("device", ast.Load())]
        return node


def twin_out(file: SourceFile, line: int) -> Splice:
    """The test whose ``def`` is on ``line`` taken away, with the blank lines above it, or below it where none are."""
    node = file.function_at(line)
    first, last = first_line(node), node.end_lineno or node.lineno
    behind = file.text[file.node_range(node)[1] : file.line_end(last)].strip()
    if behind or first == 1 or not file.starts_line(file.offset(node.lineno, node.col_offset)):
        raise Blocked("layout", f"`{node.name}` shares its lines (line {line})", Span(line, 0, line, 0))
    if file.is_blank(first - 1):
        while file.is_blank(first - 1):
            first -= 1
    else:
        while last < file.line_count and file.is_blank(last + 1):
            last += 1
    # From the end of a line to the end of a line, so that it meets nothing that is done to the next one.
    return Splice(file.line_end(first - 1), file.line_end(last), "")


def _lines_of(file: SourceFile, node: FunctionNode) -> tuple[int, int]:
    """From the start of the first line of the function to the end of its last."""
    return file.line_start(first_line(node)), file.line_start((node.end_lineno or node.lineno) + 1)
