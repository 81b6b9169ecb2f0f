"""The catalog's names as patterns and tables for reading source: which word names which device.

Everything here is made from a :class:`Catalog` once a process; a back end of the configuration is known like one of the
catalog's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hwlint.catalog import ANY_ACCELERATOR, Catalog, Flag, load_catalog

ALWAYS = frozenset(("cpu", "cuda", "xpu", "mps", "mtia", "hpu", "npu", "privateuse1"))
"""Device types whose bare name, as a string, is a device wherever it stands. The others ('meta', 'lazy', 'vulkan',
'hip') are words or rare: they count only where a device is asked for."""

BACKEND_MODULES = {"torch.backends.cuda": "cuda", "torch.backends.cudnn": "cuda", "torch.backends.mps": "mps"}
"""Settings of one device's kernels (torch/backends), beside the device modules of the catalog."""

VERSIONS = {"torch.version.cuda": "cuda", "torch.version.hip": "cuda", "torch.version.xpu": "xpu"}
"""The tool kit a build was made with (torch/version.py)."""

HIT_NEEDLES = tuple(
    """cud pu mps mtia rocm privateuse accelerator ccl gloo "mpi" "ucc" "fake" meta" meta' device}: skip @ has_triton
    orlater is_sm platform_supports magma available device_count devicecount largetensor device_types
    version.hip""".split()
)
"""Lower-case pieces of text; a line without any of them names no device and is no gate. Few and common to many names,
since each is looked for in every file."""

CONFIRM = {"pu": re.compile(r"(?<=[xgch])pu|(?<=[^a-z_]n)pu"), "@": re.compile("@(?:require|only)")}
"""Needles that are common for other reasons, and what has to stand there: xpu, gpu, cpu, hpu, npu; @requires_cuda,
@onlyCPU."""


def hit_lines(text: str, catalog: Catalog) -> tuple[int, ...]:
    """Numbers of the lines that are worth reading for devices and gates, sorted; lines end as ``ast`` counts them."""
    text = one_newline(text).lower()
    found: list[int] = []
    for needle in (*HIT_NEEDLES, *_extra_needles(catalog)):
        places = find_all(needle, text)
        confirm = CONFIRM.get(needle)
        found += places if confirm is None else [at for at in places if confirm.match(text, at)]
    return lines_at(found, text)


def one_newline(text: str) -> str:
    """The text with '\\n' for every end of a line that ``ast`` counts."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def find_all(word: str, text: str) -> list[int]:
    """Where ``word`` stands."""
    places: list[int] = []
    find, width = text.find, len(word)
    at = find(word)
    while at >= 0:
        places.append(at)
        at = find(word, at + width)
    return places


def lines_at(places: list[int], text: str) -> tuple[int, ...]:
    """Numbers of the lines that the places stand in, sorted, each once."""
    places.sort()
    lines: list[int] = []
    line, before = 1, 0
    end_of_line = -1
    for at in places:
        if at < end_of_line:
            continue
        line += text.count("\n", before, at)
        before = at
        end_of_line = text.find("\n", at)
        end_of_line = len(text) if end_of_line < 0 else end_of_line
        lines.append(line)
    return tuple(lines)


@functools.cache
def _extra_needles(catalog: Catalog) -> tuple[str, ...]:
    """Words of the configured back ends."""
    extra = [w for b in catalog.extra_backends for w in (b.name, b.collective, *b.decorators) if w]
    extra += [b.module.rpartition(".")[2] for b in catalog.extra_backends if b.module]
    words = [w.lower() for w in extra]
    plain = [n for n in HIT_NEEDLES if n not in CONFIRM]
    return tuple(dict.fromkeys(w for w in words if not any(n in w for n in plain)))


@dataclass(frozen=True, slots=True)
class Words:
    """Tables of one catalog, by the name that stands in the source."""

    device: re.Pattern[str]
    """A whole device string: group 'type' is 'cuda', 'index' is '1', or '\\0' where a part is computed."""
    common: frozenset[str]
    """Device types that count wherever they stand (see :data:`ALWAYS`)."""
    text: re.Pattern[str]
    """A device inside longer text."""
    code: re.Pattern[str]
    """A device inside text that is plainly code or output: 'cuda:0', "device='cuda'", 'torch.cuda.x', '.cuda('."""
    modules: Mapping[str, str]
    """'torch.cuda' -> 'cuda', with the settings modules."""
    module: re.Pattern[str]
    """Start of a dotted name in one of the modules."""
    methods: Mapping[str, str]
    """'cuda' for ``x.cuda()``."""
    attributes: Mapping[str, str]
    """'is_cuda'."""
    activities: Mapping[str, str]
    """'ProfilerActivity.CUDA'."""
    dispatch_keys: Mapping[str, str]
    """'CUDA', 'AutogradCUDA', 'SparseCUDA'."""
    device_values: Mapping[str, Flag]
    """Constants that hold a device: 'GPU_TYPE'."""
    backend_values: frozenset[str]
    """Constants that hold the name of a process-group back end."""
    profiler: Mapping[str, str]
    """Sort keys and fields: 'cuda_time_total'."""
    profiler_arguments: Mapping[str, str]
    """'use_cuda'."""
    collectives: Mapping[str, str]
    """Process-group back end -> the device it is bound to, '' where it serves several."""

    def device_of_text(self, text: str) -> str:
        """'cuda:1' for a string that is a device and nothing else, '' for any other."""
        match = self.device.match(text)
        if match is None:
            return ""
        index = match["index"]
        return match["type"] if index is None else f"{match['type']}:{'?' if index == chr(0) else index}"

    def module_of(self, qualified: str) -> str:
        """The device module that a qualified name lies in, or is: 'torch.cuda'."""
        match = self.module.match(qualified)
        return "" if match is None else match[0]


@functools.cache
def words_of(catalog: Catalog | None = None) -> Words:
    """The tables of ``catalog``."""
    catalog = load_catalog() if catalog is None else catalog
    backends = catalog.backends
    extra = frozenset(b.name for b in catalog.extra_backends)
    common = ALWAYS | extra
    types = _alternatives(catalog.device_types)
    modules = {name: backend.name for name, backend in catalog.device_modules.items() if backend.name != "cpu"}
    modules = {**modules, **BACKEND_MODULES, **VERSIONS}
    common_types = _alternatives(common - {"cpu"})
    keys = {b.dispatch_key: b.name for b in backends.values() if b.dispatch_key}
    prefixes = ("", "Autograd", "Autocast", "Sparse", "SparseCsr", "Quantized", "Nested", "NestedTensor")
    profiler = {n.name: n.device for n in catalog.profiler.values() if n.kind in ("sort_key", "field")}
    return Words(
        device=re.compile(rf"(?:(?:rank:[\d\0]+|[A-Za-z_]\w*\d+|\0)/)?(?P<type>{types})(?::(?P<index>\d+|\0))?\Z"),
        common=common,
        text=re.compile(rf"(?<![\w-])(?:{common_types})(?![\w-])"),
        code=re.compile(
            rf"\b(?:{common_types}):[\d\0]|\bdevice\b\W{{0,5}}[\"'](?:{common_types})\b|\.(?:{common_types})(?:\.\w|\()"
            rf"|--device[ =](?:{common_types})|[\"'](?:{common_types})[\"']|<(?:{common_types})>"
        ),
        modules=modules,
        module=re.compile(rf"(?:{_alternatives(modules)})(?![^.])"),
        methods={b.tensor_method: b.name for b in backends.values() if b.tensor_method},
        attributes={b.is_attribute: b.name for b in backends.values() if b.is_attribute and b.name in common},
        activities={
            **{f"ProfilerActivity.{b.profiler_activity}": b.name for b in backends.values() if b.profiler_activity},
            **{n.name: n.device for n in catalog.profiler.values() if n.kind == "activity"},
        },
        dispatch_keys={prefix + key: device for key, device in keys.items() for prefix in prefixes},
        device_values={name: f for name, f in catalog.flags.items() if f.is_device_value and not _other_value(f)},
        backend_values=frozenset(n for n, f in catalog.flags.items() if f.is_device_value and "back end" in f.note),
        profiler=profiler,
        profiler_arguments={n.name: n.device for n in catalog.profiler.values() if n.kind == "argument"},
        collectives={name: c.vendor for name, c in catalog.collectives.items()},
    )


def _other_value(flag: Flag) -> bool:
    """A value that is no device: a number of devices, a process-group back end."""
    return "number of devices" in flag.note or "back end" in flag.note


def device_of_flag(flag: Flag) -> str:
    """The device that a constant such as GPU_TYPE holds."""
    return flag.device or ANY_ACCELERATOR


def _alternatives(words: Iterable[str]) -> str:
    """A pattern for any of the words, longer ones first."""
    return "|".join(re.escape(w) for w in sorted(words, key=lambda w: (-len(w), w)))
