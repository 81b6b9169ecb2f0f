"""Methods of a module's other classes that name a device: who calls them can hand it on.

A model of the module with ``get_input`` on CUDA is the module's own as long as each place that makes or asks it is
seen: the class is imported nowhere else, every definition of the name in the module takes the device, and every
use of the name is a call on one of its objects. ``__init__`` is called by the class's name. What a framework calls by
itself (``forward``, special methods) is left, as is what may be handed on.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from codemods.device_values import Blocked, FunctionEdit
from codemods.edit import FunctionNode, SourceFile, statements
from codemods.plan import Context
from hwlint.scan.facts import Function
from hwlint.scan.names import dotted
from hwlint.suite.model import LinkedClass
from hwlint.suite.reach import Reached

PLAIN_BASES = ("object", "torch.nn.Module", "torch.nn.modules.module.Module")
"""Bases that call no method but those of HOOKS, and special ones."""
MAKING_NONE = ("torch.distributed._shard.",)
"""Modules whose classes make no objects of the class that derives from them."""
HOOKS = frozenset(
    """
    forward train eval to to_empty cuda cpu xpu half float double bfloat16 type apply parameters buffers children
    modules named_parameters named_buffers named_children named_modules state_dict load_state_dict add_module
    extra_repr zero_grad requires_grad_ share_memory compile get_submodule get_parameter get_buffer get_extra_state
    set_extra_state set_submodule
    """.split()
)
"""Methods of ``torch.nn.Module`` that it calls, or that others call on any module (torch/nn/modules/module.py)."""


def is_shared(cls: LinkedClass, reached: Reached) -> bool:
    """Whether what a test of ``cls`` reaches is a method of another class of its module."""
    return reached.owner is not None and reached.owner is not cls and reached.path == cls.path


def callee_of(context: Context, cls: LinkedClass, reached: Reached, has_device: bool = False) -> str:
    """How a method of another class is called: 'Model', '.get_input', 'self._run' for one of a base.

    ``has_device``: it takes the device already. Raises Blocked where something unseen may call it.
    """
    owner, function = reached.owner, reached.function
    assert owner is not None
    obstacle = _obstacle(context, cls, owner, function, has_device)
    if obstacle:
        text = f"{reached.symbol} names a device, and belongs to another class: {obstacle}"
        raise Blocked("shared-helper", text, function.span)
    if owner in cls.mro:
        return f"self.{function.name}"
    return owner.name if function.name == "__init__" else f".{function.name}"


def _obstacle(context: Context, cls: LinkedClass, owner: LinkedClass, function: Function, has_device: bool) -> str:
    name = function.name
    for path in context.imported_by(owner.name):
        return f"{path} imports that"
    if owner.facts.dynamic or owner.facts.keywords or owner.facts.decorators or not owner.facts.top_level:
        return "that is made in an unusual way"
    plain = function.kind == "helper" or name == "__init__"
    if not plain or function.decorators or function.parameters[:1] != ("self",):
        return "it is no plain method"
    if "device" in function.parameters and not has_device:
        return "it has a `device` already"
    if sum(m.name == name for m in owner.facts.methods) > 1:
        return "it is defined more than once"
    if owner in cls.mro:
        return _obstacle_of_base(owner, function)
    if name == "__init__" and owner.subclasses():
        return "other classes derive from that"
    known = PLAIN_BASES if name != "__init__" else (*PLAIN_BASES, *MAKING_NONE)
    foreign = any(base.target is None and not _is_one_of(base.name, known) for one in owner.mro for base in one.bases)
    if owner.is_test_case is True or foreign:
        return "a base of that may call it"
    hook = name in HOOKS or name.startswith("__") or name.startswith("_") and any(c.bases for c in owner.mro)
    return "a base of that may call it" if hook and name != "__init__" else ""


def _obstacle_of_base(owner: LinkedClass, function: Function) -> str:
    if owner.own_tests or any(other.path != owner.path for other in owner.subclasses()):
        return "that has tests of its own, or classes elsewhere derive from it"
    if any(m.name == function.name for other in owner.subclasses() for m in other.facts.methods):
        return "a class that derives from that has its own"
    return ""


# By whom they are called


def names_in(file: SourceFile, function: Function) -> frozenset[str]:
    """What a function may call: each plain name, and '.name' for each attribute that it reads."""
    nodes = [n for statement in file.function_at(function.line).body for n in ast.walk(statement)]
    found = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return frozenset(found | {f".{n.attr}" for n in nodes if isinstance(n, ast.Attribute)})


def check_uses(file: SourceFile, called: str, definitions: Collection[int], edits: Sequence[FunctionEdit]) -> None:
    """Raise Blocked where the module uses a method of another class, which gets a parameter, in a place that passes it
    none. ``called``: see :func:`callee_of`; ``definitions``: lines of all methods that are called so and take the
    device; ``edits``: all that is done to the module together.
    """
    name = called.rpartition(".")[2]
    constructed = "." not in called
    owners = {c.name for c in _classes(file) if any(s.lineno in definitions for s in c.body)}
    uses = file.mentions.get(name, ())
    defined = [n for n in uses if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not constructed and any(n.lineno not in definitions for n in defined):
        raise Blocked("shared-helper", f"another `{name}` of the module does not take the device")
    bodies = [file.function_at(edit.line) for edit in edits if called in edit.pass_to]
    for use in uses:
        if isinstance(use, ast.Constant):
            raise Blocked("unknown-caller", f"`{name}` is named in a string on line {use.lineno}")
        if not isinstance(use, ast.Name if constructed else ast.Attribute):
            continue
        body = next((b for b in bodies if b.body[0].lineno <= use.lineno <= (b.end_lineno or b.lineno)), None)
        if body is None or not isinstance(use.ctx, ast.Load) or called.startswith("self.") and dotted(use) != called:
            raise Blocked("unknown-caller", f"`{name}` is used on line {use.lineno}")
        if called.startswith(".") and isinstance(use, ast.Attribute) and not _is_object(file, body, use.value, owners):
            raise Blocked("shared-helper", f"whose `{name}` is called on line {use.lineno} cannot be told")


def _classes(file: SourceFile) -> Iterator[ast.ClassDef]:
    return (s for s in statements(file.tree.body) if isinstance(s, ast.ClassDef))


def _is_object(file: SourceFile, body: FunctionNode, value: ast.expr, owners: Collection[str]) -> bool:
    """Whether ``value`` is made of an object of one of the classes: ``Model()``, ``model`` of ``FSDP(Model())``."""
    if dotted(value) == "self":
        return any(c.name in owners and body in c.body for c in _classes(file))
    names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
    known: set[str] = set()
    while names - known:
        known |= names
        for node in ast.walk(body):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                bound = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}
                if bound & names:
                    names = names | {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return bool(names & set(owners))


def _is_one_of(name: str, known: Sequence[str]) -> bool:
    """Whether it is one of the names, or lies in one of the modules, which end with a dot."""
    return any(name == one or one.endswith(".") and name.startswith(one) for one in known)
