"""Where findings about a class or a function point: at its ``class`` or ``def`` line."""

from __future__ import annotations

from hwlint.scan.facts import Class, Function, Span


def class_span(cls: Class) -> Span:
    """``class Name``."""
    width = len("class ") + len(cls.name.encode())
    return Span(cls.line, cls.span.column, cls.line, cls.span.column + width)


def function_span(function: Function) -> Span:
    """``def name`` or ``async def name``."""
    width = len("async def " if function.is_async else "def ") + len(function.name.encode())
    return Span(function.line, function.span.column, function.line, function.span.column + width)
