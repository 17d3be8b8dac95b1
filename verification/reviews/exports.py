"""Labels leave as CSV and as JSON lines: what people decided, beside what the verifier said.

Only decisions that count, of rounds that are over: an export gives nothing away to a reviewer
who has still to decide.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from loomverify.accounts.models import Project
from loomverify.filters import AddressFilters
from verification.engine.outcome import Outcome, Verdict
from verification.reviews.disclosure import counted_decisions
from verification.reviews.models import Decision, FindingLabel
from verification.reviews.queue.selectors import QueueFilters
from verification.reviews.schemas import Label
from verification.runs.exporting.answers import streamed, table_export
from verification.runs.exporting.tables import Table, csv_of, let_go
from verification.runs.models import TierResult, Vote
from verification.runs.selectors import moment

MAX_DECISIONS = 100_000
PAGE_DECISIONS = 200
JSON_LINES = "application/jsonl"

SHARED = (
    "decision", "review", "run", "task", "process", "process_version", "phase",
    "verifier_version", "reviewer", "round", "decided_at",
)  # fmt: skip
SAID = (
    "models", "engine_outcome", "engine_verdict", "reason_code", "confidence", "reasons",
    "is_flagged", "sample_rate", "is_blind", "is_adjudication", "first_outcome", "outcome",
    "agrees", "final_outcome", "seconds", "comment",
)  # fmt: skip
OF_FINDING = ("rule", "fingerprint", "enforcement", "label")
COLUMNS = ("kind", *SHARED, *SAID, *OF_FINDING)

READ = {
    "decision": "uuid",
    "review": "review__uuid",
    "run": "review__run__uuid",
    "task": "review__run__task__external_id",
    "process": "review__process__slug",
    "process_version": "evaluation__process_version__number",
    "phase": "review__phase_id",
    "verifier_version": "evaluation__verifier_version__number",
    "round": "round",
    "decided_at": "created_at",
    "engine_outcome": "evaluation__outcome",
    "engine_verdict": "evaluation__verdict",
    "reason_code": "evaluation__reason_code",
    "confidence": "evaluation__confidence",
    "reasons": "review__reasons",
    "is_flagged": "review__is_flagged",
    "sample_rate": "review__sample_rate",
    "is_blind": "review__is_blind",
    "is_adjudication": "is_adjudication",
    "first_outcome": "first_outcome",
    "outcome": "outcome",
    "final_outcome": "review__outcome",
    "seconds": "seconds",
    "comment": "comment",
    "user": "reviewer__username",
    "key": "api_key__name",
}
"""Where each column stands, and what is needed to name the reviewer."""
EMPTY_IS_NULL = (
    "engine_outcome", "engine_verdict", "reason_code", "first_outcome", "outcome", "final_outcome"
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Labelled:
    """A decision as it leaves: plain values, since rows of models are ten times as large."""

    told: dict[str, Any]
    findings: list[dict[str, str]]


@dataclass(frozen=True, slots=True)
class LabelFilters(AddressFilters):
    """As they stand in a URL; empty: not asked for. Times are those of the decision."""

    process: str = ""
    since: str = ""
    until: str = ""


def labels(project: Project, filters: LabelFilters = LabelFilters()) -> QuerySet[Decision]:
    """Decisions that count, in no order.

    Raises:
        InputError: `filter.invalid`.
    """
    QueueFilters(process=filters.process).check()
    rows = counted_decisions(Decision.objects.filter(project=project))
    if filters.process:
        rows = rows.filter(review__process__slug=filters.process)
    if filters.since:
        rows = rows.filter(created_at__gte=moment("since", filters.since))
    if filters.until:
        rows = rows.filter(created_at__lt=moment("until", filters.until))
    return rows


def labels_csv(
    request: HttpRequest,
    decisions: QuerySet[Decision],
    *,
    for_people: bool,
    limit: int = MAX_DECISIONS,
) -> HttpResponseBase:
    """A line for each decision, and one for each finding that was found right or wrong."""
    table = Table("labels", _csv_lines(decisions, limit), _is_cut(decisions, limit))
    return table_export(request, table, for_people=for_people)


def labels_jsonl(
    request: HttpRequest, decisions: QuerySet[Decision], *, limit: int = MAX_DECISIONS
) -> HttpResponseBase:
    """A JSON object for each decision, with its findings."""
    table = Table("labels", _json_lines(decisions, limit), _is_cut(decisions, limit))
    return streamed(request, table, suffix="jsonl", kind=JSON_LINES)


def _is_cut(decisions: QuerySet[Decision], limit: int) -> bool:
    return decisions.order_by()[: limit + 1].count() > limit


def _csv_lines(decisions: QuerySet[Decision], limit: int) -> Iterator[str]:
    yield csv_of([COLUMNS])
    for page in _pages(decisions, limit):
        yield csv_of(row for each in page for row in _rows(each))


def _json_lines(decisions: QuerySet[Decision], limit: int) -> Iterator[str]:
    for page in _pages(decisions, limit):
        objects = ({**each.told, "findings": each.findings} for each in page)
        yield "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in objects)


def _pages(decisions: QuerySet[Decision], limit: int) -> Iterator[list[Labelled]]:
    """Newest first. Between two pages no connection is held, however slowly somebody reads."""
    names = ("pk", "evaluation_id", "created_at", *READ.values())
    rows = decisions.order_by("-created_at", "-id")
    following = rows
    while limit:
        page = list(following.values_list(*names)[: min(PAGE_DECISIONS, limit)])
        labelled = _labelled(page)
        let_go()
        if labelled:
            yield labelled
        if len(page) < PAGE_DECISIONS:
            return
        limit -= len(page)
        pk, _, at, *_ = page[-1]
        following = rows.filter(created_at__lte=at).exclude(created_at=at, pk__gte=pk)


def _labelled(page: Sequence[Sequence[Any]]) -> list[Labelled]:
    findings = _findings([pk for pk, *_ in page])
    models = _models({evaluation for _, evaluation, *_ in page})
    return [
        Labelled(
            _told(dict(zip(READ, values, strict=True)), models.get(evaluation, [])),
            findings.get(pk, []),
        )
        for pk, evaluation, _, *values in page
    ]


def _findings(decisions: Collection[int]) -> dict[int, list[dict[str, str]]]:
    rows = FindingLabel.objects.filter(decision__in=decisions).order_by("finding__position", "id")
    read = ("finding__rule", "finding__fingerprint", "finding__enforcement")
    found: dict[int, list[dict[str, str]]] = {}
    for decision, is_right, *texts in rows.values_list("decision", "is_right", *read):
        values = (*texts, Label.of(is_right).value)
        found.setdefault(decision, []).append(dict(zip(OF_FINDING, values, strict=True)))
    return found


def _models(evaluations: Collection[int]) -> dict[int, list[str]]:
    """The judges that were heard, each once."""
    found: dict[int, list[str]] = {}
    for heard, order in ((TierResult.objects, "tier"), (Vote.objects, "index")):
        rows = heard.filter(evaluation__in=evaluations).exclude(model="").order_by(order)
        for evaluation, model in rows.values_list("evaluation", "model"):
            models = found.setdefault(evaluation, [])
            models.extend([] if model in models else [model])
    return found


def _rows(each: Labelled) -> Iterator[Sequence[object]]:
    """The figures of a decision stand in its own line alone, so that no sum counts them twice."""
    told = each.told
    yield [_cell(value) for value in ("decision", *told.values(), *[None] * len(OF_FINDING))]
    shared = [told[name] for name in SHARED]
    for label in each.findings:
        values = ("finding", *shared, *[None] * len(SAID), *label.values())
        yield [_cell(value) for value in values]


def _told(read: dict[str, Any], models: list[str]) -> dict[str, Any]:
    read |= {name: str(read[name]) for name in ("decision", "review", "run")}
    read |= {
        "reviewer": read["user"] if read["user"] is not None else f"key {read['key']}",
        "decided_at": read["decided_at"].isoformat(),
        "models": models,
        "agrees": agrees(read["outcome"], read["engine_verdict"]),
    }
    read |= {name: read[name] or None for name in EMPTY_IS_NULL}
    return {name: read[name] for name in (*SHARED, *SAID)}


def agrees(outcome: str, verdict: str) -> bool | None:
    """Whether person and verifier both accept, or both reject. None: the verifier did neither."""
    if not outcome or verdict not in (Verdict.ACCEPT, Verdict.REJECT):
        return None
    return (outcome == Outcome.FAIL) == (verdict == Verdict.REJECT)


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, list) else value
