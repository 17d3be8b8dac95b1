"""`loomverify golden …`: the corpus as one command, for CI and for authors of cases."""

from __future__ import annotations

import argparse
import atexit
import json
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loomverify.submitting.errors import NoAnswer, UsageError
from loomverify.submitting.options import Parser, add_server_options, key_of, need_wait, url_of
from loomverify.submitting.progress import ProgressLine
from loomverify.submitting.replays import ReplayServer
from loomverify.submitting.report import plain
from verification.engine.golden.standing import DOES_NOT_HOLD, Change
from verification.golden.accepted_failures import (
    accept_failures,
    mark_in_report,
    parse_accepted,
    skip_in_junit,
)
from verification.golden.reports import told_of
from verification.golden.telling import ReplayTold, text_of

ALL_HOLD, FAILED, NOT_JUDGED, USAGE = range(4)
DEFAULT_WAIT_SECONDS = 1800.0
SERVER_ONLY = ("verifier", "process_version", "live", "url", "key")
LOCAL_ONLY = ("legacy", "process_file")
USAGE_TEXT = """\
usage: loomverify golden run [--local [FILE…]] …   replay cases, say which fail
       loomverify golden check [-v] [FILE…]         replay files of cases here, for their authors
       loomverify golden prompts                    note anew which prompts shipped cases answer
"""
EPILOG = """\
exit codes: 0 every case holds, or its failure is accepted; 1 a case fails; 2 could not be judged:
no answer from the server, a replay that did not finish, no case at all, or a case that could not be
judged while none fails; 3 usage

With --local there is no past: every case that does not hold counts as regressed.
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A replay that ended, and its two documents."""

    told: ReplayTold
    report: dict[str, Any]
    junit: bytes


def main(argv: Sequence[str]) -> int:
    """Return the exit code; see `EPILOG`."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without these signs
    command = {"run": _run, "check": _check, "prompts": _prompts}.get(argv[0] if argv else "")
    if command is None:
        (sys.stdout if argv[:1] in (["-h"], ["--help"]) else sys.stderr).write(USAGE_TEXT)
        return 0 if argv[:1] in (["-h"], ["--help"]) else USAGE
    progress = ProgressLine(sys.stderr)
    try:
        return command(list(argv[1:]), progress)
    except (UsageError, NoAnswer) as error:
        progress.clear()
        sys.stderr.write(f"loomverify: {plain(error)}\n")
        return USAGE if isinstance(error, UsageError) else NOT_JUDGED
    except Exception:
        # Python's own exit code for it is 1, and that says that a case fails.
        progress.clear()
        traceback.print_exc()
        return NOT_JUDGED


def exit_code(told: ReplayTold, *, is_strict: bool = False) -> int:
    """Doubt is no success: neither a case that was not judged, nor no case at all.

    A failing case fails whether or not it ever held. With `is_strict` an accepted one does, too.
    """
    accepted = 0 if is_strict else told.count_accepted(*DOES_NOT_HOLD)
    if told.count(*DOES_NOT_HOLD) > accepted:
        return FAILED
    if told.count(Change.NOT_JUDGED) or not told.total:
        return NOT_JUDGED
    return ALL_HOLD


def _run(argv: list[str], progress: ProgressLine) -> int:
    options = _run_options(argv)
    accepted = parse_accepted(options.accept_failure)
    outcome = (_local if options.local is not None else _by_server)(options, progress)
    progress.clear()
    told = accept_failures(outcome.told, accepted)
    _write(options.junit, skip_in_junit(outcome.junit, told))
    document = mark_in_report(outcome.report, told)
    report = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    _write(options.report, report.encode(errors="replace"))
    if options.json:
        sys.stdout.write(report)
    else:
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        sys.stdout.write(text_of(told, colour=colour))
    return exit_code(told, is_strict=options.strict)


def _by_server(options: argparse.Namespace, progress: ProgressLine) -> Outcome:
    need_wait(options)
    with ReplayServer(
        url_of(options), key_of(options), on_progress=lambda one: progress.say(_stage(one))
    ) as server:
        progress.say("starting")
        replay = server.replay(_wanted(options), wait_seconds=options.wait)
        _need_finished(replay)
        progress.say("reading the report")
        files = server.reports(replay)
    _need_same(replay, files.report)
    url = str(replay.get("url") or "")
    return Outcome(told_of(files.report, url=url), files.report, files.junit)


def _need_finished(replay: dict[str, Any]) -> None:
    if replay.get("state") == "finished":
        return
    told = f"The replay is {replay.get('state')}."
    more = (str(replay.get(name) or "") for name in ("error", "url"))
    raise NoAnswer(" ".join(part for part in (told, *more) if part))


def _need_same(replay: dict[str, Any], report: dict[str, Any]) -> None:
    if report.get("id", replay["id"]) != replay["id"]:
        raise NoAnswer("The server gave the report of another replay.")


def _wanted(options: argparse.Namespace) -> dict[str, Any]:
    wanted = {
        "tags": options.tag,
        "verifier": options.verifier,
        "process": options.process,
        "process_version": options.process_version,
        "live": options.live,
        "canary": options.canary,
    }
    return {"purpose": "ci"} | {name: value for name, value in wanted.items() if value}


def _stage(replay: dict[str, Any]) -> str:
    progress = replay.get("progress")
    progress = progress if isinstance(progress, dict) else {}
    return f"{replay.get('state')}: {progress.get('done', 0)} of {replay.get('total', 0)} cases"


def _local(options: argparse.Namespace, progress: ProgressLine) -> Outcome:
    _set_up_django()
    from verification.golden import local, local_files

    wanted = local_files.Wanted(options.tag, options.process or "", options.canary)
    cases = local_files.cases_of(options.local, wanted)
    setting = local.Setting(options.legacy, local_files.processes_of(options.process_file))
    found = local.replay_all(
        cases, setting, on_progress=lambda done, total: progress.say(f"{done} of {total} cases")
    )
    _refuse_unreadable(found)
    report = local.report_of(found)
    return Outcome(told_of(report), report, local.junit_of(found))


def _refuse_unreadable(found: Sequence[Any]) -> None:
    lines = [f"  {one.case.file} {one.case.name}: {issue}" for one in found for issue in one.issues]
    if lines:
        raise UsageError("\n".join(["Not every case can be read.", *lines]))


def _check(argv: list[str], progress: ProgressLine) -> int:
    _set_up_django()
    from verification.golden.local_check import check

    parser = Parser("loomverify golden check", description="Replay files of cases; say all.")
    parser.add_argument("-v", action="store_true", dest="verbose", help="what was observed, too")
    parser.add_argument("files", metavar="FILE", nargs="*", help="files and folders (the shipped)")
    options = parser.parse_args(argv)
    return check(options.files, is_verbose=options.verbose, progress=progress)


def _prompts(argv: list[str], _progress: ProgressLine) -> int:
    if argv:
        raise UsageError("golden prompts takes no arguments.")
    _set_up_django()
    from verification.golden.prompts import write_prompts

    write_prompts()
    return 0


def _run_options(argv: list[str]) -> argparse.Namespace:
    options = _parser().parse_args(argv)
    given = vars(options)
    is_local = options.local is not None
    for name in SERVER_ONLY if is_local else LOCAL_ONLY:
        if given[name]:
            said = f"--{name.replace('_', '-')}"
            raise UsageError(f"{said} goes {'without' if is_local else 'with'} --local.")
    return options


def _parser() -> Parser:
    parser = Parser(
        "loomverify golden run",
        description="Replay the golden corpus through the whole engine; say which cases fail.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--tag", action="append", default=[], help="cases with it; may be repeated")
    parser.add_argument("--process", help="cases of this process alone")
    parser.add_argument("--canary", action="store_true", help="the held set, too")
    parser.add_argument(
        "--accept-failure", action="append", default=[], metavar="NAME=REASON",
        help="a case that may fail, and why; may be repeated",
    )  # fmt: skip
    parser.add_argument("--strict", action="store_true", help="accepted failures fail, too")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--report", metavar="FILE", type=Path, help="write the report as JSON")
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write JUnit XML")
    at_server = parser.add_argument_group("on a server")
    at_server.add_argument("--verifier", type=int, metavar="N", help="this version (the active)")
    at_server.add_argument("--process-version", type=int, metavar="N", help="of --process")
    at_server.add_argument("--live", action="store_true", help="ask the judges anew")
    add_server_options(parser, wait_seconds=DEFAULT_WAIT_SECONDS)
    here = parser.add_argument_group("here, without server and database")
    here.add_argument("--local", nargs="*", metavar="FILE", help="files, folders (shipped cases)")
    here.add_argument("--legacy", action="store_true", help="by the old engine")
    here.add_argument(
        "--process-file", action="append", default=[], metavar="FILE", help="instead of a process"
    )
    return parser


def _write(path: Path | None, content: bytes) -> None:
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.") from error


def _set_up_django() -> None:
    """For values and their readers alone: no database is asked, and nothing is left behind."""
    import django
    from django.apps import apps

    if not apps.ready:
        folder = tempfile.mkdtemp(prefix="loomverify-golden-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ |= {"LOOMVERIFY_ENV": "development", "LOOMVERIFY_DATA": folder}
        django.setup()
