"""Calls of functions that need Django, in a process of an installation."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.stack import Stack

_PROGRAM = """
import importlib, json, sys, django
django.setup()
module, name, arguments = sys.argv[1:]
print(json.dumps(getattr(importlib.import_module(module), name)(*json.loads(arguments))))
"""


def call_in_django(stack: Stack, module: str, name: str, *arguments: object) -> Any:
    """Call `module.name(*arguments)` with the installation's settings; return its JSON value.

    Arguments and result pass through JSON. What the process writes to its standard error comes
    to ours; its last line, which names the exception, is the message of the error raised here.
    """
    command = [sys.executable, "-c", _PROGRAM, module, name, json.dumps(arguments)]
    result = subprocess.run(
        command, env=stack.environment, check=False, capture_output=True, text=True
    )
    sys.stderr.write(result.stderr)
    if result.returncode:
        lines = result.stderr.splitlines() or [f"exit code {result.returncode}"]
        raise RuntimeError(f"in {module}.{name}: {lines[-1]}")
    return json.loads(result.stdout)
