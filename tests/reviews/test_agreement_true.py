"""The figures against the same counted row by row, and with the services that decide."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from tests.builders import make_process, make_project, make_run, make_user
from tests.reviewing import make_review
from tests.reviews.agreement_rows import UNDECIDED, WORDS, make_decided
from tests.reviews.deciding_rows import make_decision
from tests.reviews.people import FAIL, PASS, fresh, key_of, reviewer_of, says, settled
from verification.engine.outcome import Outcome
from verification.reviews import deciding
from verification.reviews.agreement import calibrating, counts
from verification.reviews.agreement.calibrating import calibration
from verification.reviews.agreement.filters import AgreementFilters
from verification.reviews.agreement.selectors import AgreementFigures, agreement_figures
from verification.reviews.models import Decision, FindingLabel
from verification.runs.models import Review

pytestmark = pytest.mark.django_db
EVERY = AgreementFilters()


@pytest.fixture
def many() -> Project:
    """A hundred reviews of all kinds: rounds, labels, pairs, samples, blind ones, taken back ones."""
    chance = random.Random(20261121)  # noqa: S311 - for variety, not for secrets
    project = make_project()
    processes = [project.processes.get(), make_process(project, slug="other")]
    people = [make_user(project) for _ in range(3)]
    for number in range(100):
        review = make_decided(
            project,
            chance.choice((*WORDS, UNDECIDED)),
            chance.choice(WORDS),
            by=people[0],
            rule=chance.choice(("", "one", "two")),
            labels=[chance.random() < 0.5 for _ in range(chance.randrange(3))],
            model=chance.choice(("", "acme/large", "acme/small")),
            confidence=chance.choice((None, 0.29, 0.3, 0.57, 0.999, 1.0)),
            phase=chance.choice(("build", "write")),
            process=processes[number % 2],
            sample_rate=chance.choice((None, 0.02, 0.5)),
            is_flagged=chance.random() < 0.5,
        )
        _more_is_said(review, people, chance)
    return project


def _more_is_said(review: Review, people: list[Any], chance: random.Random) -> None:
    labels = {"f0": chance.random() < 0.5} if review.rule and chance.random() < 0.5 else {}
    said = Outcome(chance.choice(WORDS))
    first = chance.choice(("", *WORDS))
    kind = chance.randrange(5)
    if kind == 0:
        make_decision(review, people[1], said, first_outcome=first, labels=labels)
    elif kind == 1:
        make_decision(review, people[1], said, round=2, labels=labels, is_adjudication=True)
    elif kind == 2:
        make_decision(review, people[2], said, labels=labels, undone_at=timezone.now())
    elif kind == 3:
        make_decision(review, people[1], said, labels=labels, is_settled=False, round=2)
    if chance.random() < 0.15:  # asked again, and nobody has decided yet
        Review.objects.filter(pk=review.pk).update(outcome="", state="expired", told_at=None)


def said_of(review: Review) -> str:
    verdict = review.evaluation.verdict
    if verdict == "undecided":
        return UNDECIDED
    return "fail" if verdict == "reject" else review.evaluation.outcome


def counted(review: Review) -> list[Decision]:
    return [one for one in review.decisions.all() if one.settled_at and not one.undone_at]


def reviews(project: Project) -> list[Review]:
    return list(Review.objects.filter(project=project).select_related("evaluation", "process"))


@pytest.mark.extended
def test_the_matrix_is_what_counting_row_by_row_gives(many: Project) -> None:
    expected = Counter(
        (said_of(one), one.outcome, one.process.slug, one.phase_id)
        for one in reviews(many)
        if one.outcome
    )

    found = {(c.said, c.people, c.process, c.phase): c.n for c in counts.cells(many, EVERY)}

    assert found == expected
    assert len(found) > 30


@pytest.mark.extended
def test_rules_are_what_reading_every_label_gives(many: Project) -> None:
    expected: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for review in reviews(many):
        labels: dict[str, dict[int, list[bool]]] = defaultdict(lambda: defaultdict(list))
        for decision in counted(review):
            for label in FindingLabel.objects.filter(decision=decision).select_related("finding"):
                labels[label.finding.rule][decision.round].append(label.is_right)
        for rule, rounds in labels.items():
            if review.outcome:
                expected[review.process.slug, rule].append(not any(rounds[max(rounds)]))
        is_led = review.rule and review.rule not in labels and said_of(review) == "fail"
        if review.outcome and is_led:
            expected[review.process.slug, review.rule].append(review.outcome != "fail")

    found = {(c.process, c.rule): (c.n, c.overturned) for c in counts.rule_counts(many, EVERY)}

    assert found == {key: (len(said), sum(said)) for key, said in expected.items()}
    assert sum(overturned for _, overturned in found.values()) > 5


@pytest.mark.extended
def test_pairs_are_what_setting_decisions_beside_each_other_gives(many: Project) -> None:
    expected: Counter[tuple[str, ...]] = Counter()
    for review in reviews(many):
        words = {
            f"person:{one.reviewer_id}": one.first_outcome or one.outcome
            for one in counted(review)
            if not one.is_adjudication and one.round == 1
        }
        if len(words) == 2:
            (one, said), (other, said_by_other) = sorted(words.items())
            expected[one, other, said, said_by_other] += 1

    found = counts.pair_counts(many, EVERY)

    assert {(c.first, c.second, c.first_said, c.second_said): c.n for c in found} == expected
    assert sum(expected.values()) > 10


@pytest.mark.extended
def test_the_sample_is_what_counting_row_by_row_gives(many: Project) -> None:
    expected: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
    for one in reviews(many):
        if one.sample_rate and said_of(one) != UNDECIDED:
            kind = "rejected" if one.outcome == "fail" else "accepted" if one.outcome else "open"
            expected[one.sample_rate, one.is_flagged, said_of(one) == "fail"][kind] += 1

    found = {(d.rate, d.is_flagged, d.is_rejected): d for d in counts.drawn(many, EVERY)}

    assert {key: (d.drawn, d.accepted, d.rejected) for key, d in found.items()} == {
        key: (kinds.total(), kinds["accepted"], kinds["rejected"])
        for key, kinds in expected.items()
    }


@pytest.mark.extended
def test_the_bins_are_what_sorting_every_confidence_gives(many: Project) -> None:
    expected: dict[int, list[bool]] = defaultdict(list)
    for one in reviews(many):
        confidence, said = one.evaluation.confidence, said_of(one)
        if one.outcome and confidence is not None and said != UNDECIDED:
            tenth = min(9, int(confidence * 10 + 1e-9))
            expected[tenth].append((said == "fail") == (one.outcome == "fail"))

    found = calibration(many, EVERY)

    assert {
        number: (one.n, round(one.agreed.value * one.n))
        for number, one in enumerate(found.bins)
        if one.agreed
    } == {tenth: (len(agreed), sum(agreed)) for tenth, agreed in expected.items()}
    assert {2, 3, 5, 9} == set(expected)


@pytest.mark.extended
def test_every_hundredth_keeps_its_own_bucket(many: Project) -> None:
    review = make_decided(many, "pass", "pass", model="acme/large", confidence=0.5)
    rows = Review.objects.filter(pk=review.pk)
    found = []
    for step in range(101):
        review.evaluation.confidence = step / 100
        review.evaluation.save(update_fields=["confidence"])
        step_of = calibrating.hundredth("evaluation__confidence")
        found.append(rows.annotate(step=step_of).values_list("step", flat=True).get())

    assert found == list(range(101))


# ---------------------------------------------------------------- with the services that decide


def rejected(project: Project, **columns: Any) -> Review:
    run = make_run(
        project, outcome=FAIL, reason_code="rule_violated", findings=[{"fingerprint": "one"}]
    )
    return make_review(project, run, **columns)


def figures(project: Project) -> AgreementFigures:
    return agreement_figures(project, EVERY)


def test_a_decision_is_measured_once_it_cannot_be_undone(project: Project, anna: Access) -> None:
    review = rejected(project)
    says(anna, review, PASS, findings={"one": False})
    assert figures(project).people.n == 0
    assert not figures(project).rules

    settled(review)

    found = figures(project)
    assert found.people.matrix == {("fail", "pass"): 1}
    assert found.rules[0].overturned.n == 1


def test_what_is_undone_was_never_measured(project: Project, anna: Access) -> None:
    review = rejected(project)
    says(anna, review, PASS)
    deciding.undo(access=anna)
    settled(review)

    assert figures(project).people.n == 0


def test_until_a_change_of_mind_takes_effect_the_old_word_is_measured(
    project: Project, anna: Access
) -> None:
    review = rejected(project)
    says(anna, review, PASS, findings={"one": False})
    settled(review)

    says(anna, review, FAIL, findings={"one": True})

    before = figures(project)
    settled(review)
    after = figures(project)
    assert before.people.matrix == {("fail", "pass"): 1}
    assert after.people.matrix == {("fail", "fail"): 1}
    assert counts.rule_counts(project, EVERY) == [
        counts.RuleCount("small-work", "no-placeholders", n=1, overturned=0)
    ]


def test_two_who_disagree_are_a_pair_at_once_and_a_matter_of_the_matrix_when_adjudicated(
    project: Project, anna: Access, bert: Access
) -> None:
    review = rejected(project, reviewers=2)
    says(anna, review, PASS)
    settled(review)
    assert (figures(project).among.verdicts.n, figures(project).people.n) == (0, 0)
    says(bert, review, FAIL)
    settled(review)

    found = figures(project)
    assert (found.among.verdicts.n, found.among.differing, found.people.n) == (1, 1, 0)

    says(reviewer_of(project, "cleo"), fresh(review), FAIL)
    settled(review)
    found = figures(project)
    assert (found.among.verdicts.n, found.people.matrix) == (1, {("fail", "fail"): 1})


def test_a_blind_reviewer_who_is_swayed_is_counted(
    project: Project, anna: Access, bert: Access
) -> None:
    for access, confirmed in ((anna, FAIL), (bert, PASS)):
        review = rejected(project, is_blind=True)
        says(access, review, PASS)
        says(access, review, confirmed)
        settled(review)

    found = figures(project)

    assert (found.blind.n, found.blind.changed) == (2, 1)


def test_a_key_that_decides_at_once_is_measured_at_once(project: Project) -> None:
    review = rejected(project, created_at=timezone.now() - timedelta(hours=1))
    deciding.decide(
        access=key_of(project), review=review.uuid, said=deciding.Said(PASS), at_once=True
    )

    assert figures(project).people.n == 1
