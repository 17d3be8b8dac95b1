"""Content by its SHA-256, once per project, behind Django's storage API."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage, storages
from django.utils import timezone

from loomverify.accounts.models import Project
from loomverify.errors import FaultError
from verification.runs.models import Blob

FRESH = timedelta(hours=12)

Digest = tuple[str, int]
"""SHA-256 in hexadecimal, size in bytes."""


class EvidenceLost(FaultError):
    """Our store does not hold what was submitted: never the work's fault."""


def store_contents(project: Project, contents: Iterable[bytes]) -> None:
    """Keep contents, before the transaction that names them. The same content is kept once.

    What no transaction names afterwards is swept a day later (retention).
    """
    storage = _storage()
    for content in contents:
        name = content_name(project.uuid, hashlib.sha256(content).hexdigest())
        if not storage.exists(name) or _is_stale(storage, name):
            storage.save(name, ContentFile(content))


def digest_of(content: bytes) -> Digest:
    return hashlib.sha256(content).hexdigest(), len(content)


def name_blobs(project: Project, sizes: Mapping[str, int]) -> dict[str, Blob]:
    """Return the blob rows of stored contents by SHA-256, made where they are missing."""
    Blob.objects.bulk_create(
        [Blob(project=project, sha256=sha256, size=size) for sha256, size in sorted(sizes.items())],
        ignore_conflicts=True,
    )
    rows = Blob.objects.filter(project=project, sha256__in=list(sizes))
    return {blob.sha256: blob for blob in rows}


def read_blob(blob: Blob) -> bytes:
    """Return the whole content.

    Raises:
        EvidenceLost: the store holds it no more, or something else under its name.
    """
    return read_content(blob.project.uuid, blob.sha256)


def stored_contents(project: Project) -> Iterator[tuple[str, datetime]]:
    """Yield the name of every stored content, `ab/abcd…`, and when it was stored last.

    It ends in the SHA-256, but for what a killed process left half-written.
    """
    storage = _storage()
    root = str(project.uuid)
    if not storage.exists(root):
        return
    for folder in storage.listdir(root)[0]:
        for name in storage.listdir(f"{root}/{folder}")[1]:
            with suppress(FileNotFoundError):  # a file being written has its name for a moment
                yield f"{folder}/{name}", storage.get_modified_time(f"{root}/{folder}/{name}")


def delete_content(project: Project, name: str) -> None:
    """Delete a content by its name as `stored_contents` gives it."""
    _storage().delete(f"{project.uuid}/{name}")


def delete_all(project: Project) -> None:
    """Delete every content of a project, also what was half-written."""
    for name, _stored_at in stored_contents(project):
        delete_content(project, name)
    storage, root = _storage(), str(project.uuid)
    with suppress(FileNotFoundError):
        for folder in storage.listdir(root)[0]:
            storage.delete(f"{root}/{folder}")
        storage.delete(root)


@dataclass(frozen=True, slots=True)
class StoredWorkspace:
    """A run's files, read when a check asks for them."""

    project: UUID
    files: Mapping[str, Digest]

    def read(self, path: str) -> bytes:
        return read_content(self.project, self.files[path][0])


class StoredBase:
    """The workspace as it was before a run's work."""

    def __init__(self, project: UUID, files: Mapping[str, Digest]) -> None:
        self._workspace = StoredWorkspace(project, files)
        self._digests = frozenset(sha256 for sha256, _size in files.values())

    def read(self, path: str) -> bytes:
        return self._workspace.read(path)

    def holds(self, sha256: str) -> bool:
        return sha256 in self._digests


def read_content(project: UUID, sha256: str) -> bytes:
    """As `read_blob`, of a content that is known by its name alone."""
    try:
        with _storage().open(content_name(project, sha256)) as file:
            content = bytes(file.read())
    except FileNotFoundError as error:
        raise EvidenceLost(f"evidence.missing {sha256}") from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EvidenceLost(f"evidence.changed {sha256}")
    return content


def _storage() -> Storage:
    return storages["evidence"]


def _is_stale(storage: Storage, name: str) -> bool:
    """Stored so long ago that the sweep might be about to take it: store it anew."""
    return storage.get_modified_time(name) < timezone.now() - FRESH


def folder_of(project: Project) -> str:
    """Where the contents of a project lie, for a child that reads many of them."""
    storage = _storage()
    assert isinstance(storage, FileSystemStorage)  # noqa: S101 - by settings
    return storage.path(str(project.uuid))


def content_name(project: UUID, sha256: str) -> str:
    return f"{project}/{sha256[:2]}/{sha256}"
