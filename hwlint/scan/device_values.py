"""Which device an expression holds, as far as it stands in the source."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from hwlint.catalog import ANY_ACCELERATOR
from hwlint.scan.context import ScanContext
from hwlint.scan.device_words import Words, device_of_flag, words_of
from hwlint.scan.names import dotted

ACCELERATOR_CALLS = frozenset(
    ("torch.accelerator.current_accelerator", "torch._C._get_accelerator", "torch.accelerator.current_accelerator_type")
)
PASSED_ON = frozenset(("str", "lower", "type", "list", "tuple", "set", "sorted", "cast", "frozenset"))
"""Calls and attributes that keep the device of what they are given."""


@dataclass(frozen=True, slots=True)
class Known:
    """Names of one module that stand for a device or a device module."""

    words: Words
    devices: dict[str, str]
    """Name -> device: constants of the module, and constants of PyTorch's test support that are imported."""
    modules: dict[str, str]
    """Imported name -> qualified name, where that lies in a device module: {'autocast': 'torch.cuda.amp.autocast'}."""
    collectives: dict[str, str]
    """Constants that hold the name of a process-group back end."""
    carriers: frozenset[str]
    """All names that carry a device, a device module or a back end."""
    heads: frozenset[str]
    """Names whose attributes may lie in a device module, or be a device constant."""


def known_names(context: ScanContext) -> Known:
    """What the module's names mean, made anew where it has come to have more constants."""
    kept: tuple[int, Known] | None = context.kept.get("known_names")
    if kept is None or kept[0] != len(context.constants):
        kept = context.kept["known_names"] = (len(context.constants), _read_known_names(context))
    return kept[1]


def _read_known_names(context: ScanContext) -> Known:
    words = words_of(context.catalog)
    devices: dict[str, str] = {}
    modules: dict[str, str] = {}
    collectives: dict[str, str] = {}
    heads = {"torch"}
    for name, qualified in context.names.imports.items():
        if words.module_of(qualified):
            modules[name] = qualified
            heads.add(name)
            continue
        last = qualified.rpartition(".")[2]
        flag = words.device_values.get(qualified) or words.device_values.get(last)
        if flag is not None and not flag.callable:
            devices[name] = device_of_flag(flag)
        elif last in words.backend_values:
            collectives[name] = ""
        elif name[:1].islower() or "." not in qualified:
            heads.add(name)
    if context.names.star_imports:
        devices.update(
            (n, device_of_flag(f)) for n, f in words.device_values.items() if "." not in n and not f.callable
        )
    for constant in context.constants.values():
        if constant.device:
            devices[constant.name] = constant.device
        else:
            devices.pop(constant.name, None)
        if isinstance(constant.value, str) and constant.value in words.collectives:
            collectives[constant.name] = words.collectives[constant.value]
    carriers = frozenset((*devices, *modules, *collectives))
    return Known(words, devices, modules, collectives, carriers, frozenset(heads))


def device_of(node: ast.expr, context: ScanContext) -> str:
    """The device that ``node`` holds, '' for none.

    'cuda', 'cuda:1'; 'cuda:?' for a computed index; 'cuda|cpu' for one of several, in the order written (also a list of
    them); 'accelerator' for whatever accelerator the host has.
    """
    known = known_names(context)
    if isinstance(node, ast.Constant):
        return _common(node.value, known.words) if isinstance(node.value, str) else ""
    if isinstance(node, ast.IfExp):
        return one_of(device_of(node.body, context), device_of(node.orelse, context))
    if isinstance(node, ast.BoolOp):
        return one_of(*(device_of(value, context) for value in node.values))
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return one_of(*(device_of(element, context) for element in node.elts))
    if isinstance(node, (ast.JoinedStr, ast.BinOp)):
        return _device_of_template(node, context, known)
    if isinstance(node, ast.Subscript):
        return device_of(node.value, context) if not isinstance(node.value, ast.Dict) else ""
    if isinstance(node, ast.Call):
        return _device_of_call(node, context, known)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _device_of_name(node, context, known)
    return ""


def one_of(*devices: str) -> str:
    """'cuda|cpu': each device once, in order."""
    return "|".join(dict.fromkeys(part for device in devices if device for part in device.split("|")))


def template_of(node: ast.expr) -> tuple[str, list[ast.expr]] | None:
    """Text in which '\\0' stands for each computed part, and those parts; None for what is no text.

    Knows f-strings, ``"a" + b``, ``"a%d" % b`` and ``"a{}".format(b)``.
    """
    if isinstance(node, ast.Constant):
        return (node.value, []) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        text, parts = "", []
        for value in node.values:
            if isinstance(value, ast.Constant):
                text += value.value if isinstance(value.value, str) else ""
            elif isinstance(value, ast.FormattedValue):
                text += "\0"
                parts.append(value.value)
        return text, parts
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = template_of(node.left), template_of(node.right)
        if left is None and right is None:
            return None
        left = ("\0", [node.left]) if left is None else left
        right = ("\0", [node.right]) if right is None else right
        return left[0] + right[0], left[1] + right[1]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        left = template_of(node.left)
        if left is None or left[1]:
            return None
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return left[0].replace("%d", "\0").replace("%s", "\0").replace("%i", "\0"), list(values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        left = template_of(node.func.value)
        if left is not None and not left[1]:
            return left[0].replace("{}", "\0").replace("{0}", "\0"), [*node.args, *(k.value for k in node.keywords)]
    return None


def _common(text: str, words: Words) -> str:
    """The device a string is, where it is one wherever it stands."""
    device = words.device_of_text(text)
    return device if device.partition(":")[0] in words.common else ""


def _device_of_template(node: ast.expr, context: ScanContext, known: Known) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.left, (ast.List, ast.Tuple, ast.IfExp, ast.Name)):
        joined = one_of(device_of(node.left, context), device_of(node.right, context))
        if joined:
            return joined
    template = template_of(node)
    if template is None:
        return ""
    text, parts = template
    if text.startswith("\0") and text[1:2] in ("", ":") and parts:
        base = device_of(parts[0], context)
        return f"{base}:?" if base and len(text) > 1 and ":" not in base else base
    return _common(text, known.words)


def _device_of_call(node: ast.Call, context: ScanContext, known: Known) -> str:
    template = template_of(node)
    if template is not None:
        return _common(template[0], known.words)
    qualified = context.names.qualify(node.func)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else qualified.rpartition(".")[2]
    if qualified in ACCELERATOR_CALLS:
        return ANY_ACCELERATOR
    if qualified == "torch.device":
        return _device_of_constructor(node, context, known)
    if qualified == "torch.get_device_module":
        return device_of(node.args[0], context) if node.args else ANY_ACCELERATOR
    if last == "current_device" and known.words.module_of(qualified):
        return f"{known.words.modules[known.words.module_of(qualified)]}:?"
    flag = known.words.device_values.get(qualified) or known.words.device_values.get(last)
    if flag is not None:
        return device_of_flag(flag)
    if last in ("getenv", "get") and len(node.args) == 2:
        return one_of(device_of(node.args[1], context))
    if last in PASSED_ON:
        inner = node.func.value if isinstance(node.func, ast.Attribute) and not node.args else None
        values = [inner] if inner is not None else node.args[-1:]
        return one_of(*(device_of(value, context) for value in values))
    return ""


def _device_of_constructor(node: ast.Call, context: ScanContext, known: Known) -> str:
    first = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg in ("device", "type")), None)
    if first is None:
        return ""
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        device = known.words.device_of_text(first.value)
    elif isinstance(first, ast.Constant):
        return ANY_ACCELERATOR if isinstance(first.value, int) else ""
    else:
        device = device_of(first, context)
    index = node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "index"), None)
    if index is None or not device or ":" in device or "|" in device:
        return device
    return (
        f"{device}:{index.value!s}"
        if isinstance(index, ast.Constant) and isinstance(index.value, int)
        else f"{device}:?"
    )


def _device_of_name(node: ast.Name | ast.Attribute, context: ScanContext, known: Known) -> str:
    if isinstance(node, ast.Name):
        return known.devices.get(node.id, "")
    name = dotted(node)
    if name:
        head, _, last = name.rpartition(".")
        if head not in ("self", "cls"):
            flag = known.words.device_values.get(context.names.qualify_name(name))
            if flag is None and head.partition(".")[0] in context.names.imports:
                flag = known.words.device_values.get(last)
            if flag is not None and not flag.callable:
                return device_of_flag(flag)
    return device_of(node.value, context) if node.attr == "type" else ""
