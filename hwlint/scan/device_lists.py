"""What a name of devices holds where a class is instantiated: ``only_for=devices``.

A list to which a device is added where the host has it is as good as one that names it: no class is made for that
device elsewhere. So is ``GPU_TYPE``, which is one of several device types: all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from hwlint.scan import gates
from hwlint.scan.bindings import Binding, additions_to, changes_in, rebound_in_functions, value_at
from hwlint.scan.context import ScanContext
from hwlint.scan.facts import Constant, Literals, Span
from hwlint.scan.literals import NotLiteral, literal


@dataclass(frozen=True, slots=True)
class DeviceLists:
    """The names of one module: how they are bound, and which of them change."""

    context: ScanContext
    text: str
    bindings: Mapping[str, Sequence[Binding]]
    changed: Collection[str]

    def values_at(self, call: ast.Call, line: int, in_block: bool) -> Mapping[str, Constant]:
        """What the names in a call hold where its statement stands, imported lists of device types among them."""
        names = {n.id for n in ast.walk(call) if isinstance(n, ast.Name)}
        imports = self.context.names.imports
        named = names & self.bindings.keys() - imports.keys()  # Which of the two it is then cannot be told.
        found = {**self.context.constants, **(self._held() if named or not names.isdisjoint(imports) else {})}
        assert self.context.tree is not None
        top = frozenset(statement.lineno for statement in self.context.tree.body)
        for name in () if in_block else named:
            changes = name in self.changed
            places = self.bindings[name]
            value = self._put_together(name, line, found) if changes else value_at(line, places, top, found)
            if value is not None:
                found[name] = value
        return found

    def _held(self) -> dict[str, Constant]:
        """The imported names whose value the catalog knows."""
        found = {}
        for local, qualified in self.context.names.imports.items():
            flag = self.context.catalog.find_flag(qualified)
            if flag is not None and flag.holds is not None:
                found[local] = Constant(local, Span(0, 0, 0, 0), flag.holds, known=True)
        return found

    def _put_together(self, name: str, line: int, constants: Mapping[str, Constant]) -> Constant | None:
        """A list to which devices are added one by one, where the host has them; None where it may hold others."""
        assert self.context.tree is not None
        additions = additions_to(name, self.context.tree.body)
        places = [place for place in self.bindings[name] if not isinstance(place.statement, ast.AugAssign)]
        if len(places) != 1 or len(additions) != len(changes_in(self.text, (name,))):
            return None
        if name in rebound_in_functions(self.text) or any(one.line >= line for one in additions):
            return None
        first = value_at(line, places, [place.statement.lineno for place in places], constants)
        if first is None or not isinstance(first.value, tuple):
            return None
        held = list(first.value)
        for one in additions:
            try:
                added = literal(one.value, constants)
            except NotLiteral:
                return None
            devices = added if isinstance(added, tuple) else (added,)
            if one.test is not None and any(not self._asks_for(one.test, device) for device in devices):
                return None
            held += devices
        return replace(first, value=tuple(held))

    def _asks_for(self, test: ast.expr, device: Literals) -> bool:
        """Whether a condition is that the host has that device, and nothing else."""
        requirements, _ = gates.read_condition(test, self.context)
        return [(r.kind, r.value, r.absent) for r in requirements] == [("device", device, False)]
