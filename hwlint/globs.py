"""Path patterns of the configuration, much as .gitignore has them.

``*`` and ``?`` stop at a slash, ``**`` does not. A pattern without a slash matches a file or folder of that name at any
depth, one with a slash starts at the root. What names a folder covers all that is below it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable


def matches(path: str, patterns: Iterable[str], *, anchored: bool = False) -> bool:
    """Whether ``path`` (relative, forward slashes) is covered by any of ``patterns``.

    ``anchored``: a pattern without a slash and without a wildcard starts at the root too (``include = ["test"]`` means
    that folder, not every folder of the name).
    """
    compiled = _compile(tuple(patterns), anchored)
    return compiled is not None and compiled.fullmatch(path) is not None


@functools.lru_cache(maxsize=256)
def _compile(patterns: tuple[str, ...], anchored: bool) -> re.Pattern[str] | None:
    if not patterns:
        return None
    return re.compile("(?s:" + "|".join(_translate(p, anchored) for p in patterns) + ")")


def _translate(pattern: str, anchored: bool) -> str:
    text = pattern.rstrip("/")
    rooted = "/" in text or (anchored and not any(c in text for c in "*?["))
    text = text.removeprefix("./").lstrip("/")
    if text in ("", "."):
        return ".*"
    regex = "" if rooted else "(?:.*/)?"
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            regex += "(?:.*/)?"
            at += 3
        elif text.startswith("**", at):
            regex += ".*"
            at += 2
        elif text[at] == "*":
            regex += "[^/]*"
            at += 1
        elif text[at] == "?":
            regex += "[^/]"
            at += 1
        elif text[at] == "[" and (end := text.find("]", at + 2)) > 0:
            inside = text[at + 1 : end].replace("\\", "\\\\")
            regex += "[" + ("^" + inside[1:] if inside[0] in "!^" else inside) + "]"
            at = end + 1
        else:
            regex += re.escape(text[at])
            at += 1
    return regex + "(?:/.*)?"
