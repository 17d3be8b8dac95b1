"""A project as its reviewers find it after two months: what waits, and what they decided."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import Member, Project, Role, User
from processes.models import Process
from tests.builders import make_process, make_run
from tests.judged import make_tier, make_votes
from tests.reviewing import make_review
from tests.reviews.scene_files import MARKDOWN, files
from tests.reviews.scene_past import decide, past
from tests.reviews.scene_sources import SOURCES
from verification.engine.outcome import Outcome, Verdict
from verification.engine.reviewing import RANDOM_SAMPLE
from verification.runs.models import Event, Review, ReviewState, Run

PEOPLE = {"mira": "Mira Vogt", "jonas": "Jonas Eriksen", "aiko": "Aiko Tanaka", "sam": "Sam Okoro"}
MODELS = ("openai/gpt-5-mini", "anthropic/claude-sonnet-4", "mistral/large")
FAIL, PASS, PARTIAL = Outcome.FAIL, Outcome.PASS, Outcome.PARTIAL_VERIFIED
UNDECIDED, REJECT, ACCEPT = Verdict.UNDECIDED, Verdict.REJECT, Verdict.ACCEPT

SOURCELESS = {
    "rule": "figures-have-sources",
    "tier": 2,
    "source": "llm",
    "path": "size.md",
    "line": 5,
    "quote": "Revenue rose by **4 %** to 1.21 bn EUR.",
    "quote_verified": True,
    "message": "The figure names no source.",
    "suggestion": "Name the report and its page.",
    "confidence": 0.71,
    "fingerprint": "5" * 64,
}
PLACEHOLDER = {
    "path": "size.md",
    "line": 5,
    "quote": "TODO: name the source.",
    "message": "TODO is left.",
    "fingerprint": "7" * 64,
}
UNSOUND = {
    "rule": "share-of-nothing",
    "path": "share.py",
    "line": 4,
    "enforcement": "advisory",
    "message": "FIXME is left.",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """Reviews that are alike: how many, of which process, and how their runs ended."""

    count: int
    process: str
    reason: str
    outcome: Outcome
    verdict: Verdict
    urgency: int
    columns: Mapping[str, Any]
    findings: tuple[Mapping[str, Any], ...] = (SOURCELESS,)

    @property
    def code(self) -> str:
        """The run's own reason code; a run that was drawn by chance may have none."""
        return "" if self.reason == RANDOM_SAMPLE else self.reason


KINDS = (
    Kind(12, "market-study", "vote_divergence", FAIL, UNDECIDED, 65, {}),
    Kind(8, "market-study", "low_confidence", PASS, ACCEPT, 30, {}, ()),
    Kind(6, "market-study", "parse_inconclusive", FAIL, UNDECIDED, 40, {}, ()),
    Kind(5, "market-study", "attempts_exhausted", FAIL, REJECT, 60, {}, (PLACEHOLDER, UNSOUND)),
    Kind(5, "market-study", "rule_violated", FAIL, REJECT, 40, {}, (PLACEHOLDER, SOURCELESS)),
    Kind(4, "market-study", "unconfirmed_above_threshold", PARTIAL, ACCEPT, 35, {}),
    Kind(
        6, "market-study", RANDOM_SAMPLE, PASS, ACCEPT, 5,
        {"is_flagged": False, "sample_rate": 0.05}, (),
    ),
    Kind(6, "blind-study", "vote_divergence", FAIL, UNDECIDED, 50, {"is_blind": True}),
    Kind(6, "double-study", "vote_divergence", FAIL, UNDECIDED, 50, {"reviewers": 2}),
    Kind(2, "double-study", "vote_divergence", FAIL, UNDECIDED, 75, {"is_adjudication": True, "round": 2}),
)  # fmt: skip
"""Sixty that wait."""
CLOSED = (
    Kind(6, "capped-study", "rule_violated", FAIL, REJECT, 25, {"state": ReviewState.HELD}),
    Kind(3, "market-study", "low_confidence", PASS, ACCEPT, 30, {"state": ReviewState.EXPIRED}),
    Kind(2, "market-study", "vote_divergence", PASS, ACCEPT, 50, {"state": ReviewState.WITHDRAWN}),
)


@dataclass(frozen=True, slots=True)
class Scene:
    project: Project
    people: list[User]
    waiting: list[Review]
    decisions: int


def make_scene(project: Project, *, waiting: bool = True, decisions: int = 400) -> Scene:
    """Fill a project that has a verifier. The same each time, but for the clock."""
    chance, now = random.Random(7), timezone.now()  # noqa: S311 - a scene, no secret
    people = [_person(project, name, full) for name, full in PEOPLE.items()]
    processes = {slug: _process(project, slug, text) for slug, text in SOURCES.items()}
    made: list[Review] = []
    if waiting:
        made = list(_waiting(project, processes, chance, now))
        _take_up(made, people, now)
        list(_of_kinds(CLOSED, project, processes, chance, now))
    told = past(processes, people, chance, count=decisions, now=now) if decisions else 0
    return Scene(project, people, made, told)


def _person(project: Project, name: str, full_name: str) -> User:
    first, last = full_name.split()
    user, _ = User.objects.get_or_create(
        username=name,
        defaults={"first_name": first, "last_name": last, "email": f"{name}@example.org"},
    )
    Member.objects.get_or_create(project=project, user=user, defaults={"role": Role.REVIEWER})
    return user


def _process(project: Project, slug: str, source_text: str) -> Process:
    return project.processes.filter(slug=slug).first() or make_process(
        project, slug=slug, source_text=source_text
    )


def _waiting(
    project: Project, processes: Mapping[str, Process], chance: random.Random, now: datetime
) -> Iterator[Review]:
    yield from _of_kinds(KINDS, project, processes, chance, now)


def _of_kinds(
    kinds: tuple[Kind, ...],
    project: Project,
    processes: Mapping[str, Process],
    chance: random.Random,
    now: datetime,
) -> Iterator[Review]:
    for kind in kinds:
        for number in range(kind.count):
            at = now - timedelta(minutes=chance.randrange(3, 60 * 40))
            run = _run(project, processes[kind.process], kind, number=number, at=at)
            yield make_review(
                project,
                run,
                urgency=kind.urgency,
                created_at=at,
                reasons=[kind.reason],
                expires_at=now + timedelta(hours=12 + 24 * (number % 6)),
                **kind.columns,
            )


def _run(project: Project, process: Process, kind: Kind, *, number: int, at: datetime) -> Run:
    run = make_run(
        project,
        process=process,
        phase=("collect", "write")[number % 2],
        title=f"Market for {('grinders', 'kettles', 'scales')[number % 3]} in 202{number % 6}",
        outcome=kind.outcome,
        verdict=kind.verdict,
        reason_code=kind.code,
        created_at=at,
        output=MARKDOWN,
        files=files() if number % 2 == 0 else {"size.md": MARKDOWN.encode()},
        findings=kind.findings,
        evaluation={
            "confidence": 0.4 + 0.05 * (number % 8),
            "feedback": {"text": "Name the source of each figure.", "items": []},
        },
        tier_requested=3,
        tier_achieved=3,
        executor_model="openai/gpt-5",
    )
    assert run.live_evaluation is not None
    make_tier(run.live_evaluation, 2, model=MODELS[number % 3])
    if kind.reason == "vote_divergence":
        make_tier(run.live_evaluation, 3, model=MODELS[number % 3])
        make_votes(run.live_evaluation, (True, False, None if number % 4 == 0 else True))
    Event.objects.create(
        run=run, seq=2, kind="review_requested", at=at, data={"reasons": [kind.reason]}
    )
    return run


def _take_up(made: list[Review], people: list[User], now: datetime) -> None:
    """Some are claimed, some assigned; of those for two, half have a first decision."""
    mira, jonas, aiko, _ = people
    plain = [one for one in made if one.process.slug == "market-study"]
    Review.objects.filter(pk__in=[one.pk for one in plain[:2]]).update(
        claimed_by=jonas, lease_until=now + timedelta(minutes=5)
    )
    Review.objects.filter(pk__in=[one.pk for one in plain[2:6]]).update(assigned_to=mira)
    for review in made:
        if review.is_adjudication:
            for user, outcome in ((mira, PASS), (jonas, FAIL)):
                decide(review, user, outcome, at=review.created_at, round=1, is_adjudication=False)
    for review in [one for one in made if one.reviewers == 2][:3]:
        decide(review, aiko, FAIL, at=now - timedelta(minutes=30))
