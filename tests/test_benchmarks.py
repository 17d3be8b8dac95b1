from __future__ import annotations

import subprocess
import sys


def test_the_benchmarks_start_without_a_project_of_their_own() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import tests.benchmarks.__main__"], capture_output=True, env={}
    )

    assert (ended.returncode, ended.stderr) == (0, b"")
