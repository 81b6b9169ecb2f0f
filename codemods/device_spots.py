"""Which of the devices that a function names give way to the device under test, read off the facts alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from codemods.device_questions import Question, sheltered
from codemods.device_values import MEANT, Blocked, Spot
from hwlint.catalog import Catalog, DeviceApi
from hwlint.config import Settings
from hwlint.scan.facts import DeviceUse, Span

TAKES_TYPE = frozenset(
    """
    autocast GradScaler init_device_mesh DeviceMesh from_group get_autocast_dtype set_autocast_dtype custom_fwd
    custom_bwd is_autocast_enabled set_autocast_enabled is_autocast_available get_interface_for_device is_big_gpu
    """.split()
)
"""Functions whose device argument is a bare type (torch/amp/autocast_mode.py, torch/distributed/device_mesh.py)."""
PER_RANK = re.compile(r"rank:[\d?]+/\w+:[\d?]+")
"""The placement of a shard: the device of one process (torch/distributed/remote_device.py)."""
DEVICE_MODULE = "torch.get_device_module(device)"
VENDOR_RESULTS = ("get_device_properties", "get_device_name", "get_arch_list")
"""What every device module has, with a result that only fits its own device."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What the code of one function can rely on."""

    catalog: Catalog
    settings: Settings
    with_accelerator: bool = True
    """It is reached only where there is an accelerator."""
    gone: tuple[Span, ...] = ()
    """Decorators and statements that go, whatever they name."""
    choices: tuple[tuple[Span, str], ...] = ()
    """Statements that choose a device, and the name that they bind (codemods.device_choices)."""
    questions: tuple[Question, ...] = ()
    """What it asks of the device: some parts of it are reached only where there is an accelerator."""


def newer_than(since: str, settings: Settings) -> bool:
    """Whether a name of torch ``since`` is missing in the oldest torch that is configured."""
    if not since or not settings.torch:
        return False
    return _version(since) > _version(settings.torch)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def split_device(device: str) -> tuple[tuple[str, ...], str]:
    """('cuda', 'cpu') and the index of 'cuda:1|cpu'; '?' for one that is computed."""
    types, index = [], ""
    for part in device.split("|"):
        kind, _, number = part.partition(":")
        types.append(kind)
        index = number or index
    return tuple(types), index


def spots_of(uses: Iterable[DeviceUse], ground: Ground) -> tuple[Spot, ...]:
    """The places that are rewritten among the uses of one function. Raises Blocked for what can neither stay nor go."""
    staying = (use for use in uses if not any(span.holds(use.span) for span in ground.gone))
    spots = (spot_of(use, _ground_at(use.span, ground)) for use in staying)
    return tuple(spot for spot in spots if spot is not None)


def _ground_at(span: Span, ground: Ground) -> Ground:
    return replace(ground, with_accelerator=True) if sheltered(span, ground.questions) else ground


def spot_of(use: DeviceUse, ground: Ground) -> Spot | None:
    """What becomes of one use, None where it stays. Raises Blocked."""
    types, index = split_device(use.device)
    if use.construct == "api":
        return api_spot(use, ground)
    if use.role == "backend" or use.construct == "backend":
        return _backend(use, ground)
    if use.role == "profiler" or use.construct in ("activity", "profiler_field"):
        return _profiler(use, ground)
    if ground.catalog.non_accelerators.issuperset(types):
        return None
    if PER_RANK.fullmatch(use.name) and types[0] in MEANT and use.role in ("placement", "comparison"):
        return Spot(use.span, "per_rank", use.name)
    if use.role == "placement":
        return _placement(use, types, index, ground)
    if use.role == "comparison":
        return _comparison(use, types, index, ground)
    reason, text = {
        "text": ("golden-text", "is part of a text that is looked for"),
        "fake": ("fake-mode", "is under a fake mode"),
        "key": ("unknown-use", "is a key"),
        "parametrization": (
            "loop" if use.context == "for" else "parametrized",
            "is one of several that the test runs with",
        ),
    }.get(use.role, ("unknown-use", "is used for something that cannot be told"))
    raise Blocked(reason, f"`{use.name}` {text}", use.span)


def _placement(use: DeviceUse, types: tuple[str, ...], index: str, ground: Ground) -> Spot | None:
    if not use.sure:
        raise Blocked(
            "unknown-use", f"`{use.name}` goes to {use.context or 'something'} that may not be a device", use.span
        )
    if use.name == "self.device_type" and "cpu" in types:
        return None  # What the set-up chose, the loader sets under the same name.
    if use.construct == "string" and use.name != use.device:
        raise Blocked("unknown-use", f"`{use.name}` names more than a device", use.span)
    others = [kind for kind in types if kind not in MEANT and kind not in ground.catalog.non_accelerators]
    if others:
        raise Blocked("unknown-use", f"`{use.name}` places on {others[0]}", use.span)
    if index not in ("", "0", "?"):
        raise Blocked("device-count", f"`{use.name}` is a further device", use.span)
    if use.construct == "method":
        return Spot(use.span, "move", use.name)
    if use.construct == "tensor_type":
        entry = ground.catalog.tensor_types.get(use.name)
        return Spot(
            use.span, "tensor_type", use.name, entry.dtype if entry is not None and entry.kind == "tensor" else ""
        )
    if use.construct == "fstring":
        return Spot(use.span, "prefix", types[0])
    if use.construct == "attribute" or use.construct == "bare_device":
        raise Blocked("comparison", f"`{use.name}` asks for the bare type", use.span)
    action = "type" if takes_type(use) else "value"
    return Spot(use.span, action, use.name, note="constant" if use.construct == "constant" else "")


def takes_type(use: DeviceUse) -> bool:
    """Whether a bare device type is asked for where the use stands."""
    callee, _, rest = use.context.partition("(")
    keyword = rest.rstrip(")= ")
    if keyword.endswith("type") or keyword == "use_device":
        return True
    if callee.rpartition(".")[2] in TAKES_TYPE:
        return True
    return use.via.rpartition(".")[2].endswith("_type") or use.context.rstrip("= ").endswith("_type")


def _comparison(use: DeviceUse, types: tuple[str, ...], index: str, ground: Ground) -> Spot:
    if use.construct == "attribute" and types[0] in MEANT and ground.with_accelerator:
        return Spot(use.span, "is_device", use.name)
    if use.construct == "fstring" and types[0] in MEANT:
        return Spot(use.span, "prefix", types[0], note="asserted")
    if use.construct == "string" and types[0] in MEANT and index == "0" and len(types) == 1:
        return Spot(use.span, "index", use.name)
    plain = use.construct in ("string", "constant") and types[0] in MEANT and len(types) == 1 and not index
    if not plain:
        raise Blocked("comparison", f"`{use.name}` is compared", use.span)
    return Spot(use.span, "compare", use.name, note="constant" if use.construct == "constant" else "")


def _profiler(use: DeviceUse, ground: Ground) -> Spot | None:
    entry = ground.catalog.profiler.get(use.name)
    if use.device == "cpu" or (entry is not None and entry.keep):
        return None
    if use.construct == "activity" and split_device(use.device)[0][0] in MEANT:
        return Spot(use.span, "activity", use.name)
    raise Blocked("vendor-api", f"`{use.name}` of the profiler is for {use.device}", use.span)


def _backend(use: DeviceUse, ground: Ground) -> Spot | None:
    entry = ground.catalog.collectives.get(use.name)
    if use.role == "fake" or (entry is not None and not entry.vendor):
        return None
    if (
        entry is not None
        and use.role == "backend"
        and use.construct == "backend"
        and entry.vendor == "cuda"
        and use.sure
    ):
        return Spot(use.span, "backend", use.name)
    default = _default_pair(use.name, ground) if use.role == "backend" else ""
    if default and not ground.with_accelerator:
        text = f"`{use.name}` would name the CPU twice where the test runs there"
        raise Blocked("raises-without-accelerator", text, use.span)
    if default:
        return Spot(use.span, "backend_map", use.name, note=default)
    raise Blocked("vendor-api", f"the back end `{use.name}` is what is asked for", use.span)


def _default_pair(text: str, ground: Ground) -> str:
    """``cuda:nccl`` of ``cpu:gloo,cuda:nccl``: all are defaults of their devices, and one is not the CPU's; else ''."""
    pairs = [(part, *part.partition(":")[::2]) for part in text.split(",")]
    collectives = ground.catalog.collectives
    if not all(name in collectives and device in collectives[name].default_for for _, device, name in pairs):
        return ""
    others = [part for part, device, _ in pairs if device != "cpu"]
    return others[0] if len(others) == 1 and len(pairs) == 2 and others[0].startswith(MEANT) else ""


# APIs of device modules


def api_spot(use: DeviceUse, ground: Ground) -> Spot | None:
    """The device-generic form of a name of a device module. Raises Blocked where there is none that is the same."""
    if use.role in ("text", "key", "fake"):
        raise Blocked("unknown-use", f"`{use.name}` is no call", use.span)
    entry = ground.catalog.find_api(use.name)
    if entry is None:
        raise Blocked("vendor-api", f"nothing is known of `{use.name}`", use.span)
    if entry.kind == "vendor_only":
        raise Blocked("vendor-api", f"`{use.name}` is there on {use.device} alone", use.span)
    if newer_than(entry.since, ground.settings):
        text = f"`{entry.replacement}` is there from torch {entry.since} on"
        raise Blocked("needs-newer-torch", text, use.span)
    if use.traced:
        raise Blocked("traced", f"`{use.name}` stands in code that is traced", use.span)
    if not ground.with_accelerator and (entry.raises_without_accelerator or entry.kind == "no_wrapper"):
        text = f"`{entry.replacement}` raises without an accelerator, and the test may run there"
        raise Blocked("raises-without-accelerator", text, use.span)
    return Spot(use.span, "api", use.name, _generic(entry, use), _note(entry))


def _generic(entry: DeviceApi, use: DeviceUse) -> str:
    last = entry.name.rpartition(".")[2]
    if entry.replacement.startswith(DEVICE_MODULE) or entry.replacement in ("torch.Stream", "torch.Event"):
        return entry.replacement
    if entry.kind in ("same", "renamed") and entry.drop_in:
        return entry.replacement
    if entry.replacement in ("torch.amp.autocast", "torch.amp.GradScaler", "torch.accelerator.current_stream"):
        return entry.replacement
    if entry.returns_differ:
        return entry.replacement
    raise Blocked("result-type", f"`{entry.replacement}` takes other arguments than `{last}`", use.span)


def _note(entry: DeviceApi) -> str:
    notes = []
    if entry.replacement.startswith(DEVICE_MODULE):
        notes.append("module")
    if entry.positional_only:
        notes.append("positional")
    if entry.name.rpartition(".")[2] in VENDOR_RESULTS:
        notes.append("unused")
    if entry.returns_differ and entry.replacement not in (
        "torch.Stream",
        "torch.Event",
        "torch.accelerator.current_stream",
    ):
        notes.append("unused")
    return " ".join(notes)
