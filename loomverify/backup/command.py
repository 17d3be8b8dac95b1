"""`loomverify backup` and `loomverify restore`, as an operator calls them."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from loomverify.env import environment

Prepare = Callable[[], None]
"""Points DATABASE_URL at a database and sets Django up."""


def backup(argv: list[str], *, prepare: Prepare) -> int:
    parser = argparse.ArgumentParser(
        "loomverify backup", description="Write everything into one file, while everything runs."
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="must not be there yet")
    parser.add_argument(
        "--without-keys", action="store_true", help="leave out what the data folder keeps secret"
    )
    options = parser.parse_args(argv)
    _stop_as_on_interrupt()
    prepare()
    from loomverify.backup.making import make_backup

    made = make_backup(options.file, environment(), with_keys=not options.without_keys)
    rows = sum(table.rows for table in made.said.tables)
    evidence = made.said.evidence
    _say(f"{made.path}: {rows} rows, {evidence.files} files, {made.size >> 20} MiB.")
    if evidence.missing:
        sys.stderr.write(
            f"loomverify: {_files(evidence.missing)} lost in the evidence store, or changed: "
            "the backup is whole but for them.\n"
        )
    return 0


def restore(argv: list[str], *, prepare: Prepare) -> int:
    parser = argparse.ArgumentParser(
        "loomverify restore", description="Put a backup in the place of this installation."
    )
    parser.add_argument("file", metavar="FILE", type=Path)
    parser.add_argument(
        "--replace", action="store_true", help="delete what is in this installation first"
    )
    options = parser.parse_args(argv)
    _stop_as_on_interrupt()
    from loomverify.supervisor import own_data_folder

    with own_data_folder(environment().data):
        prepare()
        from loomverify.backup.restoring import restore_backup

        said = restore_backup(options.file, environment(), replace=options.replace)
    rows = sum(table.rows for table in said.tables)
    _say(f"Restored {rows} rows and {said.evidence.files} files of {said.created_at}.")
    if not any(key.name == "secret-key" for key in said.keys):
        _say(
            "The backup holds no secret key: set the old LOOMVERIFY_SECRET_KEY, or all sign in anew."
        )
    return 0


def _files(count: int) -> str:
    return f"{count} file is" if count == 1 else f"{count} files are"


def _stop_as_on_interrupt() -> None:
    """Being asked to stop cleans up as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
