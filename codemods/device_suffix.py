"""A device at the end of a name, where the loader puts it as well: ``PoolTestXPU`` would become ``PoolTestXPUXPU``.

Without it the loader makes the old name of the new one (``PoolTest`` for xpu is ``PoolTestXPU``), and who knows the
test by that name still finds it, on hosts that have the device.
"""

from __future__ import annotations

import ast
import re

from codemods.device_class import members_of_module
from codemods.device_unread import callers
from codemods.plan import Context
from hwlint.suite.model import LinkedClass

BARE = ("", "test", "tests", "case", "testcase")
"""What says nothing as a name."""
OPEN = frozenset(
    "a an and as at by for from in into is like no non not of on or than the to versus via vs with without".split()
)
"""Words that need one behind them: what is left of ``test_copy_to_cpu`` is no name."""


def shortened(cls: LinkedClass, device: str) -> dict[str, str]:
    """The class and tests whose generated names would end in the device twice, with what they are called without it:
    the same where nothing would be left.
    """
    names = [cls.name] if cls.name.lower().endswith(device) else []
    names += (t.name for t in cls.own_tests if t.name.lower().endswith("_" + device))
    short = {name: name[: -len(device)].rstrip("_") for name in names}
    return {name: left if left.lower() not in BARE else name for name, left in short.items()}


def not_restored(cls: LinkedClass, device: str) -> str:
    """The first doubled name that the loader would not make again of the one without the device, '' for none."""
    for name, short in shortened(cls, device).items():
        made = short + device.upper() if name == cls.name else f"{short}_{device}"
        words = re.findall(r"[A-Z]+(?![a-z])|[A-Za-z][a-z0-9]*|[0-9]+", short)
        if short == name or made != name or not words or words[-1].lower() in OPEN:
            return name
    return ""


def collision(context: Context, cls: LinkedClass, device: str) -> str:
    """Which of the names without the device cannot be given, in words; '' for none."""
    file = context.source()
    renamed = {old: new for old, new in shortened(cls, device).items() if old != new}
    name = renamed.get(cls.name, cls.name)
    taken = {c.name for c in context.classes() if c is not cls}
    if name != cls.name:
        taken |= members_of_module(context) - {cls.name}
        if any(isinstance(node, ast.Name) for node in file.mentions.get(name, ())):
            return f"`{name}` is a name of the module"
    for wanted in (name, name + device.upper()):
        if wanted in taken:
            return f"there is a class {wanted} already"
    members = {m.name for owner in cls.mro for m in owner.facts.methods}
    members |= {attribute for owner in cls.mro for attribute, _ in owner.facts.attributes}
    for test in cls.own_tests:
        if test.name in renamed and (renamed[test.name] in members or any(callers(file, cls, test.name))):
            return f"{test.name} cannot be called {renamed[test.name]}"
    return next((f"`{old}` is part of a text" for old in renamed if _is_in_text(file.tree, old)), "")


def _is_in_text(tree: ast.Module, name: str) -> bool:
    word = re.compile(rf"\b{re.escape(name)}\b")
    texts = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return any(word.search(text) for text in texts)
