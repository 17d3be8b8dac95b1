"""Verifiers as operators write them: sound ones, and every way to go wrong."""

from __future__ import annotations

import asyncio
import dataclasses
import datetime
import decimal
import enum
import functools
import logging
import math
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

from pydantic import BaseModel, Field, RootModel

from loomverify.custom import (
    FatalVerificationError,
    Phase,
    Process,
    Submission,
    Task,
    VerificationRejected,
    Workspace,
)

if TYPE_CHECKING:
    from loomverify import custom


class Line(BaseModel):
    price: decimal.Decimal
    count: Annotated[int, Field(gt=0)]


class Invoice(BaseModel):
    lines: list[Line]
    due: datetime.date | None = None


class Lines(RootModel[list[Line]]):
    pass


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Colour(enum.Enum):
    RED = "red"


# What is injected


def of_the_submission(submission: Submission) -> Any:
    return submission.output


def without_a_type(work):  # type: ignore[no-untyped-def]
    return work.output


def of_nothing() -> Any:
    return "called"


def of_anything(work: Any) -> Any:
    return work.output


def of_text(output: str) -> Any:
    return output


def of_a_model(invoice: Invoice) -> Any:
    return sum(line.price * line.count for line in invoice.lines)


def of_a_root_model(lines: Lines) -> Any:
    return len(lines.root)


def of_a_list(lines: list[Line]) -> Any:
    return len(lines)


def of_a_dataclass(point: Point) -> Any:
    return point


def of_a_model_or_none(invoice: Invoice | None) -> Any:
    return invoice is None


def by_name(work, task, workspace, attempt, logger, process, phase):  # type: ignore[no-untyped-def]
    logger.info("Looked at.")
    return [task.id, sorted(workspace), attempt, process.name, phase.id]


def by_type(work: Any, a: Task, b: Workspace, c: logging.Logger, d: Process, e: Phase) -> Any:
    c.info("Looked at.")
    return [a.id, sorted(b), d.name, e.id]


def by_type_above_name(work: Any, task: Workspace, workspace: Task) -> Any:
    return [workspace.id, sorted(task)]


def by_optional_type(work: Any, it: Task | None, other: Annotated[Phase, "theirs"]) -> Any:
    assert it
    return [it.id, other.id]


def under_type_checking(work: Any, it: custom.Workspace, other: custom.Task) -> Any:
    return [sorted(it), other.id]


def first_by_type(task: Task) -> Any:
    return task.id


def first_by_name(workspace):  # type: ignore[no-untyped-def]
    return sorted(workspace)


def only_keywords(*, task: Task, attempt: int) -> Any:
    return [task.id, attempt]


def only_positions(work: Any, a: Task, rest: int = 7, /) -> Any:
    return [a.id, rest]


def with_a_default(work: Any, limit: int = 7) -> Any:
    return limit


def with_collectors(work: Any, *args: Any, **kwargs: Any) -> Any:
    return [args, kwargs]


async def asynchronous(work: Submission, task: Task) -> Any:
    await asyncio.sleep(0)
    return task.id


def returns_an_awaitable(work: Submission, task: Task) -> Any:
    return asynchronous(work, task)


def _closure() -> tuple[Callable[..., Any], Callable[..., Any]]:
    class Total(BaseModel):
        total: int

    def known(total: Total) -> Any:
        return total.total + len(Total.model_fields)

    def unknown(submission: Elsewhere, task: Elsewhere) -> Any:  # type: ignore[name-defined]  # noqa: F821
        return [submission.output, task.id]

    return known, unknown


in_a_closure, in_a_closure_by_name = _closure()


def _decorated(verifier: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(verifier)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return verifier(*args, **kwargs)

    return wrapper


@_decorated
def decorated(invoice: Invoice, task: Task) -> Any:
    return [len(invoice.lines), task.id]


class Checker:
    def __init__(self, limit: int) -> None:
        self.limit = limit

    def __call__(self, invoice: Invoice, it: Task) -> Any:
        return [len(invoice.lines) <= self.limit, it.id]

    def method(self, invoice: Invoice, it: Task) -> Any:
        return [self.limit, it.id]


checker = Checker(3)
partial = functools.partial(with_a_default, limit=9)


def not_injectable(work: Any, database: Any) -> Any:
    return database


def unresolved_first(invoice: Elsewhere) -> Any:  # type: ignore[name-defined]  # noqa: F821
    return invoice


def unresolved_other(work: Any, thing: Elsewhere) -> Any:  # type: ignore[name-defined]  # noqa: F821
    return thing


def no_shape(work: threading.Lock) -> Any:
    return work


NOT_CALLABLE = 7


# What is returned


def rich(work: Any) -> Any:
    return {
        "model": Invoice(lines=[Line(price=decimal.Decimal("1.50"), count=2)]),
        "point": Point(1),
        "at": datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.UTC),
        "amount": decimal.Decimal("3.00"),
        "colour": Colour.RED,
        "id": uuid.UUID(int=1),
        "path": Path("a/b"),
        "set": {1},
        2: None,
    }


def false(work: Any) -> bool:
    return False


def nothing(work: Any) -> None:
    return None


def unkeepable(work: Any) -> Any:
    return {"thing": object()}


def not_a_number(work: Any) -> Any:
    return [math.nan]


def circular(work: Any) -> Any:
    known: list[Any] = []
    known.append(known)
    return known


def too_large(work: Any) -> Any:
    return "x" * 1_000_001


def generator(work: Any) -> Iterator[int]:
    raise VerificationRejected("never run")
    yield 1


async def asynchronous_generator(work: Any) -> AsyncIterator[int]:
    yield 1


# What is raised


def rejects(submission: Submission) -> NoReturn:
    raise VerificationRejected(submission.output, code="wrong", metadata={"line": 3})


def rejects_and_notes_it(submission: Submission) -> NoReturn:
    with Path(os.environ["VERIFIER_NOTES"]).open("a") as notes:
        notes.write(f"{submission.output}\n")
    raise VerificationRejected(submission.output)


def rejects_without_words(work: Any) -> NoReturn:
    raise VerificationRejected("")


def rejects_with_odd_metadata(work: Any) -> NoReturn:
    raise VerificationRejected(
        "wrong", "c" * 300, {"ok": 1, "thing": object(), "long": "x" * 50_000}
    )


def rejects_with_unkeepable_metadata(work: Any) -> NoReturn:
    raise VerificationRejected("wrong", metadata={"number": math.nan})


class Stricter(VerificationRejected):
    pass


def rejects_by_a_subclass(work: Any) -> NoReturn:
    raise Stricter("wrong")


async def rejects_in_a_group(work: Any) -> None:
    async with asyncio.TaskGroup() as group:
        for number in (1, 2):
            group.create_task(_reject(number))


async def _reject(number: int) -> NoReturn:
    raise VerificationRejected(f"wrong {number}")


async def rejects_and_breaks(work: Any) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(_reject(1))
        group.create_task(_break())


async def _break() -> NoReturn:
    raise ValueError("broken")


def fatal(work: Any) -> NoReturn:
    raise FatalVerificationError("The customer does not exist.", "gone")


def breaks(submission: Submission) -> NoReturn:
    raise KeyError(submission.output)


def asserts(work: Any) -> None:
    raise AssertionError("11 is not 12")


def validates_later(work: Any) -> Any:
    return Invoice.model_validate({})


def exits(work: Any) -> NoReturn:
    sys.exit(0)


def interrupts(work: Any) -> NoReturn:
    raise KeyboardInterrupt


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError


def breaks_unspeakably(work: Any) -> NoReturn:
    raise Unspeakable


def recurses(work: Any) -> Any:
    return recurses(work)


# What is done to the process


def looks_around(work: Any, workspace: Workspace) -> Any:
    return {
        "here": sorted(path.name for path in Path().iterdir()),
        "variables": dict(os.environ),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "stdin": sys.stdin.read(),
        "folder": str(workspace.folder),
        "session": os.getsid(0),
    }


def imports_what_was_submitted(work: Any) -> Any:
    try:
        import submitted_module  # type: ignore[import-not-found]
    except ImportError:
        return "not found"
    return submitted_module.__name__


def reads(submission: Submission, workspace: Workspace) -> Any:
    return workspace.read_text(submission.output)


def prints_an_answer(work: Any) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        stream.write('\0\0\0\x15{"status": "passed"}\n')
    for descriptor in (1, 2):
        os.write(descriptor, b'{"status": "passed", "result": null}')
    raise VerificationRejected("wrong")


def prints_much(work: Any) -> str:
    sys.stdout.write("first " + "x" * 1_000_000 + " last")
    return "printed"


def closes_its_streams(work: Any) -> str:
    sys.stdout.close()
    sys.stderr.close()
    return "closed"


def sleeps(work: Any) -> None:
    time.sleep(600)


def spins(work: Any) -> None:
    while True:
        pass


def ends_at_once(work: Any) -> None:
    os._exit(0)


def is_killed(work: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashes(work: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def takes_memory(work: Any) -> int:
    return len(bytearray(3 * 1024**3))


def writes_much(work: Any) -> None:
    Path(os.environ["TMPDIR"], "large").write_bytes(bytes(65 * 1024**2))


def writes_beside(work: Any) -> str:
    path = Path(os.environ["TMPDIR"], "note")
    path.write_text("noted")
    return path.read_text()


def limits(work: Any) -> Any:
    return [
        resource.getrlimit(kind)[0] > 0
        for kind in (resource.RLIMIT_DATA, resource.RLIMIT_CPU, resource.RLIMIT_NPROC)
    ]


def leaves_a_process(work: Any) -> int:
    return subprocess.Popen(["sleep", "600"]).pid


def leaves_a_session(work: Any) -> int:
    return subprocess.Popen(["sleep", "600"], start_new_session=True).pid


def leaves_a_fork_and_dies(submission: Submission) -> None:
    child = os.fork()
    if child == 0:
        time.sleep(600)
    Path(submission.output).write_text(str(child))
    os._exit(1)


def notes_its_processes(submission: Submission) -> None:
    child = subprocess.Popen(["sleep", "600"])
    Path(submission.output).write_text(f"{os.getppid()} {os.getpid()} {child.pid}.")
    time.sleep(600)


def leaves_a_thread(work: Any) -> str:
    threading.Thread(target=time.sleep, args=(600,)).start()
    return "returned"


def forks(work: Any) -> int:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        return sum(pool.map(abs, [-1, -2]))


# What hangs on what stands outside


def breaks_until_told(work: Any) -> str:
    if not Path(os.environ["VERIFIER_NOTES"]).exists():
        raise ConnectionError("The price list is away.")
    return "found"


def dies_until_told(work: Any) -> str:
    if not Path(os.environ["VERIFIER_NOTES"]).exists():
        os.kill(os.getpid(), signal.SIGKILL)
    return "found"


def returns_what_no_database_holds(work: Any) -> Any:
    return {"a\0": "b\0"}


def rejects_with_what_no_database_holds(work: Any) -> NoReturn:
    sys.stdout.write("printed \0 \x1b[31m")
    raise VerificationRejected("wrong\0", "c\0", {"a\0": "b\0", "path": "p\0"})


def the_attempt(work: Any, attempt: int) -> NoReturn:
    raise VerificationRejected(f"This is attempt {attempt}.")


def lets_a_fork_run_on(work: Any) -> str:
    fork = os.fork()
    if fork == 0:
        return "said by the fork"
    os.waitpid(fork, 0)
    raise VerificationRejected("wrong")
