"""The limited child process that opens one submitted content to show it.

Run as `python -m verification.adapters.viewing_child PARENT_PID`: one request comes on standard input, one
answer goes to standard output. It has nothing to write to, and may start nothing.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Sequence
from typing import Any, Final

from verification.adapters.limits import die_with_parent, limit_cpu, limit_memory
from verification.adapters.probe_wire import LENGTHS, frame, opened
from verification.adapters.viewing_text import CannotShow

MAX_MEMORY_BYTES: Final = 1024**3
ROOMS: Final = {
    "markdown": "verification.adapters.viewing_markdown",
    "table": "verification.adapters.viewing_table",
    "sheets": "verification.adapters.viewing_sheets",
    "tree": "verification.adapters.viewing_tree",
    "image": "verification.adapters.viewing_image",
    "pages": "verification.adapters.viewing_pages",
}
"""Each is imported alone, when it is asked for: the libraries cost more than most answers."""


def main() -> None:
    die_with_parent(int(sys.argv[1]))
    limit_memory()
    _limit_further()
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    head_size, body_size = LENGTHS.unpack(requests.read(LENGTHS.size))
    asked, [content] = opened(requests.read(head_size), requests.read(body_size))
    limit_cpu(asked["cpu_seconds"])
    told, parts = answer(asked, content)
    for piece in frame(told, parts):
        answers.write(piece)
    answers.flush()


def answer(asked: dict[str, Any], content: bytes) -> tuple[dict[str, Any], Sequence[bytes]]:
    try:
        told, parts = importlib.import_module(ROOMS[asked["ask"]]).shown(content, asked)
    except CannotShow as refusal:
        return {"refusal": str(refusal)}, []
    except (MemoryError, RecursionError):
        return {"refusal": "This takes too much memory to show."}, []
    return told, parts


def _limit_further() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


if __name__ == "__main__":
    main()
