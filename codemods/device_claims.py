"""Words by which a test says something about one vendor's numerics, kernels or libraries: it stays where it is.

What reviewers keep CUDA-specific: NaN propagation, rounding, determinism, precision modes, names of kernels and
libraries, allocator and driver errors.
"""

from __future__ import annotations

import ast
import re

from codemods.device_values import Blocked
from codemods.edit import FunctionNode

WORDS = """
    determinis rounding tf32 cudnn cublas cusolver cusparse cufft cudart cutlass magma nvrtc nvfuser nccl nvtx jiterator
    kineto cupti kernel_?names? out.of.memory cuda.error cuda_version device-side launch_?bounds warp_?size
    fp16_accumulation reduced_precision sm_?\\d\\d _SymmetricMemory philox memory_allocated memory_reserved memory_stats
    get_device_capability get_device_properties multi_processor_count
""".split()
CLAIM = re.compile(
    r"CUDA[A-Z][a-z]|(?i:(?:^|[^a-z])(?:is_?)?(?:nans?|ulps?|ptx|sass)(?:$|[^a-z])|" + "|".join(WORDS) + ")"
)
PROFILED = re.compile(r"(?i)cuda|kernel|gpu|stream")
"""In a test that profiles: names of runtime events, kernels and streams."""


VENDOR_MEMBERS = frozenset(
    """cuda_stream cuda_event sycl_queue sycl_event ipc_handle from_ipc_handle priority_range raw_cuda_graph
    __cuda_array_interface__ enable_debug_mode debug_dump""".split()
)
"""Members of CUDA's and XPU's own streams, events, graphs and tensors that the device-generic classes lack
(torch/cuda/streams.py, torch/xpu/streams.py, torch/cuda/graphs.py).
"""


def check_members(node: FunctionNode) -> None:
    """Raise Blocked where the function uses such a member, or passes a stream to ``__dlpack__``, whose numbers are
    CUDA's.
    """
    for child in (inner for statement in node.body for inner in ast.walk(statement)):
        if isinstance(child, ast.Attribute) and child.attr in VENDOR_MEMBERS:
            raise Blocked("vendor-api", f"`.{child.attr}` on line {child.lineno} is a member of one vendor's class")
        if isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute) and child.func.attr == "__dlpack__":
            if child.args or child.keywords:
                raise Blocked("device-claim", f"the stream that `__dlpack__` gets on line {child.lineno} is CUDA's")


def check_claims(node: FunctionNode) -> None:
    """Raise Blocked where the function's names, or texts that are no docstring, hold such a word, and as
    check_members.
    """
    check_members(node)
    docstring = (
        node.body[0].value
        if isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        else None
    )
    for child in (inner for statement in node.body for inner in ast.walk(statement)):
        text = ""
        if isinstance(child, ast.Name):
            text = child.id
        elif isinstance(child, ast.Attribute):
            text = child.attr
        elif isinstance(child, ast.keyword):
            text = child.arg or ""
        elif isinstance(child, ast.Constant) and isinstance(child.value, str) and child is not docstring:
            text = child.value
        if text and CLAIM.search(text):
            shown = text if len(text) <= 40 else f"{text[:37]}..."
            raise Blocked(
                "device-claim",
                f"`{shown}` on line {getattr(child, 'lineno', node.lineno)} is about one vendor's device",
            )
    if CLAIM.search(node.name):
        raise Blocked("device-claim", f"`{node.name}` is about one vendor's device")


def check_profiled(node: FunctionNode) -> None:
    """Raise Blocked where a test that profiles looks for CUDA's own events: a text in an assertion that names them."""
    for claim in (inner for statement in node.body for inner in ast.walk(statement) if _is_assertion(inner)):
        for child in ast.walk(claim):
            if isinstance(child, ast.Constant) and isinstance(child.value, str) and PROFILED.search(child.value):
                raise Blocked(
                    "device-claim", f"{child.value[:40]!r} on line {child.lineno} is an event of one vendor's runtime"
                )


def _is_assertion(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = (
            node.func.attr
            if isinstance(node.func, ast.Attribute)
            else node.func.id
            if isinstance(node.func, ast.Name)
            else ""
        )
        return name.startswith(("assert", "check"))
    return isinstance(node, (ast.Compare, ast.Assert))
