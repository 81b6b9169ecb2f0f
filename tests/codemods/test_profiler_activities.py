"""profiler_activities: golden pairs, and what is refused."""

from __future__ import annotations

from tests.codemods.harness import check_invariants, migrate, reasons

NAME = "profiler_activities"
SOURCE = """\
import torch
from torch.profiler import profile, ProfilerActivity
from torch.testing._internal.common_device_type import instantiate_device_type_tests, onlyAccelerator
from torch.testing._internal.common_utils import TestCase


class T(TestCase):
    @onlyAccelerator
    def test_t(self, device):
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:  # both
            torch.ones(2, device=device)
        p.key_averages().table(sort_by="self_cuda_time_total")


instantiate_device_type_tests(T, globals())
"""


def test_the_activity_of_the_device() -> None:
    outcome = migrate(SOURCE, NAME)
    check_invariants(outcome, NAME)
    generic = "getattr(ProfilerActivity, torch.device(device).type.upper(), ProfilerActivity.PrivateUse1)"
    assert outcome.after.decode() == SOURCE.replace("ProfilerActivity.CUDA", generic)


def test_a_test_about_cuda_events_stays() -> None:
    line = '        self.assertIn("cudaLaunchKernel", [e.name for e in p.events()])\n'
    source = SOURCE.replace("\n\n\ninstantiate", f"\n{line}\n\ninstantiate")
    outcome = migrate(source, NAME)
    assert not outcome.changed
    assert reasons(outcome)["T.test_t"] == "device-claim"


def test_an_activity_that_is_compared_stays() -> None:
    source = SOURCE.replace("activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]", "activities=None").replace(
        "        p.key", "        if ProfilerActivity.CUDA in p.activities:\n            pass\n        p.key"
    )
    outcome = migrate(source, NAME)
    assert not outcome.changed


def test_a_test_that_runs_on_the_cpu_too_is_unsafe() -> None:
    outcome = migrate(SOURCE.replace("    @onlyAccelerator\n", ""), NAME)
    assert not outcome.changed
    assert len(outcome.held) == 1
