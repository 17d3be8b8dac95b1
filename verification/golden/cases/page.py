"""What the page of one case shows, gathered in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast
from uuid import UUID

from django.db.models import F

from processes import side_by_side
from processes.views.access import number_in
from verification.golden.cases.expecting import Shown, beside
from verification.golden.cases.recorded import Gate, Reply, gate_of, replies_of
from verification.golden.cases.selectors import document_of, versions_to_read
from verification.golden.cases.texts import text_of
from verification.golden.models import (
    GoldenCase,
    GoldenCaseVersion,
    GoldenFile,
    ReplayResult,
    ReplayState,
)
from verification.golden.wording import standing_badge
from verification.runs.evidence_store import EvidenceLost
from verification.runs.material import Material, Pane
from verification.runs.models import Review, Run, RunFile
from verification.runs.wording import Badge

STRIP_LENGTH = 24
MAX_VERSIONS = 50
MAX_FILES = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """Which material is looked at, and the change of which version is told."""

    compare: str = ""
    show: str = ""
    file: str = ""
    evidence: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Choice:
        path = query.get("file", "").replace("\x00", "")
        return cls(query.get("compare", ""), query.get("show", ""), path, query.get("evidence", ""))


@dataclass(frozen=True, slots=True)
class Past:
    """What one replay said of the case."""

    result: ReplayResult
    badge: Badge


@dataclass(frozen=True, slots=True)
class Version:
    row: GoldenCaseVersion
    changed: str
    """What is new in it: the input, or what is expected of it."""


@dataclass(frozen=True, slots=True)
class Compared:
    """`lines` None: too long to compare."""

    number: int
    lines: Sequence[side_by_side.Stretch] | None


@dataclass
class CasePage:
    """The parts are read when the template asks for them."""

    case: GoldenCase
    version: GoldenCaseVersion
    choice: Choice = field(default_factory=Choice)

    @property
    def is_current(self) -> bool:
        return self.version.pk == self.case.current_id

    @cached_property
    def spec(self) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], self.version.spec)

    @property
    def body(self) -> Mapping[str, Any]:
        return self.spec.get("run") or {}

    @property
    def task(self) -> Mapping[str, Any]:
        return self.body.get("task") or {}

    @cached_property
    def past(self) -> list[Past]:
        """This version in the finished replays, oldest first."""
        rows = (
            ReplayResult.objects.filter(
                case_version=self.version, replay__state=ReplayState.FINISHED
            )
            .exclude(standing="")
            .select_related("replay__verifier_version", "process_version__process")
            .defer("observed", "legacy", "replay__candidate_text")
            .order_by("-id")
        )
        found = list(rows[:STRIP_LENGTH])
        return [Past(row, standing_badge(row.standing)) for row in reversed(found)]

    @cached_property
    def last(self) -> Past | None:
        """The last word of what judges runs now; where it has none, of any replay."""
        live = [one for one in self.past if one.result.replay.is_live_line]
        return next(iter([*reversed(live), *reversed(self.past)]), None)

    @property
    def badge(self) -> Badge:
        return self.last.badge if self.last else standing_badge("")

    @cached_property
    def expected(self) -> list[Shown]:
        return beside(
            self.spec.get("expected") or {}, self.last.result.differences if self.last else None
        )

    @cached_property
    def files(self) -> dict[str, GoldenFile]:
        rows = self.version.files.select_related("blob__project").order_by("path")
        return {row.path: row for row in rows}

    @property
    def shown_files(self) -> list[GoldenFile]:
        return list(self.files.values())[:MAX_FILES]

    @property
    def hidden_files(self) -> int:
        return max(0, len(self.files) - MAX_FILES)

    @cached_property
    def pane(self) -> Pane:
        files = cast(Mapping[str, RunFile], self.files)  # a path, a size and a content alike
        material = Material(self.body, files, (), project=self.case.project_id)
        if self.choice.file:
            return material.file(self.choice.file)
        if self.choice.evidence:
            return material.evidence(self.choice.evidence)
        found = material.named(self.choice.show) if self.choice.show else None
        return found or (self._first_file(material) if self._only_files else material.output())

    @property
    def _only_files(self) -> bool:
        return not self.body.get("output") and bool(self.files)

    def _first_file(self, material: Material) -> Pane:
        return material.file(next(iter(self.files)))

    @cached_property
    def replies(self) -> list[Reply]:
        return replies_of(self.spec, self.last.result.played if self.last else None)

    @property
    def stale(self) -> int:
        return sum(one.is_stale for one in self.replies)

    @cached_property
    def gates(self) -> list[Gate]:
        return [gate_of(one) for one in self.spec.get("gates") or ()]

    @property
    def history(self) -> list[tuple[str, Any]]:
        """What the task had behind it, where it had anything."""
        told = self.spec.get("history") or {}
        return [(name.replace("_", " "), value) for name, value in told.items() if value]

    @cached_property
    def judges(self) -> list[tuple[str, str]]:
        seats = self.spec.get("judges") or {}
        panel = ", ".join(seats.get("panel") or ())
        named = [("primary", seats.get("primary")), ("alternate", seats.get("alternate"))]
        return [(name, model) for name, model in [*named, ("panel", panel)] if model]

    @property
    def provenance(self) -> list[tuple[str, str]]:
        told = self.spec.get("provenance") or {}
        hidden = {"run"} if self.case.run_id else set()
        hidden |= {"review"} if self.review else set()
        return [
            (name.replace("_", " "), str(value))
            for name, value in told.items()
            if name not in hidden
        ]

    @cached_property
    def review(self) -> Review | None:
        try:
            named = UUID(str((self.spec.get("provenance") or {}).get("review")))
        except ValueError:
            return None
        return Review.objects.filter(project_id=self.case.project_id, uuid=named).first()

    @cached_property
    def run(self) -> Run | None:
        """The one it was made from, while it is kept."""
        if self.case.run_id is None:
            return None
        return Run.objects.filter(pk=self.case.run_id).only("uuid", "title").first()

    @property
    def is_in_run(self) -> bool:
        """Whether the run holds the file that is looked at, as it is here."""
        file = self.files.get(self.pane.path)
        if file is None or self.case.run_id is None:
            return False
        return RunFile.objects.filter(
            run_id=self.case.run_id, path=file.path, blob_id=file.blob_id
        ).exists()

    @cached_property
    def compared(self) -> Compared | None:
        """The documents of a version and of the one before it, line by line."""
        number = number_in(self.choice.compare)
        if number is None or number < 2:
            return None
        pair = versions_to_read().filter(case=self.case, number__in=(number - 1, number))
        found = {one.number: _text_of(one) for one in pair}
        if len(found) < 2:
            return None
        return Compared(number, side_by_side.beside(found[number - 1], found[number]))

    @cached_property
    def versions(self) -> Sequence[Version]:
        """Newest first."""
        rows = list(
            self.case.versions.annotate(expects=F("spec__expected"))
            .defer("spec", "likeness")
            .order_by("-number")[:MAX_VERSIONS]
        )
        return [
            Version(row, _changed(row, rows[at + 1]) if at + 1 < len(rows) else "")
            for at, row in enumerate(rows)
        ]


def _text_of(version: GoldenCaseVersion) -> str:
    """Without its files where they are not in our store any more."""
    try:
        return text_of(document_of(version))
    except EvidenceLost:
        return text_of(version.spec)


def _changed(row: Any, before: Any) -> str:
    if row.expects != before.expects and row.input_sha256 != before.input_sha256:
        return "input and expectation"
    if row.input_sha256 != before.input_sha256:
        return "input"
    return "expectation" if row.expects != before.expects else "other words"
