"""The data folder, and the secrets in it that nobody else may read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loomverify.variables import ConfigurationError


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """What the system refuses in the folder is told in one sentence."""
    try:
        yield
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {folder} cannot be used: {error.strerror}. "
            "Set LOOMVERIFY_DATA to a folder that can."
        ) from error


def keep_secret(path: Path, make: Callable[[], str]) -> str:
    """Return what the file holds; where there is none, make it, readable by its owner only."""
    with usable(path.parent):
        if not path.exists():
            _write_once(path, make())
        kept = path.read_text().strip()
    if not kept:
        raise ConfigurationError(f"{path} is empty: remove it, and everybody signs in again.")
    return kept


def _write_once(path: Path, text: str) -> None:
    """Complete or not at all, and the first of several writers wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)
