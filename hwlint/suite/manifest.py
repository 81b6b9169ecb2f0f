"""Test IDs of a file before and after a change, compared device by device.

A test is followed through the class and function it is made from in the source, so that ``PoolTest.test_pool``,
turned into ``PoolTestCUDA.test_pool_cuda`` by an instantiation, is one test with another name, not one lost and one
new.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from hwlint.suite.ids import TestId

Fate = Literal["kept", "renamed", "new", "moved", "lost"]
"""'moved': gone from a device where a decorator always skipped it, and there on another; or one of several that did the
same on each device, where one plain test does that on every host."""
FATES: tuple[Fate, ...] = get_args(Fate)
Template = tuple[str, str]
"""(qualified class, test) in the source."""
PLAIN = ""
"""The device of a test that no instantiation made: it runs on whatever host there is."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one test on one device; ``before`` is None for a new one, ``after`` for one that is gone."""

    fate: Fate
    device: str
    """Of the test afterwards, of the lost one before."""
    before: TestId | None = None
    after: TestId | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The comparison, in the order of the new tests, the lost ones last."""

    entries: tuple[Entry, ...] = ()

    def of(self, fate: Fate) -> tuple[Entry, ...]:
        return tuple(e for e in self.entries if e.fate == fate)

    @property
    def lost(self) -> tuple[Entry, ...]:
        return self.of("lost")

    @property
    def changed(self) -> bool:
        return any(e.fate != "kept" for e in self.entries)

    def by_device(self) -> dict[str, dict[Fate, int]]:
        """Counts by device ('' for plain tests), devices sorted."""
        counts: dict[str, dict[Fate, int]] = {}
        for entry in self.entries:
            row = counts.setdefault(entry.device, dict.fromkeys(FATES, 0))
            row[entry.fate] += 1
        return dict(sorted(counts.items()))


def compare(
    before: Iterable[TestId], after: Iterable[TestId], renames: Mapping[Template, Template] | None = None
) -> Manifest:
    """Compare the tests of one file. ``renames`` maps old templates to new ones where a change moved or renamed them.

    Tests of one template are paired on the same device, by name where it is the same, else in their order. A template
    that had plain tests lives on in the generated tests of whatever devices: those of the first device are the plain
    ones renamed, and what is left of the plain ones (``@parametrize("device", ...)``) is paired with the next device's;
    the others are new.
    """
    renames = renames or {}
    old = _by_template(before, renames)
    new = _by_template(after, {})
    entries: list[Entry] = []
    lost: list[Entry] = []
    for template in dict.fromkeys((*new, *old)):
        entries_of, lost_of = _compare_template(old.get(template, {}), new.get(template, {}))
        entries += entries_of
        lost += lost_of
    return Manifest((*entries, *lost))


def _by_template(
    ids: Iterable[TestId], renames: Mapping[Template, Template]
) -> dict[Template, dict[str, list[TestId]]]:
    found: dict[Template, dict[str, list[TestId]]] = {}
    for one in ids:
        template = (one.template_class, one.template_test)
        found.setdefault(renames.get(template, template), {}).setdefault(one.device, []).append(one)
    return found


def _compare_template(old: dict[str, list[TestId]], new: dict[str, list[TestId]]) -> tuple[list[Entry], list[Entry]]:
    entries: list[Entry] = []
    lost: list[Entry] = []
    rest_old = {device: list(ids) for device, ids in old.items()}
    plain: list[TestId] = []
    if PLAIN in rest_old and PLAIN not in new and new:
        # Once plain, now generated: it lives on where it is generated, on the first device that has room for it.
        plain = rest_old.pop(PLAIN)
    elif PLAIN in new and PLAIN not in old and len(old) > 0:
        # Once generated, now plain: one run for all devices.
        first = next(iter(old))
        rest_old[PLAIN] = rest_old.pop(first)
    for device, ids in new.items():
        fates, gone = _pair(device, [*rest_old.pop(device, []), *plain], ids)
        entries += fates
        waiting = {id(one) for one in plain}
        plain = [e.before for e in gone if e.before is not None and id(e.before) in waiting]
        lost += (e for e in gone if id(e.before) not in waiting)
    lost += (Entry("lost", PLAIN, before=one) for one in plain)
    alike = len(new[PLAIN]) if PLAIN in new and PLAIN not in old else 0
    for device, ids in rest_old.items():
        merged = len(ids) <= alike and all(one.device_free for one in ids)
        lost += (Entry("moved" if merged else "lost", device, before=one) for one in ids)
    if new:
        lost = [replace(e, fate="moved") if e.before is not None and e.before.skipped else e for e in lost]
    return entries, lost


def _pair(device: str, old: list[TestId], new: list[TestId]) -> tuple[list[Entry], list[Entry]]:
    """Pair the tests of one template on one device, same names first."""
    named = {(one.class_name, one.name): one for one in old}
    kept = {(one.class_name, one.name) for one in new} & set(named)
    others = iter([one for one in old if (one.class_name, one.name) not in kept])
    entries = []
    for one in new:
        if (one.class_name, one.name) in kept:
            entries.append(Entry("kept", device, named[one.class_name, one.name], one))
            continue
        previous = next(others, None)
        entries.append(Entry("new", device, None, one) if previous is None else Entry("renamed", device, previous, one))
    # A name with '*' stands for several tests: fewer names are no fewer tests then.
    unreadable = any(not one.exact for one in new)
    gone = [] if unreadable else [Entry("lost", device, before=one) for one in others]
    return entries, gone
