"""Some whole lines of a file, parsed and rewritten with libcst. The only module here that needs libcst to rewrite
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from codemods.plan import CannotEdit

Replace = Callable[[cst.BaseExpression], cst.BaseExpression]


def rewrite_chunk(text: str, wanted: Mapping[tuple[int, int], Replace]) -> str:
    """``text`` with the expression at each (start, end), offsets in ``text``, replaced by what the function makes of
    it.

    Raises CannotEdit where an expression is not found or libcst does not take the text.
    """
    # Indented lines keep their indentation, to the byte, under a header of our own.
    header = "if 1:\n" if text[:1] in " \t\f" else ""
    try:
        module = cst.parse_module(header + text)
    except Exception as error:  # ParserSyntaxError, and what else an odd input makes it raise.
        raise CannotEdit(f"libcst does not take the statement: {type(error).__name__}") from None
    if module.code != header + text:
        raise CannotEdit("libcst does not give the statement back as it is")
    finder = _Finder(_positions(header, text, wanted))
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    ranges = wrapper.resolve(PositionProvider)
    for node, place in ranges.items():
        if isinstance(node, cst.BaseExpression):
            finder.offer(node, (place.start.line, place.start.column, place.end.line, place.end.column))
    if finder.missing:
        raise CannotEdit("an expression is not where it was")
    changed = module.visit(finder)
    return changed.code[len(header) :]


def _positions(
    header: str, text: str, wanted: Mapping[tuple[int, int], Replace]
) -> dict[tuple[int, int, int, int], Replace]:
    def place(offset: int) -> tuple[int, int]:
        before = header + text[:offset]
        normal = before.replace("\r\n", "\n")
        return normal.count("\n") + 1, len(normal) - normal.rfind("\n") - 1

    return {(*place(start), *place(end)): function for (start, end), function in wanted.items()}


class _Finder(cst.CSTTransformer):
    """Replaces nodes by identity."""

    def __init__(self, wanted: Mapping[tuple[int, int, int, int], Replace]) -> None:
        super().__init__()
        self.wanted = wanted
        self.found: dict[int, Replace] = {}
        self.seen: set[tuple[int, int, int, int]] = set()

    def offer(self, node: cst.BaseExpression, place: tuple[int, int, int, int]) -> None:
        # Of several expressions with one position (a name as the only part of another node), the outermost comes first.
        function = self.wanted.get(place)
        if function is not None and place not in self.seen:
            self.seen.add(place)
            self.found[id(node)] = function

    @property
    def missing(self) -> bool:
        return len(self.seen) != len(self.wanted)

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        function = self.found.get(id(original_node))
        if function is not None and isinstance(updated_node, cst.BaseExpression):
            return function(updated_node)
        return super().on_leave(original_node, updated_node)
