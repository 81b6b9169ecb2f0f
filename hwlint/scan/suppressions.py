"""``# hwlint: ignore[HW201,HW202]  reason`` and ``# hwlint: ignore-file[HW201]  reason``.

A suppression covers its line; at the first or the last line of a statement the whole statement; on a ``class`` or
``def`` line the whole body, decorators included. Read from tokens, so that text in a string is none; and only where the
word stands in the file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator

from hwlint.scan.facts import Problem, Span, Suppression
from hwlint.scan.reading import NEWLINE, SourceText

MARK = "hwlint:"
DIRECTIVE = re.compile(
    r"#\s*hwlint:\s*(?P<verb>[\w-]*)\s*(?P<brackets>\[(?P<codes>[^\]]*)(?P<close>\]?))?(?P<reason>.*)"
)
CODE = re.compile(r"HW\d{3}")
NEXT_DIRECTIVE = re.compile(
    r"\s#\s*(?:hwlint:|noqa|type:|mypy:|pyre-|pyright:|pylint:|fmt:|ruff:|isort:|usort:|flake8).*"
)
BRACKETS_HELP = "name the rules it is for, as in 'ignore[HW201]  reason'"


def read_suppressions(source: SourceText, tree: ast.Module) -> tuple[tuple[Suppression, ...], tuple[Problem, ...]]:
    """The file's suppressions in order, and what is wrong with those that cannot be read."""
    if MARK not in source.text:
        return (), ()
    found: list[Suppression] = []
    problems: list[Problem] = []
    bodies: dict[int, tuple[int, int]] = {}
    last_line = len(source.lines())
    try:
        comments = list(_comments(source.text))
    except (tokenize.TokenError, SyntaxError) as error:  # What the parser takes and the tokenizer module does not.
        return (), (Problem(1, 0, f"suppressions cannot be read here: {error}", kind="suppression"),)
    for comment, first, last in comments:
        match = DIRECTIVE.search(comment.string)
        if match is None:
            continue
        line, column = comment.start
        column += match.start()
        before = comment.line[:column]
        at = len(before.encode("utf-8", "surrogatepass"))
        read = _read(match)
        if read is None:
            continue
        if isinstance(read, str):
            problems.append(Problem(line, at, read, kind="suppression"))
            continue
        codes, reason, whole_file = read
        if whole_file:
            lines = (1, last_line)
        elif line in (first, last):
            bodies = bodies or _bodies(tree)
            lines = bodies.get(first, (first, last))
        else:
            lines = (line, line)
        end = at + len(match.group().rstrip().encode("utf-8", "surrogatepass"))
        found.append(Suppression(Span(line, at, line, end), codes, reason, *lines, whole_file))
    return tuple(found), tuple(problems)


def _read(match: re.Match[str]) -> tuple[tuple[str, ...], str, bool] | str | None:
    """Codes, reason and whether it is for the file; what is wrong; or None for prose that only begins like one."""
    verb = match["verb"]
    if verb not in ("ignore", "ignore-file"):
        if match["brackets"] is None and not _is_misspelt(verb):
            return None
        return f"unknown directive {verb!r}: there are 'ignore[HW201]' and 'ignore-file[HW201]'"
    if match["brackets"] is None:
        return f"'{verb}' without a rule would hide everything: {BRACKETS_HELP}"
    if not match["close"]:
        return "the bracket is not closed"
    codes = [code.strip() for code in match["codes"].split(",")]
    if codes == [""]:
        return f"the brackets are empty: {BRACKETS_HELP}"
    for code in codes:
        if not CODE.fullmatch(code):
            return f"{code!r} is no rule code: {BRACKETS_HELP}"
    reason = NEXT_DIRECTIVE.sub("", match["reason"]).strip().lstrip(":-–— ").strip()
    return tuple(dict.fromkeys(codes)), reason, verb == "ignore-file"


def _is_misspelt(verb: str) -> bool:
    import difflib

    known = ("ignore", "ignore-file", "noqa", "disable", "ignore-line", "ignore-next-line", "skip", "off")
    return bool(difflib.get_close_matches(verb.lower(), known, n=1, cutoff=0.75))


def _comments(text: str) -> Iterator[tuple[tokenize.TokenInfo, int, int]]:
    """Comments with the first and last line of the statement around them; of one that stands alone, its own line."""
    pending: list[tokenize.TokenInfo] = []
    first = 0
    # One kind of line end, since the tokenizer of an older Python takes a lone '\r' for a blank.
    for token in tokenize.generate_tokens(io.StringIO(NEWLINE.sub("\n", text)).readline):
        if token.type == tokenize.COMMENT:
            if first:
                pending.append(token)
            else:
                yield token, token.start[0], token.start[0]
        elif token.type == tokenize.NEWLINE:
            for comment in pending:
                yield comment, first, token.start[0]
            pending, first = [], 0
        elif not first and token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            first = token.start[0]


def _bodies(tree: ast.Module) -> dict[int, tuple[int, int]]:
    """Line of each ``class`` or ``def`` -> lines from its first decorator to its end."""
    found: dict[int, tuple[int, int]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            found.setdefault(node.lineno, (first, node.end_lineno or node.lineno))
    return found
