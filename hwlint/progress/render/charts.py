"""Charts of a report as SVG: drawn by pygal, coloured by the page's own style sheet.

What pygal adds for pages of its own is taken out again (its scripts, its styles, the date of the day, a random name),
so that a chart fetches nothing and the same figures give the same text. Each chart comes wide, and narrow for a phone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from xml.etree import ElementTree

from hwlint.progress.history.course import Course
from hwlint.progress.history.estimate import Estimate
from hwlint.progress.tally import Rows

SVG = "http://www.w3.org/2000/svg"
WIDE, NARROW = 1080, 400
MANY = 120
"""Points from which on dots would make one thick line."""
FOLDERS = 12
"""Bars that the chart of folders has at most."""


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart in its two widths, as SVG for inside a page, and what it shows in words."""

    title: str
    description: str
    wide: str
    narrow: str
    legend: tuple[tuple[str, str], ...] = ()
    """(class of the series in the style sheet, name)."""


def burn_down(course: Course, estimate: Estimate | None) -> Chart | None:
    """Unclassified classes and allowlist entries over time, with where the estimate ends; None for less than two
    points.
    """
    points = course.points
    if len(points) < 2:
        return None
    series: list[tuple[str, list[tuple[datetime, int]]]] = []
    series.append(("unclassified classes", [(_when(p.date), p.unclassified) for p in points]))
    listed = [(_when(p.date), p.allowlist_entries) for p in points if p.allowlist_entries is not None]
    legend = [("line-0", "unclassified classes")]
    series.append(("allowlist entries", [(when, count or 0) for when, count in listed]))
    if listed:
        legend.append(("line-1", "allowlist entries"))
    if estimate is not None and not estimate.reason:
        last = series[0][1][-1]
        ends = [estimate.earliest, estimate.median, estimate.latest]
        names = ["earliest (10 of 100 courses)", "half of the courses", "latest (90 of 100 courses)"]
        for end, name in zip(ends, names):
            series.append((name, [last, (_when(end), 0)] if end else []))
        legend.append(("line-3", "estimate: half of the simulated courses"))
        legend.append(("line-2", "80 of 100 of them"))
    first, final = points[0], points[-1]
    words = (
        f"Unclassified classes went from {first.unclassified} on {first.date[:10]} to {final.unclassified} on "
        f"{final.date[:10]}, in {len(points)} points."
    )
    return Chart("Burn-down", words, _burn_down(series, WIDE), _burn_down(series, NARROW), tuple(legend))


def _burn_down(series: Sequence[tuple[str, list[tuple[datetime, int]]]], width: int) -> str:
    import pygal

    times = [when for _, values in series for when, _ in values]
    top = max((count for _, values in series for _, count in values), default=1)
    chart = pygal.DateTimeLine(
        width=width,
        height=380 if width == WIDE else 300,
        x_value_formatter=lambda when: when.strftime("%Y-%m-%d"),
        x_labels=_ticks(min(times), max(times), 8 if width == WIDE else 3),
        y_labels=_levels(top, 5),
        range=(0, _levels(top, 5)[-1]),
        show_x_guides=False,
        dots_size=2.5 if len(times) < MANY else 1,
        truncate_label=-1,
        **_plain(),
    )
    for name, values in series:
        chart.add(name, values)
    return _svg(chart)


def folders(rows: Rows) -> Chart | None:
    """Classes classified, bound and to go, for the folders with most to go; None where there is no class."""
    ordered = sorted(rows.items(), key=lambda item: (-item[1].unclassified, -item[1].classes, item[0]))
    shown = [(name, row) for name, row in ordered if row.classes][:FOLDERS]
    if not shown:
        return None
    shown.reverse()  # The first bar stands at the bottom.
    parts = (
        ("classified", [row.classified - row.bound for _, row in shown]),
        ("tagged, yet bound", [row.bound for _, row in shown]),
        ("unclassified", [row.unclassified for _, row in shown]),
    )
    names = [name for name, _ in shown]
    words = "; ".join(f"{name}: {row.unclassified} of {row.classes} to go" for name, row in reversed(shown))
    legend = tuple((f"bar-{at}", name) for at, (name, _) in enumerate(parts))
    return Chart("Classes by folder", words, _folders(names, parts, WIDE), _folders(names, parts, NARROW), legend)


def _folders(names: Sequence[str], parts: Iterable[tuple[str, list[int]]], width: int) -> str:
    import pygal

    parts = list(parts)
    top = max(sum(values) for values in zip(*(values for _, values in parts)))
    chart = pygal.HorizontalStackedBar(
        width=width,
        height=70 + 30 * len(names),
        x_labels=[_short(name, 34 if width == WIDE else 18) for name in names],
        y_labels=_levels(top, 6 if width == WIDE else 3),
        range=(0, _levels(top, 6 if width == WIDE else 3)[-1]),
        truncate_label=-1,
        **_plain(),
    )
    for name, values in parts:
        chart.add(name, values)
    return _svg(chart)


def _plain() -> dict[str, Any]:
    from pygal.style import Style

    style = Style(label_font_size=13, major_label_font_size=13, font_family="sans-serif")
    return {
        "css": [],
        "js": [],
        "style": style,
        "no_prefix": True,
        "show_legend": False,
        "explicit_size": False,
        "disable_xml_declaration": True,
        "margin": 8,
        "margin_right": 44,
        "no_data_text": "",
    }


def _svg(chart: Any) -> str:
    from pygal.etree import etree

    etree.to_etree()  # Whether lxml is there must not tell in the result.
    root = ElementTree.fromstring(chart.render(is_unicode=True))
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}defs", f"{{{SVG}}}script", f"{{{SVG}}}style") or _is_overlay(child):
                parent.remove(child)
        _name_mark(parent)
    root.attrib.pop("id", None)
    root.set("aria-hidden", "true")
    root.set("focusable", "false")
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode")


def _is_overlay(element: ElementTree.Element) -> bool:
    classes = element.get("class", "").split()
    return "text-overlay" in classes or "tooltip-overlay" in classes


def _name_mark(parent: ElementTree.Element) -> None:
    """What pygal's script would show beside a dot or a bar becomes the title that a browser shows by itself."""
    found = [child for child in parent if child.tag == f"{{{SVG}}}desc"]
    words = [child.text or "" for child in found if child.get("class") in ("value", "x_label")]
    for child in found:
        parent.remove(child)
    if words:
        title = ElementTree.Element(f"{{{SVG}}}title")
        title.text = ": ".join(words)
        parent.insert(0, title)


def _when(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "")[:19])


def _ticks(first: datetime, last: datetime, count: int) -> list[datetime]:
    days = max((last - first).days, 1)
    step = max(days // count, 1)
    start = datetime(first.year, first.month, first.day)
    return [start + timedelta(days=at) for at in range(0, days + 1, step)]


def _levels(top: int, count: int) -> list[int]:
    """From 0 to the first round number at or above ``top``, in at most ``count`` round steps."""
    step = 1
    for step in (f * 10**e for e in range(9) for f in (1, 2, 5)):
        if step * count >= top:
            break
    return list(range(0, max(top, 1) + step, step)) if top % step else list(range(0, max(top, step) + 1, step))


def _short(name: str, width: int) -> str:
    return name if len(name) <= width else "…" + name[-width + 1 :]
