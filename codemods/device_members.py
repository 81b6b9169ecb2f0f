"""Members of a class that becomes one for devices: static methods, and attributes that pin its device.

The loader copies each member with ``setattr(new, name, getattr(cls, name))``, by which a static method arrives as a
plain function: called on the test it gets the test as its first argument (instantiate_device_type_tests in
torch/testing/_internal/common_device_type.py, torch 2.14.1). An ordinary method does the same before and after, as
long as nothing but the methods of the class calls it, as ``self.name()`` or ``T.name()``, which becomes that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.device_nodes import statement_out
from codemods.device_signature import decorator_splices, first_parameter
from codemods.device_tree import FunctionTree
from codemods.device_values import MEANT, Blocked
from codemods.edit import FunctionNode, SourceFile, Splice
from codemods.plan import Context
from hwlint.classify.idle_attributes import PINS, READ_NO_DEVICE
from hwlint.scan.facts import Function, Span
from hwlint.scan.names import dotted, span_of
from hwlint.suite.model import LinkedClass


def pinned_devices(context: Context, cls: LinkedClass) -> dict[str, Span]:
    """The statements ``device_type = GPU_TYPE`` of the class body by name, which go: the loader sets it itself.

    ``device = GPU_TYPE`` goes as well where no method reads it. It would be copied over what the loader sets.
    """
    kinds = {base.kind for base in cls.framework_bases}
    if not kinds <= READ_NO_DEVICE:
        return {}
    pins = _pins(context, cls)
    return {name: pin for name, pin in pins.items() if name == "device_type" or not _is_read(context, cls, name)}


def check_pins(context: Context, cls: LinkedClass) -> None:
    """Raise Blocked where the class, or a base in the module, has a ``device`` that its methods read: it would go on
    to name the device of the host.
    """
    for owner in cls.mro:
        pin = _pins(context, owner).get("device") if owner.path == context.path else None
        if pin is not None and any(_is_read(context, one, "device") for one in (cls, owner)):
            raise Blocked("shared-helper", "the attribute `device` says on which device it runs", pin)


def _pins(context: Context, cls: LinkedClass) -> dict[str, Span]:
    """The statements of the class body that say on which accelerator it runs, by name."""
    found = {}
    for statement in context.source().class_at(cls.facts.line).body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            name = dotted(statement.targets[0])
            if name in PINS and _device_of(context, cls, statement.value).partition(":")[0] in MEANT:
                found[name] = span_of(statement)
    return found


def _is_read(context: Context, cls: LinkedClass, name: str) -> bool:
    return any(_is_of_class(n, cls.name) for n in context.source().mentions.get(name, ()))


def _device_of(context: Context, cls: LinkedClass, value: ast.expr) -> str:
    """The device that an attribute of the class holds, maybe by a constant of the module; '' for none."""
    use = next((u for u in cls.facts.attribute_uses if u.span == span_of(value)), None)
    constant = next((c for c in context.module.constants if c.name == dotted(value)), None)
    return use.device if use is not None else constant.device if constant is not None else ""


def _is_of_class(node: ast.AST, name: str) -> bool:
    """Whether it is an attribute of the class ``name``, as its own methods may write that."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value
    made = isinstance(owner, ast.Call) and dotted(owner.func) in ("type", "super")
    return made or dotted(owner) in ("self", "cls", name)


def pin_out(file: SourceFile, line: int, pin: Span) -> Splice:
    """The statement at ``pin`` taken out of the class on ``line``. Raises Blocked."""
    owner = file.class_at(line)
    statement = next((s for s in owner.body if span_of(s) == pin), None)
    if statement is None:
        raise Blocked("layout", f"nothing is where it was (line {pin.line})", pin)
    return statement_out(file, owner, statement)


def static_methods(cls: LinkedClass) -> tuple[Function, ...]:
    """The methods that are static and nothing else."""
    return tuple(m for m in cls.facts.methods if [d.name for d in m.decorators] == ["staticmethod"])


def uncalled_class_methods(context: Context, cls: LinkedClass) -> tuple[Function, ...]:
    """The class methods that nothing calls, neither the module nor a framework base.

    They arrive bound to the class that the loader takes away, which is all the same as long as nobody asks.
    """
    asked = _asked_by_bases(cls)
    found = []
    for method in cls.facts.methods:
        if [d.name for d in method.decorators] == ["classmethod"] and method.kind == "helper":
            named = context.source().mentions.get(method.name, ())
            if len(named) == 1 and method.name not in asked and not method.name.startswith("_"):
                found.append(method)
    return tuple(found)


def _asked_by_bases(cls: LinkedClass) -> set[str]:
    """Members that the framework bases of the class, and theirs, call or look for."""
    found: set[str] = set()
    pending = list(cls.framework_bases)
    while pending:
        base = pending.pop()
        found.update((*base.decides, *base.members))
        pending += [above for name in base.bases if (above := cls.suite.catalog.find_base(name)) is not None]
    return found


def check_static(context: Context, cls: LinkedClass) -> None:
    """Raise Blocked where a static method of ``cls`` cannot become an ordinary one."""
    file = context.source()
    for method in static_methods(cls):
        obstacle = _obstacle(file, cls, method)
        if obstacle:
            raise Blocked("class-member", f"`{method.name}` is a staticmethod, and {obstacle}", method.span)


def _obstacle(file: SourceFile, cls: LinkedClass, method: Function) -> str:
    node = file.function_at(method.line)
    owner = file.class_at(cls.facts.line)
    if node not in owner.body or sum(m.name == method.name for m in cls.facts.methods) > 1:
        return "stands in an unusual place"
    if node.args.posonlyargs or any(_name_of(n) == "self" for n in ast.walk(node)):
        return "means something by `self`"
    if method.kind != "helper" or method.name.startswith("__"):
        return "is called by its name"
    calls = {id(call.func) for call in _calls_on_self(file, owner)}
    for use in file.mentions.get(method.name, ()):
        if isinstance(use, ast.Attribute) and id(use) not in calls:
            return f"is used on line {use.lineno}"
        if isinstance(use, (ast.Name, ast.Constant)):
            return f"is named on line {use.lineno}"
    return ""


def _name_of(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""


def _calls_on_self(file: SourceFile, owner: ast.ClassDef) -> Iterator[ast.Call]:
    """``self.name(...)`` and ``T.name(...)`` in the methods of the class, where ``self`` is the test."""
    for method in owner.body:
        if not isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)) or not method.args.args:
            continue
        decorators = {dotted(d) for d in method.decorator_list}
        if method.args.args[0].arg != "self" or decorators & {"staticmethod", "classmethod"}:
            continue
        tree = FunctionTree(file, method)
        if tree.binds_again("self"):
            continue
        for node in (n for statement in method.body for n in ast.walk(statement)):
            head, _, rest = dotted(node.func).partition(".") if isinstance(node, ast.Call) else ("", "", "")
            if isinstance(node, ast.Call) and head in ("self", owner.name) and "." not in rest:
                if not tree.is_shadowed("self", node):
                    yield node


def ordinary_splices(file: SourceFile, line: int) -> Iterator[Splice]:
    """``@staticmethod def f(x):`` -> ``def f(self, x):``. Raises Blocked."""
    node: FunctionNode = file.function_at(line)
    yield from decorator_splices(file, node, [span_of(d) for d in node.decorator_list], (), ())
    yield first_parameter(file, node, "self")
