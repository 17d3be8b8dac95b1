"""What a benchmark measures in a process of the installation, where Django is set up."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.stack import Stack

_CALL = """
import importlib, json, sys, django
django.setup()
module, name, arguments = sys.argv[1:]
print(json.dumps(getattr(importlib.import_module(module), name)(*json.loads(arguments))))
"""


def called(stack: Stack, module: str, name: str, *arguments: object) -> Any:
    """What the function returns, as JSON holds it; what goes wrong there is told on our own output."""
    command = [sys.executable, "-c", _CALL, module, name, json.dumps(arguments)]
    answer = subprocess.run(command, env=stack.environment, check=True, stdout=subprocess.PIPE)
    return json.loads(answer.stdout)
