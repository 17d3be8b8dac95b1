"""Commands of a plan that a shell runs find pytest, where the work installs none."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from verification.engine.gating.given import WITH_PYTEST

TOOLS = "/opt/loomverify/python/lib/python3*/site-packages"
RUNNER = "import os, sys\nprint('of the tools', *sys.argv[1:], os.environ['PYTHONPATH'])\n"


def put(path: Path, content: str, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)


def said(folder: Path, command: str) -> str:
    """What the command writes where Python has no packages but the tools'."""
    for name in ("python", "python3"):
        put(folder / "bin" / name, f'#!/bin/sh\nexec {sys.executable} -S "$@"\n', 0o755)
    put(folder / "tools/pytest/__init__.py", "")
    put(folder / "tools/pytest/__main__.py", RUNNER)
    script = f"set -e\n{WITH_PYTEST.replace(TOOLS, str(folder / 'tools'))}\n{command}"
    environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return ended.stdout + ended.stderr


@pytest.mark.quick_rows(3)
@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("pytest a && echo well", ""),
        ("python -m pytest a && echo well", ""),
        ("PYTHONPATH=src pytest a", "src:"),
        ("PYTHONPATH=src python -m pytest a", "src:"),
        ("PYTHONPATH=src python3 -m pytest a", "src:"),
        ("export PYTHONPATH=src\npytest a", "src:"),
        ("export PYTHONPATH=src:$PYTHONPATH\npython -m pytest a", "src:"),
        ("unset PYTHONPATH\npython -m pytest a", ""),
        ("sh -c 'python -m pytest a'", ""),
    ],
)
def test_pytest_is_found_wherever_the_command_says_that_the_code_lies(
    tmp_path: Path, command: str, place: str
) -> None:
    first, *_ = said(tmp_path, command).splitlines()

    assert first.startswith(f"of the tools a {place}{tmp_path}/tools")


def test_pytest_of_the_work_is_not_replaced(tmp_path: Path) -> None:
    put(tmp_path / "pytest.py", "print('of the work')\n")

    assert "of the tools" not in said(tmp_path, "python3 -m pytest a")
