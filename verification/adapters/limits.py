"""What a child process sets for itself: bounds of memory, CPU and processes, and a death with its parent."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

MAX_MEMORY_BYTES = 2 * 1024**3
MAX_FILE_BYTES = 64 * 1024**2
MAX_PROCESSES = 1_000
PR_SET_PDEATHSIG = 1


def limit_memory() -> None:
    """Set what the system knows of limits; where it knows none, the deadline is left."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
        if sys.platform == "linux":
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def limit_cpu(seconds: int) -> None:
    """Allow so much CPU time from now on; the system kills what takes more."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        allowed = int(used.ru_utime + used.ru_stime) + seconds + 1
        _, most = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (allowed, most))


def die_with_parent(parent_pid: int, number: signal.Signals = signal.SIGKILL) -> None:
    """A killed worker leaves no child behind, not even one in the middle of a request.

    The child gets this signal when its parent dies.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent_pid:
            sys.exit("the worker has gone already")


def limit_data() -> None:
    """Limit the memory that is written to, not what is only reserved: some runtimes reserve a lot."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
        resource.setrlimit(resource.RLIMIT_DATA, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def limit_processes() -> None:
    """Allow so many processes and threads beside those that the user has; the superuser has no limit."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        allowed = _tasks_of(os.getuid()) + MAX_PROCESSES
        _, most = resource.getrlimit(resource.RLIMIT_NPROC)
        if most != resource.RLIM_INFINITY:
            allowed = min(allowed, most)
        resource.setrlimit(resource.RLIMIT_NPROC, (allowed, allowed))


def _tasks_of(user: int) -> int:
    count = 0
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if process.stat().st_uid == user:
                count += sum(1 for _ in (process / "task").iterdir())
    return count
