"""One file's bytes -> ModuleFacts: the whole of what the other stages know of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from hwlint.catalog import Catalog
from hwlint.scan import devices, gates
from hwlint.scan.accelerator_calls import call_lines
from hwlint.scan.bindings import Binding, bindings_of, changes_in, rebound_in_functions
from hwlint.scan.classes import read_class
from hwlint.scan.context import ScanContext
from hwlint.scan.device_lists import DeviceLists
from hwlint.scan.device_words import find_all, hit_lines, lines_at, one_newline
from hwlint.scan.facts import (
    Argument,
    Block,
    Class,
    Combine,
    Constant,
    DeviceUse,
    Function,
    Graft,
    Instantiation,
    Literals,
    ModuleFacts,
    NameUse,
    Problem,
    Requirement,
)
from hwlint.scan.functions import parameters, read_function
from hwlint.scan.literals import NotLiteral, flat_arguments, literal, read_arguments
from hwlint.scan.names import Names, dotted, read_import, source_of, span_of
from hwlint.scan.reading import SourceText, parse, read_source
from hwlint.scan.suppressions import read_suppressions

INSTANTIATE = {
    "instantiate_device_type_tests": "device_type",
    "instantiate_parametrized_tests": "parametrized",
}
OWNERS = re.compile(r"^#\s*Owner\(s\):\s*\[(.*?)\]", re.MULTILINE)
COPY_TESTS = "copy_tests"
"""PyTorch's test/inductor/test_torchinductor.py: copies a template's tests to a class for one device."""
DEEP = ("      ", "\t", "      async ", "\tasync ")
"""What stands before a ``def test`` that is deep enough for a class of its own inside a function."""
FACTORY_TARGET = re.compile(r"^_?[A-Z]\w*$")


def module_name(path: str) -> str:
    """'test/nn/test_pooling.py' -> 'test.nn.test_pooling'; a package's __init__ gives the package."""
    name = path.removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def scan_module(data: bytes, path: str, catalog: Catalog) -> ModuleFacts:
    """Everything hwlint knows of one file. Never raises for bad input: ``problem`` says why there are no facts."""
    name = module_name(path)
    source = read_source(data, path)
    if isinstance(source, Problem):
        return ModuleFacts(path, name, problem=source, size=len(data))
    tree = parse(source)
    if isinstance(tree, Problem):
        return ModuleFacts(path, name, problem=tree, size=len(data), lines=source.text.count("\n"))
    try:
        return ModuleReader(source, tree, path, catalog).read()
    except RecursionError:
        problem = Problem(1, 0, "nested too deeply to read", kind="read")
        return ModuleFacts(path, name, problem=problem, size=len(data))


@dataclass
class ModuleReader:
    """Collects the facts of one parsed module."""

    source: SourceText
    tree: ast.Module
    path: str
    catalog: Catalog
    constants: dict[str, Constant] = field(default_factory=dict)
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    classes: list[Class] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    instantiations: list[Instantiation] = field(default_factory=list)
    module_uses: list[DeviceUse] = field(default_factory=list)
    dynamic_classes: list[NameUse] = field(default_factory=list)
    grafts: list[Graft] = field(default_factory=list)
    set_attributes: set[str] = field(default_factory=set)
    main: ast.If | None = None
    loop_targets: dict[str, list[str]] = field(default_factory=dict)

    def read(self) -> ModuleFacts:
        name = module_name(self.path)
        text = self.source.text
        self.names = self._read_names(name)
        self.hit_lines = hit_lines(text, self.catalog)
        self.deep_tests = ScanContext(self.names, self.catalog, hit_lines=_deep_tests(text))
        self.context = ScanContext(
            self.names, self.catalog, self.constants, {}, self.hit_lines, call_lines(text), self.tree
        )
        self._read_constants(self.tree.body)
        self.context.helper_parameters.update(_helper_parameters(self.tree.body))
        self._read_body(self.tree.body, ())
        suppressions, bad_suppressions = read_suppressions(self.source, self.tree)
        owners = OWNERS.search(text[:4096])
        return ModuleFacts(
            path=self.path,
            module=name,
            imports=tuple(self.names.imports.items()),
            star_imports=self.names.star_imports,
            constants=tuple(self.constants.values()),
            classes=tuple(self._finished_classes()),
            functions=tuple(self.functions),
            instantiations=tuple(self.instantiations),
            gates=gates.module_gates(self.tree, self.context),
            module_uses=tuple(self.module_uses),
            name_uses=tuple(self._name_uses()),
            dynamic_classes=tuple(self.dynamic_classes),
            grafts=tuple(self.grafts),
            suppressions=suppressions,
            bad_suppressions=bad_suppressions,
            owners=tuple(re.findall(r"""["']([^"']+)["']""", owners.group(1))) if owners else (),
            lines=text.count("\n") + (not text.endswith("\n") and text != ""),
            size=len(self.source.data),
            main=span_of(self.main) if self.main is not None else None,
        )

    def _read_names(self, name: str) -> Names:
        imports: dict[str, str] = {}
        stars: list[str] = []
        is_package = self.path.endswith("/__init__.py")
        for node in _statements(self.tree.body):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                bound, star = read_import(node, name, is_package)
                imports.update(bound)
                stars.extend(star)
        return Names(name, imports, tuple(dict.fromkeys(stars)))

    # Constants are read before any function, so that a function above one still knows it.
    def _read_constants(self, body: list[ast.stmt]) -> None:
        for node in _statements(body):
            for binding in bindings_of(node):
                self.bindings.setdefault(binding.name, []).append(binding)
                if binding.value is not None:
                    self._read_constant(binding.name, binding.value, node)
        self.changed = self._changed_names()
        for name in self.changed:
            if name in self.constants:
                self.constants[name] = replace(self.constants[name], value=None, known=False)

    def _changed_names(self) -> set[str]:
        """Constants whose value no assignment tells: bound in another way too, or put together piece by piece."""
        bound = {name for name, places in self.bindings.items() if any(place.value is None for place in places)}
        known = {name for name, constant in self.constants.items() if constant.known}
        lists = {name for name, places in self.bindings.items() if any(_is_mutable(place.value) for place in places)}
        text = self.source.text
        return bound | (known & self.names.imports.keys()) | set(changes_in(text, lists)) | rebound_in_functions(text)

    def _read_constant(self, name: str, value: ast.expr, node: ast.stmt) -> None:
        times = sum(place.value is not None for place in self.bindings[name])
        device = ""
        requirements: tuple[Requirement, ...] = ()
        combine: Combine = ""
        uses: tuple[DeviceUse, ...] = ()
        known = True
        literal_value: Literals = None
        try:
            literal_value = literal(value, self.constants)
        except NotLiteral:
            known = False
        if self.context.has_hit(node.lineno, node.end_lineno or node.lineno) or _reads_constant(value, self.constants):
            device = devices.device_of(value, self.context)
            uses = devices.expression_uses(value, self.context, name=name)
            if not known and not device:
                requirements, combine = self._requirements(value)
        if times > 1:
            # Assigned twice (if/else): no one value, and a device only where one of them is one.
            before = self.constants.get(name)
            known = False
            if before is not None:
                device = device if device == before.device else device or before.device
                requirements = requirements or before.requirements
                uses = (*before.uses, *uses)
        elif known and literal_value is None and not isinstance(value, ast.Constant):
            known = False
        if known or device or requirements or uses or times > 1:
            self.constants[name] = Constant(
                name, span_of(node), literal_value if known else None, known, device, requirements, combine, uses
            )

    def _requirements(self, value: ast.expr) -> tuple[tuple[Requirement, ...], Combine]:
        requirements, combine = gates.read_condition(value, self.context)
        if any(r.kind not in ("unknown", "flag") for r in requirements):
            return requirements, combine
        found = gates.decorator_gates([value], self.context, on_class=False)
        if found and any(r.kind != "unknown" for r in found[0].requirements):
            return found[0].requirements, found[0].combine
        return (), ""

    def _read_body(self, body: list[ast.stmt], blocks: tuple[Block, ...]) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                self._read_class(node, blocks, "")
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.functions.append(read_function(node, self.context))
                self._read_nested_classes(node, blocks, node.name)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                self._read_call(node.value, node, blocks, "call")
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                self._read_assignment(node, blocks)
            else:
                self._read_compound(node, blocks)

    def _read_compound(self, node: ast.stmt, blocks: tuple[Block, ...]) -> None:
        if isinstance(node, ast.If):
            if _is_main(node.test):
                self.main = node  # The last one: what stands at the end is what runs the tests.
            keyword = "if"
            text = _condition_text(node.test, keyword)
            self._read_body(node.body, (*blocks, Block(keyword, text, node.lineno)))
            if node.orelse:
                self._read_body(node.orelse, (*blocks, Block("else", text, node.lineno)))
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            for target, name in _loop_names(node):
                self.loop_targets.setdefault(target, []).append(name)
            inner = (*blocks, Block("for", source_of(node.target), node.lineno))
            self._read_body(node.body, inner)
            self.loop_targets.clear()
            self._read_body(node.orelse, inner)
        elif isinstance(node, ast.While):
            self._read_body(node.body + node.orelse, (*blocks, Block("while", "", node.lineno)))
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            text = ", ".join(source_of(item.context_expr) for item in node.items)
            self._read_body(node.body, (*blocks, Block("with", text, node.lineno)))
        elif isinstance(node, ast.Try) or node.__class__.__name__ == "TryStar":
            self._read_body(node.body, (*blocks, Block("try", "", node.lineno)))  # type: ignore[attr-defined]
            for handler in node.handlers:  # type: ignore[attr-defined]
                self._read_body(handler.body, (*blocks, Block("except", "", handler.lineno)))
            rest = node.orelse + node.finalbody  # type: ignore[attr-defined]
            self._read_body(rest, (*blocks, Block("try", "", node.lineno)))
        elif isinstance(node, ast.Match):
            for case in node.cases:
                self._read_body(case.body, (*blocks, Block("match", "", node.lineno)))
        elif self.context.has_hit(node.lineno, node.end_lineno or node.lineno):
            self.module_uses.extend(devices.expression_uses(node, self.context))

    def _read_class(self, node: ast.ClassDef, blocks: tuple[Block, ...], outer: str) -> None:
        facts, inner = read_class(node, self.context, blocks, outer, self.classes)
        self.classes.append(facts)
        for decorator in node.decorator_list:
            call = decorator if isinstance(decorator, ast.Call) else None
            name = dotted(call.func if call is not None else decorator)
            kind = INSTANTIATE.get(name.rpartition(".")[2])
            if kind is not None:
                self.instantiations.append(
                    Instantiation(
                        kind=kind,  # type: ignore[arg-type]
                        target=node.name,
                        span=span_of(decorator),
                        line=decorator.lineno,
                        form="decorator",
                        spelling=name,
                        arguments=read_arguments(call, self.constants) if call is not None else (),
                        blocks=blocks,
                        top_level_statement=False,
                    )
                )
        for nested in inner:
            self._read_class(nested, (*blocks, Block("class", node.name, node.lineno)), facts.qualname)
        for child in node.body:
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._read_nested_classes(child, blocks, f"{facts.qualname}.{child.name}")

    def _read_nested_classes(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, blocks: tuple[Block, ...], outer: str
    ) -> None:
        """Test classes that a function makes: opaque to the loader, but a reader wants to know of them."""
        if not self.deep_tests.has_hit(node.lineno + 1, node.end_lineno or node.lineno):
            return
        for child in _statements(node.body, into_functions=True):
            if isinstance(child, ast.ClassDef) and any(
                isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)) and s.name.startswith("test") for s in child.body
            ):
                self._read_class(child, (*blocks, Block("def", outer, node.lineno)), f"{outer}.<locals>")

    def _read_call(self, call: ast.Call, node: ast.stmt, blocks: tuple[Block, ...], form: str) -> None:
        name = dotted(call.func)
        kind = INSTANTIATE.get(name.rpartition(".")[2])
        if kind is not None:
            first = call.args[0] if call.args else None
            written = first.id if isinstance(first, ast.Name) else ""
            scope = (
                call.args[1] if len(call.args) > 1 else next((k.value for k in call.keywords if k.arg == "scope"), None)
            )
            for target in self.loop_targets.get(written, [written]):
                self.instantiations.append(
                    Instantiation(
                        kind=kind,  # type: ignore[arg-type]
                        target=target,
                        span=span_of(call),
                        line=call.lineno,
                        form=form,  # type: ignore[arg-type]
                        spelling=name,
                        arguments=self._device_arguments(call, node, blocks),
                        blocks=blocks,
                        top_level_statement=form == "call" and not blocks,
                        scope_is_globals=isinstance(scope, ast.Call) and dotted(scope.func) == "globals",
                    )
                )
            return
        if name.rpartition(".")[2] == COPY_TESTS and len(call.args) >= 2:
            suffix = call.args[2] if len(call.args) > 2 else None
            text = suffix.value if isinstance(suffix, ast.Constant) and isinstance(suffix.value, str) else ""
            graft = Graft(dotted(call.args[0]), dotted(call.args[1]), text, span_of(call))
            self.grafts.append(graft)
            self.set_attributes.add(graft.target)
        if name == "setattr" and call.args and isinstance(call.args[0], ast.Name):
            self.set_attributes.add(call.args[0].id)
            self.set_attributes.update(self.loop_targets.get(call.args[0].id, []))
        if self.context.has_hit(node.lineno, node.end_lineno or node.lineno):
            self.module_uses.extend(devices.expression_uses(node, self.context))

    def _device_arguments(self, call: ast.Call, node: ast.stmt, blocks: tuple[Block, ...]) -> tuple[Argument, ...]:
        """The arguments of an instantiation, names of lists as what they hold where its statement stands."""
        lists = DeviceLists(self.context, self.source.text, self.bindings, self.changed)
        constants = lists.values_at(call, node.lineno, in_block=bool(blocks))
        return flat_arguments(read_arguments(call, constants))

    def _read_assignment(self, node: ast.Assign | ast.AnnAssign, blocks: tuple[Block, ...]) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        value = node.value
        if isinstance(value, ast.Call):
            name = dotted(value.func)
            if INSTANTIATE.get(name.rpartition(".")[2]) is not None:
                self._read_call(value, node, blocks, "assignment")
                return
            for target in targets:
                if isinstance(target, ast.Name) and _makes_class(target.id, name, value):
                    self.dynamic_classes.append(NameUse(target.id, span_of(node), deferred=False, owner=name))
                elif isinstance(target, ast.Subscript) and dotted_call(target.value) in ("globals", "locals", "vars"):
                    self.dynamic_classes.append(NameUse("", span_of(node), deferred=False, owner=name))
        for target in targets:
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                self.set_attributes.add(target.value.id)
        known = all(isinstance(t, ast.Name) and t.id in self.constants for t in targets)
        if not known and self.context.has_hit(node.lineno, node.end_lineno or node.lineno):
            self.module_uses.extend(devices.expression_uses(node, self.context))

    def _finished_classes(self) -> list[Class]:
        return [
            replace(c, dynamic=True) if c.name in self.set_attributes and not c.dynamic else c for c in self.classes
        ]

    def _name_uses(self) -> list[NameUse]:
        """Reads of the names that an instantiation takes out of the module, after it or in functions."""
        targets = {i.target for i in self.instantiations if i.kind == "device_type" and i.target}
        if not targets:
            return []
        after = {
            t: min(i.line for i in self.instantiations if i.target == t and i.kind == "device_type") for t in targets
        }
        found: list[NameUse] = []
        self._mentions = ScanContext(self.names, self.catalog, hit_lines=_lines_with(targets, self.source.text))
        self._collect_name_uses(self.tree.body, after, found, "")
        return found

    def _collect_name_uses(self, body: list[ast.stmt], after: dict[str, int], found: list[NameUse], owner: str) -> None:
        for node in body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            if not self._mentions.has_hit(first, node.end_lineno or node.lineno):
                continue
            if isinstance(node, ast.ClassDef):
                inner = f"{owner}.{node.name}" if owner else node.name
                for expression in [*node.bases, *node.decorator_list]:
                    _read_names_in(expression, after, found, "", deferred=False)
                self._collect_name_uses(node.body, after, found, inner)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inner = f"{owner}.{node.name}" if owner else node.name
                _read_names_in(node, after, found, inner, deferred=True)
            elif _is_instantiation(node):
                continue
            else:
                _read_names_in(node, after, found, owner, deferred=False)


def _statements(body: list[ast.stmt], into_functions: bool = False) -> list[ast.stmt]:
    """The statements of a body and of its blocks, in order, without those of classes, nor (by default) of functions."""
    found: list[ast.stmt] = []
    for node in body:
        found.append(node)
        if isinstance(node, _SIMPLE):
            continue
        if isinstance(node, ast.ClassDef) or (not into_functions and isinstance(node, _FUNCTIONS)):
            continue
        for name in ("body", "orelse", "finalbody"):
            inner = getattr(node, name, None)
            if inner:
                found.extend(_statements(inner, into_functions))
        for handler in getattr(node, "handlers", ()):
            found.extend(_statements(handler.body, into_functions))
    return found


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SIMPLE = (ast.Expr, ast.Assign, ast.Import, ast.ImportFrom, ast.Return, ast.AugAssign, ast.AnnAssign, ast.Assert)


def _lines_with(words: Iterable[str], text: str) -> tuple[int, ...]:
    """Numbers of the lines that have one of the words, also as a part of another word."""
    text = one_newline(text)
    return lines_at([at for word in words for at in find_all(word, text)], text)


def _deep_tests(text: str) -> tuple[int, ...]:
    """Numbers of the lines with a test that may stand in a class inside a function."""
    text = one_newline(text)
    return lines_at([at for at in find_all("def test", text) if text[max(at - 12, 0) : at].endswith(DEEP)], text)


def _helper_parameters(body: list[ast.stmt]) -> dict[str, tuple[str, ...]]:
    """Parameters of the module's functions, and of methods under 'Class.method': those of bases above it included."""
    found: dict[str, tuple[str, ...]] = {}
    methods: dict[str, dict[str, tuple[str, ...]]] = {}
    for node in _statements(body):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name] = parameters(node)
        elif isinstance(node, ast.ClassDef):
            own: dict[str, tuple[str, ...]] = {}
            for base in reversed(node.bases):
                own |= methods.get(dotted(base), {})
            for child in node.body:
                if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    own[child.name] = parameters(child)
            methods[node.name] = own
            found |= {f"{node.name}.{name}": given for name, given in own.items()}
    return found


def _is_mutable(value: ast.expr | None) -> bool:
    """A list or a set, which may be changed where it is."""
    made = isinstance(value, ast.Call) and dotted(value.func) in ("list", "set")
    return made or isinstance(value, (ast.List, ast.Set))


def _reads_constant(value: ast.expr, constants: dict[str, Constant]) -> bool:
    """Whether a short expression names a constant that is a device or a gate (``RUN = not NO_CUDA``)."""
    nodes = ast.walk(value)
    for count, node in enumerate(nodes):
        if count > 40:
            return False
        if isinstance(node, ast.Name):
            constant = constants.get(node.id)
            if constant is not None and (constant.device or constant.requirements):
                return True
    return False


def _is_main(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and len(test.comparators) == 1
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )


def _condition_text(test: ast.expr, keyword: str) -> str:
    text = source_of(test)
    return text if len(text) <= 200 else text[:197] + "..."


def _loop_names(node: ast.For | ast.AsyncFor) -> list[tuple[str, str]]:
    """``for cls in (A, B):`` -> [('cls', 'A'), ('cls', 'B')]."""
    if isinstance(node.target, ast.Name) and isinstance(node.iter, (ast.Tuple, ast.List)):
        return [(node.target.id, e.id) for e in node.iter.elts if isinstance(e, ast.Name)]
    return []


def dotted_call(node: ast.expr) -> str:
    """'globals' for ``globals()``."""
    return dotted(node.func) if isinstance(node, ast.Call) else ""


def _makes_class(target: str, function: str, call: ast.Call) -> bool:
    """``TestX = type(...)``, ``TestX = make_test_class(...)``: a class by its name, made by a call."""
    if not FACTORY_TARGET.match(target) or target.isupper():
        return False
    if function == "type" and len(call.args) == 3:
        return True
    return "Test" in target and "." not in function.removeprefix("self.")


def _is_instantiation(node: ast.stmt) -> bool:
    value = getattr(node, "value", None)
    return isinstance(value, ast.Call) and dotted(value.func).rpartition(".")[2] in INSTANTIATE


def _read_names_in(node: ast.AST, after: dict[str, int], found: list[NameUse], owner: str, *, deferred: bool) -> None:
    for child in ast.walk(node):
        if isinstance(child, ast.Call) and dotted(child.func).rpartition(".")[2] in INSTANTIATE:
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Load) and child.id in after:
            if deferred or child.lineno > after[child.id]:
                found.append(NameUse(child.id, span_of(child), deferred, owner))
