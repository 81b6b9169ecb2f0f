"""What becomes of a value in a place: which argument of which call asks for a device, compares one, or only shows text.

The callee tables name functions of torch (torch/_tensor.py, torch/amp, torch/distributed, torch/library.py,
torch/testing), of unittest and of the standard library by the last part of their name.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from hwlint.scan.facts import Role


class Place(NamedTuple):
    """Where a value goes."""

    role: Role | Literal["ignored"]
    context: str = ""
    sure: bool = True
    local: str = ""
    """The local name it is bound to: the role is that of the name's uses."""
    program: bool = False
    """Text that is run."""


UNKNOWN = Place("unknown", "", False)
IGNORED = Place("ignored")

DEVICE_NAME = re.compile(
    r"(?i)(?:^|_)(?:devices?|dev|map_locations?|gpu_types?)(?:_?(?:types?|name|str|list|obj|strings?)|_?\d+)?_?$"
)
"""A name that holds a device or several: device, map_location, target_device, device_type, DEVICES, dev0."""

BACKEND_NAME = re.compile(r"(?i)(?:^|_)(?:backends?|backend_name|backend_str)$")

ALL = (0, 1, 2, 3)
METHODS = {
    "to": ALL,
    "build_stage": (1,),
    "type": (0,),
    "sample_inputs": (0,),
    "reference_inputs": (0,),
    "error_inputs": (0,),
    "pin_memory": (0,),
    "is_pinned": (0,),
    "to_device": ALL,
    "move_to_device": ALL,
    "set_device": (0,),
}
"""Methods, whatever they are called on, and the positions of a device among their arguments."""

TORCH = {
    "autocast": (0,),
    "GradScaler": (0,),
    "Generator": (0,),
    "Stream": (0,),
    "Event": (0,),
    "stream": (0,),
    "get_device_module": (0,),
    "set_default_device": (0,),
    "set_device_index": (0,),
    "set_device_idx": (0,),
    "device_index": (0,),
    "current_stream": (0,),
    "default_stream": (0,),
    "synchronize": (0,),
    "get_autocast_dtype": (0,),
    "set_autocast_dtype": (0,),
    "set_autocast_enabled": (0,),
    "is_autocast_enabled": (0,),
    "is_autocast_available": (0,),
    "init_device_mesh": (0,),
    "DeviceMesh": (0,),
    "from_group": (1,),
    "load": (1,),
    "get_interface_for_device": (0,),
    "get_default_backend_for_device": (0,),
    "get_device_properties": (0,),
    "get_device_name": (0,),
    "get_device_capability": (0,),
    "memory_allocated": (0,),
    "max_memory_allocated": (0,),
    "memory_reserved": (0,),
    "max_memory_reserved": (0,),
    "memory_stats": (0,),
    "mem_get_info": (0,),
    "reset_peak_memory_stats": (0,),
    "reset_max_memory_allocated": (0,),
    "get_rng_state": (0,),
    "set_rng_state": (1,),
    "set_default_tensor_type": (0,),
    "device_put": (1,),
    "PipelineStage": (3,),
    "rand_strided": (3,),
    "_remote_device": (0,),
    "DevicePlacementSpec": (0,),
    "ChunkShardingSpec": (1,),
    "ShardMetadata": (2,),
    "FixedLayout": (0,),
    "FlexibleLayout": (0,),
    "RemoteModule": (0,),
    "MLPModule": (0,),
    "MLPStacked": (0,),
    "gather": (1,),
    "is_big_gpu": (0,),
    "move_to": ALL,
    "UntypedStorage": (1,),
    "_get_device_index": (0,),
}
"""Functions and classes of torch, and the positions of a device among their arguments."""

BACKEND_POSITIONS = {"init_process_group": (0,), "new_group": (2,)}

KEY_CALLS = frozenset(
    """impl register_kernel register_autocast Library fallback fallthrough fallthrough_kernel py_impl custom_op
    get_all_math_dtypes rename_privateuse1_backend _register_device_module register_backend_for_device
    register_device_op_overrides register_interface_for_device register_backend
    ExcludeDispatchKeyGuard _IncludeDispatchKeyGuard ForceDispatchKeyGuard DispatchKeySet DispatchKey dispatch
    has_kernel_for_dispatch_key has_kernel_for_any_dispatch_key
    """.split()
)
"""Registration: the string is the name under which something is filed."""

COMPARISONS = frozenset(
    """assertEqual assertNotEqual assertEquals assertIs assertIsNot assertIn assertNotIn assertListEqual
    assertTupleEqual assertSetEqual assertDictEqual assertCountEqual assertSequenceEqual assertAlmostEqual
    startswith endswith assert_called_with assert_called_once_with assert_any_call isinstance issubclass
    assertIsInstance """.split()
)

TEXTS = frozenset(
    """assertExpected assertExpectedInline assertExpectedInlineMunged assertExpectedRaises assertExpectedRaisesInline
    assertExpectedJournal assertMultiLineEqual assertRegex assertNotRegex assertRegexpMatches assertRaisesRegex
    assertRaisesRegexp assertWarnsRegex assertWarnsOnceRegex assertRaisesRegexWithHighlight assertLogs check check_not
    check_count check_same check_next check_dag check_regex check_source_highlighted FileCheck count find rfind index
    rindex replace split rsplit partition rpartition sub subn search match fullmatch finditer findall compile
    removeprefix removesuffix strip lstrip rstrip writelines write join parse_ir patch raises warns
    """.split()
)
"""Text that is looked for, written or cut."""

GOLDEN = frozenset(
    """assertExpected assertExpectedInline assertExpectedInlineMunged assertExpectedRaises assertExpectedRaisesInline
    assertExpectedJournal FileCheck check check_not check_count check_same check_next check_dag check_regex""".split()
)
"""Calls that hold output against a recorded text (expecttest, torch.testing.FileCheck)."""

PROGRAMS = frozenset(
    """exec eval runWithPytorchAPIUsageStderr Popen check_output check_call run_python run_process_no_exception
    CompilationUnit load_inline define dedent
    """.split()
)
"""Calls whose text is run as code, or (dedent) written as such."""

SILENT = frozenset(
    """print debug info warning warn error critical exception log skipTest SkipTest skip skipIf skipUnless fail subTest
    record_function range_push mark getLogger hasattr delattr setattr getattr setenv add_argument
    instantiate_device_type_tests instantiate_parametrized_tests DecorateInfo largeTensorTest record_property format_exc
    isEnabledFor namedtuple TypeVar annotate """.split()
)
"""Text for people, labels, and names of attributes."""
EXPECTATIONS = re.compile(r"(?i)fail|skip|toler|decorate|^tol\d?$|supported_dtypes|^unsupported")
"""Entries of tables that say which test is expected to fail where (functorch's xfail, skip, decorate)."""
FILTER_NAME = re.compile(r"(?i)(?:only|except)_for$|allowed_|supported_|unsupported_|_failures?$|_skips?$")
"""Names of lists that filter devices."""
SILENT_NAME = re.compile(r"(?:Error|Exception|Warning|Skip)$")

CONTAINERS = frozenset(
    """list tuple set frozenset sorted reversed iter enumerate zip product chain permutations combinations
    combinations_with_replacement subtest deepcopy copy str repr cast lower upper sampled_from zip_longest islice
    cycle repeat param strip""".split()
)
"""Calls that hand on what they are given."""

CONDITIONAL = {
    "skipIf": False,
    "skipif": False,
    "skip_but_pass_in_sandcastle_if": False,
    "skipUnless": True,
    "xfailIf": False,
}
"""Skip decorators whose first argument is a condition -> whether the test runs where it is true."""

PARAMETRIZE = frozenset("parametrize parametrize_test expand sampled_from parameterized_class".split())

PROFILERS = frozenset("profile emit_nvtx emit_itt enable_profiler Timer profiler _KinetoProfile".split())

FAKE_CALLS = frozenset("FakeTensor from_meta_and_device FakeTensorMode".split())
FAKE_CONTEXTS = frozenset("FakeTensorMode FakeCopyMode CrossRefFakeMode ".split())
FAKE_NAME = re.compile(r"(?i)(?:^|_)fake_?(?:tensor_?)?mode$|^fake_mode")

TRACERS = re.compile(
    r"(?:torch\.)?(?:compile|jit\.(?:trace|script|trace_module|freeze)|_dynamo\.(?:optimize|optimize_assert|export|explain)"
    r"|export\.(?:export|export_for_training|export_for_inference)|_export\.\w*export\w*|fx\.symbolic_trace"
    r"|fx\.experimental\.proxy_tensor\.make_fx|make_fx|symbolic_trace|aot_function|aot_module|aot_module_simplified"
    r"|_functorch\.\w+\.aot_\w+|functorch\.(?:compile\.)?(?:make_fx|aot_\w+)|_inductor\.aot_compile|jit\.script_method"
    r"|_inductor\.compile|_dynamo\.testing\.(?:same_)?optimize\w*)\Z"
)
"""Qualified names of what traces or compiles the function it is given."""

ENVIRONMENT = frozenset("get setdefault pop getenv getattr".split())
"""``d.get("device", "cuda")``: the first argument is a key, the next its default."""


def by_name(name: str, context: str) -> Place:
    """The place that a name of its own tells: of a parameter, a keyword, an attribute, a key."""
    if FILTER_NAME.search(name):
        return Place("key", context)
    if DEVICE_NAME.search(name):
        return Place("placement", context)
    if BACKEND_NAME.search(name):
        return Place("backend", context)
    return UNKNOWN


def constructed(place: Place, context: str) -> Place:
    """The place of ``torch.device``'s argument: that of the device itself, a placement where that is not known."""
    if place.role == "unknown":
        return Place("placement", context, True, place.local)
    return place


def argument_place(qualified: str, last: str, written: str, position: int, first_text: str, place: Place) -> Place:
    """Where positional argument ``position`` of a call goes.

    ``qualified`` is the callee's dotted name ('' for none), ``last`` its last part, ``written`` a short form of it for
    reports; ``first_text`` is the first argument where that is a string; ``place`` is that of the call's own value.
    """
    context = f"{written}()"
    torch_name = qualified.startswith(("torch", "functorch"))
    positions = TORCH.get(last) if torch_name else None
    if positions is None and qualified != last:
        positions = METHODS.get(last)
    if positions is not None and position in positions:
        return Place("placement", context)
    if torch_name and last == "device":
        return constructed(place, context) if position == 0 else IGNORED
    if last in CONTAINERS:
        return place
    if last in COMPARISONS:
        return Place("comparison", context) if position < 2 else IGNORED
    if last in PROGRAMS or (last in ("run", "call", "compile") and qualified.startswith(("subprocess", "compile"))):
        return Place("text", context, program=True)
    if last in PARAMETRIZE:
        return Place("parametrization", context)
    if last in ENVIRONMENT and position:
        return by_name(first_text, f"{written}({first_text!r})")
    if last in ENVIRONMENT:
        return Place("key", context, False) if last in ("get", "setdefault", "pop") else IGNORED
    if last in SILENT or SILENT_NAME.search(last):
        return IGNORED
    if EXPECTATIONS.search(last):
        return Place("key", context)
    if last in BACKEND_POSITIONS:
        return Place("backend", context) if position in BACKEND_POSITIONS[last] else UNKNOWN
    if last in KEY_CALLS or last.startswith("_dispatch_"):
        return Place("key", context)
    if last in TEXTS:
        return Place("text", context)
    if last in FAKE_CALLS:
        return Place("fake", context)
    if last == "is_backend_available":
        return Place("comparison", context)
    return Place("unknown", context, False)


def keyword_place(last: str, written: str, keyword: str, place: Place) -> Place:
    """Where keyword argument ``keyword`` of a call goes."""
    context = f"{written}({keyword}=)"
    if last in KEY_CALLS:
        return Place("key", context)
    if last in FAKE_CALLS:
        return Place("fake", context)
    if last in SILENT or SILENT_NAME.search(last):
        return IGNORED
    if EXPECTATIONS.search(last):
        return Place("key", context)
    if last == "device" and keyword in ("type", "device"):
        return constructed(place, context)
    if last in PROFILERS and keyword.startswith("use_"):
        return Place("profiler", context)
    if keyword in ("msg", "reason", "message", "name", "name_fn", "help", "desc", "description", "label"):
        return IGNORED
    if keyword in ("match", "expected_regex", "regex", "expected"):
        return Place("text", context)
    if keyword in ("placement", "placements"):
        return Place("placement", context)
    found = by_name(keyword, context)
    if found is not UNKNOWN:
        return found
    if last in CONTAINERS or last in PARAMETRIZE:
        return place if last in CONTAINERS else Place("parametrization", context)
    return Place("unknown", context, False)
