"""Every codemod on every layout: rewritten rightly or refused with a reason, nothing lost either way.

Layouts are functions from a plain sample to an odd file with the same meaning. A codemod joins with a
sample in ``samples.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from codemods.registry import all_codemods
from tests.codemods.harness import check_invariants, migrate
from tests.codemods.samples import OPTIONS, SAMPLES, TOGETHER

Layout = Callable[[str], bytes]


def plain(text: str) -> bytes:
    return text.encode()


def crlf(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode()


def bom(text: str) -> bytes:
    return b"\xef\xbb\xbf" + text.encode()


def bom_crlf(text: str) -> bytes:
    return b"\xef\xbb\xbf" + crlf(text)


def no_final_newline(text: str) -> bytes:
    return text.rstrip("\n").encode()


def blank_lines_at_the_end(text: str) -> bytes:
    return (text + "\n\n\n").encode()


def tabs(text: str) -> bytes:
    return re.sub(r"^(?: {4})+", lambda m: "\t" * (len(m[0]) // 4), text, flags=re.M).encode()


def two_blanks(text: str) -> bytes:
    return re.sub(r"^(?: {4})+", lambda m: "  " * (len(m[0]) // 4), text, flags=re.M).encode()


def latin_1(text: str) -> bytes:
    return f"# -*- coding: latin-1 -*-\n# \xe9\xff\n{text}".encode("latin-1")


def wide_characters(text: str) -> bytes:
    return (
        text.replace("self.", "self . ").replace("import unittest\n", 'import unittest\n"\U0001f600\u00e9"\n').encode()
    )


def comment_at_each_line(text: str) -> bytes:
    numbered = enumerate(text.split("\n"))
    return "\n".join(f"{line}  # {n}" if line.strip() and '"""' not in line else line for n, line in numbered).encode()


def comment_above_each_line(text: str) -> bytes:
    found = []
    for number, line in enumerate(text.split("\n")):
        indent = line[: len(line) - len(line.lstrip())]
        found += [f"{indent}# {number}", line] if line.strip() else [line]
    return "\n".join(found).encode()


def comment_at_the_margin(text: str) -> bytes:
    return re.sub(r"^(?=    \S)", "# at the margin\n", text, flags=re.M).encode()


def form_feeds(text: str) -> bytes:
    return re.sub(r"^(?=class |if )", "\f\n", text, flags=re.M).encode()


def form_feed_in_the_line(text: str) -> bytes:
    return re.sub(r"^(?=    def )", "\f", text, flags=re.M).encode()


def no_blank_lines(text: str) -> bytes:
    return re.sub(r"\n{2,}", "\n", text).encode()


def many_blank_lines(text: str) -> bytes:
    return text.replace("\n", "\n\n").encode()


def blanks_at_line_ends(text: str) -> bytes:
    return text.replace("\n", "  \n").encode()


def packed_imports(text: str) -> bytes:
    return re.sub(r"\(\n((?: {4}\w+,\n)+)\)", lambda m: ", ".join(m[1].replace(",", "").split()), text).encode()


def backslash_imports(text: str) -> bytes:
    return re.sub(r"\(\n((?: {4}\w+,\n)+)\)", lambda m: ", \\\n    ".join(m[1].replace(",", "").split()), text).encode()


def star_import(text: str) -> bytes:
    return re.sub(r"(common_utils import )\(\n(?: {4}\w+,\n)+\)", r"\1*", text).encode()


def aliased_names(text: str) -> bytes:
    return text.replace("    run_tests,\n", "    run_tests as run_tests,\n").encode()


def imports_in_try(text: str) -> bytes:
    head, mark, rest = text.partition("\n\n\n")
    body = "".join(f"    {line}\n" for line in head.split("\n") if line)
    return f"try:\n{body}except ImportError:\n    raise\n{mark}{rest}".encode()


def everything_in_if(text: str) -> bytes:
    head, mark, rest = text.partition("\n\n\n")
    body = "\n".join(f"    {line}" if line else line for line in rest.split("\n"))
    return f"{head}\n\nimport sys\nif sys.platform != 'x':\n{body}".encode()


def bases_over_lines(text: str) -> bytes:
    return re.sub(r"^class (\w+)\((.*)\):", r"class \1(\n    # base\n    \2\n):", text, flags=re.M).encode()


def header_with_backslash(text: str) -> bytes:
    return re.sub(r"^class (\w+)\(", r"class \\\n    \1(", text, flags=re.M).encode()


def decorated(text: str) -> bytes:
    return re.sub(r"^(?=class )", "# deco\n@unittest.skipIf(\n    False, 'x'\n)  # rate\n", text, flags=re.M).encode()


def semicolons(text: str) -> bytes:
    return re.sub(r"^import unittest$", "import unittest; import sys", text, flags=re.M).encode()


def one_line_tests(text: str) -> bytes:
    return re.sub(r"^(    def \w+\(.*\):)\n {8}(.*)\n(?! {8})", r"\1 \2\n", text, flags=re.M).encode()


def formatter_off(text: str) -> bytes:
    return re.sub(r"^(?=class )", "# fmt: off\n", text, flags=re.M).encode()


def with_a_nested_class(text: str) -> bytes:
    nested = "    class Inner:\n        def test_x(self): pass\n\n"
    return re.sub(r"^(class .*:\n)(    \"\"\".*\n\n)?", lambda m: m[0] + nested, text, flags=re.M).encode()


def windows_comment_block(text: str) -> bytes:
    return ("# a\r\n# b\r\n" + text.replace("\n", "\r\n")).encode()


def mixed_line_ends(text: str) -> bytes:
    head, _, rest = text.partition("\n\n")
    return f"{head}\r\n\r\n{rest}".encode()


def very_long_lines(text: str) -> bytes:
    return text.replace("import torch\n", f"import torch\nlong = [{'0, ' * 400}]\n").encode()


LAYOUTS: tuple[Layout, ...] = (
    plain, crlf, bom, bom_crlf, no_final_newline, blank_lines_at_the_end, tabs, two_blanks, latin_1, wide_characters,
    comment_at_each_line, comment_above_each_line, comment_at_the_margin, form_feeds, form_feed_in_the_line,
    no_blank_lines, many_blank_lines, blanks_at_line_ends, packed_imports, backslash_imports, star_import,
    aliased_names, imports_in_try,
    everything_in_if, bases_over_lines, header_with_backslash, decorated, semicolons, one_line_tests, formatter_off,
    with_a_nested_class, windows_comment_block, mixed_line_ends, very_long_lines,
)  # fmt: skip
NOTHING_TO_DO = {("tidy_imports", decorated)}
"""Where the layout itself takes away what there is to do."""


UNSAFE = {"unsafe": True}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("name", SAMPLES)
def test_rewritten_or_refused(name: str, layout: Layout) -> None:
    only, options = TOGETHER.get(name, (name,)), OPTIONS.get(name, UNSAFE)
    outcome = migrate(layout(SAMPLES[name]), *only, **options)
    check_invariants(outcome, *only, **options)
    done = any(c.codemod == name for c in outcome.changes)
    assert done or outcome.refusals or (name, layout) in NOTHING_TO_DO, "neither a change nor a reason"


@pytest.mark.parametrize("name", SAMPLES)
def test_the_plain_sample_is_changed(name: str) -> None:
    only, options = TOGETHER.get(name, (name,)), OPTIONS.get(name, UNSAFE)
    outcome = migrate(SAMPLES[name], *only, **options)
    assert any(c.codemod == name for c in outcome.changes), outcome.refusals


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("name", SAMPLES)
def test_all_codemods_together(name: str, layout: Layout) -> None:
    options = OPTIONS.get(name, UNSAFE)
    check_invariants(migrate(layout(SAMPLES[name]), **options), **options)


def test_every_codemod_has_a_sample() -> None:
    assert {codemod.name for codemod in all_codemods() if not codemod.follows} == set(SAMPLES)
