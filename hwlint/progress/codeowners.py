"""CODEOWNERS as GitHub reads it: the last matching line decides.

The rules are those of GitHub's documentation page "About code owners".
Patterns are those of .gitignore without negation, character ranges and escaped comments. Unlike there, ``docs/*`` does
not reach into folders below ``docs``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks, in this order; the first that is there counts."""


@dataclass(frozen=True)
class CodeOwners:
    """The lines of one CODEOWNERS file, in order."""

    rules: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = ()
    found: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def owners_of(self, path: str) -> tuple[str, ...]:
        """Owners of the last line that matches ``path`` (relative to the repository's root); none where it names
        none.
        """
        if path not in self.found:
            matching = (owners for pattern, owners in reversed(self.rules) if pattern.fullmatch(path))
            self.found[path] = next(matching, ())
        return self.found[path]


def read_code_owners(text: str) -> CodeOwners:
    """The rules of a CODEOWNERS file. Lines that GitHub passes over (negations, ranges) are passed over here."""
    rules = []
    for line in text.splitlines():
        words = _words(line)
        if not words or words[0].startswith("!") or "[" in words[0]:
            continue
        rules.append((re.compile(_regex(words[0])), tuple(words[1:])))
    return CodeOwners(tuple(rules))


def _words(line: str) -> list[str]:
    """The pattern, in which '\\ ' is a space, and the owners before any comment."""
    words = [w.replace("\0", " ") for w in line.replace("\\ ", "\0").split()]
    comment = next((i for i, word in enumerate(words) if word.startswith("#")), len(words))
    return words[:comment]


def _regex(pattern: str) -> str:
    text = pattern.strip("/")
    if not text:
        return ".*"
    # A slash anywhere but at the end ties the pattern to the root.
    prefix = "" if "/" in pattern.rstrip("/") else "(?:.*/)?"
    regex = ""
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            regex, at = regex + "(?:.*/)?", at + 3
        elif text.startswith("**", at):
            regex, at = regex + ".*", at + 2
        elif text[at] == "*":
            regex, at = regex + "[^/]*", at + 1
        elif text[at] == "?":
            regex, at = regex + "[^/]", at + 1
        else:
            regex, at = regex + re.escape(text[at]), at + 1
    if pattern.endswith("/"):
        return f"{prefix}{regex}/.*"
    # What names a folder covers all below it, but a last part of '*' is a file there.
    deep = "" if text.rpartition("/")[2] == "*" and "/" in text else "(?:/.*)?"
    return f"{prefix}{regex}{deep}"
