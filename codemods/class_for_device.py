"""A class for one vendor's device: instantiated ``only_for`` it as a literal, each test with a ``device`` parameter,
tagged.

Upstream's contract for CPU, CUDA, MPS and XPU (pytorch/pytorch#190173), as #193151 and #192418 did it by hand. All
tests of a class at once or none. A class for CUDA is an unsafe change: its base becomes CUDATestBase, which checks
for leaked memory and runs each test on a stream of its own (torch/testing/_internal/common_device_type.py; #195155
had to undo that).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass

from codemods.class_edits import add_parameter, insert_below_class
from codemods.device_class import check_decorators, member_obstacle
from codemods.device_instantiate import own_name_splices
from codemods.device_level import doubts
from codemods.device_members import check_static, ordinary_splices, static_methods
from codemods.device_passed import other_use
from codemods.device_signature import decorator_splices
from codemods.device_suffix import collision, not_restored, shortened
from codemods.device_tree import FunctionTree
from codemods.device_unread import PARAMETERS, callers, check_main
from codemods.device_values import Blocked
from codemods.edit import SourceFile, Splice
from codemods.imported_change import bound_first, importers_of
from codemods.imports import is_taken
from codemods.plan import (
    COMMON_DEVICE_TYPE,
    CannotEdit,
    Change,
    Codemod,
    Context,
    Import,
    ImportedChange,
    Plan,
    PlanBuilder,
)
from codemods.tag_class import ENUM, tag_change, tag_splices
from hwlint.classify.verdict import Verdict
from hwlint.config import Settings
from hwlint.scan.facts import DEVICE_LABELS, Function, Instantiation, Span
from hwlint.scan.spans import class_span
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import reach

INSTANTIATE = Import(COMMON_DEVICE_TYPE, "instantiate_device_type_tests")
FLAGS = {"mps": ", allow_mps=True", "xpu": ", allow_xpu=True"}
"""What ``only_for`` needs beside it: the loader makes these classes only where they are allowed."""
SKIPS = ("unittest.skip", "unittest.skipIf", "unittest.skipUnless")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceClassChange(ImportedChange):
    """``test_lines`` are those of the tests that get the parameter; ``tag`` is None where the class has its tag.

    ``names`` are (line of the ``class`` or ``def``, name, new name) of what is renamed.
    """

    device: str
    class_line: int
    test_lines: tuple[int, ...]
    tag: Change | None
    names: tuple[tuple[int, str, str], ...] = ()
    replaced: Span | None = None
    """The call of instantiate_parametrized_tests, in whose place the other call comes."""
    dropped: Span | None = None
    """The same as a decorator, which goes."""
    static: tuple[int, ...] = ()
    """Lines of static methods that become ordinary ones."""
    above: str = ""
    """A statement that stands above the instantiation."""


class ClassForDevice(Codemod):
    name = "class_for_device"
    summary = "Instantiates a class for one vendor's device `only_for` it, gives its tests `device`, and tags it."

    def plan(self, context: Context) -> Plan:
        plan = PlanBuilder(self.name)
        if not _is_wanted(context.settings):
            return plan.done()
        for cls in context.test_classes():
            label = _label(context, cls)
            if label in DEVICE_LABELS and cls.own_tests and not cls.is_instantiated:
                obstacle = _obstacle(context, cls, label.lower())
                if obstacle is not None:
                    plan.refuse(cls.facts.qualname, obstacle[0], obstacle[1], class_span(cls.facts))
                else:
                    plan.add(_change(context, cls, label))
        return plan.done()

    def edit(self, file: SourceFile, changes: Sequence[Change]) -> list[Splice]:
        found: list[Splice] = []
        for change in changes:
            if isinstance(change, DeviceClassChange):
                found.extend(_splices(file, change))
        return found


def _is_wanted(settings: Settings) -> bool:
    """Whether classes for one device are to be instantiated at all."""
    wish = settings.migrate.device_classes
    return wish == "instantiate" or (wish == "contract" and settings.linter.device_specific)


def _label(context: Context, cls: LinkedClass) -> str:
    """The label to go by."""
    tag = cls.facts.tag
    if tag is not None and tag.label:
        return tag.label
    asked = context.label_option(cls)
    if asked:
        return asked
    verdict: Verdict | None = context.verdict(cls)
    return "" if verdict is None or verdict.confidence == "unsure" else verdict.label


def _obstacle(context: Context, cls: LinkedClass, device: str) -> tuple[str, str] | None:
    """Reason and text of what stands against it, None where nothing does."""
    facts = cls.facts
    if any(b.keyword not in ("if", "else", "try", "except") for b in facts.blocks):
        return "generated-class", f"it stands in a `{facts.blocks[-1].keyword}`"
    if facts.dynamic:
        return "dynamic", "members may be added to it that the source does not show"
    member = _member_obstacle(context, cls)
    if member is not None:
        return member.reason, member.text
    if cls.foreign_instantiations or cls.is_parametrized and _parametrizing(cls) is None:
        return "already-instantiated", "another instantiate function makes its tests, in an unusual way"
    if cls.inherited_tests:
        first = cls.inherited_tests[0]
        return "inherited-tests", f"it inherits tests ({first.owner.name}.{first.function.name}, ...)"
    if cls.opaque_bases:
        return "unknown-base", f"its base {cls.opaque_bases[0]} may hold tests"
    if cls.subclasses():
        return "subclassed", f"{cls.subclasses()[0].facts.qualname} derives from it"
    try:
        if device != "cpu":
            check_main(context)
        importers = importers_of(context, cls)
    except Blocked as blocked:
        return blocked.reason, blocked.text
    if importers and shortened(cls, device).get(cls.name, cls.name) != cls.name:
        return "imported-elsewhere", f"{importers[0]} imports it, by the name that the loader would make"
    if is_taken(context.module, INSTANTIATE) or is_taken(context.module, ENUM):
        return "name-taken", "a name it needs means something else in this file"
    kept = not_restored(cls, device)
    if kept and context.settings.migrate.names == "keep":
        return "name-doubled", f"{kept} would get the device into its name twice"
    taken = collision(context, cls, device)
    if taken:
        return "name-collision", taken
    call = _parametrizing(cls)
    for decorator in facts.decorators:
        if call is not None and call.form == "decorator" and decorator.span == call.span:
            continue
        if decorator.qualified not in SKIPS and context.catalog.find_decorator(decorator.qualified) is None:
            return "unknown-gate", f"what `@{decorator.name}` does to the class is not known"
    for test in cls.own_tests:
        obstacle = _test_obstacle(context, cls, test, device)
        if obstacle is not None:
            return obstacle[0], f"{test.name}: {obstacle[1]}"
    try:
        own_name_splices(context.source(), context.source().class_at(facts.line), _replaced(call))
    except Blocked as blocked:
        return blocked.reason, blocked.text
    return None


def _member_obstacle(context: Context, cls: LinkedClass) -> Blocked | None:
    try:
        check_static(context, cls)
    except Blocked as blocked:
        return blocked
    return member_obstacle(cls, static_methods(cls))


def _parametrizing(cls: LinkedClass) -> Instantiation | None:
    """The one plain call of instantiate_parametrized_tests that makes the tests of the class, or the decorator."""
    calls = cls.instantiations
    if len(calls) != 1 or calls[0].kind != "parametrized" or calls[0].form == "assignment":
        return None
    return calls[0] if len(calls[0].arguments) <= 1 else None


def _replaced(call: Instantiation | None) -> Span | None:
    return call.span if call is not None and call.form == "call" else None


def _test_obstacle(context: Context, cls: LinkedClass, test: Function, device: str) -> tuple[str, str] | None:
    if {"alias", "conditional"} & set(test.flags):
        return "layout", "it is not a plain `def` of the class body"
    if PARAMETERS & set(test.parameters) and not _has_it_by_default(context, cls, test, device):
        return "parametrized", "it takes a device from somewhere else already"
    try:
        check_decorators(context, test.decorators, frozenset(gate.span for gate in test.gates), "the test")
    except Blocked as blocked:
        return blocked.reason, blocked.text
    if FunctionTree(context.source(), context.source().function_at(test.line)).reads_outer("device"):
        return "name-taken", "it reads a `device` of the module"
    parametrized = any(d.name.rpartition(".")[2] in ("parametrize", "dtypes", "ops") for d in test.decorators)
    given = context.source().function_at(test.line).args
    required = len(given.posonlyargs) + len(given.args) - len(given.defaults) + given.kw_defaults.count(None)
    if required > 1 and not parametrized:
        return "parametrized", "it has parameters that something unknown passes"
    return None


def _has_it_by_default(context: Context, cls: LinkedClass, test: Function, device: str) -> bool:
    """``def test_a(self, device="mps")``, which nobody calls: the loader passes 'mps:0', and that will do."""
    file = context.source()
    node = file.function_at(test.line)
    named = dict(zip((a.arg for a in reversed(node.args.args)), reversed(node.args.defaults)))
    default = named.get("device")
    if not isinstance(default, ast.Constant) or default.value != device or any(callers(file, cls, test.name)):
        return False
    tree = FunctionTree(file, node)
    return not tree.binds_again("device") and not other_use(context, tree, "device")


def _change(context: Context, cls: LinkedClass, label: str) -> DeviceClassChange:
    device = label.lower()
    call = _parametrizing(cls)
    definitions = [(cls.facts.line, cls.name), *((test.line, test.name) for test in cls.own_tests)]
    renamed = {old: new for old, new in shortened(cls, device).items() if old != new}
    names = tuple((line, old, renamed[old]) for line, old in definitions if old in renamed)
    outer, dot, _ = cls.facts.qualname.rpartition(".")
    moved = outer + dot + renamed.get(cls.name, cls.name)
    renames = tuple(((cls.facts.qualname, t.name), (moved, renamed.get(t.name, t.name))) for t in cls.own_tests)
    why = doubts(context, cls, label, [reach(cls, test) for test in cls.own_tests])
    above, others = bound_first(context, cls, (device,))
    why = (*why, *(f"{path} imports it" for path in others))
    return DeviceClassChange(
        codemod=ClassForDevice.name,
        symbol=cls.facts.qualname,
        span=class_span(cls.facts),
        description=f"instantiate only for {device}" + (f" ({'; '.join(why)})" if why else ""),
        applicability="unsafe" if why else "safe",
        imports=(INSTANTIATE, ENUM),
        renames=renames if names else (),
        cls=cls.name,
        importers=importers_of(context, cls),
        above=above,
        device=device,
        class_line=cls.facts.line,
        names=names,
        test_lines=tuple(test.line for test in cls.own_tests if "device" not in test.parameters),
        tag=None if cls.facts.tag is not None and cls.facts.tag.label else tag_change("", cls, label, "safe", ""),
        replaced=_replaced(call),
        dropped=call.span if call is not None and call.form == "decorator" else None,
        static=tuple(method.line for method in static_methods(cls)),
    )


def _splices(file: SourceFile, change: DeviceClassChange) -> list[Splice]:
    node = file.class_at(change.class_line)
    found = [add_parameter(file, line) for line in change.test_lines]
    found += own_name_splices(file, node, change.replaced)
    found += (splice for line in change.static for splice in ordinary_splices(file, line))
    if change.dropped is not None:
        found += decorator_splices(file, node, [change.dropped], (), ())
    if change.tag is not None:
        found += tag_splices(file, change.tag)  # type: ignore[arg-type]
    found += (_rename(file, *one) for one in change.names)
    name = next((new for line, _, new in change.names if line == node.lineno), node.name)
    call = f'{INSTANTIATE.name}({name}, globals(), only_for="{change.device}"{FLAGS.get(change.device, "")})'
    if len(call) > file.line_length and not file.indent_of(node.lineno):
        line_break = file.line_break(node.lineno)
        flags = FLAGS.get(change.device, "").removeprefix(", ")
        body = f'{name}, globals(), only_for="{change.device}"' + (f", {flags}" if flags else "")
        call = f"{INSTANTIATE.name}({line_break}    {body}{line_break})"
    if change.above:
        call = f"{change.above}{file.line_break(node.lineno)}{file.indent_of(node.lineno)}{call}"
    if change.replaced is None:
        return [*found, insert_below_class(file, change.class_line, call)]
    start, end = file.range_of(change.replaced)
    if "#" in file.text[start:end]:
        raise CannotEdit(f"a comment stands in the call on line {change.replaced.line}")
    return [*found, Splice(start, end, call)]


def _rename(file: SourceFile, line: int, old: str, new: str) -> Splice:
    """The splice that gives what is defined on ``line`` another name. Raises CannotEdit."""
    start = file.line_start(line)
    match = re.compile(rf"(?:class|def)[ \t]+{re.escape(old)}\b").search(file.text, start, file.line_end(line))
    if match is None:
        raise CannotEdit(f"the name of {old} is not on the line of its definition")
    return Splice(match.end() - len(old), match.end(), new)
