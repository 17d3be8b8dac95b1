"""Which server, which key: the same options and the same defaults for every command."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import NoReturn

from loomverify.submitting.errors import UsageError


class Parser(argparse.ArgumentParser):
    """Its errors are told like any other, and end the command with the same code."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message[:1].upper()}{message[1:]}; see {self.prog} --help.")


def add_server_options(parser: argparse.ArgumentParser, *, wait_seconds: float) -> None:
    parser.add_argument("--url", help="server (BASE_URL, else http://localhost:8000)")
    parser.add_argument("--key", help="API key (LOOMVERIFY_API_KEY, else the data folder's)")
    parser.add_argument("--wait", metavar="SECONDS", type=float, default=wait_seconds)


def need_wait(options: argparse.Namespace) -> None:
    if options.wait != options.wait or options.wait < 0:
        raise UsageError("--wait must be 0 or more seconds.")


def url_of(options: argparse.Namespace) -> str:
    port = os.environ.get("PORT") or "8000"
    return options.url or os.environ.get("BASE_URL") or f"http://localhost:{port}"


def key_of(options: argparse.Namespace) -> str:
    key = options.key or os.environ.get("LOOMVERIFY_API_KEY")
    kept = Path(os.environ.get("LOOMVERIFY_DATA") or "var") / "api-key"
    if not key and kept.is_file():
        try:
            key = kept.read_text(encoding="utf-8").strip()
        except (OSError, ValueError) as error:
            raise UsageError(f"{kept} cannot be read; give --key.") from error
    if not key:
        raise UsageError("No API key: give --key, or set LOOMVERIFY_API_KEY.")
    if not key.isascii() or not key.isprintable():
        raise UsageError("The API key holds characters that no key has.")
    return key
