"""`loomverify submit DIR`: pack a folder, submit it, wait, say the verdict."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from loomverify.submitting.client import Body, Client
from loomverify.submitting.errors import NoAnswer, TaskExhausted, UsageError
from loomverify.submitting.options import Parser, add_server_options, key_of, need_wait, url_of
from loomverify.submitting.packing import pack
from loomverify.submitting.preview import (
    INCLUDE_SECRETS,
    find_excess,
    notice_lines,
    preview_json,
    preview_text,
    question_line,
)
from loomverify.submitting.progress import ProgressLine
from loomverify.submitting.report import Report, plain
from loomverify.submitting.selecting import Choice, Selection, select_base, select_files
from loomverify.submitting.task_file import KeptTask, TaskFile

ACCEPTED, REJECTED, UNDECIDED, USAGE = range(4)
RUN_FILE = "loomverify.run.json"
DEFAULT_PROCESS = "general"
DEFAULT_WAIT_SECONDS = 600.0
MAX_ANSWER_CHARS = 100
WAY_OUT = "Begin a new task with --new-task, or name another one with --task ID."

EPILOG = """\
exit codes: 0 accepted, 1 rejected, 2 undecided, errored, cancelled or not finished, 3 usage;
what a person decided counts before what the verifier said

DIR/loomverify.run.json, where there is one, holds more fields of the run: task, output,
tool_calls, expected outputs and so on. --run adds to it, options win over both.
Sent of DIR is, in a git repository, what git tracks or does not ignore, else everything; never
.git, .loomverify and that file. Patterns in DIR/.loomverifyignore, written like those of
.gitignore, leave out more. The task's expected outputs are always sent, ignored or not. Links are
not followed, and files that look like secrets are named and left out. --dry-run shows all of it.

Attempts are counted by task. The first submission of a folder makes a task id and keeps it in
DIR/.loomverify/task.json; an accept ends the task, and the next submission begins another. A
task that takes no more submissions stays closed: --new-task begins another one.
"""


def main(argv: list[str]) -> int:
    """Return the exit code; see `EPILOG`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without these signs
    progress = ProgressLine(sys.stderr)
    try:
        options = _parser().parse_args(argv)
        if options.dry_run:
            return _preview(options, progress)
        run = _submit(options, progress)
    except (UsageError, NoAnswer) as error:
        progress.clear()
        sys.stderr.write(f"loomverify: {plain(error)}\n")
        return USAGE if isinstance(error, UsageError) else UNDECIDED
    progress.clear()
    if options.json:
        sys.stdout.write(json.dumps(run, indent=2, ensure_ascii=False) + "\n")
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        sys.stdout.write(Report(run, colour=colour).text())
    return exit_code(run)


def exit_code(run: Body) -> int:
    if run.get("state") != "finished":
        return UNDECIDED
    review = run.get("review") or {}
    if review.get("state") == "decided":
        return ACCEPTED if review.get("passed") else REJECTED
    return {"accept": ACCEPTED, "reject": REJECTED}.get(str(run.get("verdict")), UNDECIDED)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        "loomverify submit",
        description="Submit a folder for verification and wait for the verdict.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="DIR", type=Path)
    parser.add_argument("--process", help=f"which process judges it ({DEFAULT_PROCESS})")
    parser.add_argument("--phase", help="phase id; not needed where the process has one phase")
    parser.add_argument(
        "--tier", type=int, choices=(1, 2, 3), help="verify at a higher tier than the phase"
    )
    task = parser.add_mutually_exclusive_group()
    task.add_argument(
        "--task", metavar="ID", help="task id, which groups attempts (the one the folder keeps)"
    )
    task.add_argument(
        "--new-task", action="store_true", help="begin a new task, and count attempts anew"
    )
    parser.add_argument("--description", help="what was asked for")
    parser.add_argument("--output", metavar="TEXT|@FILE|-", help="what the agent answered")
    parser.add_argument(
        "--base", metavar="DIR", type=Path, help="the folder as it was before the work"
    )
    parser.add_argument("--return-code", type=int, help="of the work itself")
    parser.add_argument("--all-files", action="store_true", help="send files that git ignores, too")
    parser.add_argument(
        INCLUDE_SECRETS, action="store_true", help="send files that look like secrets, too"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show what would be sent and what not, and end"
    )
    parser.add_argument("--run", metavar="FILE", type=Path, help="more fields of the run, as JSON")
    add_server_options(parser, wait_seconds=DEFAULT_WAIT_SECONDS)
    parser.add_argument(
        "--decision", action="store_true", help="where a person is asked, wait for them too"
    )
    parser.add_argument("--json", action="store_true", help="print the run as JSON")
    return parser


def _preview(options: argparse.Namespace, progress: ProgressLine) -> int:
    """Show what would be sent. Nothing is asked for, neither a key nor a server."""
    _check_folders(options)
    selections = _select(options, _run_body(options), progress)
    if options.json:
        shown = json.dumps(preview_json(selections), indent=2) + "\n"
    else:
        shown = preview_text(selections)
    sys.stdout.write(shown)
    for selection in selections.values():
        if excess := find_excess(selection):
            raise UsageError(excess)
    return ACCEPTED


def _check_folders(options: argparse.Namespace) -> None:
    for folder in filter(None, (options.folder, options.base)):
        if not folder.is_dir():
            raise UsageError(f"{folder} is not a folder.")


def _select(
    options: argparse.Namespace, run: Body, progress: ProgressLine, client: Client | None = None
) -> dict[str, Selection]:
    """Return what is sent of the folder and its base, by the name of its part.

    `client` is asked what the process declares, where files are left out. None: nobody is.
    """
    expected = run["task"].get("expected_outputs")
    choice = Choice(
        all_files=options.all_files,
        include_secrets=options.include_secrets,
        expected_outputs=[path for path in expected if isinstance(path, str)]
        if isinstance(expected, list)
        else [],
        without=RUN_FILE,
    )
    work = select_files(options.folder, choice)
    if client is not None and work.may_lack_outputs:
        process, phase = str(run["process"]), run.get("phase")
        deliverables = client.find_deliverables(process, phase if isinstance(phase, str) else None)
        if deliverables:
            declared = [*choice.expected_outputs, *deliverables]
            choice = replace(choice, expected_outputs=declared)
            work = select_files(options.folder, choice)
    selections = {"workspace": work}
    if work.declared_secrets and not options.dry_run:
        progress.clear()
        _ask_for_secrets(work)
    if options.base:
        selections["base"] = select_base(options.base, choice, work)
    return selections


def _ask_for_secrets(work: Selection) -> None:
    """Send declared files that look like secrets, or stop."""
    line = plain(question_line(work.declared_secrets))
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(f"{line} Send them with {INCLUDE_SECRETS}, or declare other outputs.")
    sys.stderr.write(f"{line} Send them? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline(MAX_ANSWER_CHARS).strip().lower() not in {"y", "yes"}:
        raise UsageError("Nothing was sent.")
    work.include_declared_secrets()


def _submit(options: argparse.Namespace, progress: ProgressLine) -> Body:
    _check_folders(options)
    need_wait(options)
    run = _run_body(options)
    with Client(url_of(options), key_of(options), on_progress=progress.show) as client:
        progress.say("packing")
        selections = _select(options, run, progress, client)
        for line in notice_lines(selections["workspace"]):
            progress.clear()
            sys.stderr.write(f"loomverify: {plain(line)}\n")
        archives = {name: pack(selection) for name, selection in selections.items()}
        task_file = TaskFile(options.folder)
        try:
            kept = _find_or_begin_task(options, run["task"], task_file, client)
            if kept is not None:
                run["task"]["id"] = kept.id
            progress.say("submitting")
            answer = client.submit(
                run, archives, wait_seconds=options.wait, for_people=options.decision
            )
            if exit_code(answer) == ACCEPTED:
                task_file.forget(run["task"]["id"])
            elif kept is not None:
                task_file.keep_run(kept, str(answer["id"]))
        except TaskExhausted as error:
            raise UsageError(f"{error}\n{WAY_OUT}") from error
        finally:
            for problem in dict.fromkeys(task_file.problems):
                progress.clear()
                sys.stderr.write(f"loomverify: {plain(problem)}\n")
    return answer


def _find_or_begin_task(
    options: argparse.Namespace, task: Body, task_file: TaskFile, client: Client
) -> KeptTask | None:
    """Return the task that the folder keeps, or begin one; None where the caller names the task.

    An id of the run file holds until --new-task replaces it.
    """
    if options.task:
        return None
    named = str(task.get("id") or "")
    if options.new_task:
        return task_file.begin(instead_of=named)
    kept = task_file.read(instead_of=named)
    # A person may have accepted the last run after this command had ended.
    if kept is not None and kept.run and exit_code(client.find(kept.run) or {}) == ACCEPTED:
        task_file.forget(kept.id)
        kept = None
    if kept is not None or named:
        return kept
    return task_file.begin(replace=False)


def _run_body(options: argparse.Namespace) -> Body:
    beside = options.folder / RUN_FILE
    run: Body = _read_run(beside) if beside.is_file() else {}
    if options.run:
        run |= _read_run(options.run)
    given: dict[str, Any] = {
        "process": options.process,
        "phase": options.phase,
        "tier": options.tier,
        "output": _output(options.output),
        "return_code": options.return_code,
    }
    run |= {name: value for name, value in given.items() if value is not None}
    run.setdefault("process", DEFAULT_PROCESS)
    run["task"] = _task(run.get("task"), options)
    return run


def _task(task: object, options: argparse.Namespace) -> Body:
    known: Body = dict(task) if isinstance(task, dict) else {}
    name = options.folder.resolve().name
    if options.task:
        known["id"] = options.task
    if options.description:
        known["description"] = options.description
    known.setdefault("description", f"The work in {name or 'this folder'}.")
    return known


def _read_run(path: Path) -> Body:
    try:
        document = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise UsageError(f"{path} must hold one JSON object.")
    return document


def _output(given: str | None) -> str | None:
    if given == "-":
        return sys.stdin.read()
    if given is None or not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{given[1:]} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise UsageError(f"{given[1:]} is not UTF-8 text.") from error
