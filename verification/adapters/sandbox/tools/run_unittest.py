"""Runs unittest, or a script that does, over the work in this folder, and reports each test.

Called with `-m unittest` and its arguments, or with a script and its own. What is run has no say in
who reports: whoever asks unittest for its runner gets this one.
"""

import os
import re
import runpy
import sys
import time
import unittest
from pathlib import Path
from types import TracebackType
from typing import Any
from xml.etree import ElementTree

REPORT = os.environ["LV_REPORT"]
HERE = str(Path.cwd())
NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
cases: list[tuple[str, ElementTree.Element]] = []
is_stopped = False
"""Somebody stopped a run in which nothing had failed."""


def plain(text: object) -> str:
    return NOT_XML.sub("?", str(text))


def place(trace: TracebackType | None) -> dict[str, str]:
    """The innermost frame in a file of the work."""
    found: dict[str, str] = {}
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith(f"{HERE}/") and "site-packages" not in name:
            found = {"file": name, "line": str(trace.tb_lineno)}
        trace = trace.tb_next
    return found


class Result(unittest.TextTestResult):
    begun = 0.0

    def startTest(self, test: unittest.TestCase) -> None:
        super().startTest(test)
        self.begun = time.perf_counter()

    def note(self, test: unittest.TestCase, kind: str = "", told: str = "", **more: str) -> None:
        """A fixture that failed, and a module that could not be imported, are no tests."""
        full, blank, which = test.id().partition(" ")
        suite, _, name = full.rpartition(".")
        lasted = time.perf_counter() - self.begun if self.begun else 0.0
        named = {"name": plain(name + blank + which), "classname": plain(suite)}
        case = ElementTree.Element("testcase", {**named, "time": f"{lasted:.3f}", **more})
        if kind:
            ElementTree.SubElement(case, kind).text = plain(told)
        cases.append((kind, case))

    def blame(self, test: unittest.TestCase, kind: str, error: Any, around: Any = None) -> None:
        told = self._exc_info_to_string(error, around or test)  # type: ignore[attr-defined]
        self.note(test, kind, told, **place(error[2]))

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self.note(test)

    def addError(self, test: unittest.TestCase, err: Any) -> None:
        super().addError(test, err)
        self.blame(test, "error", err)

    def addFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addFailure(test, err)
        self.blame(test, "failure", err)

    def addSubTest(self, test: unittest.TestCase, subtest: unittest.TestCase, err: Any) -> None:
        super().addSubTest(test, subtest, err)
        if err is not None:
            kind = "failure" if issubclass(err[0], test.failureException) else "error"
            self.blame(subtest, kind, err, around=test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self.note(test, "skipped", reason)

    def addExpectedFailure(self, test: unittest.TestCase, err: Any) -> None:
        super().addExpectedFailure(test, err)
        self.note(test, "skipped", "It fails, as is expected.")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self.note(test, "failure", "It passed, which was not expected.")


class Runner(unittest.TextTestRunner):
    resultclass = Result  # type: ignore[assignment]

    def run(self, test: Any) -> Any:
        global is_stopped
        result = super().run(test)
        is_stopped = is_stopped or (result.shouldStop and result.wasSuccessful())
        write()
        return result


def write() -> None:
    kinds = [kind for kind, _ in cases]
    counted = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    numbers = {name: str(kinds.count(kind)) for name, kind in counted.items()}
    numbers |= {"name": "unittest", "tests": str(len(cases))}
    suite = ElementTree.Element("testsuite", numbers)
    suite.extend(case for _, case in cases)
    ElementTree.ElementTree(suite).write(REPORT, encoding="utf-8")


for module in (unittest, unittest.runner):
    vars(module)["TextTestRunner"] = Runner
code: Any = 0
try:
    if sys.argv[1:2] == ["-m"]:
        sys.path.insert(0, HERE)
        sys.argv[:] = ["python -m unittest", *sys.argv[3:]]
        unittest.main(module=None, testRunner=Runner)
    else:
        sys.argv.pop(0)
        sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
        runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as ended:
    code = ended.code
if not is_stopped:
    sys.stdout.write("\nloomverify: the test runner came to its end\n")
sys.stdout.flush()
# Of an exit code that the work chooses no more is told than that it did not end well.
sys.exit(code if code in (None, 0, 5) else 1)
