"""Everything the page of one run shows, gathered in a fixed number of queries."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from loomverify.accounts.models import Project
from processes.selectors import definition_of
from verification.engine.outcome import FindingVerdict
from verification.engine.progress import count_words
from verification.runs import wording
from verification.runs.artefacts import Mark
from verification.runs.choice import Choice
from verification.runs.gating.page import GatesPart, gates_part
from verification.runs.judged_page import JudgedParts
from verification.runs.material import DIFF, LINES_BEFORE_PLACE, OUTPUT, Material, Pane
from verification.runs.models import Evaluation, Event, Finding, Run, RunFile, Submission
from verification.runs.places import place_of
from verification.runs.score_page import ShownScore, score_of
from verification.runs.steps import Step
from verification.runs.undecided import Undecided, undecided
from verification.runs.waivers.page import Beside, beside, remark

MAX_ATTEMPTS_LISTED = 20

CLAIM_COUNTS = (
    ("confirmed", "confirmed"),
    ("inferred", "inferred"),
    ("unsupported", "unsupported"),
    ("recommendation_unconfirmed", "unconfirmed in recommendations"),
)
GROUPS = (("hard", "Hard"), ("advisory", "Advisory"), ("observe", "Observed"))


def run_of(project: Project, uuid: UUID) -> Run | None:
    """The run with what its page shows of it."""
    return (
        Run.objects.select_related(
            "process", "process_version", "verifier_version", "task", "live_evaluation", "review"
        )
        .defer("search", "process_version__source_text", "process__description")
        .filter(project=project, uuid=uuid)
        .first()
    )


@dataclass(frozen=True, slots=True)
class ListedFinding:
    number: int
    row: Finding
    place: str
    beside: Beside | None = None
    since_last: str = ""


@dataclass
class RunPage:
    """The parts are read when the template asks for them."""

    run: Run
    evaluation: Evaluation | None
    choice: Choice = field(default_factory=Choice)

    @property
    def is_live(self) -> bool:
        return self.evaluation is None or self.evaluation.pk == self.run.live_evaluation_id

    @cached_property
    def mark(self) -> str:
        """Names all that changes on the page while the run is not over, but for its gates' output."""
        minutes = (timezone.now() - self.run.created_at).total_seconds() // 60
        told = [
            *(self.run.state, self.run.live_evaluation_id, self.run.review_state, minutes),
            *((one.pk, one.finished_at) for one in self.evaluations),
            *((one.pk, one.state, one.outcome) for one in self.attempts),
            *(self.events.values_list("seq", flat=True)),
            self.gates.running is not None,
        ]
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    @cached_property
    def undecided(self) -> Undecided | None:
        return undecided(self.run)

    @property
    def is_waiting(self) -> bool:
        """Not decided, and nothing happens before the next try."""
        return self.undecided is not None and self.undecided.next_at is not None

    @cached_property
    def judged(self) -> JudgedParts:
        return JudgedParts(self.run, self.evaluation, self.choice.claims)

    @cached_property
    def headline(self) -> wording.Headline:
        if self.undecided and self.is_live:
            return self.undecided.headline(timezone.now())
        said = wording.headline(self.run, shown=None if self.is_live else self.evaluation)
        return replace(said, detail=said.detail or remark(self._found))

    @cached_property
    def next_step(self) -> str:
        action = self.evaluation.action if self.evaluation else ""
        return wording.next_step(self.run, action)

    @cached_property
    def body(self) -> Mapping[str, Any]:
        submission = Submission.objects.filter(run=self.run).first()
        return submission.body if submission else {}

    @cached_property
    def evidence_ids(self) -> frozenset[str]:
        return frozenset(str(one.get("id")) for one in self.body.get("evidence") or ())

    @cached_property
    def files(self) -> dict[str, RunFile]:
        rows = RunFile.objects.filter(run=self.run).select_related("blob__project")
        return {row.path: row for row in rows.order_by("path")}

    @cached_property
    def findings(self) -> list[ListedFinding]:
        if self.evaluation is None:
            return []
        rows = list(self.evaluation.findings.order_by("tier", "position"))
        order = [name for name, _ in GROUPS]
        rows.sort(key=lambda row: order.index(row.enforcement))
        waived = beside(self.run, rows, timezone.now())
        items = self._feedback.get("items", ())
        since_last = {item.get("fingerprint"): item.get("since_last") or "" for item in items}
        return [
            ListedFinding(
                number,
                row,
                place_of(row),
                waived.get(row.fingerprint),
                since_last.get(row.fingerprint, ""),
            )
            for number, row in enumerate(rows, start=1)
        ]

    @property
    def _feedback(self) -> dict[str, Any]:
        return self.evaluation.feedback if self.evaluation else {}

    @property
    def resolved(self) -> list[dict[str, Any]]:
        """The problems of the last attempt that are gone."""
        return list(self._feedback.get("resolved", ()))

    @property
    def not_checked(self) -> list[dict[str, Any]]:
        """The problems of earlier attempts that may be there still."""
        return list(self._feedback.get("not_checked", ()))

    @property
    def progress(self) -> str:
        """What changed since the last attempt, in few words; '' for a first attempt."""
        since_last = (item.get("since_last") for item in self._feedback.get("items", ()))
        return count_words(since_last, len(self.resolved), len(self.not_checked))

    @cached_property
    def groups(self) -> list[tuple[str, str, list[ListedFinding]]]:
        grouped = [
            (name, label, [one for one in self.findings if one.row.enforcement == name])
            for name, label in GROUPS
        ]
        return [group for group in grouped if group[2]]

    @cached_property
    def rule_names(self) -> frozenset[str]:
        """The rules of the process; the checks that every run gets are not among them."""
        definition = definition_of(self.run.process_version_id)
        return frozenset(rule.name for rule in definition.rules)

    @cached_property
    def leading(self) -> ListedFinding | None:
        """The finding the verdict rests on."""
        code = self.evaluation.reason_code if self.evaluation else ""
        fitting = [one for one in self.findings if one.row.reason_code == code]
        return next(iter(fitting or self.findings), None)

    @property
    def doubt(self) -> str:
        """What was found out about the doubt, where that is more than its reason."""
        row = self.leading.row if self.leading else None
        if row is None or row.verdict != FindingVerdict.UNKNOWN:
            return ""
        return "" if row.reason_code == "verifier_unavailable" else row.message

    @cached_property
    def other_hard(self) -> int:
        """Hard findings beside the leading one."""
        hard = sum(one.row.enforcement == "hard" for one in self.findings)
        return hard - (self.leading is not None and self.leading.row.enforcement == "hard")

    @cached_property
    def steps(self) -> list[Step]:
        results = {row.tier: row for row in self.evaluation.tiers.all()} if self.evaluation else {}
        names = {1: "checks", 2: "judge", 3: "vote"}
        return [
            Step(tier, name, results.get(tier), "" if tier in results else self._absence(tier))
            for tier, name in names.items()
        ]

    @cached_property
    def gates(self) -> GatesPart:
        codes = [one.row.reason_code for one in self.findings]
        phase = definition_of(self.run.process_version_id).phase(self.run.phase_id)
        asked = phase.gates if phase else ()
        return gates_part(self.run, self.evaluation, self.evaluations, codes, asked)

    @cached_property
    def score(self) -> ShownScore | None:
        return score_of(self.evaluation)

    def _absence(self, tier: int) -> str:
        if tier > self.run.tier_requested:
            return "not asked for"
        if tier == 1 and self.gates.running:
            return "under way"
        return "not reached" if self.run.is_over else "to come"

    @cached_property
    def applied(self) -> list[dict[str, Any]]:
        return [entry for entry in self._trace if entry.get("applied")]

    @cached_property
    def skipped(self) -> list[dict[str, Any]]:
        return [entry for entry in self._trace if not entry.get("applied")]

    @property
    def _trace(self) -> list[dict[str, Any]]:
        trace: list[dict[str, Any]] = self.evaluation.rule_trace if self.evaluation else []
        hard = {one.row.rule for one in self.findings if one.row.enforcement == "hard"}
        return [
            {
                **entry,
                "badge": wording.rule_badge(
                    entry.get("verdict") or "", is_hard=entry["rule"] in hard
                ),
                "why": wording.trace_reason(entry["reason"]),
            }
            for entry in trace
        ]

    @cached_property
    def claims(self) -> list[tuple[str, Any]]:
        counts = self.evaluation.claims if self.evaluation else {}
        found = [(words, counts[name]) for name, words in CLAIM_COUNTS if counts.get(name)]
        if ratio := counts.get("supporting_unconfirmed_ratio"):
            found.append(("unconfirmed outside recommendations", f"{ratio:.0%}"))
        return found

    @cached_property
    def attempts(self) -> list[Run]:
        rows = Run.objects.filter(task=self.run.task).defer("search", "result")
        newest = list(rows.order_by("-created_at", "-id")[:MAX_ATTEMPTS_LISTED])
        return newest[::-1]

    @cached_property
    def previous(self) -> Run | None:
        """The submission of the same task before this one."""
        return (
            Run.objects.filter(task=self.run.task, created_at__lt=self.run.created_at)
            .defer("search", "result")
            .order_by("-created_at", "-id")
            .first()
        )

    @cached_property
    def evaluations(self) -> list[Evaluation]:
        return list(
            self.run.evaluations.select_related("verifier_version").order_by("started_at", "id")
        )

    @property
    def verifier_before(self) -> int | None:
        """The version that judged first, where the run was verified again by another one."""
        first = self.evaluations[0].verifier_version if self.evaluations else None
        is_other = first is not None and first.pk != self.run.verifier_version_id
        return first.number if first is not None and is_other else None

    @cached_property
    def events(self) -> QuerySet[Event]:
        return self.run.events.order_by("seq")

    @cached_property
    def selected(self) -> ListedFinding | None:
        """The finding looked at: the one asked for, the first of a rule, else the leading one."""
        if self.choice.at:
            return next((one for one in self.findings if one.number == self.choice.at), None)
        if self.choice.is_of_material:
            return None
        named = (one for one in self.findings if one.row.fingerprint == self.choice.finding)
        of_rule = (one for one in self.findings if one.row.rule == self.choice.rule)
        return next(chain(named, of_rule), self.leading)

    @cached_property
    def material(self) -> Material:
        found, confirming = self._found, self.judged.confirming
        return Material(self.body, self.files, found, confirming, self.run.project_id)

    @property
    def _found(self) -> list[Finding]:
        return [one.row for one in self.findings]

    @cached_property
    def pane(self) -> Pane:
        marks = [Mark(weight, line) for line, weight in self.choice.places]
        line = (marks[0].line or 0) if marks else 0
        first = line - LINES_BEFORE_PLACE
        if self.choice.path:
            return self.material.file(self.choice.path, first, line=line, marks=marks)
        if self.choice.evidence:
            return self.material.evidence(self.choice.evidence, first, marks=marks)
        if self.choice.show == OUTPUT:
            return self.material.output(first, marks=marks)
        if made := next(
            (one for one in self.judged.made if str(one.row.uuid) == self.choice.made), None
        ):
            return self.material.made(made.title, made.row)
        if named := self.material.named(self.choice.show):
            return named
        if self.choice.show == DIFF and self.previous:
            return self.material.diff(self.previous)
        if self.selected:
            return self.material.at(self.selected.row)
        return self.material.output()
