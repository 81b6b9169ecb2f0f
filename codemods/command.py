"""Each codemod as a LibCST codemod command: ``python -m libcst.tool codemod -x codemods.command.TagClass FILES``.

Such a command sees one file at a time; the modules that the file's classes hang on are read beside it.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import libcst as cst
from libcst.codemod import CodemodCommand, CodemodContext

from codemods.plan import Options
from codemods.run import migrate
from hwlint.config import load_settings
from hwlint.discover import Discovery, find_root


class HwlintCommand(CodemodCommand):
    """Runs one codemod, guarded as ``hwlint migrate`` does it; what is refused becomes a warning."""

    codemod: ClassVar[str] = ""

    def __init__(
        self, context: CodemodContext, unsafe: bool = False, confidence: str = "", label: list[str] | None = None
    ) -> None:
        super().__init__(context)
        pairs = (given.rpartition("=") for given in label or ())
        labels = tuple((name, wanted.upper()) for name, _, wanted in pairs)
        self.options = Options(only=(self.codemod,), unsafe=unsafe, split=True, labels=labels)
        self.confidence = confidence

    @staticmethod
    def add_args(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--unsafe", action="store_true", help="make unsafe changes too")
        parser.add_argument("--confidence", choices=("certain", "likely"), help="how sure a label must be")
        parser.add_argument("--label", action="append", metavar="CLASS=LABEL", help="the label of a class")

    def transform_module_impl(self, tree: cst.Module) -> cst.Module:
        """The module after the codemod. Raises RuntimeError for an internal error."""
        file = Path(self.context.filename or "test_module.py").absolute()
        root = find_root([file] if file.exists() else [])
        path = file.relative_to(root).as_posix() if file.is_relative_to(root) else file.name
        settings = load_settings(root)
        if self.confidence:
            settings = replace(settings, migrate=replace(settings.migrate, confidence=self.confidence))  # type: ignore[arg-type]
        found = migrate(settings, Discovery(root, (path,)), self.options, jobs=1, overlay={path: tree.bytes})
        (outcome,) = found.outcomes
        if outcome.crash:
            raise RuntimeError(outcome.crash)
        for refusal in outcome.refusals:
            line = outcome.line_before(refusal.span.line)
            self.warn(f"line {line}: {refusal.symbol}: {refusal.text} [{refusal.reason}]")
        return cst.parse_module(outcome.after) if outcome.changed else tree


def _command(name: str) -> type[HwlintCommand]:
    from codemods.registry import chosen

    (codemod,) = chosen((name,))
    members = {"codemod": name, "DESCRIPTION": codemod.summary, "__module__": __name__, "__doc__": codemod.summary}
    return type(codemod.__name__, (HwlintCommand,), members)


TestBase = _command("test_base")
SuperCalls = _command("super_calls")
SplitClass = _command("split_class")
SplitDevices = _command("split_devices")
DeviceParameter = _command("device_parameter")
SkipGates = _command("skip_gates")
AcceleratorApi = _command("accelerator_api")
ProfilerActivities = _command("profiler_activities")
DistributedBackend = _command("distributed_backend")
ClassForDevice = _command("class_for_device")
ContractDevice = _command("contract_device")
TagClass = _command("tag_class")
TidyImports = _command("tidy_imports")
