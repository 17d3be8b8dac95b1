from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db.models import QuerySet

from loomverify.accounts.models import Project, User
from loomverify.errors import FaultError, NotFound
from processes.definition.compare import Comparison, compare
from processes.definition.load import load
from processes.definition.model import ANY_PHASE, Definition, Enforcement, Phase, Rule
from processes.models import Draft, Process, ProcessVersion, RuleVersion

MAX_REMEMBERED = 256
MAX_NUMBER = 2**31 - 1


def process_list(project: Project) -> QuerySet[Process]:
    return project.processes.select_related("published").order_by("slug")


def process_by_slug(project: Project, slug: str) -> Process:
    """Return a process with its published version.

    Raises:
        NotFound: this project has none of this name.
    """
    named = project.processes.select_related("published").filter(slug=slug)
    process = None if "\0" in slug else named.first()
    if process is None:
        raise NotFound("process.unknown", f"There is no process {slug!r}.")
    return process


def versions(process: Process) -> QuerySet[ProcessVersion]:
    """Return the versions, newest first, without their source texts."""
    return process.versions.order_by("-number").defer("source_text")


def newest_versions(project: Project, slugs: Collection[str]) -> dict[str, ProcessVersion]:
    """Return the newest version of each process of these names, with one query."""
    rows = ProcessVersion.objects.filter(process__project=project, process__slug__in=slugs)
    newest = rows.order_by("process_id", "-number").distinct("process_id")
    return {version.process.slug: version for version in newest.select_related("process")}


def version_by_number(process: Process, number: int) -> ProcessVersion:
    """Return a version.

    Raises:
        NotFound: the process has no version of this number.
    """
    found = process.versions.filter(number=number).first() if number <= MAX_NUMBER else None
    if found is None:
        raise NotFound("process_version.unknown", f"{process} has no version {number}.")
    return found


def draft_of(process: Process, editor: User) -> Draft | None:
    """Return the editor's own draft, unless it was discarded."""
    mine = process.drafts.filter(editor=editor, discarded_at__isnull=True)
    draft = mine.select_related("base").first()
    if draft is not None:
        draft.process = process
    return draft


_remembered: dict[int, Definition] = {}


def definition_of(process_version_id: int) -> Definition:
    """Return what a version says. Versions are immutable, so some are remembered."""
    found = _remembered.get(process_version_id)
    return found or definitions_of([process_version_id])[process_version_id]


def definitions_of(process_version_ids: Iterable[int]) -> dict[int, Definition]:
    """Return what versions say, by their ids, with one query at most."""
    found = {pk: _remembered.get(pk) for pk in process_version_ids}
    missing = [pk for pk, definition in found.items() if definition is None]
    if missing:
        rows = ProcessVersion.objects.filter(pk__in=missing)
        sources = dict(rows.values_list("pk", "source_text"))
        found |= {pk: _loaded(pk, sources.get(pk)) for pk in missing}
    return {pk: definition for pk, definition in found.items() if definition is not None}


def _loaded(pk: int, source: str | None) -> Definition:
    definition = None if source is None else load(source, is_stored=True).definition
    if definition is None:
        raise FaultError(f"process version {pk} is missing or does not load")
    _remembered[pk] = definition
    for oldest in list(_remembered)[:-MAX_REMEMBERED]:
        _remembered.pop(oldest, None)
    return definition


def published_definition(process: Process) -> Definition:
    """Return what the published version says.

    Raises:
        NotFound: nothing is published yet.
    """
    if process.published_id is None:
        raise NotFound("process.unpublished", f"{process} has no published version yet.")
    return definition_of(process.published_id)


def compare_versions(old: ProcessVersion, new: ProcessVersion) -> Comparison:
    return compare(definition_of(old.pk), definition_of(new.pk))


def rule_version_ids(process_version_id: int) -> dict[str, int]:
    """Return the row of each rule of a version, by the rule's name."""
    return dict(
        RuleVersion.objects.filter(phase_rules__process_version_id=process_version_id)
        .order_by("phase_rules__position")
        .values_list("rule__name", "pk")
    )


@dataclass(frozen=True, slots=True)
class Cell:
    """Where a phase and a rule meet."""

    phase: Phase
    rule: Rule
    is_named: bool
    """The rule names this phase."""
    is_everywhere: bool
    """The rule applies to every phase."""
    is_unscoped: bool
    """The rule names no phase."""
    applies: bool
    index: int
    """The rule's number in the file, from 0."""

    @property
    def is_on(self) -> bool:
        return self.is_named or self.is_everywhere

    @property
    def switch(self) -> str:
        return _switch("cell", on=not self.is_on, rule=(self.index, self.rule), phase=self.phase)


@dataclass(frozen=True, slots=True)
class MatrixRow:
    phase: Phase
    cells: tuple[Cell, ...]

    @property
    def has_all(self) -> bool:
        return all(cell.is_on for cell in self.cells)

    @property
    def switch(self) -> str:
        return _switch("row", on=not self.has_all, phase=self.phase)


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    rule: Rule
    enforcement: Enforcement
    index: int

    @property
    def switch(self) -> str:
        return _switch("column", on=True, rule=(self.index, self.rule))

    @property
    def is_everywhere(self) -> bool:
        return ANY_PHASE in self.rule.applies_to_phases


@dataclass(frozen=True, slots=True)
class Matrix:
    """Phases down, rules across."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]


def matrix(definition: Definition) -> Matrix:
    rules = list(enumerate(definition.rules))
    return Matrix(
        columns=tuple(MatrixColumn(rule, rule.usual_enforcement, index) for index, rule in rules),
        rows=tuple(
            MatrixRow(phase, tuple(_cell(definition, phase, rule, index) for index, rule in rules))
            for phase in definition.phases
        ),
    )


def _cell(definition: Definition, phase: Phase, rule: Rule, index: int) -> Cell:
    return Cell(
        phase,
        rule,
        is_named=phase.id in rule.applies_to_phases,
        is_everywhere=ANY_PHASE in rule.applies_to_phases,
        is_unscoped=not rule.is_scoped,
        applies=phase.id in definition.phases_of(rule),
        index=index,
    )


def _switch(
    kind: str, *, on: bool, rule: tuple[int, Rule] | None = None, phase: Phase | None = None
) -> str:
    """What a button of the matrix asks for, in words that hold whatever else changes."""
    asked = {"kind": kind, "on": on, "phase": phase.id if phase else ""}
    if rule:
        asked |= {"index": rule[0], "rule": rule[1].name}
    return json.dumps(asked, ensure_ascii=False)
