"""Runs one rule on source text, from the bytes to the findings."""

from __future__ import annotations

from textwrap import dedent

from hwlint.catalog import Backend, load_catalog
from hwlint.config import Settings
from hwlint.findings import Finding
from hwlint.rules.base import Rule, RuleContext
from hwlint.rules.registry import find_rule
from hwlint.scan.module import scan_module
from hwlint.suite.link import link

HEAD = """\
import unittest
import torch
import torch.distributed as dist
from torch.testing._internal.common_device_type import *
from torch.testing._internal.common_utils import *
from torch.testing._internal.common_distributed import *
from torch.testing._internal.inductor_utils import GPU_TYPE, HAS_GPU

"""
LINES = HEAD.count("\n")


def findings(
    rule: type[Rule] | str,
    source: str,
    *,
    path: str = "test/test_example.py",
    others: dict[str, str] | None = None,
    torch: str = "",
    backends: tuple[Backend, ...] = (),
) -> list[Finding]:
    """What the rule, or the one of a code, says of ``source`` at ``path``, with ``others`` beside it in the suite."""
    catalog = load_catalog(backends)
    texts = {path: source, **(others or {})}
    modules = {p: scan_module(text.encode(), p, catalog) for p, text in texts.items()}
    assert all(m.problem is None for m in modules.values())
    context = RuleContext(modules[path], link(modules.values(), catalog), catalog, Settings(torch=torch))
    found = (find_rule(rule) if isinstance(rule, str) else rule)().check(context)
    return sorted(found, key=lambda f: f.sort_key)


def body_findings(code: str, body: str, **options: object) -> list[Finding]:
    """As :func:`findings`, of ``body`` behind the usual imports; line 1 is the first of ``body``."""
    found = findings(code, HEAD + dedent(body), **options)  # type: ignore[arg-type]
    return [_shifted(f) for f in found]


def _shifted(finding: Finding) -> Finding:
    from dataclasses import replace

    span = finding.span._replace(line=finding.span.line - LINES, end_line=finding.span.end_line - LINES)
    related = tuple(replace(r, span=r.span._replace(line=r.span.line - LINES)) for r in finding.related)
    return replace(finding, span=span, related=related)
