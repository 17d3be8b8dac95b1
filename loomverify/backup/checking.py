"""A backup is read whole and checked before anything is touched."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from django.db.migrations.loader import MigrationLoader

from loomverify.backup.archive import DamagedBackup, Member, members, read
from loomverify.backup.manifest import Manifest, read_manifest
from loomverify.backup.tables import part_name, unpacked
from loomverify.variables import ConfigurationError

UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
EVIDENCE = re.compile(rf"evidence/({UUID}/([0-9a-f]{{2}})/(\2[0-9a-f]{{62}}))")
MAX_OTHER_MEMBERS = 1_000_000


@dataclass(frozen=True, slots=True)
class CheckedBackup:
    """A backup that is whole. `others` are its members but the files, by name."""

    file: BinaryIO
    said: Manifest
    others: dict[str, Member]

    def content(self, name: str) -> bytes:
        return read(self.file, self.others[name])

    def evidence(self) -> Iterator[tuple[str, bytes]]:
        """Each file with its name in the store, as it was stored."""
        for member in members(self.file):
            if found := EVIDENCE.fullmatch(member.name):
                yield found[1], _content(self.file, member, found)


def check(file: BinaryIO) -> CheckedBackup:
    """Read everything once.

    Raises:
        DamagedBackup: it is no backup, or not as it was written.
        ConfigurationError: it comes from a newer LoomVerify.
    """
    others: dict[str, Member] = {}
    listing, files, size, before = hashlib.sha256(), 0, 0, ""
    for member in members(file):
        found = EVIDENCE.fullmatch(member.name)
        if found:
            if member.name <= before:
                raise DamagedBackup("This is no backup of LoomVerify: its files have no order.")
            before = member.name
            size += len(_content(file, member, found))
            files += 1
            listing.update(f"{member.name}\n".encode())
        elif member.name in others or len(others) > MAX_OTHER_MEMBERS:
            raise DamagedBackup("This is no backup of LoomVerify: it holds a name twice.")
        else:
            others[member.name] = member
    said = read_manifest(file, list(others.values())[-2:])
    evidence = said.evidence
    if (files, size, listing.hexdigest()) != (evidence.files, evidence.size, evidence.sha256):
        raise DamagedBackup("The backup is damaged: files are missing in it, or were added.")
    checked = CheckedBackup(file, said, others)
    _check_others(checked)
    _refuse_newer(said)
    return checked


def _content(file: BinaryIO, member: Member, found: re.Match[str]) -> bytes:
    content = read(file, member)
    if hashlib.sha256(content).hexdigest() != found[3]:
        raise DamagedBackup("The backup is damaged: a file in it was changed.")
    return content


def _check_others(backup: CheckedBackup) -> None:
    """Tables and keys are exactly those that the manifest names, and as it says."""
    said, named = backup.said, list(backup.others)[-2:]
    for key in said.keys:
        named.append(f"keys/{key.name}")
    for table in said.tables:
        named += [part_name(table.name, number) for number in range(len(table.parts))]
    if sorted(named) != sorted(backup.others):
        raise DamagedBackup("The backup is damaged: its parts are not those of its manifest.")
    for key in said.keys:
        if hashlib.sha256(backup.content(f"keys/{key.name}")).hexdigest() != key.sha256:
            raise DamagedBackup("The backup is damaged: a key in it was changed.")
    for table in said.tables:
        for number, part in enumerate(table.parts):
            unpacked(backup.content(part_name(table.name, number)), part)


def _refuse_newer(said: Manifest) -> None:
    known = set(MigrationLoader(None).disk_migrations)
    unknown = [f"{app}.{name}" for app, name in said.migrations if (app, name) not in known]
    if unknown:
        raise ConfigurationError(
            f"The backup was made by a newer LoomVerify ({unknown[0]} is unknown here): "
            "restore it with that version."
        )
