"""Places that key on test names."""

from __future__ import annotations

from pathlib import Path

from codemods.name_keys import KeyedName, find_keyed
from codemods.neighbours import Neighbourhood
from codemods.pipeline import FileRun
from codemods.plan import Options
from codemods.registry import chosen
from hwlint.catalog import load_catalog
from hwlint.config import Settings
from hwlint.scan.module import scan_module
from hwlint.suite.link import link

SOURCE = """\
import torch
from torch.testing._internal.common_utils import TestCase
class PoolTest(TestCase):
    def test_pool(self):
        torch.xpu.x()
"""


def keyed(root: Path, others: dict[str, str], downstream: tuple[str, ...] = ()) -> list[KeyedName]:
    """What is found after ``PoolTest`` of test/test_pool.py is instantiated for XPU, with other files about."""
    files = {"test/test_pool.py": SOURCE, **others}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    catalog = load_catalog()
    modules = [scan_module(text.encode(), p, catalog) for p, text in files.items() if p.endswith(".py")]
    suite = link(modules, catalog)
    module = suite.modules["test/test_pool.py"]
    near = Neighbourhood(link([module], catalog), module.path)  # As a run on this file alone has it.
    options = Options(labels=(("PoolTest", "XPU"),))
    run = FileRun(near, Settings(), options, [c() for c in chosen(("class_for_device",))])
    outcome = run.run(SOURCE.encode(), module, near.link_with(module))
    assert outcome.changed, outcome.refusals
    return list(find_keyed(root, suite, [outcome], [root / d for d in downstream]))


NEW = "PoolTestXPU.test_pool_xpu"


def test_nothing_keys_on_it(tmp_path: Path) -> None:
    others = {
        "test/dynamo_skips/PoolTest.test_other": "",
        "test/dynamo_skips/OtherTest.test_pool": "",
        "test/slow_tests.json": '{"test_pool (__main__.OtherTest)": 1}',
    }
    assert keyed(tmp_path, others) == []


def test_files_named_after_a_test(tmp_path: Path) -> None:
    (found,) = keyed(tmp_path, {"test/dynamo_expected_failures/PoolTest.test_pool": ""})
    assert (found.path, found.place, found.becomes) == (
        "test/dynamo_expected_failures/PoolTest.test_pool",
        "dynamo_expected_failures",
        NEW,
    )


def test_lists_of_tests(tmp_path: Path) -> None:
    (found,) = keyed(
        tmp_path, {"test/slow_tests.json": '{\n "test_a (__main__.B)": 1,\n "test_pool (__main__.PoolTest)": 2\n}'}
    )
    assert (found.path, found.line, found.becomes) == ("test/slow_tests.json", 3, NEW)


def test_imports_of_a_class_that_is_gone(tmp_path: Path) -> None:
    (found,) = keyed(tmp_path, {"test/test_user.py": "from test_pool import PoolTest as P\n"})
    assert (found.path, found.place, found.becomes) == ("test/test_user.py", "imports", "PoolTestXPU")


def test_downstream_files(tmp_path: Path) -> None:
    others = {
        "vendor/skips.json": '{"other": ["test_pool (__main__.PoolTest)"]}',
        "vendor/deep/run.py": "import tests\ntests.PoolTest\n",
        "vendor/unrelated.txt": "MyPoolTest.test_pool2\n",
    }
    found = keyed(tmp_path, others, ("vendor",))
    assert {(Path(f.path).name, f.line, f.becomes) for f in found if f.place == "downstream"} == {
        ("skips.json", 1, NEW),
        ("run.py", 2, "PoolTestXPU"),
    }
