"""Unified diffs of bytes, as ``git apply`` takes them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

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
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield b"@@ -%s +%s @@\n" % (_range(first[1], last[2]), _range(first[3], last[4]))
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from _marked(b" ", old[old_start:old_end])
            else:
                yield from _marked(b"-", old[old_start:old_end])
                yield from _marked(b"+", new[new_start:new_end])


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
