"""One function's body: the names it reads, the devices it names, the gates in it, and what makes a rewrite unsafe."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hwlint.catalog.claims import class_claim
from hwlint.catalog.packages import foreign_packages
from hwlint.scan import gates
from hwlint.scan.context import ScanContext
from hwlint.scan.device_mixed import mixed_expressions
from hwlint.scan.device_places import GOLDEN, TRACERS
from hwlint.scan.device_statements import StatementWalker
from hwlint.scan.device_values import known_names
from hwlint.scan.facts import DeviceUse, Gate, Span
from hwlint.scan.names import dotted
from hwlint.scan.programs import REFLECTIVE, RUNS, read_programs

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
DEVICE_PARAMETERS = ("device", "devices")
INJECTED = frozenset(("device",))
FOREIGN = foreign_packages()
"""Packages whose names are no helpers of a test suite."""


@dataclass(frozen=True, slots=True)
class BodyFacts:
    """See the fields of the same names in :class:`hwlint.scan.facts.Function`."""

    uses: tuple[DeviceUse, ...] = ()
    gates: tuple[Gate, ...] = ()
    references: tuple[str, ...] = ()
    reads_device: bool = True
    mixed: tuple[Span, ...] = ()
    flags: tuple[str, ...] = ()


def read_function(
    node: FunctionNode, context: ScanContext, *, class_name: str = "", self_devices: Mapping[str, str] = {}
) -> BodyFacts:
    """The facts of one function or method. ``self_devices`` maps attributes of ``self`` to the devices they hold."""
    scope = _scope_of(context)
    reads = _read_names(node, scope.heads)
    own = [p for p in DEVICE_PARAMETERS if p in reads.parameters]
    reads_device = not own or any(p in reads.names for p in own) or "locals" in reads.names
    free = reads.names - reads.parameters - reads.stored
    flags = _flags(node, reads)
    if not reads.names.isdisjoint(_REFLECTIVE):
        programs = read_programs(node, context)
        free |= programs.words & scope.module
        if not programs.read:
            flags.add("unread")
    references = _references(reads, free, scope)
    mixed: tuple[Span, ...] = ()
    if reads.placed and reads.operations and "device" in own:
        mixed = mixed_expressions(node, reads.operations, context)
    known = known_names(context)
    carried = not free.isdisjoint(known.carriers)
    for name in self_devices:
        attribute = name.removeprefix("self.")
        carried = carried or ("self", attribute) in reads.attributes or ("cls", attribute) in reads.attributes
    read_all = carried or not free.isdisjoint(scope.gates)
    read_body = read_all or context.has_hit(node.lineno, node.end_lineno or node.lineno)
    decorated = [d for d in node.decorator_list if _is_worth_reading(d, known.carriers, context)]
    if not read_body and not decorated:
        return BodyFacts((), (), references, reads_device, mixed, tuple(sorted(flags)))
    walker = StatementWalker(
        context,
        class_name=class_name,
        self_devices=self_devices,
        bound=frozenset(reads.parameters | reads.stored),
        injected=INJECTED if "device" in own and "device" not in reads.stored else frozenset(),
    )
    walker.read_all = read_all
    walker.function_name = node.name
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        if TRACERS.match(context.names.qualify(target)):
            walker.traced += 1
            walker.flags.add("traced")
    for decorator in decorated:
        if not gates.is_gate(decorator, context):
            walker.decorator(decorator)
    body_gates: tuple[Gate, ...] = ()
    if read_body:
        walker.defaults(node.args)
        walker.visit_block(node.body)
        body_gates = gates.body_gates(node, context, walker.asked, read_all)
    flags |= walker.flags
    return BodyFacts(
        walker.recorder.finish(),
        body_gates,
        references,
        reads_device,
        mixed,
        tuple(sorted(flags)),
    )


def _is_worth_reading(node: ast.expr, carriers: frozenset[str], context: ScanContext) -> bool:
    """Whether a decorator may name a device: by its text, or through a name that carries one."""
    if context.has_hit(node.lineno, node.end_lineno or node.lineno):
        return True
    if not carriers or not isinstance(node, ast.Call):
        return False
    return any(isinstance(child, ast.Name) and child.id in carriers for child in ast.walk(node))


# -- the cheap walk ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Reads:
    """What one cheap walk over a function finds."""

    names: set[str]
    """Plain names it loads."""
    attributes: set[tuple[str, str]]
    """Attributes of the names that are worth it: ('self', 'helper')."""
    supers: set[str]
    parameters: set[str]
    stored: set[str]
    """Names bound in its own scope, parameters apart."""
    inner: set[str]
    """Names bound in a scope inside it."""
    operations: list[ast.BinOp]
    placed: bool
    """Whether a ``device=`` keyword is in it."""


_SKIPPED = frozenset(
    """ctx op ops kind type_comment id attr n s arg level module name names asname lineno type_ignores type_params
    simple conversion is_async annotation returns kwd_attrs rest""".split()
)
_FIELDS: dict[type, tuple[str, ...]] = {
    cls: tuple(f for f in cls._fields if f not in _SKIPPED)
    for cls in vars(ast).values()
    if isinstance(cls, type) and issubclass(cls, ast.AST)
}
_FIELDS[ast.Constant] = _FIELDS[ast.Import] = _FIELDS[ast.ImportFrom] = _FIELDS[type(None)] = ()


def _read_names(function: FunctionNode, heads: frozenset[str]) -> Reads:
    """Walks the whole function once. One plain loop over a stack: this runs over every function of a run.

    ``heads`` are the names whose attributes are worth a reference.
    """
    names: set[str] = set()
    attributes: set[tuple[str, str]] = set()
    supers: set[str] = set()
    inner: set[str] = set()
    operations: list[ast.BinOp] = []
    placed = False
    arguments = function.args
    parameters = _parameter_names(arguments)
    own: set[str] = set()
    stored = own
    scopes: list[ast.AST] = []
    stack: list[Any] = [*function.body, *arguments.defaults, *arguments.kw_defaults]
    pop, push, extend = stack.pop, stack.append, stack.extend
    add_name = names.add
    fields_of = _FIELDS
    name_, constant, attribute, call = ast.Name, ast.Constant, ast.Attribute, ast.Call
    assign, expression, load, operation, named = ast.Assign, ast.Expr, ast.Load, ast.BinOp, _NAMED
    opened = _SCOPES
    while True:
        while stack:
            node = pop()
            cls = type(node)
            # Most of what is read are calls, for themselves or assigned to a name, of attributes of a name: what they
            # hold is taken in passing, and does not come to the stack.
            if cls is assign:
                for value in node.targets:
                    if type(value) is name_:
                        stored.add(value.id)
                    else:
                        push(value)
                node = node.value
                cls = type(node)
            elif cls is expression:
                node = node.value
                cls = type(node)
            if cls is call:
                for value in node.args:
                    cls = type(value)
                    if cls is name_:
                        add_name(value.id)
                    elif cls is not constant:
                        push(value)
                for one in node.keywords:
                    if one.arg == "device":
                        placed = True
                    value = one.value
                    cls = type(value)
                    if cls is name_:
                        add_name(value.id)
                    elif cls is not constant:
                        push(value)
                node = node.func
                cls = type(node)
            if cls is attribute:
                value = node.value
                cls = type(value)
                if cls is name_:
                    head = value.id
                    add_name(head)
                    if head in heads:
                        attributes.add((head, node.attr))
                else:
                    if cls is call and type(value.func) is name_ and value.func.id == "super":
                        supers.add(node.attr)
                    push(value)
            elif cls is name_:
                if type(node.ctx) is load:
                    add_name(node.id)
                else:
                    stored.add(node.id)
            elif cls is constant:
                pass
            elif cls is call:
                push(node)
            elif cls in opened:
                if cls is not ast.Lambda:
                    stored.add(node.name)
                    extend(node.decorator_list)
                scopes.append(node)
            else:
                if cls is operation:
                    operations.append(node)
                elif cls in named and node.name:
                    stored.add(node.name)
                for name in fields_of.get(cls, ()):
                    value = getattr(node, name)
                    if type(value) is list:
                        extend(value)
                    elif value is not None:
                        push(value)
        if not scopes:
            return Reads(names, attributes, supers, parameters, own, inner, operations, placed)
        stored = inner
        _open(scopes.pop(), stack, inner)


_NAMED = frozenset((ast.ExceptHandler, ast.MatchAs, ast.MatchStar))
"""Nodes that bind a plain string."""
_SCOPES = frozenset((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef))


def _parameter_names(arguments: ast.arguments) -> set[str]:
    names = {a.arg for a in arguments.args}
    if arguments.posonlyargs or arguments.kwonlyargs:
        names.update([a.arg for a in (*arguments.posonlyargs, *arguments.kwonlyargs)])
    if arguments.vararg is not None:
        names.add(arguments.vararg.arg)
    if arguments.kwarg is not None:
        names.add(arguments.kwarg.arg)
    return names


def _open(scope: ast.AST, stack: list[Any], inner: set[str]) -> None:
    """Put what is inside a nested function, lambda or class on the stack."""
    if isinstance(scope, ast.ClassDef):
        stack.extend(scope.bases)
        stack.extend(k.value for k in scope.keywords)
        stack.extend(scope.body)
    elif isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inner |= _parameter_names(scope.args)
        stack.extend(scope.args.defaults)
        stack.extend(scope.args.kw_defaults)
        if isinstance(scope, ast.Lambda):
            stack.append(scope.body)
        else:
            stack.extend(scope.body)


# -- references -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scope:
    """Names of the module, sorted by what a read of them is worth."""

    heads: frozenset[str]
    """Names whose attributes are references: imports of the suite, classes, ``self`` and ``cls``."""
    foreign: frozenset[str]
    """Imports of packages that hold no helpers, and builtins."""
    module: frozenset[str]
    """Names known to be the module's own."""
    gates: frozenset[str]
    """Constants that are a gate."""


_BUILTINS = frozenset(dir(builtins)) | {"self", "cls"}


def _scope_of(context: ScanContext) -> Scope:
    """Made once for a module: its constants are known before any function is read."""
    found: Scope | None = context.kept.get("scope")
    if found is None:
        found = context.kept["scope"] = _read_scope(context)
    return found


def _read_scope(context: ScanContext) -> Scope:
    imports = context.names.imports
    foreign = {
        name
        for name, qualified in imports.items()
        if qualified.partition(".")[0] in FOREIGN
        and not qualified.startswith("torch.testing")
        and not class_claim().match(qualified.rpartition(".")[2])  # That a test uses CUDACodeCache tells whose it is.
    }
    classes = {n.partition(".")[0] for n in context.helper_parameters if "." in n}
    functions = {n for n in context.helper_parameters if "." not in n}
    suite = (set(imports) - foreign) | classes
    return Scope(
        frozenset(suite | {"self", "cls", "torch"}),
        frozenset(foreign | (_BUILTINS - set(imports) - functions - set(context.constants))),
        frozenset(set(imports) | classes | functions | set(context.constants)),
        frozenset(n for n, c in context.constants.items() if c.requirements),
    )


def _references(reads: Reads, free: set[str], scope: Scope) -> tuple[str, ...]:
    """``free`` are the names it reads that it does not bind."""
    found = free - scope.foreign
    if reads.inner:
        found -= reads.inner - scope.module
    for head, attribute in reads.attributes:
        if head == "self" or head == "cls" or head in found:
            found.add(f"{head}.{attribute}")
    for name in reads.supers:
        found.add(f"super.{name}")
    return tuple(sorted(found))


# -- flags ------------------------------------------------------------------------------------------------------------

_REFLECTIVE = REFLECTIVE | RUNS
_SUBPROCESS = frozenset(("subprocess", "Popen", "check_output", "check_call", "run_process_no_exception"))
_GOLDEN = frozenset(("self", name) for name in GOLDEN if name.startswith("assert"))
_TELLING = REFLECTIVE | _SUBPROCESS | {"FakeTensorMode", "FileCheck", "make_fx"}
_TELLING_ATTRIBUTES = _GOLDEN | {("torch", "compile")}
"""What most functions read nothing of."""


def _flags(node: FunctionNode, reads: Reads) -> set[str]:
    """Flags that the names alone tell."""
    flags: set[str] = set()
    names = reads.names
    if not reads.supers and names.isdisjoint(_TELLING) and reads.attributes.isdisjoint(_TELLING_ATTRIBUTES):
        return flags
    if not names.isdisjoint(REFLECTIVE):
        flags.add("dynamic")
    if not names.isdisjoint(_SUBPROCESS):
        flags.add("subprocess")
    if "FakeTensorMode" in names:
        flags.add("fake_mode")
    if "FileCheck" in names or not reads.attributes.isdisjoint(_GOLDEN):
        flags.add("golden")
    if "make_fx" in names or ("torch", "compile") in reads.attributes:
        flags.add("traced")
    if reads.supers and _only_super(node):
        flags.add("only_super")
    return flags


def _only_super(node: FunctionNode) -> bool:
    """A body that does nothing but call ``super()``."""
    body = (
        node.body[1:]
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        else node.body
    )
    if len(body) != 1 or not isinstance(body[0], (ast.Expr, ast.Return)):
        return False
    call = body[0].value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return False
    return isinstance(call.func.value, ast.Call) and dotted(call.func.value.func) == "super"
