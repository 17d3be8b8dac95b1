from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from django.db.models import QuerySet

from loomverify.accounts.models import Project
from loomverify.errors import FaultError, NotFound
from processes.definition.compare import Comparison, compare
from processes.definition.load import load
from processes.definition.model import ANY_PHASE, Definition, Enforcement, Phase, Rule
from processes.models import Process, ProcessVersion, RuleVersion

CACHED_DEFINITIONS = 256
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


def version_by_number(process: Process, number: int) -> ProcessVersion:
    """Return a version.

    Raises:
        NotFound: the process has no version of this number.
    """
    found = process.versions.filter(number=number).first() if number <= MAX_NUMBER else None
    if found is None:
        raise NotFound("process_version.unknown", f"{process} has no version {number}.")
    return found


@lru_cache(maxsize=CACHED_DEFINITIONS)
def definition_of(process_version_id: int) -> Definition:
    """Return what a version says. Versions are immutable, so some are remembered."""
    source = ProcessVersion.objects.values_list("source_text", flat=True).get(pk=process_version_id)
    definition = load(source).definition
    if definition is None:
        raise FaultError(f"process version {process_version_id} was stored but does not load")
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

    @property
    def applies(self) -> bool:
        return self.is_named or self.is_everywhere


@dataclass(frozen=True, slots=True)
class MatrixRow:
    phase: Phase
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class MatrixColumn:
    rule: Rule
    enforcement: Enforcement


@dataclass(frozen=True, slots=True)
class Matrix:
    """Phases down, rules across."""

    columns: tuple[MatrixColumn, ...]
    rows: tuple[MatrixRow, ...]


def matrix(version: ProcessVersion) -> Matrix:
    definition = definition_of(version.pk)
    return Matrix(
        columns=tuple(MatrixColumn(rule, rule.usual_enforcement) for rule in definition.rules),
        rows=tuple(
            MatrixRow(phase, tuple(_cell(phase, rule) for rule in definition.rules))
            for phase in definition.phases
        ),
    )


def _cell(phase: Phase, rule: Rule) -> Cell:
    return Cell(
        phase,
        rule,
        is_named=phase.id in rule.applies_to_phases,
        is_everywhere=ANY_PHASE in rule.applies_to_phases,
    )
