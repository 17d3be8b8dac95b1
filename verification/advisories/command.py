"""`loomverify advisories …`, as an operator calls it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from loomverify.env import environment
from loomverify.errors import InputError
from verification.engine.advisories.model import Ecosystem

DONE, REFUSED = 0, 3
EPILOG = """\
exit codes: 0 done; 3 refused, and what was known before is known still

FILE is the all.zip of one ecosystem from OSV, such as
https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip: fetch it yourself.
"""


def main(argv: Sequence[str], *, prepare: Callable[[], None]) -> int:
    """`prepare` points DATABASE_URL at a database and sets Django up."""
    options = _parser().parse_args(argv)
    prepare()
    return _status() if options.command == "status" else _load(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "loomverify advisories", description="Known vulnerabilities that lock files are held to."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("status", help="say what is known, and of when")
    load = commands.add_parser(
        "load",
        help="replace what is known of an ecosystem",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    load.add_argument(
        "files", metavar="FILE", type=Path, nargs="+",
        help="a zip, a folder, or a file of JSON lines, in OSV's schema",
    )  # fmt: skip
    load.add_argument(
        "--ecosystem", action="append", type=Ecosystem, choices=list(Ecosystem), default=[],
        metavar="NAME", help="of which it is whole (the one that all its advisories name)",
    )  # fmt: skip
    load.add_argument(
        "--taken-at", type=_instant, metavar="DATE",
        help="when it was taken (when the newest advisory in it was modified)",
    )  # fmt: skip
    load.add_argument("--fewer", action="store_true", help="even if it knows half, or less")
    return parser


def _load(options: argparse.Namespace) -> int:
    from verification.advisories.services import load

    for path in options.files:
        try:
            loaded = load(
                path=path,
                now=datetime.now(UTC),
                ecosystems=options.ecosystem,
                taken_at=options.taken_at,
                may_shrink=options.fewer,
            )
        except InputError as error:
            sys.stderr.write(f"loomverify: {path}: {error}\n")
            return REFUSED
        for one in loaded.snapshots:
            _say(f"{one.ecosystem}: {one.advisories} advisories of {one.taken_at:%Y-%m-%d}.")
        if loaded.unreadable:
            sys.stderr.write(
                f"loomverify: {path}: {loaded.unreadable} could not be read, and are not known. "
                f"{loaded.first_unreadable}\n"
            )
    return DONE


def _status() -> int:
    from verification.advisories.selectors import snapshots

    known = snapshots()
    now, most = datetime.now(UTC), environment().advisories_max_age_days
    for ecosystem in Ecosystem:
        one = known.get(ecosystem)
        if one is None:
            _say(f"{ecosystem}: nothing is loaded, its lock files are not compared.")
            continue
        days = (now - one.taken_at).days
        told = f"{ecosystem}: {one.advisories} advisories of {one.taken_at:%Y-%m-%d}"
        unread = f", {one.unreadable} unreadable" if one.unreadable else ""
        old = f": {days} days old, older than {most}" if days > most else ""
        _say(f"{told}{unread}{old}.")
    return DONE


def _instant(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
