"""Runs pytest of the tools, not of what the work installed, over the work in this folder.

`--lines FILE` before all other arguments: write there, too, which lines of the work were run.
"""

import os
import sys
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

    measuring = coverage.Coverage(data_file=None, config_file=False, source=["."], messages=False)
    lines, arguments = arguments[1], arguments[2:]
# From here on the work's own dependencies come first.
for folder in TOOLS:
    sys.path.remove(folder)
    sys.path.append(folder)
sys.path.insert(0, str(Path.cwd()))
if measuring:
    measuring.start()
code = pytest.main(arguments)
if measuring:
    measuring.stop()
    try:
        measuring.json_report(outfile=lines, ignore_errors=True)
    except coverage.CoverageException as error:
        sys.stderr.write(f"loomverify: the lines that were run are not known: {error}\n")
sys.stdout.write("\nloomverify: the test runner came to its end\n")
sys.stdout.flush()
sys.exit(int(code))
