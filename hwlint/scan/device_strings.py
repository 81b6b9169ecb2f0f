"""Strings and names that stand for a device, and the uses they are."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from hwlint.scan.context import ScanContext
from hwlint.scan.device_places import IGNORED, UNKNOWN, Place
from hwlint.scan.device_record import Record, Recorder, device_attributes
from hwlint.scan.device_values import Known, known_names, template_of
from hwlint.scan.device_words import device_of_flag
from hwlint.scan.facts import Construct, Span
from hwlint.scan.names import dotted, source_of, span_of

PROGRAM = re.compile(
    r"(?m)^\s*(?:import \w|from \w[\w.]* import|def \w+\(|class \w+[(:]|with torch\.|@torch\.)"
    r"|;\s*torch\.|\btorch\.\w+\(.*[\n;]"
)
"""Text that is Python code."""
SHORT = 60


class ValueReader:
    """Records strings and names into ``recorder``; the walk over what they stand in is the subclass's."""

    def __init__(
        self,
        context: ScanContext,
        *,
        class_name: str = "",
        self_devices: Mapping[str, str] = {},
        bound: frozenset[str] = frozenset(),
        injected: frozenset[str] = frozenset(),
    ) -> None:
        self.context = context
        self.known: Known = known_names(context)
        self.words = self.known.words
        self.recorder = Recorder()
        self.class_name = class_name
        self.attributes = device_attributes(self_devices)
        self.bound = bound
        self.injected = injected
        self.flags: set[str] = set()
        self.owners: tuple[str, ...] = ()
        self.fake = 0
        self.traced = 0
        self.asking = 0
        self.bare = False
        self.inner_uses = False
        """A local function or class has a use: what is done with it has to be seen."""
        self.local_parameters: dict[str, tuple[str, ...]] = {}
        self.asked: list[ast.expr] = []
        """Conditions met: a gate where they ask what is there."""

    def visit(self, node: ast.expr, place: Place = UNKNOWN) -> None:
        """Record what ``node`` names, its value going to ``place``."""
        raise NotImplementedError

    def record(self, node: ast.expr, construct: Construct, device: str, name: str, place: Place, via: str = "") -> None:
        """Note a use at ``node``: for a method or attribute from its name on, else the whole node."""
        if place.role == "ignored":
            return
        if self.fake and construct not in ("api", "activity", "profiler_field") and place.role != "text":
            place = place._replace(role="fake", local="")
        span = span_of(node)
        if construct in ("method", "attribute") and isinstance(node, (ast.Attribute, ast.Call)):
            span = _name_span(node)
        self.inner_uses = self.inner_uses or bool(self.owners)
        self.recorder.records.append(Record(span, construct, device, name, place, via, self.owners, self.traced > 0))

    # -- strings ----------------------------------------------------------------------------------------------------

    def constant(self, node: ast.Constant, place: Place) -> None:
        value = node.value
        if value.__class__ is str:
            self.string(node, str(value), place)

    def string(self, node: ast.expr, value: str, place: Place) -> None:
        """A string, or a template with '\\0' for its computed parts."""
        words = self.words
        device = words.device_of_text(value)
        construct: Construct = "fstring" if "\0" in value else "string"
        if device:
            if (
                device.partition(":")[0] in words.common
                or (place.role == "placement" and place.sure)
                or place.role == "fake"
            ):
                if device == "meta" and place.role == "placement":
                    place = place._replace(role="fake")
                if self.bare and construct == "string" and ":" not in device and device not in ("cpu", "meta"):
                    construct = "bare_device"
                self.record(node, construct, device, value.replace("\0", "?"), place)
            return
        if value in words.collectives:
            self._collective(node, value, place)
        elif value in words.profiler and place.role != "ignored":
            self.record(node, "profiler_field", words.profiler[value], value, Place("profiler", place.context))
        elif place.role == "key" and value in words.dispatch_keys:
            self.record(node, "string", words.dispatch_keys[value], value, place)
        elif ":" in value and "," in value and all(p.partition(":")[2] in words.collectives for p in value.split(",")):
            self._collective(node, value, place)
        elif place.role != "ignored" and words.text.search(value):
            self._text(node, value, place, construct)

    def _collective(self, node: ast.expr, value: str, place: Place) -> None:
        device = self.words.collectives.get(value, "")
        if ":" in value:
            devices = [part.partition(":")[0] for part in value.split(",")]
            device = "|".join(devices)
        role = place.role
        if value in ("fake", "threaded") and role != "backend":
            return
        if value in ("mpi", "ucc") and role not in ("backend", "comparison"):
            return
        if value in ("fake", "threaded") and role == "backend":
            place = place._replace(role="fake")
        elif role in ("unknown", "placement"):
            place = place._replace(role="backend", sure=place.sure and role == "placement")
        self.record(node, "backend", device, value, place)

    def _text(self, node: ast.expr, value: str, place: Place, construct: Construct) -> None:
        match = self.words.text.search(value)
        device = "?" if match is None else match[0]
        name = value.replace("\0", "?")
        name = name if len(name) <= SHORT else name[: SHORT - 3] + "..."
        if value in self.context.catalog.tensor_types:
            entry = self.context.catalog.tensor_types[value]
            self.record(node, "tensor_type", entry.device, value, place)
            return
        context = place.context or "text"
        if place.program or PROGRAM.search(value):
            self.flags.add("string_program")
            self.record(node, construct, device, name, Place("text", context, True))
        elif place.role in ("text", "comparison"):
            self.record(node, construct, device, name, Place("text", context, place.sure))
        elif self.words.code.search(value) and (place.local == "" or not self.asking):
            self.record(node, construct, device, name, Place("text", context, False))

    def template(self, node: ast.expr, place: Place) -> bool:
        """Read ``node`` as text with computed parts; False where it is none."""
        found = template_of(node)
        if found is None:
            return False
        text, parts = found
        if "\0" not in text:
            self.string(node, text, place)
            return True
        inner = IGNORED if place.role == "ignored" else Place("text", place.context or "f-string", False)
        if self.words.device_of_text(text):
            self.string(node, text, place)
        elif re.match(r"\0:(?:\0|\d+)\Z", text) or text == "\0":
            if ":" in text and self.is_injected(parts[0]) and place.role not in ("text", "ignored"):
                where = Place("placement", place.context or "f-string", place.role != "unknown", place.local)
                self.record(node, "bare_device", "?", source_of(parts[0]), where)
            inner = (
                place._replace(role="placement")
                if place.role == "unknown" and ":" in text and not place.local
                else place
            )
        else:
            self.string(node, text, place)
        for at, part in enumerate(parts):
            self.visit(part, inner if at == 0 or inner.role in ("text", "ignored") else UNKNOWN)
        return True

    def joined(self, node: ast.JoinedStr, place: Place) -> None:
        self.template(node, place)

    def binary(self, node: ast.BinOp, place: Place) -> None:
        if isinstance(node.op, (ast.Add, ast.Mod)) and self.template(node, place):
            return
        self.visit(node.left, place)
        self.visit(node.right, place)

    # -- names ------------------------------------------------------------------------------------------------------

    def is_injected(self, node: ast.expr) -> bool:
        """Whether ``node`` is the ``device`` parameter, as it came in."""
        if isinstance(node, ast.Call) and dotted(node.func) == "str" and len(node.args) == 1:
            node = node.args[0]
        return isinstance(node, ast.Name) and node.id in self.injected

    def name(self, node: ast.Name, place: Place) -> None:
        name = node.id
        loads = self.recorder.loads.get(name)
        if self.asking:
            self.recorder.conditions.add(name)
        if loads is not None:
            loads.append(place._replace(role="fake", local="") if self.fake and place.role != "ignored" else place)
        elif name in self.bound:
            return
        elif name in self.known.devices:
            self.record(node, "constant", self.known.devices[name], name, place, name)
        elif name in self.known.modules:
            self.api(node, self.known.modules[name], place)
        elif name in self.known.collectives:
            where = place._replace(role="backend") if place.role in ("unknown", "placement") else place
            self.record(node, "constant", self.known.collectives[name], name, where, name)

    def attribute(self, node: ast.Attribute, place: Place, written: str | None = None) -> None:
        """An attribute; ``written`` is its dotted text where the caller has it."""
        attr = node.attr
        if attr in self.words.attributes and not (
            isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        ):
            self.record(node, "attribute", self.words.attributes[attr], attr, Place("comparison", f".{attr}"))
            self.visit(node.value)
            return
        written = dotted(node) if written is None else written
        if not written:
            if attr in self.words.profiler:
                self.record(node, "profiler_field", self.words.profiler[attr], attr, Place("profiler", f".{attr}"))
            self.visit(node.value, place if attr in ("type", "index", "upper", "lower") else UNKNOWN)
            return
        head, _, rest = written.partition(".")
        if head in ("self", "cls"):
            first = rest.partition(".")[0]
            if first in self.attributes:
                self.record(node, "constant", self.attributes[first], f"{head}.{first}", place, f"{head}.{first}")
                return
        elif head not in self.bound and head in self.known.heads and self._dotted(node, written, place):
            return
        if attr in self.words.profiler:
            self.record(node, "profiler_field", self.words.profiler[attr], attr, Place("profiler", f".{attr}"))
            return
        tail = ".".join(written.split(".")[-2:])
        if tail in self.words.activities:
            self.record(node, "activity", self.words.activities[tail], tail, Place("profiler", place.context))
        elif tail.startswith(("DispatchKey.", "DeviceType.")) and attr in self.words.dispatch_keys:
            role = "key" if tail.startswith("DispatchKey") else "profiler" if place.role == "unknown" else place.role
            self.record(node, "attribute", self.words.dispatch_keys[attr], tail, place._replace(role=role))
        elif attr.startswith("ProcessGroup") and attr[12:].lower() in self.words.collectives:
            device = self.words.collectives[attr[12:].lower()]
            self.record(node, "backend", device, attr, Place("backend", place.context))
        else:
            inner = place if attr in ("type", "index", "upper", "lower") else UNKNOWN
            self.visit(_head(node), inner)

    def _dotted(self, node: ast.Attribute, written: str, place: Place) -> bool:
        """An attribute chain on an imported name: True where it is a use, or a question that a gate reads."""
        qualified = self.context.names.qualify_name(written)
        if self.words.module_of(qualified):
            self.api(node, qualified, place)
            return True
        if qualified.startswith("torch.distributed.") and self.context.catalog.find_flag(qualified) is None:
            vendors = [d for part in node.attr.lower().split("_") if (d := self.words.collectives.get(part))]
            if vendors:
                self.record(node, "backend", vendors[0], node.attr, Place("backend", place.context))
                return True
        flag = self.words.device_values.get(qualified)
        if flag is None and not qualified.startswith("torch.") or ".testing." in qualified:
            flag = flag or self.words.device_values.get(node.attr)
        if flag is not None and not flag.callable:
            self.record(node, "constant", device_of_flag(flag), node.attr, place, written)
            return True
        return False

    def api(self, node: ast.expr, qualified: str, place: Place) -> None:
        """A name of a device module."""
        catalog = self.context.catalog
        device = self.words.modules[self.words.module_of(qualified)]
        entry = catalog.tensor_types.get(qualified)
        if entry is not None:
            if place.role in ("unknown", "api"):
                place = Place("placement", place.context, place.role == "api")
            self.record(node, "tensor_type", entry.device, qualified, place)
            return
        if self.asking:
            return
        where = Place("api", place.context, local=place.local) if place.local else Place("api", place.context)
        self.record(node, "api", device, qualified, where)


def _name_span(node: ast.Attribute | ast.Call) -> Span:
    """From the name behind the last dot to the end of ``node``."""
    attribute = node.func if isinstance(node, ast.Call) else node
    if not isinstance(attribute, ast.Attribute):
        return span_of(node)
    end = span_of(attribute)
    whole = span_of(node)
    width = len(attribute.attr.encode())
    return Span(end.end_line, max(end.end_column - width, 0), whole.end_line, whole.end_column)


def _head(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node
