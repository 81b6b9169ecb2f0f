"""Unified diffs of bytes, as ``git apply`` takes them.

Lines are matched as patience diff does (Bram Cohen's, ``git diff --patience``): by those that are there once on either
side, as many of them as keep their order. A helper that moves above its class is then what moves, and not the class.
"""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

CONTEXT = 3
NO_NEWLINE = b"\\ No newline at end of file\n"
_STYLES = ((b"diff ", "1"), (b"--- ", "1"), (b"+++ ", "1"), (b"@@", "36"), (b"+", "32"), (b"-", "31"))


def unified_diff(path: str, before: bytes, after: bytes) -> bytes:
    """The patch that turns ``before`` into ``after``, with git's header; b'' where they are equal."""
    if before == after:
        return b""
    old, new = _quoted("a/" + path), _quoted("b/" + path)
    return b"".join((b"diff --git %s %s\n--- %s\n+++ %s\n" % (old, new, old, new), *hunks(before, after)))


def hunks(before: bytes, after: bytes) -> Iterator[bytes]:
    """The patch without its header. Only '\\n' ends a line, as git counts."""
    old, new = _lines(before), _lines(after)
    for group in _Matcher(old, new).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield b"@@ -%s +%s @@\n" % (_range(first[1], last[2]), _range(first[3], last[4]))
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from _marked(b" ", old[old_start:old_end])
            else:
                yield from _marked(b"-", old[old_start:old_end])
                yield from _marked(b"+", new[new_start:new_end])


class _Matcher(difflib.SequenceMatcher[bytes]):
    """The standard library's opcodes and groups over the blocks that patience diff finds."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        super().__init__(None, (), ())  # Its own index of the lines is not asked.
        self.old, self.new = old, new

    def get_matching_blocks(self) -> list[difflib.Match]:
        """Equal stretches as (start in the old lines, start in the new ones, length), in order, the last one empty."""
        blocks: list[difflib.Match] = []
        for at, other, size in _matches(self.old, self.new, (0, len(self.old), 0, len(self.new))):
            last = blocks[-1] if blocks else difflib.Match(0, 0, 0)
            if blocks and (last.a + last.size, last.b + last.size) == (at, other):
                blocks[-1] = difflib.Match(last.a, last.b, last.size + size)
            else:
                blocks.append(difflib.Match(at, other, size))
        return [*blocks, difflib.Match(len(self.old), len(self.new), 0)]


Range = tuple[int, int, int, int]
"""Start and end in the old lines, start and end in the new ones."""


def _matches(old: Sequence[bytes], new: Sequence[bytes], within: Range) -> Iterator[tuple[int, int, int]]:
    low, high, start, end = within
    head = _common(old[low:high], new[start:end])
    if head:
        yield low, start, head
        low, start = low + head, start + head
    tail = _common(old[low:high][::-1], new[start:end][::-1])
    high, end = high - tail, end - tail
    anchors = _anchors(old[low:high], new[start:end]) if low < high and start < end else []
    if anchors:
        at, other = low, start
        for one, two in [*((low + a, start + b) for a, b in anchors), (high, end)]:
            yield from _matches(old, new, (at, one, other, two))
            if one < high:
                yield one, two, 1
            at, other = one + 1, two + 1
    elif low < high and start < end:
        found = difflib.SequenceMatcher(None, old[low:high], new[start:end]).get_matching_blocks()
        yield from ((low + a, start + b, size) for a, b, size in found if size)
    if tail:
        yield high, end, tail


def _common(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """How many lines both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))


def _anchors(old: Sequence[bytes], new: Sequence[bytes]) -> list[tuple[int, int]]:
    """The places of lines that are once in each, as many as are in the same order in both."""
    once = {line for line, times in Counter(new).items() if times == 1}
    once &= {line for line, times in Counter(old).items() if times == 1}
    places = {line: at for at, line in enumerate(new) if line in once}
    pairs = [(at, places[line]) for at, line in enumerate(old) if line in once]
    ends: list[int] = []  # The smallest end of an ascending row of each length, and which pair that is.
    last: list[int] = []
    before: list[int] = []
    for index, (_, other) in enumerate(pairs):
        length = bisect_left(ends, other)
        before.append(last[length - 1] if length else -1)
        ends[length : length + 1] = [other]
        last[length : length + 1] = [index]
    found = []
    index = last[-1] if last else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def colored(diff: bytes) -> str:
    """For a terminal: colours, and nothing of the file that could steer it."""
    lines = []
    for line in diff.split(b"\n"):
        text = line.decode("utf-8", "replace").translate(_CONTROL)
        style = next((code for start, code in _STYLES if line.startswith(start)), "")
        lines.append(f"\x1b[{style}m{text}\x1b[0m" if style else text)
    return "\n".join(lines)


_CONTROL = dict.fromkeys((*range(9), *range(10, 32), *range(127, 160)), "�")


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n")[:-1]] + [data.rpartition(b"\n")[2]] * (
        not data.endswith(b"\n") and data != b""
    )


def _marked(mark: bytes, lines: list[bytes]) -> Iterator[bytes]:
    for line in lines:
        yield mark + line if line.endswith(b"\n") else mark + line + b"\n" + NO_NEWLINE


def _range(start: int, end: int) -> bytes:
    """Line and length as diff writes them: an empty range names the line before it, a length of 1 is left out."""
    if end - start == 1:
        return b"%d" % (start + 1)
    return b"%d,%d" % (start + 1 if end > start else start, end - start)


def _quoted(path: str) -> bytes:
    """A path as git quotes it: as it is, or as a C string where it has quotes, backslashes or control characters."""
    data = path.encode("utf-8", "surrogateescape")
    if all(32 <= byte < 127 and byte not in b'"\\' for byte in data):
        return data
    escapes = {34: b'\\"', 92: b"\\\\", 9: b"\\t", 10: b"\\n", 13: b"\\r"}
    quoted = (escapes.get(b) or (bytes((b,)) if 32 <= b < 127 else b"\\%03o" % b) for b in data)
    return b'"' + b"".join(quoted) + b'"'
