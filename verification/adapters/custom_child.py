"""The limited child process in which one custom verifier is called once.

Run as `python -P -m verification.adapters.custom_child PARENT_PID ANSWER_FD SECONDS` in the folder of the
submitted files. What it is given comes on standard input, its answer goes to a pipe of its own:
nothing that the verifier prints can be taken for it.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sys
import time

from verification.adapters.custom_wire import LENGTH, Given
from verification.adapters.limits import die_with_parent, limit_cpu, limit_data, limit_processes


def main() -> None:
    parent_pid, answer_fd, seconds = map(int, sys.argv[1:4])
    os.set_inheritable(answer_fd, False)
    die_with_parent(parent_pid)
    limit_data()
    limit_processes()
    limit_cpu(seconds)
    given: Given = pickle.load(sys.stdin.buffer)  # noqa: S301 - the worker wrote it
    from verification.adapters.custom_calling import answer_for

    content = json.dumps(answer_for(given)).encode()
    with contextlib.suppress(Exception):  # the verifier may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    with os.fdopen(answer_fd, "wb") as answers:
        answers.write(LENGTH.pack(len(content)) + content)
    time.sleep(seconds)  # the worker ends this process, with all that the verifier started


if __name__ == "__main__":
    main()
