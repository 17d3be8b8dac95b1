"""The task id of a folder: made once per piece of work, and kept in the folder until an accept."""

from __future__ import annotations

import json
import os
import uuid
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

STATE_FOLDER = ".loomverify"
MAX_ID_CHARS = 200
MAX_FILE_BYTES = 10_000
RANDOM_DIGITS = 12


@dataclass(frozen=True, slots=True)
class KeptTask:
    """What `task.json` holds. `run` is the last run of the task, '' before the first.

    `instead_of` is the task id of the run file that this one replaces, '' where it names none.
    """

    id: str
    instead_of: str = ""
    run: str = ""


class TaskFile:
    """`DIR/.loomverify/task.json`.

    `problems` are sentences for the user. A file that cannot be read or written fails no
    submission: it costs the memory of earlier attempts.
    """

    def __init__(self, folder: Path) -> None:
        self.name = folder.resolve().name
        self.folder = folder / STATE_FOLDER
        self.path = self.folder / "task.json"
        self.problems: list[str] = []

    def read(self, *, instead_of: str | None = None) -> KeptTask | None:
        """Return the kept task; None where there is none, or none for this id of the run file."""
        if not self.path.is_file():  # nor wait for a pipe that the work put there
            return None
        try:
            with self.path.open("rb") as file:
                task = KeptTask(**json.loads(file.read(MAX_FILE_BYTES)))
            _check(task)
        except (OSError, ValueError, TypeError, RecursionError):
            self.problems.append(f"{self.path} holds no task id: a new task begins.")
            return None
        return task if instead_of in (None, task.instead_of) else None

    def begin(self, *, instead_of: str = "", replace: bool = True) -> KeptTask:
        """Make a task id and keep it.

        `replace` False: of two submissions at once, the slower one gets the id of the faster one.
        """
        random = uuid.uuid4().hex[:RANDOM_DIGITS]
        name = "".join(mark for mark in self.name if mark.isprintable())
        name = name[: MAX_ID_CHARS - RANDOM_DIGITS - 1] or "root"
        task = KeptTask(f"{name}-{random}", instead_of)
        if self._write(task, replace=replace):
            return task
        # Another submission was faster, or what is there cannot be read.
        return self.read(instead_of=instead_of) or self.begin(instead_of=instead_of)

    def keep_run(self, task: KeptTask, run: str) -> None:
        """Keep the task's last run, unless another task began meanwhile."""
        kept = self.read()
        if kept is not None and kept.id == task.id:
            self._write(KeptTask(task.id, task.instead_of, run), replace=True)

    def forget(self, task_id: str) -> None:
        """Drop the id of an accepted task, unless another task began meanwhile."""
        kept = self.read()
        if kept is not None and kept.id == task_id:
            with suppress(OSError):
                self.path.unlink()

    def _write(self, task: KeptTask, *, replace: bool) -> bool:
        """Write the file as a whole. False: another one is there, and was not to be replaced."""
        draft = self.folder / f"task-{uuid.uuid4().hex}.json"
        try:
            if self.folder.is_symlink():
                raise NotADirectoryError(None, "it is a symbolic link")
            self.folder.mkdir(exist_ok=True)
            with (
                suppress(FileExistsError),
                (self.folder / ".gitignore").open("x", encoding="utf-8") as ignore,
            ):
                ignore.write("*\n")
            draft.write_text(json.dumps(asdict(task)), encoding="utf-8")
            if not replace and self._link(draft):
                return True
            if not replace and self.path.exists():
                return False
            draft.replace(self.path)
        except OSError as error:
            self.problems.append(
                f"The task id cannot be kept in {self.folder} ({error.strerror}): "
                f"give --task {task.id} with the next attempt."
            )
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        return True

    def _link(self, draft: Path) -> bool:
        """Give a draft its name, if no other file has it: the first of two wins."""
        try:
            os.link(draft, self.path)
        except OSError:
            return False
        return True


def _check(task: KeptTask) -> None:
    """Raise ValueError for what is no task id, or no text."""
    if not all(isinstance(text, str) for text in (task.id, task.instead_of, task.run)):
        raise ValueError("not a text")
    if not (0 < len(task.id) <= MAX_ID_CHARS and task.id.isprintable()):
        raise ValueError("not a task id")
