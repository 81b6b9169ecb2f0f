"""Code that a function runs as text, or reaches by a name made at run time: whether its source tells what that is.

A body that calls ``eval`` on text which stands in it, word for word but for computed pieces that stand in it too, hides
nothing. What a caller hands in, what another module makes and what is read from a file is not known, unless the whole
module has no word for a device and nothing from a file: then there is none in what it runs.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hwlint.catalog.packages import foreign_packages
from hwlint.scan.context import ScanContext
from hwlint.scan.device_words import words_of
from hwlint.scan.names import dotted

REFLECTIVE = frozenset(("exec", "eval", "globals", "locals", "vars", "setattr", "__import__"))
"""Builtins that run text, or reach what no name in the source says."""
RUNS = frozenset(("exec", "eval", "execWrapper"))
"""Calls that run their first argument (execWrapper: torch/testing/_internal/jit_utils.py)."""
HARMLESS = frozenset(("setattr", "locals"))
"""``setattr`` is an assignment, whatever the name, and is read as one; ``locals()`` are the function's own values."""
UNSEEN = frozenset(("open", "input", "getattr", "__import__", "globals", "vars", "exec", "eval"))
"""Builtins whose result does not stand in the source."""
TEXT_MODULES = frozenset(("textwrap", "string", "itertools", "random", "math", "cmath"))
"""Modules of the standard library that make text and values of what they are given alone."""
DEVICE_WORD = re.compile(
    r"(?i)cuda|[ghx]pu|(?<![a-z])[int]pu|accelerator|\bmps\b|mtia|maia|privateuse|rocm|\bhip\b|vulkan|\bxla\b|ccl\b|device"
)
"""Text with one of these may be about a device; more is refused than need be. 'input' and 'output' are not."""
FROM_OUTSIDE = frozenset(("open", "__import__", "read", "read_text", "getvalue", "getsource", "subprocess"))
"""Names by which text comes into a module that does not stand in it."""
WORD = re.compile(r"[A-Za-z_]\w*")
IMPORT = re.compile(r"\b(?:from|import)\s+([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class Programs:
    """What is known of the code behind a function's reflective calls."""

    read: bool
    """Whether all of it stands in the source and names no device."""
    words: frozenset[str] = frozenset()
    """The names in its text: what it may call in the function's own module."""


NOTHING_RUN = Programs(read=True)


def read_programs(node: ast.FunctionDef | ast.AsyncFunctionDef, context: ScanContext) -> Programs:
    """``node`` reads a name of :data:`REFLECTIVE`, or one that hides it."""
    local = _Local(node, context)
    known: set[int] = set()
    programs: list[ast.expr] = []
    for call in local.calls:
        found = list(_run(call, local))
        for name, program in found:
            programs.append(program)
            known.add(id(name))
        for argument in call.args if found else ():
            if isinstance(argument, ast.Call) and _name(argument.func) in ("globals", "locals"):
                known.add(id(argument.func))  # what the program's names mean
        if _name(call.func) in HARMLESS or _reads_object(call, context):
            known.add(id(call.func))
    for name in local.names:
        if name.id in REFLECTIVE and name.id not in local.bound and id(name) not in known:
            return _without_devices(context) if name.id in ("globals", *RUNS) else Programs(read=False)
    if not programs:
        return NOTHING_RUN
    if not all(local.stands_here(program) for program in programs):
        return _without_devices(context)
    text = "\n".join(local.texts)
    if DEVICE_WORD.search(text) or words_of(context.catalog).text.search(text):
        return Programs(read=False)
    if not foreign_packages().issuperset(IMPORT.findall(text)):
        return Programs(read=False)
    return Programs(read=True, words=frozenset(WORD.findall(text)))


def _without_devices(context: ScanContext) -> Programs:
    """What a module can run that says nothing of a device anywhere."""
    if "device-free" not in context.kept:
        context.kept["device-free"] = _read_module(context)
    found: Programs = context.kept["device-free"]
    return found


def _read_module(context: ScanContext) -> Programs:
    if context.tree is None:
        return Programs(read=False)
    said: set[str] = set()
    for node in ast.walk(context.tree):
        for word in _said(node):
            if word in said:
                continue
            if word in FROM_OUTSIDE or DEVICE_WORD.search(word):  # Most modules say so on their first lines.
                return Programs(read=False)
            said.add(word)
    text = "\n".join(said)
    imported = (*context.names.imports.values(), *context.names.star_imports)
    packages = {*IMPORT.findall(text), *(name.partition(".")[0] for name in imported)}
    if packages - foreign_packages() or words_of(context.catalog).text.search(text):
        return Programs(read=False)
    return Programs(read=True, words=frozenset(WORD.findall(text)))


def _said(node: ast.AST) -> Iterator[str]:
    """The names and texts of one node."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.alias):
        yield from node.name.split(".")
    elif isinstance(node, ast.ImportFrom):
        yield from (node.module or "").split(".")
    elif isinstance(node, (ast.arg, ast.keyword)):
        yield node.arg or ""


def _run(call: ast.Call, local: _Local) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The name of what runs text and that text: ``exec(text)``, ``assertRaises(E, eval, text)``."""
    parts = [call.func, *call.args]
    for runner, program in zip(parts, parts[1:]):
        if _name(runner) in RUNS and _name(runner) not in local.bound:
            yield runner, program


def _reads_object(call: ast.Call, context: ScanContext) -> bool:
    """``vars(x)`` of an object: its own values. That of an import may be a whole module's."""
    if _name(call.func) != "vars" or len(call.args) > 1:
        return False
    return not call.args or dotted(call.args[0]).partition(".")[0] not in context.names.imports


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


@dataclass
class _Local:
    """The names of one function, those of the functions in it included, and the expressions they get their values from.

    One scope for all of it: a name that is bound twice gets the values of both.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef
    context: ScanContext
    names: list[ast.Name] = field(default_factory=list)
    calls: list[ast.Call] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    values: dict[str, list[ast.expr]] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    """Names whose value comes from elsewhere: parameters, imports, exceptions."""

    def __post_init__(self) -> None:
        inner: dict[str, ast.FunctionDef] = {}
        self.opaque.update(a.arg for a in _arguments(self.node.args))
        for child in ast.walk(self.node):
            if isinstance(child, ast.Name):
                self.names.append(child)
            elif isinstance(child, ast.Call):
                self.calls.append(child)
            elif isinstance(child, ast.Constant) and isinstance(child.value, str):
                self.texts.append(child.value)
            elif isinstance(child, ast.FunctionDef) and child is not self.node:
                inner[child.name] = child
            elif isinstance(child, (ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)) and child is not self.node:
                self.opaque.update(_definition_names(child))
            elif isinstance(child, (ast.Import, ast.ImportFrom)):
                self.opaque.update(a.asname or a.name.partition(".")[0] for a in child.names)
            elif isinstance(child, ast.Global):
                self.opaque.update(child.names)
            elif isinstance(child, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and child.name:
                self.opaque.add(child.name)
            else:
                self._bind(child)
        for name, function in inner.items():
            self._bind_parameters(name, function)
        for call in self.calls:
            self._fill(call)
        self.bound = self.opaque | set(self.values)

    def _bind(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._targets(target, node.value)
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value is not None:
            self._targets(node.target, node.value)
        elif isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            self._targets(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._targets(node.optional_vars, node.context_expr)

    def _targets(self, target: ast.expr, value: ast.expr) -> None:
        for child in ast.walk(target):
            if isinstance(child, ast.Name):
                self.values.setdefault(child.id, []).append(value)

    def _fill(self, call: ast.Call) -> None:
        """What a call may put into a local list or dictionary: ``lines.append(x)``, ``collect(lines)``."""
        arguments = [*call.args, *(k.value for k in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            owner = _name(call.func.value)
            if owner in self.values:
                self.values[owner].extend(arguments)
            if isinstance(call.func.value, ast.Constant):
                return  # ", ".join(lines)
        if not hasattr(builtins, _name(call.func) or "."):
            for name in map(_name, arguments):
                if any(_can_be_filled(value) for value in self.values.get(name, ())):
                    self.opaque.add(name)

    def _bind_parameters(self, name: str, function: ast.FunctionDef) -> None:
        """Parameters of a local function get what its calls in the same body pass, and their defaults."""
        self.opaque.add(name)
        calls = [c for c in self.calls if _name(c.func) == name]
        elsewhere = sum(n.id == name for n in self.names) != len(calls)
        unpacked = any(isinstance(a, ast.Starred) for c in calls for a in c.args) or any(
            k.arg is None for c in calls for k in c.keywords
        )
        arguments = function.args
        for at, argument in enumerate(_arguments(arguments)):
            passed = [p for call in calls for p in _passed(call, at, argument.arg)]
            if elsewhere or unpacked or not calls or argument in (arguments.vararg, arguments.kwarg):
                self.opaque.add(argument.arg)
            else:
                defaults = [*arguments.defaults, *(d for d in arguments.kw_defaults if d is not None)]
                self.values.setdefault(argument.arg, []).extend((*passed, *defaults))

    def stands_here(self, node: ast.expr) -> bool:
        """Whether all that the value of ``node`` is made of stands in this function or in constants of its module.

        The text of those is in ``texts`` then, too.
        """
        done: set[str] = set()
        literal: set[int] = set()
        stack = [node]
        while stack:
            for child in ast.walk(stack.pop()):
                if isinstance(child, ast.Attribute) and self._is_literal_member(child):
                    literal.add(id(child.value))
                elif isinstance(child, ast.Name) and child.id not in done and id(child) not in literal:
                    done.add(child.id)
                    if child.id in self.opaque:
                        return False
                    stack.extend(self.values.get(child.id, ()))
                    if child.id not in self.bound and not self._is_known(child.id):
                        return False
        return True

    def _is_known(self, name: str) -> bool:
        """A free name: a constant that is text, a module that works on what it is given, or a builtin that does."""
        qualified = self.context.names.imports.get(name)
        if qualified is not None:
            return qualified.partition(".")[0] in TEXT_MODULES
        constant = self.context.constants.get(name)
        if constant is not None:
            self.texts.append(str(constant.value))
            return constant.known and isinstance(constant.value, str)
        return name not in self.context.helper_parameters and hasattr(builtins, name) and name not in UNSEEN

    def _is_literal_member(self, node: ast.Attribute) -> bool:
        """``Class.table``, where the class of this module sets that to a literal."""
        if not isinstance(node.value, ast.Name) or node.value.id in self.bound:
            return False
        module = self.context.tree.body if self.context.tree is not None else []
        classes = [c for c in module if isinstance(c, ast.ClassDef) and c.name == node.value.id]
        values = [
            s.value
            for c in classes
            for s in c.body
            if isinstance(s, ast.Assign) and any(_name(t) == node.attr for t in s.targets)
        ]
        self.texts.extend(ast.unparse(v) for v in values)
        return len(values) == 1 and all(isinstance(n, LITERAL) for n in ast.walk(values[0]))


def _passed(call: ast.Call, position: int, name: str) -> list[ast.expr]:
    """What a call passes for a parameter, nothing where it leaves that to the default."""
    return [k.value for k in call.keywords if k.arg == name] or call.args[position : position + 1]


def _can_be_filled(value: ast.expr) -> bool:
    """A list, dictionary or set, to which a function may add if it is given that."""
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id not in ("str", "repr", "len", "range")
    return isinstance(value, (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp))


LITERAL = (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.expr_context)


def _arguments(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (a for a in (arguments.vararg, arguments.kwarg) if a is not None)


def _definition_names(node: ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda) -> Iterable[str]:
    if isinstance(node, ast.ClassDef):
        return (node.name,)
    names = [a.arg for a in _arguments(node.args)]
    return names if isinstance(node, ast.Lambda) else (node.name, *names)
