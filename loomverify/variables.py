"""Environment variables, each read as what it is to be, or refused in one sentence."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from loomverify.addresses import Network

MAX_NAME_LENGTH = 200
NO_HOST = ("postgresql", "postgres", "unix", "console", "file", "memory", "dummy")


class ConfigurationError(Exception):
    """One sentence that says which variable or folder is wrong, and what to do."""


@dataclass(frozen=True, slots=True)
class Variables:
    """Raises `ConfigurationError` for what makes no sense. Empty is as unset."""

    values: Mapping[str, str]

    def text(self, name: str) -> str:
        return self.values.get(name, "")

    def one_of(self, name: str, values: tuple[str, ...]) -> str:
        value = self.text(name) or values[0]
        if value not in values:
            raise ConfigurationError(f"{name} must be one of {', '.join(values)}, not {value!r}.")
        return value

    def integer(self, name: str, *, default: int, low: int, high: int) -> int:
        text = self.text(name) or str(default)
        if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
            raise ConfigurationError(f"{name} must be a whole number from {low} to {high}.")
        return int(text)

    def share(self, name: str, *, default: str) -> float:
        text = self.text(name) or default
        if not re.fullmatch(r"[0-9](\.[0-9]{0,6})?", text) or float(text) > 1:
            raise ConfigurationError(f"{name} must be a number from 0 to 1.")
        return float(text)

    def listed(self, name: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.text(name).split(",") if part.strip())

    def word(self, name: str) -> str:
        value = self.text(name).strip()
        if len(value) > MAX_NAME_LENGTH or not re.fullmatch(r"[\w./:@-]*", value, re.ASCII):
            raise ConfigurationError(
                f"{name} must be a name of letters, digits and . / : @ - _ alone."
            )
        return value

    def url(self, name: str, schemes: tuple[str, ...]) -> str:
        value = self.text(name)
        if value:
            parts_of(value, name, schemes)
        return value

    def file(self, name: str) -> Path | None:
        value = self.text(name)
        if not value:
            return None
        path = Path(value)
        if not value.isprintable() or not path.is_absolute():
            raise ConfigurationError(f"{name} must be the absolute path of a file.")
        return path

    def networks(self, name: str) -> tuple[Network, ...]:
        try:
            return tuple(map(ipaddress.ip_network, self.listed(name)))
        except ValueError as error:
            raise ConfigurationError(
                f"{name} must be a comma list of networks such as 10.1.0.0/16: {error}."
            ) from None


def parts_of(value: str, name: str, schemes: tuple[str, ...]) -> SplitResult:
    """Return the parts of an address; a secret in it is never repeated."""
    wanted = " or ".join(f"{scheme}://" for scheme in schemes[:2])
    try:
        parts = urlsplit(value)
        sound = "://" in value and parts.port != 0 and parts.netloc.isprintable()
    except ValueError:
        sound = False
    if not sound or parts.scheme not in schemes or " " in parts.netloc:
        raise ConfigurationError(f"{name} must be an address that begins with {wanted}.")
    if not parts.hostname and parts.scheme not in NO_HOST:
        raise ConfigurationError(f"{name} names no host.")
    return parts
