"""HW401-HW407 and HW301-HW302: device modules and profiler names against their generic forms."""

from __future__ import annotations

import pytest

from hwlint.catalog import Backend, load_catalog
from hwlint.config import Settings
from hwlint.rules import device_apis, devices
from hwlint.rules.base import RuleContext
from hwlint.rules.device_apis import rule_for
from hwlint.scan.module import scan_module
from hwlint.suite import link
from tests.support import PATH, check, source

CALLS = [
    ("torch.cuda.synchronize()", "HW401", "error", "unsafe", "torch.accelerator.synchronize"),
    ("torch.cuda.set_device(0)", "HW402", "error", "shown", "torch.accelerator.set_device_index"),
    ("i = torch.cuda.current_device()", "HW402", "error", "unsafe", "torch.accelerator.current_device_index"),
    ("torch.cuda.empty_cache()", "HW403", "error", "unsafe", "torch.accelerator.empty_cache"),
    ("torch.cuda.mem_get_info()", "HW403", "error", "unsafe", "torch.accelerator.get_memory_info"),
    ("s = torch.cuda.Stream()", "HW404", "warning", "shown", None),
    ("torch.cuda.manual_seed_all(0)", "HW405", "warning", "shown", None),
    ("c = torch.cuda.get_device_capability()", "HW407", "warning", "none", None),
    ("n = torch.cuda.device_count()", "HW401", "warning", "shown", "torch.accelerator.device_count"),
]


def text_of(body: str, more: str = "") -> str:
    """A test with ``body`` in an instantiated class; ``more`` goes into the call."""
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    head = "\nclass A(TestCase):\n    def test_a(self, device):\n        torch.ones(1, device=device)\n"
    return f"{head}{lines}\ninstantiate_device_type_tests(A, globals(){more})\n"


@pytest.mark.parametrize(("call", "code", "severity", "applicability", "replacement"), CALLS)
def test_each_call_has_one_rule(
    call: str, code: str, severity: str, applicability: str, replacement: str | None
) -> None:
    (one,) = check("device_apis", text_of(call))
    assert (one.code, one.severity) == (code, severity)
    assert one.fix is not None
    assert (one.fix.applicability, one.fix.replacement) == (applicability, replacement)
    if replacement is not None and one.fix.span is not None:
        text = source(text_of(call)).split("\n")[one.fix.span.line - 1]
        assert text[one.fix.span.column : one.fix.span.end_column] in call


def test_a_newer_torch_is_said_and_nothing_offered() -> None:
    (one,) = check("device_apis", text_of("torch.cuda.empty_cache()"), Settings(torch="2.8"))
    assert one.fix is not None and one.fix.replacement is None and one.fix.applicability == "none"
    assert "from torch 2.9 on" in one.message
    (one,) = check("device_apis", text_of("torch.cuda.empty_cache()"), Settings(torch="2.9"))
    assert one.fix is not None and one.fix.replacement == "torch.accelerator.empty_cache"


def test_traced_streams_are_never_replaced() -> None:
    traced = """
class A(TestCase):
    def test_a(self, device):
        @torch.compile
        def f(x):
            s = torch.cuda.Stream()
            return x

        f(torch.ones(1, device=device))

instantiate_device_type_tests(A, globals())
"""
    (one,) = check("device_apis.HW404", traced)
    assert one.fix is not None and one.fix.applicability == "none" and "traced" in one.message


def test_one_finding_per_api_and_function() -> None:
    (one,) = check("device_apis", text_of("torch.cuda.synchronize()\ntorch.cuda.synchronize()"))
    assert len(one.related) == 1


def test_at_home_apis_are_right() -> None:
    assert check("device_apis", text_of("torch.cuda.synchronize()", ', only_for="cuda"')) == []
    (one,) = check("device_apis", text_of("torch.xpu.synchronize()", ', only_for="cuda"'))
    assert one.code == "HW401"


def test_vendor_only_api_needs_a_gate_or_a_class() -> None:
    text = text_of('torch.cuda.nvtx.range_push("x")')
    (one,) = check("device_apis", text)
    assert (one.code, one.severity) == ("HW406", "error")
    (one,) = check("device_apis", text.replace("    def test_a", "    @onlyCUDA\n    def test_a"))
    assert one.severity == "info"
    plain = text.replace(", device):", "):").partition("instantiate_device")[0]
    assert check("device_apis.HW406", plain.replace("device=device", "2")) == []


def test_settings_of_a_vendor_are_information() -> None:
    (one,) = check("device_apis.HW406", text_of("torch.backends.cudnn.benchmark = True\nx = torch.version.hip"))[:1]
    assert one.severity == "info"


def test_every_entry_of_the_catalog_belongs_to_one_rule() -> None:
    codes = {rule.code for rule in device_apis.RULES}
    assert {rule_for(entry) for entry in load_catalog().apis.values()} == codes


def test_a_configured_back_end_is_found_like_a_known_one() -> None:
    catalog = load_catalog((Backend("acme", module="torch.acme"),))
    text = source(text_of('torch.acme.synchronize()\ny = torch.ones(1, device="acme")\ny.acme()'))
    module = scan_module(text.encode(), PATH, catalog)
    context = RuleContext(module, link([module], catalog), catalog, Settings())
    found = [f.code for rule in (*device_apis.RULES, *devices.RULES) for f in rule().check(context)]
    assert sorted(found) == ["HW201", "HW202", "HW401"]


def test_profiler_names() -> None:
    body = "with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as p:\n    pass"
    (one,) = check("profiler", text_of(body))
    assert (one.code, one.severity) == ("HW301", "warning")
    (one,) = check("profiler", text_of('p.key_averages().table(sort_by="cuda_time_total")'))
    assert (one.code, one.severity) == ("HW302", "info") and "device_time_total" in one.message
    (one,) = check("profiler", text_of('torch.autograd.profiler.profile(use_device="cuda")'))
    assert (one.code, one.severity) == ("HW302", "warning")
    assert check("profiler", text_of('torch.profiler.ProfilerActivity.CPU\np.table(sort_by="cpu_time_total")')) == []
