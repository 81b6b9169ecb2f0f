"""Runs one test file and writes down, as it happens, what became of each test.

Started as ``python -m hwlint_runner FILE --journal PATH``. The file is executed as ``__main__``, so that PyTorch's own
``common_utils.run_tests`` chooses the loader and applies ``--hw-classification``; only the last step,
``unittest.main``, is taken over. A file that does not start its tests that way is imported and loaded by name.

The results file holds one JSON object a line: ``{"event": "collected", "tests": [...]}``, then ``start`` and ``end``
per test, then ``done``. Each line is flushed at once, so that after a crash the last ``start`` names the test it was
in.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import importlib.util
import json
import os
import signal
import sys
import traceback
import types
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from . import identity, labels, reference

EXIT_TESTS_RAN = 0
EXIT_IMPORT_ERROR = 64
EXIT_NO_TORCH = 65
EXIT_OUT_OF_MEMORY = 66
EXIT_NO_BACKEND = 67
"""Exit statuses that only the runner gives; the orchestrator reads them. 64 and up: free of Python's and the shell's
own."""

DETAIL_LINES = 12


class Journal:
    """The results file: one JSON object a line, on disk before the next test starts."""

    def __init__(self, path: str) -> None:
        self._file: TextIO = open(path, "a", encoding="utf-8")
        self._pid = os.getpid()

    def write(self, event: str, **fields: Any) -> None:
        # A test that forks must not write its copy of the run into the parent's journal.
        if os.getpid() != self._pid:
            return
        self._file.write(json.dumps({"event": event, **fields}) + "\n")
        self._file.flush()


class StreamingResult(unittest.TestResult):
    """A unittest result that passes each outcome on to the journal."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        self._failed_subtest: dict[str, str] = {}
        self._ended: set[str] = set()

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self._journal.write("start", id=test.id())

    def _end(self, test: Any, outcome: str, detail: str = "") -> None:
        if isinstance(test, unittest.TestCase):
            if test.id() not in self._ended:
                self._ended.add(test.id())
                self._journal.write("end", id=test.id(), outcome=outcome, detail=detail)
        else:
            # setUpClass, setUpModule and their opposites: unittest names the fixture where a test should be.
            self._journal.write("fixture", name=str(test), outcome=outcome, detail=detail)

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._end(test, "passed")

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self._end(test, "failed", tail(err))

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self._end(test, "out of memory" if is_out_of_memory(err[1]) else "error", tail(err))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._end(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self._end(test, "expected failure")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._end(test, "unexpected success")

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._failed_subtest[test.id()] = tail(err)

    def stopTest(self, test: unittest.TestCase) -> None:
        super().stopTest(test)
        if test.id() in self._failed_subtest:
            self._end(test, "failed", self._failed_subtest[test.id()])


def tail(err: Any) -> str:
    """The exception in one line, the last calls of its traceback, and the start of its message.

    The end of a message is no use: torch's can be long, and end with a list of all dispatch keys.
    """
    kind, value, trace = err
    try:
        message = str(value).strip().splitlines()
    except Exception:  # an exception whose own __str__ fails must not end the run
        message = []
    calls = "".join(traceback.format_tb(trace)).splitlines()[-DETAIL_LINES:]
    head = f"{getattr(kind, '__name__', kind)}: {message[0] if message else ''}"
    return "\n".join([head, *calls, *message[1:DETAIL_LINES]])


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether Python, or torch's CPU allocator, reports that memory ran out."""
    text = str(error)
    return isinstance(error, MemoryError) or "not enough memory: you tried to allocate" in text


class Session:
    """Takes the place of ``unittest.main`` while the test file runs as ``__main__``."""

    def __init__(self, options: argparse.Namespace, journal: Journal) -> None:
        self.options = options
        self.journal = journal
        self.ran = False

    def main(self, *args: Any, **keywords: Any) -> Any:
        """What ``unittest.main`` would have done with its loader, on the module that runs as ``__main__``."""
        self.run(sys.modules["__main__"], keywords.get("testLoader") or unittest.defaultTestLoader)
        return types.SimpleNamespace(result=unittest.TestResult())

    def run(self, module: types.ModuleType, loader: Any) -> None:
        self.ran = True
        cases = list(identity.iterate(loader.loadTestsFromModule(module)))
        if self.options.only:
            wanted = set(Path(self.options.only).read_text(encoding="utf-8").split("\n"))
            cases = [case for case in cases if case.id() in wanted]
        self.journal.write("collected", tests=[identity.describe(case) for case in cases])
        if self.options.labels:
            labels.write_selections(module, self.journal)
        if not self.options.collect_only:
            unittest.TestSuite(cases).run(StreamingResult(self.journal))
        self.journal.write("done")


def execute_as_main(file: Path, main_module: types.ModuleType) -> None:
    main_module.__file__ = str(file)
    main_module.__dict__["__builtins__"] = __builtins__
    code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
    exec(code, main_module.__dict__)


def run_unittest(file: Path, session: Session) -> int:
    """Run the file as ``python file.py`` would, with ``unittest.main`` taken over. Returns an exit status."""
    main_module = sys.modules["__main__"]
    original_main = unittest.main
    unittest.main = session.main  # type: ignore[assignment]
    try:
        execute_as_main(file, main_module)
    except SystemExit as exit_:
        # run_tests ends with sys.exit in some of its ways out; before any test ran it is a refusal.
        if not session.ran and exit_.code not in (None, 0):
            session.journal.write("import error", detail=f"the file ended with exit status {exit_.code}")
            return EXIT_IMPORT_ERROR
    except BaseException as error:
        if session.ran:
            raise
        # Some files refuse to be run directly but may be imported; their tests are then found by name.
        if not isinstance(error, RuntimeError) or not load_by_name(file, session):
            session.journal.write("import error", detail=tail(sys.exc_info()))
            return EXIT_OUT_OF_MEMORY if is_out_of_memory(error) else EXIT_IMPORT_ERROR
    finally:
        unittest.main = original_main
    if not session.ran:
        session.main()
    return EXIT_TESTS_RAN


def load_by_name(file: Path, session: Session) -> bool:
    """Import the file under its own name and run what the loader finds. Returns whether it could be imported."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        return False
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except Exception:
        return False
    session.run(module, unittest.defaultTestLoader)
    return True


def run_pytest(file: Path, options: argparse.Namespace, journal: Journal) -> int:
    """Run the file under pytest with a plugin that writes the same journal. Returns an exit status."""
    from . import pytest_plugin

    return pytest_plugin.run(file, options, journal)


def load_backend(options: argparse.Namespace) -> str:
    """Register the device under test; returns its device type, as torch spells it.

    Raises LookupError for a device type that PyTorch's test framework does not offer here: it would select no test at
    all.
    """
    if options.device == "reference":
        return reference.register(options.reference_package)
    if options.backend_module:
        importlib.import_module(options.backend_module)
    torch = importlib.import_module("torch")
    common_device_type = importlib.import_module("torch.testing._internal.common_device_type")
    offered = {base.device_type for base in common_device_type.device_type_test_bases}
    if "privateuse1" in offered:
        offered = offered - {"privateuse1"} | {torch._C._get_privateuse1_backend_name()}
    if options.device not in offered | {"mps", "xpu"}:
        raise LookupError(f"device {options.device!r} is not available here; there are: {', '.join(sorted(offered))}")
    return str(options.device)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="hwlint_runner")
    parser.add_argument("file")
    parser.add_argument("--journal", required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--backend-module")
    parser.add_argument("--reference-package", default="")
    parser.add_argument("--runner", choices=("unittest", "pytest"), default="unittest")
    parser.add_argument("--hw-classification", help="hand this label on to the test file's own command line")
    parser.add_argument("--labels", action="store_true", help="also write down what each label selects")
    parser.add_argument("--collect-only", action="store_true")
    parser.add_argument("--only", help="a file with one test ID a line; the others are not run")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one file as the options say. Returns the exit status, which tells the kind of ending apart."""
    options = parse(arguments)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1)  # how the orchestrator asks where a run hangs
    file = Path(options.file).resolve()
    journal = Journal(options.journal)

    # torch's common_utils keeps a reference to ``__main__`` from its import on, so the module that will hold the test
    # file must be in place before torch is imported.
    runner_module = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    sys.modules["hwlint_runner_main"] = runner_module
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    if options.device == "reference":
        os.environ[reference.PACKAGE_VARIABLE] = options.reference_package
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        journal.write("no torch", detail=tail(sys.exc_info()))
        return EXIT_NO_TORCH
    try:
        device_type = load_backend(options)
    except Exception:
        journal.write("no backend", detail=tail(sys.exc_info()))
        return EXIT_NO_BACKEND
    os.environ["PYTORCH_TESTING_DEVICE_ONLY_FOR"] = device_type
    stand_in = labels.stand_in()
    journal.write("started", torch=str(torch.__version__), device_type=device_type, stand_in=stand_in)
    if options.runner == "pytest":
        return run_pytest(file, options, journal)
    if options.hw_classification:
        sys.argv += ["--hw-classification", options.hw_classification]
    session = Session(options, journal)
    return run_unittest(file, session)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Threads and atexit handlers that a test left behind must not hold up or change the verdict on its run.
    os._exit(status)
