"""One class statement -> Class."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from hwlint.scan import devices, gates
from hwlint.scan.accelerator_calls import accelerator_calls
from hwlint.scan.context import ScanContext
from hwlint.scan.facts import LABELS, AcceleratorCall, Block, Class, DeviceUse, Function, Gate, Literals, Span, Tag
from hwlint.scan.functions import SETUP, FunctionNode, first_line, read_decorators, read_function
from hwlint.scan.literals import NotLiteral, literal
from hwlint.scan.names import dotted, source_of, span_of

TAG_ATTRIBUTE = "hw_classification"
TAG_ENUM = "HardwareClassification"


def read_class(
    node: ast.ClassDef, context: ScanContext, blocks: tuple[Block, ...], outer: str, before: Sequence[Class]
) -> tuple[Class, list[ast.ClassDef]]:
    """The facts of a class, and the classes nested in its body (which the caller reads).

    ``blocks`` are the compound statements around it, ``outer`` the qualified name of what it is nested in,
    ``before`` the classes of the module read so far, whose devices set in ``setUp`` this one inherits.
    """
    attributes: list[tuple[str, Literals]] = []
    uses: list[DeviceUse] = []
    inner: list[ast.ClassDef] = []
    functions: list[tuple[FunctionNode, bool]] = []
    aliases: list[tuple[str, str, ast.stmt]] = []
    dynamic = any(k.arg == "metaclass" for k in node.keywords)
    for child, conditional in _class_statements(node.body):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append((child, conditional))
        elif isinstance(child, ast.ClassDef):
            inner.append(child)
        elif isinstance(child, (ast.For, ast.While, ast.AsyncFor)):
            dynamic = dynamic or _defines_members(child)
        else:
            for name, value in _assignments(child):
                if isinstance(value, ast.Name) and name.startswith("test"):
                    aliases.append((name, value.id, child))
                    continue
                try:
                    attributes.append((name, literal(value, context.constants)))
                except NotLiteral:
                    pass
            if context.has_hit(child.lineno, child.end_lineno or child.lineno) and not _is_docstring(child):
                uses.extend(devices.expression_uses(child, context))
    self_devices = _inherited_devices(node, before)
    self_devices.update(_self_devices(functions, node, context))
    methods = [read_function(f, context, node.name, self_devices, conditional) for f, conditional in functions]
    methods.extend(_aliases(aliases, methods))
    methods.sort(key=lambda m: m.span.line)
    own_gates: tuple[Gate, ...] = ()
    if node.decorator_list:
        own_gates = gates.decorator_gates(node.decorator_list, context, on_class=True)
    span = span_of(node)._replace(line=first_line(node), column=node.col_offset)
    facts = Class(
        name=node.name,
        qualname=f"{outer}.{node.name}" if outer else node.name,
        span=span,
        line=node.lineno,
        bases=tuple(_base_name(base, context) for base in node.bases),
        base_texts=tuple(source_of(base) for base in node.bases),
        keywords=tuple(k.arg or "**" for k in node.keywords),
        decorators=read_decorators(node.decorator_list, context),
        tag=read_tag(node, context),
        methods=tuple(methods),
        attributes=(*attributes, *((f"self.{name}", device) for name, device in self_devices.items())),
        attribute_uses=tuple(uses),
        accelerator_calls=_accelerator_calls(node, context),
        blocks=blocks,
        gates=own_gates + block_gates(blocks, context),
        docstring=_docstring(node),
        top_level=not blocks,
        dynamic=dynamic,
    )
    return facts, inner


def _accelerator_calls(node: ast.ClassDef, context: ScanContext) -> tuple[AcceleratorCall, ...]:
    if not context.call_lines:
        return ()
    return tuple(sorted(accelerator_calls(node.body, context.call_lines), key=lambda call: call.span))


def read_tag(node: ast.ClassDef, context: ScanContext) -> Tag | None:
    """The first ``hw_classification`` of the class's own body, as upstream's linter takes it."""
    for position, statement in enumerate(node.body):
        annotated = False
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target: ast.expr = statement.targets[0]
            value: ast.expr | None = statement.value
        elif isinstance(statement, ast.AnnAssign):
            target, value, annotated = statement.target, statement.value, True
        else:
            continue
        if not (isinstance(target, ast.Name) and target.id == TAG_ATTRIBUTE):
            continue
        label = _label(value, context)
        plain = isinstance(value, ast.Attribute) and dotted(value) == f"{TAG_ENUM}.{value.attr}"
        good_annotation = not annotated or (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.annotation, ast.Name)
            and statement.annotation.id == TAG_ENUM
        )
        following = node.body[position + 1] if position + 1 < len(node.body) else None
        return Tag(
            span=span_of(statement),
            label=label,
            upstream=bool(label) and plain and good_annotation,
            text=ast.unparse(statement),
            above_docstring=position == 0 and following is not None and _is_docstring(following),
        )
    return None


def _label(value: ast.expr | None, context: ScanContext) -> str:
    if value is None:
        return ""
    head, _, member = context.names.qualify(value).rpartition(".")
    return member if head.rpartition(".")[2] == TAG_ENUM and member in LABELS else ""


def block_gates(blocks: tuple[Block, ...], context: ScanContext) -> tuple[Gate, ...]:
    """What the ``if`` blocks around a class ask for."""
    found = []
    for block in blocks:
        if block.keyword not in ("if", "else") or not context.has_hit(block.line, block.line):
            continue
        try:
            test = ast.parse(block.text, mode="eval").body
        except SyntaxError:
            continue
        span = Span(block.line, 0, block.line, 0)
        gate = gates.block_gate(test, context, negated=block.keyword == "else", span=span)
        if gate is not None:
            found.append(gate)
    return tuple(found)


def _base_name(node: ast.expr, context: ScanContext) -> str:
    """The dotted name of a base; that of ``other.TestCase`` where the module says ``TestCase = other.TestCase``."""
    name = context.names.qualify(node)
    if not isinstance(node, ast.Name) or node.id in context.names.imports or context.tree is None:
        return name
    if "base_aliases" not in context.kept:
        context.kept["base_aliases"] = _aliases_of_classes(context.tree)
    value = context.kept["base_aliases"].get(node.id)
    return context.names.qualify(value) if value is not None else name


def _aliases_of_classes(tree: ast.Module) -> dict[str, ast.Attribute]:
    """``A = other.A`` of the module's own statements, where nothing else binds the name."""
    found: dict[str, ast.Attribute] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Attribute):
            target = statement.targets[0]
            if len(statement.targets) == 1 and isinstance(target, ast.Name) and dotted(statement.value):
                found[target.id] = statement.value
    if not found:
        return found
    bound: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.append(node.id)
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            bound.append(node.name)
    return {name: value for name, value in found.items() if bound.count(name) == 1}


def _class_statements(body: list[ast.stmt], conditional: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """The statements of a class body, those of its ``if``/``try``/``with`` blocks included."""
    for node in body:
        if isinstance(node, (ast.If, ast.Try, ast.With)):
            for name in ("body", "orelse", "finalbody"):
                yield from _class_statements(getattr(node, name, []), True)
            for handler in getattr(node, "handlers", []):
                yield from _class_statements(handler.body, True)
        else:
            yield node, conditional


def _assignments(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        yield node.target.id, node.value


def _defines_members(node: ast.stmt) -> bool:
    """Whether a loop in a class body writes members (``locals()[name] = ...``, ``exec``, ``vars()``)."""
    return any(
        isinstance(child, ast.Name) and child.id in ("locals", "vars", "exec", "globals", "setattr")
        for child in ast.walk(node)
    )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _docstring(node: ast.ClassDef) -> Span | None:
    return span_of(node.body[0]) if node.body and _is_docstring(node.body[0]) else None


def _self_devices(
    functions: list[tuple[FunctionNode, bool]], node: ast.ClassDef, context: ScanContext
) -> dict[str, str]:
    """Attributes that hold a device: set on the class, or on ``self``/``cls`` in a set-up method."""
    found: dict[str, str] = {}
    statements: list[ast.stmt] = list(node.body)
    for function, _ in functions:
        if function.name in SETUP and context.has_hit(function.lineno, function.end_lineno or function.lineno):
            statements.extend(s for s in ast.walk(function) if isinstance(s, ast.Assign))
    for statement in statements:
        if not isinstance(statement, ast.Assign) or not context.has_hit(statement.lineno, statement.end_lineno or 0):
            continue
        for target in statement.targets:
            name = ""
            if isinstance(target, ast.Name) and statement in node.body:
                name = target.id
            elif isinstance(target, ast.Attribute) and dotted(target.value) in ("self", "cls", node.name):
                name = target.attr
            if name:
                device = devices.device_of(statement.value, context)
                if device:
                    found[name] = device
    return found


def _inherited_devices(node: ast.ClassDef, before: Sequence[Class]) -> dict[str, str]:
    names = {base.id for base in node.bases if isinstance(base, ast.Name)}
    found: dict[str, str] = {}
    for cls in before:
        if cls.name in names:
            for name, value in cls.attributes:
                if name.startswith("self.") and isinstance(value, str):
                    found[name.removeprefix("self.")] = value
    return found


def _aliases(aliases: list[tuple[str, str, ast.stmt]], methods: list[Function]) -> list[Function]:
    """``test_b = test_a``: a test of its own to unittest and to the instantiation."""
    found = []
    for name, target, node in aliases:
        original = next((m for m in methods if m.name == target), None)
        if original is not None:
            found.append(
                Function(
                    name=name,
                    span=span_of(node),
                    line=node.lineno,
                    kind="test",
                    parameters=original.parameters,
                    is_async=original.is_async,
                    references=(f"self.{target}",),
                    flags=("alias",),
                    closing_line=node.end_lineno or node.lineno,
                )
            )
    return found
