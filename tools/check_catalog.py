#!/usr/bin/env python3
"""Compares hwlint's catalog with an installed torch.

    python tools/check_catalog.py [--python PYTHON]

Run with an interpreter that has torch, or give one with ``--python``. Says, one line each, which names of the
catalog that torch does not have, which public names of its device modules the catalog does not have, which
replacements do not exist or do not behave as the catalog says. Exit status: 0 no difference, 1 differences, 2 no
torch to compare with.

Standard library only (on Python 3.10 also tomli), and it reads the tables itself rather than through hwlint, so
that it runs in any torch's environment. The test-support modules of torch are read as text, not imported.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import functools
import importlib
import inspect
import subprocess
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CATALOG = Path(__file__).resolve().parent.parent / "hwlint" / "catalog"
MODULES = ("cuda", "xpu", "mps", "mtia")
NOTHING = object()
Versions = dict[str, tuple[int, ...]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="interpreter with torch (default: this one)")
    options = parser.parse_args()
    if options.python:
        return subprocess.call([options.python, __file__])
    warnings.simplefilter("ignore")
    try:
        torch = importlib.import_module("torch")
    except ImportError as error:
        print(f"no torch in {sys.executable}: {error}", file=sys.stderr)
        return 2
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    checks = (
        apis,
        accelerator,
        listed,
        decorators,
        flags,
        bases,
        backends,
        profiler,
        collectives,
        tensor_types,
        fixtures,
    )
    found = [line for check in checks for line in check(torch, version)]
    for line in found:
        print(line)
    print(f"torch {torch.__version__}: {len(found)} difference{'' if len(found) == 1 else 's'}")
    return 1 if found else 0


@functools.cache
def table(name: str) -> dict[str, Any]:
    return tomllib.loads((CATALOG / f"{name}.toml").read_text(encoding="utf-8"))


def turned(name: str, key: str) -> Versions:
    """``[since]`` or ``[until]`` of a table: name -> version."""
    versions = table(name).get(key, {})
    return {word: tuple(map(int, number.split("."))) for number, names in versions.items() for word in names.split()}


def presence(
    what: str, name: str, there: bool, version: tuple[int, ...], since: Versions, until: Versions
) -> Iterator[str]:
    """A line when the name is there against ``[since]`` and ``[until]``, or not there although it should be."""
    due = since.get(name, (0,)) <= version <= until.get(name, (99,))
    if due and not there:
        yield f"{what}: {name}: missing"
    elif there and not due:
        yield f"{what}: {name}: there, against its since or until"


def resolve(qualified: str) -> object:
    """The object of a dotted name, or NOTHING."""
    parts = qualified.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for attribute in parts[cut:]:
            found = getattr(found, attribute, NOTHING)
        return found
    return NOTHING


@functools.cache
def parsed(module: str) -> ast.Module | None:
    """A module of torch as a syntax tree; None when there is none of that name."""
    path = Path(sys.modules["torch"].__path__[0], *module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8")) if path.exists() else None


@functools.cache
def source_names(module: str) -> frozenset[str] | None:
    """Names bound at the top of a module, read from its source; nested classes as ``A.B``; None without such a
    module."""
    tree = parsed(module)
    if tree is None:
        return None
    names: set[str] = set()
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            names.update(f"{node.name}.{inner.name}" for inner in node.body if isinstance(inner, ast.ClassDef))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
        for block in ("body", "orelse", "handlers", "finalbody"):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                pending += getattr(node, block, [])
    return frozenset(names)


def in_source(module: str, name: str) -> bool:
    return name in (source_names(module) or ())


def api_entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """Qualified name and group of every device API."""
    data = table("device_apis")
    cuda = {name: group for group in data["cuda"] for name in group["names"].split()}
    for name, group in cuda.items():
        yield f"torch.cuda.{name}", group
    for module in MODULES[1:]:
        for name in data["shared"][module].split():
            if name in cuda:  # otherwise it shows as unlisted
                yield f"torch.{module}.{name}", cuda[name]
        for group in data[module]:
            for name in group["names"].split():
                yield f"torch.{module}.{name}", group


def apis(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Every device API is there, and so is what replaces it."""
    since, introduced, until = (turned("device_apis", key) for key in ("since", "introduced", "until"))
    for name, group in api_entries():
        there = resolve(name) is not NOTHING
        yield from presence("api", name, there, version, introduced, until)
        replacement = group.get("replacement", "").replace("{name}", name.rpartition(".")[2])
        if group["kind"] == "vendor_only":
            if replacement:
                yield f"api: {name}: vendor_only with a replacement"
        elif replacement.startswith("torch.get_device_module(device)."):
            if not replacement.endswith("." + name.rpartition(".")[2]):
                yield f"api: {name}: {replacement} is another name"
        else:
            yield from presence("replacement", replacement, resolve(replacement) is not NOTHING, version, since, {})
        if group["kind"] == "same" and replacement.rpartition(".")[2] != name.rpartition(".")[2]:
            yield f"api: {name}: same, yet {replacement}"
    for module in table("device_apis")["aliases"]["modules"].split():
        if resolve(module) is NOTHING:
            yield f"api: {module}: missing"
    for group in table("device_apis")["prefix"]:
        for prefix in group["names"].split():
            if "*" not in prefix and resolve(prefix) is NOTHING and not prefix.startswith("torch.version."):
                yield f"prefix: {prefix}: missing"


def accelerator(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """torch.accelerator has the names listed and no others; positional-only is as the signatures say."""
    data = table("device_apis")["accelerator"]
    since = turned("device_apis", "since")
    names = data["names"].split()
    positional = data["positional_only"].split()
    for name in names:
        found = resolve(name)
        yield from presence("accelerator", name, found is not NOTHING, version, since, {})
        if found is NOTHING:
            continue
        kinds = [p.kind for p in inspect.signature(cast("Any", found)).parameters.values()]
        if (inspect.Parameter.POSITIONAL_ONLY in kinds) != (name in positional) and version >= (2, 14):
            yield f"accelerator: {name}: positional_only differs"
    for listing in ("raises_without_accelerator", "positional_only"):
        yield from (f"accelerator: {name}: only in {listing}" for name in data[listing].split() if name not in names)
    for module in ("torch.accelerator", "torch.accelerator.random"):
        public = getattr(resolve(module), "__all__", ())
        yield from (f"unlisted: {module}.{name}" for name in public if f"{module}.{name}" not in names)


def listed(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Every public name of the device modules is in the catalog."""
    data = table("device_apis")
    known = {name for name, _ in api_entries()} | set(data["aliases"]["modules"].split())
    known |= {prefix for group in data["prefix"] for prefix in group["names"].split()}
    known |= set(legacy_types())
    aliases = {name for key, names in data["aliases"].items() if key != "modules" for name in names.split()}
    for module in MODULES:
        top = resolve(f"torch.{module}")
        for name in public_names(top):
            if f"torch.{module}.{name}" not in known:
                yield f"unlisted: torch.{module}.{name}"
    for module in data["aliases"]["modules"].split():
        found = resolve(module)
        for name in getattr(found, "__all__", ()):
            top_has = hasattr(resolve(module.rpartition(".")[0]), name)
            if top_has and name not in aliases:
                yield f"unlisted: {module}.{name}: alias"


def public_names(module: object) -> Iterator[str]:
    """``__all__``, and what the module defines itself or has as a submodule without saying so."""
    name = getattr(module, "__name__", "")
    exported = set(getattr(module, "__all__", ()))
    yield from sorted(exported)
    for attribute, value in sorted(vars(module).items()):
        if attribute.startswith("_") or attribute in exported:
            continue
        if isinstance(value, types.ModuleType):
            if value.__name__ == f"{name}.{attribute}":
                yield attribute
        elif getattr(value, "__module__", "") == name and not attribute.isupper():
            yield attribute


def decorators(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Every decorator is in a module said to have it; what replaces it is a known decorator."""
    since, until = turned("decorators", "since"), turned("decorators", "until")
    groups = table("decorators")["decorator"]
    known = {name for group in groups for name in group["names"].split()}
    for group in groups:
        modules = [module for module in group["modules"].split() if module.partition(".")[0] == "torch"]
        for name in group["names"].split() if modules else ():  # Others are modules of the test suite's own.
            there = any(in_source(module, name) for module in modules)
            yield from presence("decorator", name, there, version, since, until)
        for form in ("generic_form", "library_form"):
            generic = group.get(form, "")
            if generic and generic not in known:
                yield f"decorator: {group['names']}: {form.replace('_', ' ')} {generic} is unknown"
    for replacement in table("decorators")["replacement"]:
        name = replacement["replacement"].partition("(")[0]
        if name not in known:
            yield f"replacement: {replacement['source']}: {name} is unknown"
    known |= {name for group in table("flags")["flag"] for name in group["names"].split()}
    for module in ("common_device_type", "common_distributed"):
        names = source_names(f"torch.testing._internal.{module}") or frozenset()
        for name in sorted(names):
            if name.startswith(("only", "skip", "requires_", "expectedFailure", "dtypesIf")) and name not in known:
                if name not in ("skip", "skipOps", "requires_ddp_rank"):  # no decorators, or of operators
                    yield f"unlisted: {module}.{name}"


def flags(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Every constant is in a module said to have it, lazy where said so; every call is there."""
    since, until = turned("flags", "since"), turned("flags", "until")
    for group in table("flags")["flag"]:
        for name in group["names"].split():
            if "modules" not in group:
                continue
            modules = [m for m in group["modules"].split() if in_source(m, name)]
            yield from presence("flag", name, bool(modules), version, since, until)
            lazy = [name in lazy_names(module) for module in modules]
            if lazy and group.get("lazy", False) not in lazy and not group.get("callable"):
                yield f"flag: {name}: lazy differs"
            held = [value for module in modules if (value := literal_of(module, name)) is not NOTHING]
            if (
                "holds" in group
                and held
                and group["holds"] not in [list(v) if isinstance(v, tuple) else v for v in held]
            ):
                yield f"flag: {name}: holds {held[0]!r}"
    for group in table("flags")["call"]:
        for name in group["names"].split():
            module, _, last = name.rpartition(".")
            support = name.startswith(("torch.testing._internal.", "torch._inductor."))
            there = in_source(module, last) if support else resolve(name) is not NOTHING
            yield from presence("call", name, there, version, since, until)


def literal_of(module: str, name: str) -> object:
    """The literal that a module binds the name to, NOTHING for anything else."""
    for node in (parsed(module) or ast.Module([], [])).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [name]:
            with contextlib.suppress(ValueError):
                return ast.literal_eval(node.value)
    return NOTHING


@functools.cache
def lazy_names(module: str) -> frozenset[str]:
    """Constants of a module made with LazyVal(...)."""
    found: set[str] = set()
    for node in ast.walk(parsed(module) or ast.Module([], [])):
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            if isinstance(node.value.func, ast.Name) and node.value.func.id == "LazyVal":
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                found.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(found)


def bases(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Every framework base is there."""
    since, until = turned("framework_bases", "since"), turned("framework_bases", "until")
    for group in table("framework_bases")["base"]:
        for name in group["names"].split():
            if not name.startswith("torch."):
                if resolve(name) is NOTHING:
                    yield f"base: {name}: missing"
                continue
            module, _, last = name.rpartition(".")
            if source_names(module) is None:  # a nested class
                module, _, outer = module.rpartition(".")
                last = f"{outer}.{last}"
            yield from presence("base", name, in_source(module, last), version, since, until)


def fixtures(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Framework bases have the members that decide on their device. Importing them registers back ends: run it last."""
    for group in table("framework_bases")["base"]:
        for name in group["names"].split():
            for member in group.get("decides", "").split():
                if resolve(f"{name}.{member}") is NOTHING:
                    yield f"base: {name}.{member}: missing"


def backends(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Device types parse; attributes, methods, dispatch keys and classifications are there, and none is left out."""
    keys = torch._C.DispatchKey.__members__
    names = source_names("torch.testing._internal.common_device_type") or frozenset()
    for name, group in table("device_types").items():
        if name == "known_out_of_tree":
            continue
        if name != "privateuse1":
            try:
                torch.device(name)
            except RuntimeError:
                yield f"device: {name}: no device type"
        attribute = group.get("is_attribute", f"is_{name}")
        if hasattr(torch.Tensor, attribute) != ("is_attribute" in group):
            yield f"device: {name}: {attribute} differs"
        method = group.get("tensor_method", "")
        if method and not hasattr(torch.Tensor, method):
            yield f"device: {name}: Tensor.{method} missing"
        if group.get("dispatch_key") and group["dispatch_key"] not in keys:
            yield f"device: {name}: dispatch key {group['dispatch_key']} missing"
        if group.get("in_tree", True) and group.get("module") and resolve(group["module"]) is NOTHING:
            yield f"device: {name}: module {group['module']} missing"
        yield from (f"device: {name}: {d} missing" for d in group.get("decorators", "").split() if d not in names)
    classified = {
        group["hw_classification"] for group in table("device_types").values() if "hw_classification" in group
    }
    members = enum_members("torch.testing._internal.common_utils", "HardwareClassification")
    if members and members != classified | {"GENERIC", "ACCELERATOR"}:
        yield f"device: HardwareClassification has {sorted(members)}"


def enum_members(module: str, name: str) -> set[str]:
    for node in (parsed(module) or ast.Module([], [])).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return {t.id for a in node.body if isinstance(a, ast.Assign) for t in a.targets if isinstance(t, ast.Name)}
    return set()


def profiler(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """Activities match ProfilerActivity in both directions; replacements of fields are fields."""
    members = set(cast("Any", resolve("torch.profiler.ProfilerActivity")).__members__)
    groups = table("profiler")["name"]
    activities = {group["names"].partition(".")[2] for group in groups if group["kind"] == "activity"}
    yield from (f"profiler: ProfilerActivity.{name} differs" for name in sorted(members ^ activities))
    source = Path(torch.__path__[0], "autograd", "profiler_util.py").read_text(encoding="utf-8")
    for group in groups:
        if group["kind"] == "sort_key" and group["replacement"] not in source:
            yield f"profiler: {group['names']}: {group['replacement']} missing"
    if resolve(table("profiler")["generic"]["supported"]) is NOTHING:
        yield "profiler: supported_activities missing"


def collectives(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """In-tree back ends are those of torch.distributed, with its devices and defaults."""
    if resolve("torch.distributed.is_available") is NOTHING or not torch.distributed.is_available():
        return
    backend = torch.distributed.Backend
    entries = {group["names"]: group for group in table("distributed")["backend"]}
    for name, devices in backend.backend_capability.items():
        if name not in entries:
            yield f"unlisted: collective {name}"
        elif set(entries[name]["devices"].split()) != set(devices) and version >= (2, 14):
            yield f"collective: {name}: devices are {devices}"
    for device, name in backend.default_device_backend_map.items():
        if device not in entries.get(name, {}).get("default_for", "").split() and version >= (2, 14):
            yield f"collective: {name} is the default of {device}"
    for name, group in entries.items():
        if group.get("available") and resolve(group["available"]) is NOTHING:
            yield f"collective: {name}: {group['available']} missing"


def legacy_types() -> dict[str, str]:
    """Qualified name -> dtype of the tensor and storage types that are Python classes."""
    data = table("tensor_types")
    return {
        f"{group['module']}.{stem}{'Storage' if group['kind'] == 'storage' else 'Tensor'}": data["dtypes"][stem]
        for group in data["types"]
        if group["device"] in ("cpu", "cuda")
        for stem in group["names"].split()
    }


def tensor_types(torch: types.ModuleType, version: tuple[int, ...]) -> Iterator[str]:
    """The legacy types are those torch has, with the dtypes it gives them."""
    there = {
        f"{one.__module__}.{one.__name__}": str(getattr(one, "dtype", ""))
        for one in (*torch._tensor_classes, *torch._storage_classes)
        if one.__module__ != "torch.storage"
    }
    ours = legacy_types()
    yield from (f"tensor type: {name}: differs" for name in sorted(there.keys() ^ ours.keys()))
    for name in sorted(there.keys() & ours.keys()):
        dtype = there[name]
        if dtype.startswith("torch.") and dtype != ours[name]:
            yield f"tensor type: {name}: {dtype}"


if __name__ == "__main__":
    sys.exit(main())
