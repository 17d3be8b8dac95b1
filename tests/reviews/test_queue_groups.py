from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role, User
from tests.builders import make_project, make_run, make_user, signed_in
from tests.reviewing import DOUBTED, make_review
from tests.reviews.test_claims import decide, reviewer_of
from verification.engine.outcome import Outcome
from verification.reviews.models import Decision, FindingLabel
from verification.reviews.queue import claims, selectors
from verification.runs.models import Review, ReviewState, Run

pytestmark = pytest.mark.django_db
FINGERPRINT = "a" * 64
REJECTED: dict[str, Any] = {"outcome": Outcome.FAIL, "reason_code": "rule_violated"}
HOSTILE = "<script>alert(1)</script>\u202e"


@pytest.fixture
def mira(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "mira")


def one_alike(project: Project, fingerprint: str = FINGERPRINT, **columns: Any) -> Review:
    finding = {"fingerprint": fingerprint, "path": "size.md", "line": 5, "quote": "TODO: source"}
    ended = {**REJECTED, **columns.pop("ended", {})}
    return make_review(project, make_run(project, findings=[finding], **ended), **columns)


def url_of(project: Project, fingerprint: str = FINGERPRINT) -> str:
    return reverse("review_group", args=[project.slug, fingerprint])


def page(project: Project, user: User, url: str = "") -> str:
    answer = signed_in(user).get(url or url_of(project))
    assert answer.status_code == 200
    return str(answer.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def ticked(html: str) -> list[str]:
    boxes = re.findall(r'<input type="checkbox" name="review" value="([^"]+)"[^>]*>', html)
    return [one for one in boxes if re.search(rf'value="{one}"[^>]* checked', html)]


def post(project: Project, user: User, reviews: Sequence[Any], **said: str) -> HttpResponse:
    body = {"review": [str(getattr(one, "uuid", one)) for one in reviews], **said}
    answer: HttpResponse = signed_in(user).post(url_of(project), body, follow=True)  # type: ignore[assignment]
    return answer


def test_groups_stand_biggest_first_with_what_was_found(project: Project, mira: User) -> None:
    for _ in range(2):
        one_alike(project, "b" * 64)
    for _ in range(3):
        one_alike(project)
    one_alike(project, "c" * 64)

    found = selectors.groups(project)
    html = page(project, mira, reverse("review_groups", args=[project.slug]))

    assert [(group.fingerprint[0], group.count) for group in found] == [("a", 3), ("b", 2)]
    assert "3 no-placeholders A placeholder is left." in words(html)


def test_only_what_waits_and_is_not_blind_is_in_a_group(project: Project) -> None:
    one_alike(project)
    one_alike(project, is_blind=True)
    one_alike(project, state=ReviewState.HELD)

    assert selectors.groups(project) == []


def test_no_groups_is_said_so(project: Project, mira: User) -> None:
    html = page(project, mira, reverse("review_groups", args=[project.slug]))

    assert "No two that wait are alike." in html


def test_a_group_shows_each_place_and_quote_and_all_are_ticked(
    project: Project, mira: User
) -> None:
    reviews = [one_alike(project) for _ in range(2)]

    html = page(project, mira)

    assert words(html).count("size.md:5 TODO: source") == 2
    assert set(ticked(html)) == {str(one.uuid) for one in reviews}


def test_what_is_decided_alone_is_shown_and_not_ticked(project: Project, mira: User) -> None:
    jonas = reviewer_of(project, "jonas")
    held = one_alike(project)
    claims.claim(access=jonas, review=held.uuid)
    one_alike(project, reviewers=2)
    one_alike(project, is_adjudication=True, round=2)
    plain = one_alike(project)
    one_alike(project, is_blind=True)

    html = page(project, mira)

    assert ticked(html) == [str(plain.uuid)]
    for said in (
        "jonas has it now", "two people decide it, each alone", "two people disagreed",
        "1 more is decided blind, one by one.",
    ):  # fmt: skip
        assert said in words(html)


def test_a_blind_review_of_a_group_is_not_named(project: Project, mira: User) -> None:
    one_alike(project)
    blind = one_alike(project, is_blind=True)

    assert str(blind.uuid) not in page(project, mira)


def test_those_ticked_are_decided_as_the_verifier_said_and_no_others(
    project: Project, mira: User
) -> None:
    reviews = [one_alike(project) for _ in range(3)]
    came_since = one_alike(project)

    answer = post(project, mira, reviews[:2], finding="right", comment="All the same.")

    decided = Decision.objects.order_by("id")
    assert [one.review for one in decided] == reviews[:2]
    assert {(one.outcome, one.comment, one.reviewer) for one in decided} == {
        ("fail", "All the same.", mira)
    }
    assert FindingLabel.objects.filter(is_right=True).count() == 2
    assert "2 decided together." in words(answer.content.decode())
    assert {reviews[2].pk, came_since.pk} == set(
        Review.objects.filter(state=ReviewState.PENDING).values_list("pk", flat=True)
    )


def test_a_finding_that_is_wrong_overturns_them_all(project: Project, mira: User) -> None:
    reviews = [one_alike(project) for _ in range(2)]

    post(project, mira, reviews, outcome="pass", finding="wrong")

    assert set(Decision.objects.values_list("outcome", flat=True)) == {"pass"}
    assert set(FindingLabel.objects.values_list("is_right", flat=True)) == {False}


def test_the_choice_is_not_left_to_a_verifier_that_had_none(project: Project, mira: User) -> None:
    reviews = [one_alike(project), one_alike(project, ended=DOUBTED)]

    answer = post(project, mira, reviews, comment="Kept.")

    html = answer.content.decode()
    assert answer.status_code == 422
    assert "Choose an outcome: the verifier could not decide 1 of these." in words(html)
    assert "as the verifier said" not in html
    assert "Kept.</textarea>" in html
    assert not Decision.objects.exists()


def test_what_was_refused_is_told_with_why(project: Project, mira: User) -> None:
    jonas = reviewer_of(project, "jonas")
    free, held, two, over = (one_alike(project) for _ in range(4))
    unlike = one_alike(project, "b" * 64)
    claims.claim(access=jonas, review=held.uuid)
    Review.objects.filter(pk=two.pk).update(reviewers=2)
    Review.objects.filter(pk=over.pk).update(state=ReviewState.EXPIRED)

    said = words(post(project, mira, [free, held, two, over, unlike]).content.decode())

    assert [one.review for one in Decision.objects.all()] == [free]
    for part in (
        "1 decided together.",
        f"{held.run.task.external_id}, somebody else has it.",
        f"{two.run.task.external_id}, it is decided alone.",
        f"{over.uuid}, it is not in this group any more.",
        f"{unlike.uuid}, it is not in this group any more.",
    ):
        assert part in said


def test_a_blind_review_is_not_decided_with_others_by_its_name(
    project: Project, mira: User
) -> None:
    blind = one_alike(project, is_blind=True)

    post(project, mira, [blind])

    assert not Decision.objects.exists()


def test_a_run_that_a_group_named_and_another_project_owns_is_not_decided(
    project: Project, mira: User
) -> None:
    theirs = one_alike(make_project())

    said = words(post(project, mira, [theirs, uuid4()]).content.decode())

    assert said.count("it is not in this group any more.") == 2
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("reviews", "said", "status"),
    [
        ([], {}, 422),
        (["7"], {}, 404),
        (None, {"outcome": "good"}, 422),
        (None, {"comment": "x" * 10_001}, 422),
    ],
    ids=["nothing ticked", "no name", "no outcome", "too long"],
)
def test_what_cannot_be_meant_decides_nothing(
    project: Project, mira: User, reviews: list[str] | None, said: dict[str, str], status: int
) -> None:
    chosen = [one_alike(project)] if reviews is None else reviews

    assert post(project, mira, chosen, **said).status_code == status
    assert not Decision.objects.exists()


def test_who_may_not_decide_sees_the_group_and_is_refused(project: Project) -> None:
    review = one_alike(project)
    agent, stranger = make_user(project, Role.AGENT), make_user(make_project(), Role.ADMIN)

    html = page(project, agent)

    assert "Decide together" not in html
    assert ticked(html) == []
    assert post(project, agent, [review]).status_code == 403
    assert post(project, stranger, [review]).status_code == 404
    assert not Decision.objects.exists()


def test_decided_twice_by_a_double_click_is_one(project: Project, mira: User) -> None:
    reviews = [one_alike(project) for _ in range(2)]

    for _ in range(2):
        post(project, mira, reviews)

    assert Decision.objects.count() == 2


def test_a_group_that_is_done_says_so(project: Project, mira: User) -> None:
    assert "Nothing with this finding waits." in page(project, mira)
    assert signed_in(mira).get(url_of(project, "x" * 300)).status_code == 404


def test_hostile_words_are_shown_and_do_nothing(project: Project, mira: User) -> None:
    finding = {"fingerprint": FINGERPRINT, "rule": HOSTILE, "message": HOSTILE, "quote": HOSTILE}
    for _ in range(2):
        run = make_run(project, findings=[{**finding, "path": HOSTILE}], title=HOSTILE, **REJECTED)
        make_review(project, run)

    for html in (
        page(project, mira),
        page(project, mira, reverse("review_groups", args=[project.slug])),
    ):
        assert "<script>alert" not in html
        assert "\u202e" not in html


def test_a_bigger_group_asks_no_more_queries(project: Project, mira: User) -> None:
    client, counts = signed_in(mira), []
    for _ in range(2):
        for _ in range(4):
            decide(one_alike(project, reviewers=2), reviewer_of(project), settled_at=timezone.now())
        client.get(url_of(project))
        with CaptureQueriesContext(connection) as queries:
            client.get(url_of(project))
        counts.append(len(queries))

    assert counts[0] == counts[1]


@pytest.mark.extended
def test_more_than_a_page_takes_are_told_by_number(project: Project, mira: User) -> None:
    pattern = one_alike(project)
    runs = [make_run(project, task=pattern.run.task, **REJECTED) for _ in range(204)]
    Review.objects.bulk_create(_like(pattern, run) for run in runs)

    html = page(project, mira)

    assert "5 more follow once these are decided." in words(html)
    assert len(ticked(html)) == 200


def _like(pattern: Review, run: Run) -> Review:
    names = ("project", "process", "phase_id", "reasons", "rule", "fingerprint", "urgency")
    values = {name: getattr(pattern, name) for name in (*names, "rank_at", "created_at")}
    return Review(run=run, evaluation=run.live_evaluation, **values)
