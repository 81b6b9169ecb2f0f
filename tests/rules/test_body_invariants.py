"""What holds of the rules about bodies whatever the source: made-up modules from small pieces."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from hwlint.findings import Finding
from tests.support import check, source

FAMILIES = ("devices", "profiler", "device_apis", "gates", "distributed", "classification")
STATEMENTS = (
    'torch.ones(1, device="{d}")',
    'torch.ones(1, device="{d}:1")',
    "torch.ones(1).{d}()",
    "torch.{d}.synchronize()",
    "torch.{d}.empty_cache()",
    "torch.{d}.manual_seed_all(0)",
    "torch.{d}.Stream()",
    'if device == "{d}":\n            pass',
    'if not torch.{d}.is_available():\n            self.skipTest("no")',
    "self.assertIn(\"device='{d}:0'\", str(x))",
    "torch.ones(1, device=DEVICE)",
    "helper()",
)
LABELS = ("", "GENERIC", "ACCELERATOR", "CPU", "CUDA", "XPU", "MPS")
DEVICES = ("cuda", "xpu")


@st.composite
def modules(draw: st.DrawFn, labels: tuple[str, ...] = LABELS, devices: tuple[str, ...] = DEVICES) -> str:
    device = st.sampled_from(devices)
    body = draw(st.sampled_from(STATEMENTS[:7])).format(d=draw(device))
    text = f'\nDEVICE = "{draw(device)}"\n\ndef helper():\n    {body}\n\n'
    for at in range(draw(st.integers(1, 3))):
        label = draw(st.sampled_from(labels))
        text += f"class Test{at}(TestCase):\n"
        text += f"    hw_classification = HardwareClassification.{label}\n\n" if label else ""
        for test in range(draw(st.integers(1, 3))):
            text += draw(
                st.sampled_from(("", "    @onlyCUDA\n", '    @unittest.skipIf(not torch.cuda.is_available(), "")\n'))
            )
            body = draw(st.lists(st.sampled_from(STATEMENTS), min_size=1, max_size=5))
            text += f"    def test_{test}(self, device):\n"
            text += "".join(f"        {line.format(d=draw(device))}\n" for line in body) + "\n"
        only = draw(st.sampled_from(("", ', only_for="cuda"', ', only_for=("cuda", "xpu"), allow_xpu=True')))
        if draw(st.booleans()):
            text += f"instantiate_device_type_tests(Test{at}, globals(){only})\n"
        text += "\n"
    return text


def all_findings(text: str) -> list[Finding]:
    return [finding for family in FAMILIES for finding in check(family, text)]


@settings(max_examples=60, deadline=None)
@given(modules())
def test_findings_stand_in_the_file_and_are_told_apart(text: str) -> None:
    lines = source(text).split("\n")
    found = all_findings(text)
    assert len({f.fingerprint for f in found}) == len(found)
    for finding in found:
        for span in (finding.span, *(r.span for r in finding.related)):
            assert (1, 0) <= span[:2] <= span[2:] <= (len(lines), max(map(len, lines)))
        assert finding.span not in [r.span for r in finding.related]
        if finding.fix is not None and finding.fix.replacement is not None:
            assert finding.fix.span is not None
            assert finding.fix.applicability != "none"


@settings(max_examples=40, deadline=None)
@given(modules())
def test_the_same_source_gives_the_same_findings(text: str) -> None:
    assert all_findings(text) == all_findings(text)


@settings(max_examples=40, deadline=None)
@given(modules(labels=("CUDA",), devices=("cuda",)))
def test_nothing_binds_a_class_for_the_device_itself(text: str) -> None:
    """Only what is wrong on every device is left: the injected device taken for a bare type; and HW108 as a hint."""
    found = [f for f in all_findings(text) if f.severity != "info"]
    assert {f.code for f in found} <= {"HW205", "HW108"}
    assert all("never holds" in f.message for f in found if f.code == "HW205")


@settings(max_examples=40, deadline=None)
@given(modules(labels=("GENERIC",)))
def test_a_generic_class_that_places_is_contradicted(text: str) -> None:
    placed = {
        f.symbol.partition(".")[0] for f in check("devices.HW202", text) if f.severity == "error" and "." in f.symbol
    }
    assert placed <= {f.symbol for f in check("classification", text)}
