from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import Access, person
from loomverify.accounts.models import Project, Role, User
from tests.builders import make_project, make_run, make_task, make_user, signed_in
from tests.reviewing import DOUBTED, make_review
from tests.reviews.test_claims import decide, reviewer_of
from tests.tables import check_rows
from verification.engine.outcome import Outcome, Verdict
from verification.engine.reviewing import WAITING_PER_POINT
from verification.reviews.models import Skip
from verification.reviews.queue import claims
from verification.runs.models import Review, ReviewState, Run
from verification.runs.templatetags.loomverify import age

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>\u202e"
OVER: dict[str, Any] = {
    "state": ReviewState.DECIDED,
    "outcome": Outcome.PASS,
    "decided_at": timezone.now(),
    "told_at": timezone.now(),
}


@pytest.fixture
def mira(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "mira")


def url_of(project: Project, name: str = "review_queue", *args: Any) -> str:
    return reverse(name, args=[project.slug, *args])


def page(project: Project, query: str = "", *, user: User | None = None) -> str:
    user = user or make_user(project, Role.REVIEWER)
    answer = signed_in(user).get(url_of(project) + query)
    assert answer.status_code == 200
    return str(answer.content.decode())


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def row(html: str, review: Review) -> str:
    """One row's words; '' where the page has no such row."""
    found = re.search(rf'<tr id="review-{review.uuid}".*?</tr>', html, re.DOTALL)
    return words(found[0]) if found else ""


def act(user: User, review: Review, verb: str, **body: str) -> int:
    url = url_of(review.project, f"review_{verb}", review.uuid)
    return signed_in(user).post(url, body).status_code


def queries_of(client: Client, url: str) -> int:
    client.get(url)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(url).status_code == 200
    return len(queries)


def test_what_waits_is_listed_with_why_how_urgent_and_for_how_long(project: Project) -> None:
    task = make_task(project.processes.get(), "market-7")
    run = make_run(project, task=task, findings=[{}], title="Size the market", **DOUBTED)
    opened = timezone.now() - 3 * WAITING_PER_POINT
    review = make_review(
        project, run, urgency=62, created_at=opened, reasons=["vote_divergence", "low_confidence"]
    )

    told = row(page(project), review)

    for part in (
        "Size the market", "market-7", "small-work / build", "Votes or alternatives disagree + 1",
        "no-placeholders", "urgency 65", age(opened),
    ):  # fmt: skip
        assert part in told


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("random_sample", "Drawn by chance"),
        ("terminal", "The task takes no more submissions"),
        ("attempts_exhausted", "All attempts of the task are used"),
        ("something_new", "Something new"),
    ],
)
def test_a_reason_is_said_in_words(project: Project, reason: str, said: str) -> None:
    review = make_review(project, reasons=[reason])

    assert said in row(page(project), review)


def test_the_page_stands_in_the_order_in_which_reviews_are_handed_out(project: Project) -> None:
    rows = {str(make_review(project, urgency=urgency).uuid): urgency for urgency in (30, 80, 50)}

    shown = re.findall(r'<tr id="review-([0-9a-f-]+)"', page(project))

    assert [rows[one] for one in shown] == [80, 50, 30]


def test_who_holds_it_and_for_whom_it_is_are_told(project: Project, mira: User) -> None:
    jonas = reviewer_of(project, "jonas")
    mine, theirs, kept = (make_review(project) for _ in range(3))
    claims.claim(access=Access(project, Role.REVIEWER, person(mira)), review=mine.uuid)
    claims.claim(access=jonas, review=theirs.uuid)
    claims.assign(access=jonas, review=kept.uuid, to=mira)

    html = page(project, user=mira)

    assert "you until" in row(html, mine)
    assert "jonas until" in row(html, theirs)
    assert "for you" in row(html, kept)


def test_states_are_counted_as_tabs_and_told_in_the_address(project: Project) -> None:
    make_review(project)
    held = make_review(project, state=ReviewState.HELD)
    make_review(project, **OVER)

    html = page(project, "?state=held")

    assert row(html, held)
    assert {"waiting 1", "held back 1", "decided 1", "expired 0"} <= set(
        re.findall(r"(?:held back|\w+) \d+", words(html))
    )
    assert "settled by itself" not in html


@pytest.mark.parametrize(
    "query",
    ["?state=open", "?assigned=everybody", "?verdict=maybe", "?sample=1", "?rule=%00", "?cursor=x"],
)
def test_a_filter_that_means_nothing_is_said_so(project: Project, query: str) -> None:
    answer = signed_in(make_user(project, Role.VIEWER)).get(url_of(project) + query)

    assert answer.status_code == 400
    assert "Show all that wait" in answer.content.decode()


@check_rows(
    ("query", "found"),
    [
        ("?process=small-work", True),
        ("?process=none-such", False),
        ("?assigned=me", False),
    ],
    rollback=True,
)
def test_the_list_is_filtered_by_its_address(project: Project, query: str, found: bool) -> None:
    review = make_review(project, make_run(project, findings=[{}], **DOUBTED))

    html = page(project, query)

    assert bool(row(html, review)) is found
    assert ("No review fits these filters." in html) is not found


def test_before_a_blind_decision_the_list_tells_nothing_of_the_verdict(
    project: Project, mira: User
) -> None:
    run = make_run(project, outcome=Outcome.FAIL, reason_code="rule_violated", findings=[{}])
    review = make_review(
        project, run, is_blind=True, sample_rate=0.1, reasons=["rule_violated", "low_confidence"]
    )

    before = page(project, user=mira)
    decide(review, Access(project, Role.REVIEWER, person(mira)), outcome="", first_outcome="fail")
    after = page(project, user=mira)

    assert "blind" in row(before, review)
    assert "The judge is not sure enough" in row(before, review)
    for telling in ("rule_violated", "A rule of the process", "no-placeholders", ">sample<"):
        assert telling not in before
        assert telling in after


def test_what_two_decide_is_shown_as_waiting_and_tells_nothing_of_the_first(
    project: Project, mira: User
) -> None:
    review = make_review(project, reviewers=2)
    jonas = reviewer_of(project, "jonas")
    decide(review, jonas, settled_at=timezone.now(), outcome=Outcome.PASS)
    assert jonas.actor.user is not None

    others = row(page(project, user=mira), review)

    assert "two people" in others
    assert not {"jonas", "pass"} & set(others.split())
    assert "you have decided" in row(page(project, user=jonas.actor.user), review)


def test_what_was_decided_shows_what_both_said_by_whom_and_when(
    project: Project, mira: User
) -> None:
    run = make_run(project, outcome=Outcome.FAIL, reason_code="rule_violated")
    review = make_review(project, run, **OVER)
    access = Access(project, Role.REVIEWER, person(mira))
    decide(review, access, outcome=Outcome.PASS, settled_at=timezone.now())

    told = row(page(project, "?state=decided"), review)

    assert told.startswith("pass ")
    for part in ("fail", "overturned", "mira"):
        assert part in told


def test_what_may_still_be_taken_back_is_not_told(project: Project, mira: User) -> None:
    review = make_review(project, **{**OVER, "told_at": None, "is_blind": True})
    decide(review, Access(project, Role.REVIEWER, person(mira)), outcome=Outcome.PASS)

    told = row(page(project, "?state=decided"), review)

    assert "not in effect yet" in told
    assert not {"pass", "mira", "undecided"} & set(told.split())


def test_those_alike_are_counted_and_lead_to_their_group(project: Project) -> None:
    reviews = [make_review(project, rule="r", fingerprint="f1") for _ in range(3)]
    make_review(project, rule="r", fingerprint="f1", is_blind=True)

    html = page(project)

    assert "+ 2 alike" in row(html, reviews[0])
    assert url_of(project, "review_group", "f1") in html


def test_the_next_one_is_taken_by_the_filters_and_gone_to(project: Project, mira: User) -> None:
    make_review(project, urgency=90)
    wanted = make_review(project, make_run(project, phase="write", **DOUBTED), urgency=10)

    answer = signed_in(mira).post(url_of(project, "review_next") + "?phase=write&state=decided")

    wanted.refresh_from_db()
    assert answer["Location"] == f"{url_of(project)}{wanted.uuid}/?phase=write"
    assert wanted.claimed_by == mira


def test_where_nothing_is_left_it_is_said_why(project: Project, mira: User) -> None:
    jonas = reviewer_of(project, "jonas")
    held, answered = make_review(project), make_review(project, reviewers=2)
    make_review(project, assigned_to=jonas.actor.user)
    decide(answered, Access(project, Role.REVIEWER, person(mira)))
    claims.claim(access=jonas, review=held.uuid)

    answer = signed_in(mira).post(url_of(project, "review_next"), follow=True)

    assert (
        "Nothing is left that you can take: 1 is with somebody else now, 1 is assigned to "
        "somebody else, you have decided 1 that another person still looks at."
    ) in words(answer.content.decode())


@pytest.mark.parametrize(
    ("query", "said"),
    [("", "Nothing waits for a person."), ("?phase=x", "Nothing that waits fits these filters.")],
)
def test_an_empty_queue_is_said_so(project: Project, mira: User, query: str, said: str) -> None:
    answer = signed_in(mira).post(url_of(project, "review_next") + query, follow=True)

    assert said in words(answer.content.decode())


def test_one_is_assigned_skipped_and_taken_in_from_the_list(project: Project, mira: User) -> None:
    review, held = make_review(project), make_review(project, state=ReviewState.HELD)

    assert act(mira, review, "assign", to="MIRA") == 302
    review.refresh_from_db()
    assert review.assigned_to == mira

    assert act(mira, review, "assign", to="") == 302
    review.refresh_from_db()
    assert review.assigned_to is None

    assert act(mira, review, "pass") == 302
    assert Skip.objects.get().reviewer == mira
    assert "skipped" in row(page(project, user=mira), review)

    assert act(mira, held, "take_in") == 302
    held.refresh_from_db()
    assert held.state == ReviewState.PENDING


def test_a_name_that_is_no_reviewers_is_said_so(project: Project, mira: User) -> None:
    make_user(project, Role.VIEWER, "vera")
    review = make_review(project)
    url = url_of(project, "review_assign", review.uuid)

    said = signed_in(mira).post(url, {"to": "vera"}, follow=True).content.decode()

    review.refresh_from_db()
    assert "No reviewer of this project has this name." in said
    assert review.assigned_to is None


@pytest.mark.parametrize("verb", ["assign", "pass", "take_in"])
def test_who_may_not_act_sees_no_action_and_is_refused(project: Project, verb: str) -> None:
    review = make_review(project)
    agent, stranger = make_user(project, Role.AGENT), make_user(make_project(), Role.ADMIN)

    html = page(project, user=agent)

    assert not re.search(r"Review next|Assign to|Skip: others", html)
    assert act(agent, review, verb) == 403
    assert act(stranger, review, verb) == 404
    assert signed_in(agent).post(url_of(project, "review_next")).status_code == 403
    assert signed_in(agent).get(url_of(project, f"review_{verb}", review.uuid)).status_code == 405
    review.refresh_from_db()
    assert (review.claimed_by, review.assigned_to) == (None, None)


def test_after_an_action_the_list_is_filtered_as_it_was_and_nothing_leads_away(
    project: Project, mira: User
) -> None:
    url, home = url_of(project, "review_pass", make_review(project).uuid), url_of(project)
    client = signed_in(mira)

    back = client.post(url, {"next": f"{home}?phase=build"})
    away = client.post(url, {"next": "https://elsewhere.example/"})

    assert (back["Location"], away["Location"]) == (f"{home}?phase=build", home)


def test_shown_rows_are_asked_for_again_and_keep_their_places(project: Project, mira: User) -> None:
    stays, goes = make_review(project), make_review(project)
    client = signed_in(mira)
    asked = re.search(r'id="queue-live"[^>]*hx-get="([^"]+)"', page(project, user=mira))
    assert asked is not None
    Review.objects.filter(pk=goes.pk).update(**OVER)
    claims.claim(access=reviewer_of(project, "jonas"), review=stays.uuid)
    newer = make_review(project)

    html = client.get(unescape(asked[1])).content.decode()

    assert "jonas until" in row(html, stays)
    assert "decided" in row(html, goes)
    assert "waiting 2" in words(html)
    assert ", waiting: 2" in words(html)  # beside the name of the page
    assert "1 new" in words(html)
    assert not row(html, newer)


@pytest.mark.parametrize("query", ["?ids=1&after=24h", "?ids=&after=never", "?state=x&after=24h"])
def test_rows_that_nobody_can_have_shown_are_not_there(project: Project, query: str) -> None:
    answer = signed_in(make_user(project)).get(url_of(project, "review_rows") + query)

    assert answer.status_code == 404


def test_rows_of_another_project_are_not_told(project: Project) -> None:
    theirs = make_review(make_project())
    url = url_of(project, "review_rows") + f"?ids={theirs.uuid}&after=24h"

    html = signed_in(make_user(project)).get(url).content.decode()

    assert not row(html, theirs)


def test_what_waits_is_counted_beside_the_name_of_the_page(project: Project) -> None:
    quiet = page(project)
    for _ in range(3):
        make_review(project)
    make_review(make_project())

    assert "Review , waiting: 3" in words(page(project))
    assert 'id="waiting" hidden' in quiet


@pytest.mark.extended
def test_very_many_are_counted_as_many(project: Project) -> None:
    pattern = make_review(project)
    runs = [make_run(project, task=pattern.run.task) for _ in range(100)]
    Review.objects.bulk_create(_like(pattern, run) for run in runs)

    assert "Review , waiting: 99+" in words(page(project))


def _like(pattern: Review, run: Run) -> Review:
    copied = Review.objects.get(pk=pattern.pk)
    copied.pk, copied.uuid, copied.run = None, uuid4(), run
    assert run.live_evaluation is not None
    copied.evaluation = run.live_evaluation
    return copied


def test_hostile_words_are_shown_and_do_nothing(project: Project, mira: User) -> None:
    task = make_task(project.processes.get(), HOSTILE)
    run = make_run(project, task=task, title=HOSTILE, phase=HOSTILE, **DOUBTED)
    make_review(project, run, rule=HOSTILE, fingerprint="f1", reasons=[HOSTILE])
    mira.first_name = HOSTILE[:30]
    mira.save()
    Review.objects.update(claimed_by=mira, lease_until=timezone.now() + timedelta(minutes=5))

    html = page(project)

    assert "<script>alert" not in html
    assert "\u202e" not in words(html)


def test_an_empty_page_says_how_to_fill_it(project: Project) -> None:
    html = page(project)

    assert "Nobody was asked yet." in html
    assert "/api/v1/runs?wait=30" in html


def test_when_all_is_done_it_is_said_so(project: Project) -> None:
    make_review(project, **OVER)

    html = page(project)

    assert "Nothing waits for a person." in html
    assert "/api/v1/runs?wait=30" not in html


@pytest.mark.extended
@pytest.mark.parametrize("state", ["pending", "decided", "held"])
def test_a_longer_list_asks_no_more_queries(project: Project, mira: User, state: str) -> None:
    columns = {**OVER, "state": ReviewState(state)}
    client, url = signed_in(mira), f"{url_of(project)}?state={state}"
    counts = []
    for _ in range(2):
        for number in range(5):
            review = make_review(project, rule="r", fingerprint=f"f{number}", **columns)
            decide(review, Access(project, Role.REVIEWER, person(mira)), settled_at=timezone.now())
        counts.append(queries_of(client, url))

    assert counts[0] == counts[1]


@pytest.mark.extended
@pytest.mark.parametrize("state", ["pending", "decided", "expired"])
def test_more_than_a_page_are_turned_over_without_gap_or_repetition(
    project: Project, mira: User, state: str
) -> None:
    pattern = make_review(project, **{**OVER, "state": ReviewState(state)})
    runs = [make_run(project, task=pattern.run.task) for _ in range(60)]
    Review.objects.bulk_create(_like(pattern, run) for run in runs)

    first = page(project, f"?state={state}", user=mira)
    following = re.search(r'rel="next"[^>]*href="([^"]+)"', first)
    assert following is not None
    second = page(project, unescape(following[1]), user=mira)

    shown = [re.findall(r'<tr id="review-([0-9a-f-]+)"', html) for html in (first, second)]
    assert [len(ids) for ids in shown] == [50, 11]
    assert len({*shown[0], *shown[1]}) == 61


def test_the_verdict_of_another_is_no_filter_of_the_choices(project: Project) -> None:
    make_review(project, is_blind=True, rule="kept-back", reasons=["rule_violated"])
    make_review(project, rule="told", reasons=["low_confidence"])

    html = page(project)

    assert '<option value="told">' in html
    assert "kept-back" not in html
    assert "rule_violated" not in html


def test_a_verdict_that_was_confirmed_is_not_called_overturned(project: Project) -> None:
    run = make_run(project, outcome=Outcome.FAIL, verdict=Verdict.REJECT)
    review = make_review(project, run, **{**OVER, "outcome": Outcome.FAIL})

    assert "overturned" not in row(page(project, "?state=decided"), review)
