"""The limited child process in which one custom verifier is called once.

Run as `python -P -m verification.adapters.custom_child PARENT_PID ANSWER_FD SECONDS` in the folder of the
submitted files. What it is given comes on standard input, its answer goes to a pipe of its own:
nothing that the verifier prints can be taken for it.

There are two processes. The first leads the group and ends it when the worker dies; the second,
a fork of the first, calls the verifier.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import sys
import time

from verification.adapters.custom_wire import LENGTH, Given
from verification.adapters.limits import die_with_parent, limit_cpu, limit_data, limit_processes


def main() -> None:
    worker, answer_fd, seconds = map(int, sys.argv[1:4])
    os.set_inheritable(answer_fd, False)
    signal.signal(signal.SIGTERM, _end_group)
    die_with_parent(worker, signal.SIGTERM)
    limit_data()
    limit_processes()
    keeper = os.getpid()
    caller = os.fork()
    if caller:
        os.close(answer_fd)
        _end_as(caller)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent(keeper)
    limit_cpu(seconds)
    _call(answer_fd)
    time.sleep(seconds)  # the worker ends this group, with all that the verifier started


def _call(answer_fd: int) -> None:
    from verification.adapters.custom_calling import answer_for

    given: Given = pickle.load(sys.stdin.buffer)  # noqa: S301 - the worker wrote it
    caller = os.getpid()
    content = json.dumps(answer_for(given)).encode()
    if os.getpid() != caller:
        os._exit(0)  # a fork that the verifier let run on has no say
    with contextlib.suppress(Exception):  # the verifier may have closed them
        sys.stdout.flush()
        sys.stderr.flush()
    with os.fdopen(answer_fd, "wb") as answers:
        answers.write(LENGTH.pack(len(content)) + content)


def _end_group(_number: int, _frame: object) -> None:
    os.killpg(0, signal.SIGKILL)


def _end_as(caller: int) -> None:
    """Wait for the caller, and end as it did, so that the worker learns how."""
    code = os.waitstatus_to_exitcode(os.waitpid(caller, 0)[1])
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    main()
