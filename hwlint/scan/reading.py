"""Bytes -> source text -> syntax tree, as the Python that runs a file reads it; what fails is a Problem.

Decoding is as strict as CPython's own reading of a file (PEP 263): ``ast.parse`` on bytes lets an undecodable comment
pass, the interpreter does not. Positions are those of ``ast``: lines from 1, columns in UTF-8 bytes from 0.
"""

from __future__ import annotations

import ast
import re
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

from hwlint.scan.facts import Problem

BOM = b"\xef\xbb\xbf"
WIDE_BOMS = ((b"\xff\xfe\0\0", "UTF-32"), (b"\0\0\xfe\xff", "UTF-32"), (b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
NOT_CODE = re.compile(rb"^[ \t\f]*(?:[#\r\n]|$)")
NEWLINE = re.compile("\r\n|\r|\n")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True)
class SourceText:
    """One file, decoded."""

    path: str
    data: bytes
    text: str
    """Without the BOM, newlines as they are."""
    encoding: str
    """The codec's name as the file or the default gives it: 'utf-8', 'latin-1'."""
    bom: bool
    newline: str
    r"""'\n', '\r\n' or '\r' where the file has one kind, '' where it has none, 'mixed' where it has several."""

    def lines(self) -> list[str]:
        """The lines without their ends, as ``ast`` counts them (``str.splitlines`` also splits at a form feed)."""
        return NEWLINE.split(self.text) if "\r" in self.text else self.text.split("\n")


def read_file(path: Path | str, name: str) -> bytes | Problem:
    """The bytes of the file ``name`` at ``path``, or why there are none."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError as error:
        return Problem(1, 0, f"cannot be read: {error.strerror or error}", kind="read")


def read_source(data: bytes, path: str) -> SourceText | Problem:
    """Decode a file as CPython would."""
    for mark, name in WIDE_BOMS:
        if data.startswith(mark):
            return Problem(1, 0, f"the file is {name}, which Python does not read: save it as UTF-8", kind="encoding")
    bom = data.startswith(BOM)
    body = data[3:] if bom else data
    at = body.find(b"\0")
    if at >= 0:
        return Problem(*_position(body, at), "there is a NUL byte in the source", kind="syntax")
    cookie = _cookie(body)
    if isinstance(cookie, Problem):
        return cookie
    encoding, cookie_line = cookie
    if bom and not _is_utf8(encoding):
        message = f"the file starts with a UTF-8 byte order mark, yet says it is {encoding!r}"
        return Problem(cookie_line, 0, message, kind="encoding")
    try:
        text = body.decode("utf-8" if _is_utf8(encoding) else encoding)
    except UnicodeDecodeError as error:
        line, column = _position(body, error.start)
        hint = "" if cookie_line else ", and the file names no other encoding (PEP 263)"
        message = f"byte 0x{body[error.start]:02x} is not valid {encoding}{hint}"
        return Problem(line, column, message, kind="encoding")
    except (LookupError, ValueError) as error:
        return Problem(cookie_line or 1, 0, f"cannot be decoded as {encoding!r}: {error}", kind="encoding")
    if "\0" in text:
        return Problem(1, 0, "there is a NUL character in the source", kind="syntax")
    return SourceText(path, data, text, encoding, bom, _newline(text))


def parse(source: SourceText) -> ast.Module | Problem:
    """The syntax tree, with the compiler's warnings about the code kept quiet."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(source.text)
    except SyntaxError as error:
        return _syntax_problem(source, error)
    except (RecursionError, MemoryError):
        return Problem(1, 0, f"nested too deeply for the parser of Python {PYTHON}", kind="syntax")
    except ValueError as error:  # A lone surrogate, as an escape-like codec can make one.
        return Problem(1, 0, f"cannot be parsed: {error}", kind="syntax")


def _cookie(body: bytes) -> tuple[str, int] | Problem:
    """The encoding that one of the first two lines names and its line, ('utf-8', 0) where none does."""
    head = body[:4096] if b"coding" in body[:4096] else b""
    lines = re.split(rb"\r\n|\r|\n", head, maxsplit=2)[:2]
    for number, line in enumerate(lines, start=1):
        match = COOKIE.match(line)
        if match is not None:
            name = match.group(1).decode("ascii", "replace")
            import codecs

            try:
                codecs.lookup(name)
            except (LookupError, ValueError):
                return Problem(number, 0, f"unknown encoding {name!r}", kind="encoding")
            return name, number
        if not NOT_CODE.match(line):
            break
    return "utf-8", 0


def _is_utf8(encoding: str) -> bool:
    """Whether CPython's tokenizer takes the name for UTF-8; 'utf8', to it, is just another codec."""
    name = encoding.lower().replace("_", "-")
    return name == "utf-8" or name.startswith("utf-8-")


def _position(body: bytes, at: int) -> tuple[int, int]:
    """Line and column of a byte offset."""
    before = body[:at].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return before.count(b"\n") + 1, len(before) - before.rfind(b"\n") - 1


def _newline(text: str) -> str:
    if "\r" not in text:
        return "\n" if "\n" in text else ""
    pairs = text.count("\r\n")
    kinds = {"\r\n": pairs, "\r": text.count("\r") - pairs, "\n": text.count("\n") - pairs}
    present = [kind for kind, times in kinds.items() if times]
    return present[0] if len(present) == 1 else "mixed"


# What CPython says of source that Python 2 would accept, and the shapes it has no words for.
PYTHON_2_MESSAGES = (
    "Missing parentheses in call to 'print'",
    "Missing parentheses in call to 'exec'",
    "multiple exception types must be parenthesized",
    "leading zeros in decimal integer literals",
)
PYTHON_2 = re.compile(
    r"<>|`|^\s*print\s+[^\s(=.,\[]|^\s*exec\s+['\"]|^\s*raise\s+\w[\w.]*\s*,|\b0[0-7]+\b|\b(?:\d+|0[xX][\da-fA-F]+)[lL]\b|\bur['\"]"
)

NEWER_SYNTAX: tuple[tuple[tuple[int, int], str, re.Pattern[str]], ...] = (
    ((3, 10), "a match statement", re.compile(r"^\s*(?:match|case)\b.*:")),
    ((3, 11), "except*", re.compile(r"^\s*except\s*\*")),
    ((3, 11), "a starred index", re.compile(r"\[[^\]]*\*\w|:\s*\*\w")),
    ((3, 12), "type parameters", re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+\w+\s*\[")),
    ((3, 12), "a type statement", re.compile(r"^\s*type\s+\w+\s*[\[=]")),
    ((3, 12), "a nested f-string", re.compile(r"\b[rR]?[fF][rR]?['\"]")),
    ((3, 13), "a type parameter's default", re.compile(r"^\s*(?:type|class|(?:async\s+)?def)\s+\w+\s*\[.*=")),
    ((3, 14), "a template string", re.compile(r"\b[rR]?[tT][rR]?['\"]")),
    # Not Python 2's ``except Error, name:``: there the second word is a variable.
    ((3, 14), "except without parentheses", re.compile(r"^\s*except\s+[\w.]+(?:\s*,\s*(?:\w+\.)*[A-Z]\w*)+\s*:")),
    ((3, 15), "a lazy import", re.compile(r"^\s*lazy\s+(?:import|from)\b")),
    ((3, 15), "unpacking in a comprehension", re.compile(r"[\[({]\s*\*{1,2}\w.*\bfor\b")),
)
"""First version with it, what it is, how a line looks (PEPs 634, 646, 654, 695, 696, 701, 750, 758, 798, 810)."""


def _syntax_problem(source: SourceText, error: SyntaxError) -> Problem:
    lines = source.lines()
    number = min(max(error.lineno or 1, 1), len(lines))
    line = lines[number - 1]
    # CPython counts characters from 1; 0 and None mean that it does not know.
    before = line[: max((error.offset or 1) - 1, 0)]
    column = len(before.encode("utf-8", "surrogatepass"))
    message = error.msg or "invalid syntax"
    newer = _newer_syntax(source, "\n".join(lines[max(number - 2, 0) : (error.end_lineno or number)]), message)
    if newer:
        return Problem(number, column, newer, kind="newer-syntax")
    if any(m in message for m in PYTHON_2_MESSAGES) or PYTHON_2.search(line):
        message += " (this looks like Python 2)"
    return Problem(number, column, message, kind="syntax")


def _newer_syntax(source: SourceText, near: str, message: str) -> str:
    """Says so where the lines at the error use syntax that came after the running Python; '' for a plain syntax error.

    Confirmed with libcst, whose grammar is ahead of an older Python's, since a look at the lines alone would mistake a
    typing error. Only then: it takes a tenth of a second to import.
    """
    running = sys.version_info[:2]
    hints = [(since, what) for since, what, shape in NEWER_SYNTAX if since > running and _any_line(shape, near)]
    if not hints or "too many" in message:
        return ""
    since, what = hints[0]
    if any(what == "a lazy import" for _, what in hints):
        since, what = (3, 15), "a lazy import"
    elif not _libcst_accepts(source):
        return ""
    return f"the syntax is newer than the running Python {PYTHON}: {what} (Python {since[0]}.{since[1]})"


def _any_line(shape: re.Pattern[str], near: str) -> bool:
    return any(shape.search(line) for line in near.split("\n"))


def _libcst_accepts(source: SourceText) -> bool:
    # Its native parser runs out of stack, and takes the process along, on what is nested in the hundreds.
    if _bracket_depth(source.text) > 100:
        return False
    try:
        import libcst

        libcst.parse_module(source.text)
    except Exception:  # ParserSyntaxError, or whatever else an odd input makes it raise.
        return False
    return True


def _bracket_depth(text: str) -> int:
    """At least the nesting of brackets (those in strings and comments count too)."""
    depth = deepest = 0
    for character in re.findall(r"[()\[\]{}]", text):
        depth = depth + 1 if character in "([{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest
