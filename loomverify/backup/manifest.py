"""What a backup says of itself, in its last members: read before anything else is believed."""

from __future__ import annotations

import hashlib
from typing import Annotated, BinaryIO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from loomverify.backup.archive import DamagedBackup, Member, read

FORMAT = 1
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
MAX_MANIFEST_BYTES = 64 * 1024 * 1024

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Count = Annotated[int, Field(ge=0, lt=2**63)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(_Strict):
    """Some of a table's rows, compressed. `size` is without compression, in bytes."""

    sha256: Sha256
    size: Count


class Table(_Strict):
    name: Name
    columns: list[Name]
    rows: Count
    parts: list[Part]


class Sequence(_Strict):
    table: Name
    column: Name
    last_value: Count
    is_called: bool


class Evidence(_Strict):
    """`sha256` is over the names of all files, in their order, each with a line break."""

    files: Count
    size: Count
    sha256: Sha256
    missing: Count
    """Files that the database names and the store had no more, or not as they were stored."""


class Key(_Strict):
    name: Annotated[str, Field(pattern=r"^(secret-key|api-key)$")]
    sha256: Sha256


class Manifest(_Strict):
    format: int
    loomverify: str
    postgresql: str
    created_at: str
    migrations: list[tuple[str, str]]
    tables: list[Table]
    sequences: list[Sequence]
    evidence: Evidence
    keys: list[Key]


def seal_of(content: bytes) -> bytes:
    return f"{hashlib.sha256(content).hexdigest()}\n".encode()


def read_manifest(file: BinaryIO, last: list[Member]) -> Manifest:
    """Read the manifest from the two members that end every backup.

    Raises:
        DamagedBackup: it is missing, changed, or of a format that is not known here.
    """
    if [member.name for member in last] != [MANIFEST, SEAL] or last[0].size > MAX_MANIFEST_BYTES:
        raise DamagedBackup("This is no whole backup of LoomVerify: its manifest is missing.")
    content, seal = (read(file, member) for member in last)
    if seal != seal_of(content):
        raise DamagedBackup("The backup is damaged: its manifest was changed.")
    try:
        manifest = Manifest.model_validate_json(content)
    except ValidationError as error:
        raise DamagedBackup(
            "The manifest of the backup cannot be read: it was written by another LoomVerify."
        ) from error
    if manifest.format != FORMAT:
        raise DamagedBackup(
            f"The backup has the format {manifest.format}, which a newer LoomVerify writes."
        )
    return manifest
