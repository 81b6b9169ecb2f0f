"""The codemods that rewrite bodies on every layout of test_adversarial: rewritten rightly or refused with a reason."""

from __future__ import annotations

import pytest

from tests.codemods.device_samples import DEVICE_SAMPLES
from tests.codemods.harness import check_invariants, migrate
from tests.codemods.test_adversarial import LAYOUTS, Layout

NAMES = [name for name in DEVICE_SAMPLES if name != "split_class"]


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_rewritten_or_refused(name: str, layout: Layout) -> None:
    outcome = migrate(layout(DEVICE_SAMPLES[name]), name, unsafe=True)
    check_invariants(outcome, name, unsafe=True)
    assert any(c.codemod == name for c in outcome.changes) or outcome.refusals, "neither a change nor a reason"


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_sample_is_changed(name: str) -> None:
    outcome = migrate(DEVICE_SAMPLES[name], name, unsafe=True)
    assert any(c.codemod == name for c in outcome.changes), outcome.refusals


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_all_codemods_together(name: str, layout: Layout) -> None:
    check_invariants(migrate(layout(DEVICE_SAMPLES[name]), unsafe=True), unsafe=True)
