"""Runs mypy of the tools, with the plugins that the work installed, over the work in this folder."""

import sys
from pathlib import Path

TOOLS = [str(one) for one in Path("/opt/loomverify/python/lib").glob("python3*/site-packages")]
sys.path[:0] = TOOLS
from mypy.__main__ import console_entry  # noqa: E402

# From here on the work's own dependencies come first: a plugin stands on them.
for folder in TOOLS:
    sys.path.remove(folder)
    sys.path.append(folder)
console_entry()
