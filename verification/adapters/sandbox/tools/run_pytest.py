"""Runs pytest of the tools, not of what the work installed, over the work in this folder."""

import sys
from pathlib import Path

TOOLS = [str(one) for one in Path("/opt/loomverify/python/lib").glob("python3*/site-packages")]
sys.path[:0] = TOOLS
import pytest  # noqa: E402

# From here on the work's own dependencies come first.
for folder in TOOLS:
    sys.path.remove(folder)
    sys.path.append(folder)
sys.path.insert(0, str(Path.cwd()))
code = pytest.main(sys.argv[1:])
sys.stdout.write("\nloomverify: the test runner came to its end\n")
sys.stdout.flush()
sys.exit(int(code))
