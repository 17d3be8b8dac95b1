"""Runs pytest of the tools, not of what the work installed, over the work in this folder.

`--lines FILE` before all other arguments: write there, too, which lines of the work were run.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path

TOOLS = [str(one) for one in Path("/opt/loomverify/python/lib").glob("python3*/site-packages")]
sys.path[:0] = TOOLS
import pytest  # noqa: E402

arguments = sys.argv[1:]
measuring = None
if arguments[:1] == ["--lines"]:
    if sys.version_info >= (3, 12):
        os.environ.setdefault("COVERAGE_CORE", "sysmon")
    import coverage

    measuring = coverage.Coverage(
        data_file=None,
        config_file=False,
        source=["."],
        omit=[f"*/{one}/*" for one in ("node_modules", "site-packages", "venv", "vendor", ".*")],
        messages=False,
    )
    # Folders that are no packages hold code, too.
    measuring.set_option("report:include_namespace_packages", True)
    lines, arguments = arguments[1], arguments[2:]
# From here on the work's own dependencies come first.
for folder in TOOLS:
    sys.path.remove(folder)
    sys.path.append(folder)
sys.path.insert(0, str(Path.cwd()))


class Finished:
    """Which of the tests that were to be run came to their end: work may stop pytest early."""

    def __init__(self) -> None:
        self.wanted: set[str] | None = None
        self.ended: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        is_run = not session.config.option.collectonly
        self.wanted = {one.nodeid for one in session.items} if is_run else set()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Of workers, which find the tests in place of this process."""
        self.wanted = {*(self.wanted or ()), *ids}

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.ended.add(nodeid)

    @property
    def is_whole(self) -> bool:
        return self.wanted is not None and self.wanted <= self.ended


finished = Finished()
if measuring:
    measuring.start()
code = pytest.main(arguments, plugins=[finished])
if measuring:
    measuring.stop()
    # As `coverage json` tells it, and no more than is read of it.
    found = {}
    for path in measuring.get_data().measured_files():
        with suppress(coverage.CoverageException):
            of_file = measuring.analysis2(path)
            ran = sorted({*of_file[1]} - {*of_file[3]})
            found[path] = {"executed_lines": ran, "missing_lines": of_file[3]}
    Path(lines).write_text(json.dumps({"files": found}))
if finished.is_whole:
    sys.stdout.write("\nloomverify: the test runner came to its end\n")
sys.stdout.flush()
# Other codes are the work's choice, and would say that its tests could not be run.
sys.exit(int(code) if 0 <= code <= 5 else 1)
