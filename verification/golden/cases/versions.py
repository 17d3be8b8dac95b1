"""Versions of cases as rows: immutable, with their files in the evidence store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project
from verification.golden.cases.likeness import sketch, submitted_texts
from verification.golden.documents.reading import ReadCase
from verification.golden.documents.writing import sha256_of, spec_of
from verification.golden.models import GoldenCase, GoldenCaseVersion, GoldenFile
from verification.runs.evidence_store import Digest, digest_of, name_blobs, store_contents
from verification.runs.models import Blob


@dataclass(frozen=True)
class Content:
    """What a version holds, ready to be stored."""

    read: ReadCase
    spec: Mapping[str, Any]
    digests: Mapping[str, Digest]
    spec_sha256: str
    input_sha256: str

    @cached_property
    def likeness(self) -> list[int]:
        """Made for what is stored or compared: a start reads the whole corpus to see it has it."""
        return sketch(submitted_texts(self.spec["run"], self.read.files))

    @property
    def name(self) -> str:
        return self.read.document.id

    @classmethod
    def of(cls, read: ReadCase) -> Content:
        spec = spec_of(read.document)
        digests = {path: digest_of(content) for path, content in sorted(read.files.items())}
        named = {path: sha256 for path, (sha256, _) in digests.items()}
        run = spec["run"]
        task = {name: value for name, value in run["task"].items() if name != "id"}
        return cls(
            read=read,
            spec=spec,
            digests=digests,
            spec_sha256=sha256_of([spec, named]),
            input_sha256=sha256_of([{**run, "task": task}, named]),
        )

    def version_of(self, case: GoldenCase, *, by: str, reason: str = "") -> GoldenCaseVersion:
        """The case's next version; not stored yet."""
        return GoldenCaseVersion(
            case=case,
            number=case.current.number + 1 if case.current else 1,
            spec=self.spec,
            spec_sha256=self.spec_sha256,
            input_sha256=self.input_sha256,
            likeness=self.likeness,
            reason=reason,
            created_by=by,
        )

    def files_of(
        self, version: GoldenCaseVersion, blobs: Mapping[str, Blob]
    ) -> Iterator[GoldenFile]:
        for path, (sha256, size) in self.digests.items():
            yield GoldenFile(version=version, path=path, blob=blobs[sha256], size=size)


def store_files(project: Project, *contents: Content) -> None:
    """Before the transaction that names them."""
    store_contents(project, [file for one in contents for file in one.read.files.values()])


def add(case: GoldenCase, content: Content, *, actor: Actor, reason: str) -> GoldenCaseVersion:
    """Add the next version, and let it count. The caller holds the case's row."""
    version = content.version_of(case, by=actor.name[:200], reason=reason)
    version.save()
    blobs = _blobs(case.project, [content])
    GoldenFile.objects.bulk_create(content.files_of(version, blobs))
    _adopt(case, content, version)
    case.save(update_fields=["current", *told(content)])
    return version


def add_all(
    project: Project,
    contents: Sequence[Content],
    known: Mapping[str, GoldenCase],
    *,
    by: str,
    reason: str = "",
    is_shipped: bool = False,
) -> None:
    """Add a version of each case in a few statements; those that are not `known` are made.

    The caller holds the known ones.
    """
    made = {
        one.name: GoldenCase(
            project=project, name=one.name, created_by=by, is_shipped=is_shipped, **told(one)
        )
        for one in contents
        if one.name not in known
    }
    GoldenCase.objects.bulk_create(made.values())
    cases = {one.name: made.get(one.name) or known[one.name] for one in contents}
    versions = GoldenCaseVersion.objects.bulk_create(
        one.version_of(cases[one.name], by=by, reason=reason) for one in contents
    )
    blobs = _blobs(project, contents)
    GoldenFile.objects.bulk_create(
        file
        for one, version in zip(contents, versions, strict=True)
        for file in one.files_of(version, blobs)
    )
    for one, version in zip(contents, versions, strict=True):
        _adopt(cases[one.name], one, version)
    GoldenCase.objects.bulk_update(made.values(), ["current"])
    changed = [case for name, case in cases.items() if name not in made]
    GoldenCase.objects.bulk_update(changed, ["current", "process", "phase", "tags", "owner"])


def _blobs(project: Project, contents: Sequence[Content]) -> dict[str, Blob]:
    sizes = dict(digest for one in contents for digest in one.digests.values())
    return name_blobs(project, sizes) if sizes else {}


def _adopt(case: GoldenCase, content: Content, version: GoldenCaseVersion) -> None:
    case.current = version
    for name, value in told(content).items():
        setattr(case, name, value)


def told(content: Content) -> dict[str, Any]:
    """What the case's own row repeats of its document, to be found by."""
    document = content.read.document
    return {
        "process": document.process,
        "phase": document.phase,
        "tags": list(dict.fromkeys(document.tags)),
        "owner": document.owner,
    }
