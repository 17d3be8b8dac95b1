from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role, User
from tests.builders import make_project, make_run, make_user, signed_in
from tests.judged import live_of, make_votes
from tests.reviewing import DOUBTED, make_review
from verification.engine.outcome import Outcome
from verification.reviews import settling
from verification.reviews.item.parts import CLOSED
from verification.reviews.models import CaseDraft, Decision, FindingLabel
from verification.runs.models import Review, ReviewState, Run

pytestmark = pytest.mark.django_db

OUTPUT = "# Figures\n\nRevenue rose. TODO: name the source.\n"
FINDINGS = [
    {"enforcement": "advisory", "rule": "tone", "message": "One superlative.", "line": 1},
    {
        "rule": "figures-have-sources",
        "message": "The figure names no source.",
        "line": 3,
        "quote": "Revenue rose",
        "source": "llm",
        "confidence": 0.71,
    },
]


@pytest.fixture
def mira(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "mira")


@pytest.fixture
def jonas(project: Project) -> User:
    return make_user(project, Role.REVIEWER, "jonas")


def doubted(project: Project, *, run: Run | None = None, **columns: Any) -> Review:
    return make_review(project, run or doubted_run(project), **columns)


def doubted_run(project: Project, **columns: Any) -> Run:
    given = {"output": OUTPUT, "findings": FINDINGS, "title": "Collect the figures", **columns}
    return make_run(project, **{**DOUBTED, **given})


def held(project: Project, by: User, **columns: Any) -> Review:
    until = timezone.now() + timedelta(minutes=5)
    return doubted(project, claimed_by=by, lease_until=until, **columns)


def url_of(review: Review, act: str = "item") -> str:
    return reverse(f"review_{act}", args=[review.project.slug, review.uuid])


def page_of(client: Client, review: Review, query: str = "") -> str:
    answer = client.get(url_of(review) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def asked(client: Client, path: str, **form: Any) -> Any:
    return client.post(path, form, headers={"Accept": "application/json"})


def test_the_page_shows_what_is_doubted_beside_its_place(project: Project, mira: User) -> None:
    review = held(project, mira)

    page = page_of(signed_in(mira), review)

    assert "Undecided: votes or alternatives disagree." in page
    assert page.index("figures-have-sources") < page.index("One superlative.")
    assert "<mark>Revenue rose</mark>" in page
    assert 'class="l hit" data-n="3"' in page


@pytest.mark.parametrize(("days", "is_told"), [(13, True), (15, False)])
def test_what_is_to_be_deleted_soon_says_when(
    project: Project, mira: User, days: int, is_told: bool
) -> None:
    until = timezone.now() + timedelta(days=days)
    review = doubted(project, run=doubted_run(project, retain_until=until))

    html = page_of(signed_in(mira), review)

    assert (f"on {until:%-d %b %Y} this run is deleted" in html) is is_told
    run = signed_in(mira).get(reverse("run_detail", args=[project.slug, review.run.uuid]))
    assert f"kept until {until:%-d %b %Y}" in run.content.decode()


def test_reading_the_page_takes_nothing(project: Project, mira: User) -> None:
    review = doubted(project)

    page = page_of(signed_in(mira), review)

    review.refresh_from_db()
    assert (review.claimed_by, review.lease_until) == (None, None)
    assert "Take it" in page
    assert 'id="decide"' not in page


def test_who_may_not_review_sees_it_and_cannot_act(project: Project) -> None:
    review, client = doubted(project), signed_in(make_user(project, Role.VIEWER))

    page = page_of(client, review)

    assert "Reviewers can take it." in page
    assert 'id="decide"' not in page
    assert "data-prefetch" not in page


ACTS = ("claim", "heartbeat", "release", "skip", "decide", "case")


def test_acts_need_a_reviewer(project: Project) -> None:
    review, client = doubted(project), signed_in(make_user(project, Role.AGENT))

    statuses = {
        act: client.post(url_of(review, act), {"outcome": "pass"}).status_code for act in ACTS
    }

    assert statuses == dict.fromkeys(ACTS, 403)
    assert not Decision.objects.exists()


@pytest.mark.parametrize("act", ["item", *ACTS])
def test_reviews_of_others_projects_are_not_there(mira: User, act: str) -> None:
    review, client = doubted(make_project()), signed_in(mira)
    path = url_of(review, act)
    mine = path.replace(review.project.slug, mira.memberships.get().project.slug)

    answers = [client.get(one) if act == "item" else client.post(one) for one in (path, mine)]

    assert [answer.status_code for answer in answers] == [404, 404]


def test_what_is_free_is_taken(project: Project, mira: User) -> None:
    review, client = doubted(project), signed_in(mira)

    answer = client.post(url_of(review, "claim"))

    review.refresh_from_db()
    assert answer["Location"] == url_of(review)
    assert review.claimed_by == mira
    assert 'id="decide"' in page_of(client, review)


def test_what_somebody_else_holds_says_who_and_until_when(
    project: Project, mira: User, jonas: User
) -> None:
    review, client = held(project, jonas), signed_in(mira)

    page = page_of(client, review)
    refused = client.post(url_of(review, "claim"), follow=True).content.decode()

    assert review.lease_until is not None
    assert f"looks at this one until {review.lease_until:%H:%M} UTC" in page
    assert 'id="decide"' not in page
    assert "Somebody else took it meanwhile." in refused


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (ReviewState.HELD, "as many as a day may bring were flagged before it"),
        (ReviewState.EXPIRED, "Nobody decided it in time"),
        (ReviewState.WITHDRAWN, "the run settled itself"),
    ],
)
def test_what_is_closed_says_why(
    project: Project, mira: User, state: ReviewState, words: str
) -> None:
    page = page_of(signed_in(mira), doubted(project, state=state))

    assert words in page
    assert 'id="decide"' not in page


@pytest.mark.parametrize("outcome", list(Outcome))
def test_one_button_decides_any_outcome(project: Project, mira: User, outcome: Outcome) -> None:
    review = held(project, mira)

    answer = asked(signed_in(mira), url_of(review, "decide"), outcome=outcome.value)

    decision = Decision.objects.get()
    assert answer.json() == {
        "review": str(review.uuid),
        "waiting": "",
        "decision": str(decision.uuid),
    }
    assert (decision.outcome, decision.reviewer) == (outcome, mira)


@pytest.mark.parametrize(
    ("run", "usual"),
    [
        ({}, Outcome.FAIL),
        ({"outcome": Outcome.PASS, "verdict": "accept"}, Outcome.PASS),
        ({"outcome": Outcome.PARTIAL_VERIFIED, "verdict": "accept"}, Outcome.PARTIAL_VERIFIED),
    ],
    ids=["doubt is no pass", "pass", "partial"],
)
def test_the_verifiers_own_outcome_is_the_usual_one(
    project: Project, mira: User, run: dict[str, Any], usual: Outcome
) -> None:
    review = held(project, mira, run=doubted_run(project, **run))

    page = page_of(signed_in(mira), review)
    asked(signed_in(mira), url_of(review, "decide"))

    assert page.count("data-usual") == 1
    assert f'value="{usual}"' in page.split("data-usual")[0].rsplit("<button", 1)[1]
    assert Decision.objects.get().outcome == usual


def test_findings_are_found_right_or_wrong_with_the_decision(project: Project, mira: User) -> None:
    review = held(project, mira)
    hard, advisory = review.evaluation.findings.order_by("-enforcement")
    form = {f"finding-{hard.fingerprint}": "wrong", f"finding-{advisory.fingerprint}": "right"}

    asked(signed_in(mira), url_of(review, "decide"), outcome="pass", comment="It is cited.", **form)

    labels = FindingLabel.objects.values_list("finding", "is_right")
    assert dict(labels) == {hard.pk: False, advisory.pk: True}
    assert Decision.objects.get().comment == "It is cited."


def test_without_a_script_the_next_one_follows(project: Project, mira: User) -> None:
    review, following = held(project, mira, urgency=90), doubted(project, urgency=80)

    answer = signed_in(mira).post(url_of(review, "decide"), {"outcome": "fail"}, follow=True)

    following.refresh_from_db()
    assert answer.redirect_chain == [(url_of(following), 302)]
    assert following.claimed_by == mira
    assert "Decided as fail. You can undo it for 10 seconds." in answer.content.decode()


def test_without_a_script_the_last_one_leads_to_the_queue(project: Project, mira: User) -> None:
    review = held(project, mira)

    answer = signed_in(mira).post(url_of(review, "decide"), {"outcome": "fail"}, follow=True)

    assert answer.redirect_chain == [(reverse("review_queue", args=[project.slug]), 302)]
    assert "Nothing is left that you can take." in answer.content.decode()


def test_filters_go_along_from_one_to_the_next(project: Project, mira: User) -> None:
    review = held(project, mira, urgency=90)
    doubted(project, urgency=80)
    written = doubted(project, run=doubted_run(project, phase="write"))

    answer = signed_in(mira).post(
        url_of(review, "decide") + "?phase=write", {"outcome": "fail"}, follow=True
    )

    assert answer.redirect_chain == [(url_of(written) + "?phase=write", 302)]
    assert "1 waiting</span> with these filters" in answer.content.decode()


def test_what_was_decided_is_undone_and_looked_at_again(project: Project, mira: User) -> None:
    review, client = held(project, mira), signed_in(mira)
    asked(client, url_of(review, "decide"), outcome="fail")

    answer = asked(client, reverse("review_undo", args=[project.slug]))

    review.refresh_from_db()
    assert answer.json() == {
        "review": str(review.uuid),
        "waiting": "1",
        "url": url_of(review),
        "is_erased": True,
    }
    assert (review.state, review.claimed_by) == (ReviewState.PENDING, mira)
    assert 'id="decide"' in page_of(client, review)


def test_what_has_taken_effect_is_changed_by_a_new_decision(project: Project, mira: User) -> None:
    review, client = held(project, mira), signed_in(mira)
    asked(client, url_of(review, "decide"), outcome="fail")
    settling.settle_due(now=timezone.now() + settling.UNDO)

    undone = client.post(reverse("review_undo", args=[project.slug]), follow=True)
    asked(client, url_of(review, "decide"), outcome="pass", comment="I misread it.")
    settling.settle_due(now=timezone.now() + settling.UNDO)

    page = undone.content.decode()
    assert "It has taken effect. You can change it." in page
    assert '<details class="fold" open><summary>Change the decision' in page
    assert list(Decision.objects.order_by("round").values_list("outcome", flat=True)) == [
        "fail",
        "pass",
    ]
    assert Run.objects.get(pk=review.run_id).final_outcome == "pass"


def test_a_decision_shows_who_made_it_and_why(project: Project, mira: User) -> None:
    review = held(project, mira)
    form = {"outcome": "pass", "comment": "The table names its source."}
    asked(signed_in(mira), url_of(review, "decide"), **form)
    settling.settle_due(now=timezone.now() + settling.UNDO)

    page = page_of(signed_in(make_user(project)), review)

    assert "mira" in page
    assert "The table names its source." in page
    assert "Change the decision" not in page


BLIND_SECRETS = (
    "The figure names no source", "One superlative", "Undecided", "undecided", "o-fail", "o-open",
    "71.0 %", "data-usual", "<mark>", 'class="l hit', "hit-advisory", "Votes", "no majority",
    "the judge is not sure enough", "semantic",
)  # fmt: skip
"""Words of the verdict, its findings, votes and places."""


def blind(project: Project, by: User, **columns: Any) -> Review:
    run = doubted_run(
        project,
        files={
            "sales.csv": b"seller,share\nAlder,31\nBirch,22\n",
            "notes.md": b"# Notes\n\nNone.\n",
        },
        evaluation={"confidence": 0.71, "feedback": {"text": "semantic"}},
        findings=[
            *FINDINGS,
            {"path": "sales.csv", "line": 3, "message": "The figure names no source."},
            {"path": "notes.md", "line": 3, "quote": "None.", "message": "One superlative."},
        ],
    )
    make_votes(live_of(run), (True, False, None), why="the judge is not sure enough")
    return held(project, by, run=run, is_blind=True, **columns)


@pytest.mark.parametrize("target", ["", "artefact", "claims", "item"])
def test_a_blind_page_holds_nothing_of_the_verdict(
    project: Project, mira: User, target: str
) -> None:
    url, client = url_of(blind(project, mira)), signed_in(mira)
    headers = {"HX-Target": target} if target else {}
    queries = (
        "", "?at=1", "?show=output", "?show=made", "?claims=pruned", "?file=sales.csv",
        "?file=notes.md",
    )  # fmt: skip

    shown_secrets = []
    for query in queries:
        page = client.get(url + query, headers=headers).content.decode()
        rest = page.replace(answers_of(page), "")
        shown_secrets += [(query, secret) for secret in BLIND_SECRETS if secret in rest]

    assert shown_secrets == []


@pytest.mark.parametrize("name", ["sales.csv", "notes.md"])
def test_no_link_of_a_blind_page_leads_to_the_verdict(
    project: Project, mira: User, name: str
) -> None:
    review, client = blind(project, mira), signed_in(mira)

    links = re.findall(r'(?:href|hx-get)="(/[^"#]+)', page_of(client, review, f"?file={name}"))
    of_run = {link.replace("&amp;", "&") for link in links if str(review.run.uuid) in link}

    told = {link: client.get(link).content.decode(errors="replace") for link in of_run}
    assert len(told) >= 2
    assert [(link, one) for link in told for one in BLIND_SECRETS if one in told[link]] == []


def answers_of(page: str) -> str:
    """The four answers, which name every outcome."""
    found = page.partition('<div class="answers">')[2]
    return found.partition("</div>")[0] if found else "\0"


def test_a_blind_page_shows_the_task_its_criteria_the_rules_and_the_work(
    project: Project, mira: User
) -> None:
    page = page_of(signed_in(mira), blind(project, mira))

    for words in ("Collect the figures", "Build what was asked for", "no-placeholders"):
        assert words in page
    assert "The parser reads all three files" in page
    assert "Revenue rose. TODO: name the source." in page
    assert "votes or alternatives disagree" in page  # this reason says nothing of a verdict


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.ADMIN])
def test_who_has_not_decided_sees_no_verdict_of_a_blind_review(
    project: Project, mira: User, role: Role
) -> None:
    page = page_of(signed_in(make_user(project, role)), blind(project, mira))

    assert [secret for secret in BLIND_SECRETS if secret in page] == []


def test_the_first_word_reveals_and_the_second_stays(project: Project, mira: User) -> None:
    review, client = blind(project, mira), signed_in(mira)

    revealed = asked(client, url_of(review, "decide"), stage="first", outcome="pass")
    confirmed = asked(client, url_of(review, "decide"), stage="confirm", outcome="fail")

    page = " ".join(re.sub("<[^>]+>", "", revealed.content.decode()).split())
    decision = Decision.objects.get()
    assert "You said pass and the verifier said undecided" in page
    assert "The figure names no source." in page
    assert confirmed.json()["decision"] == str(decision.uuid)
    assert (decision.first_outcome, decision.outcome) == ("pass", "fail")


def test_enter_confirms_what_was_said_blind(project: Project, mira: User) -> None:
    review, client = blind(project, mira), signed_in(mira)
    client.post(url_of(review, "decide"), {"stage": "first", "outcome": "pass"})

    page = page_of(client, review)

    assert 'value="pass"' in page.split("data-usual")[0].rsplit("<button", 1)[1]


def test_a_first_word_sent_twice_confirms_nothing(project: Project, mira: User) -> None:
    review, client = blind(project, mira), signed_in(mira)

    for _ in range(2):
        asked(client, url_of(review, "decide"), stage="first", outcome="pass")

    assert list(Decision.objects.values_list("first_outcome", "outcome")) == [("pass", "")]


def test_of_two_reviewers_neither_sees_what_the_other_said(
    project: Project, mira: User, jonas: User
) -> None:
    review = held(project, mira, reviewers=2)
    form = {"outcome": "pass", "comment": "The table names it."}
    asked(signed_in(mira), url_of(review, "decide"), **form)
    asked(signed_in(jonas), url_of(review, "claim"))

    theirs, mine = page_of(signed_in(jonas), review), page_of(signed_in(mira), review)

    assert "Two people decide this one." in theirs
    assert "The table names it." not in theirs
    assert "It waits for a second reviewer." in mine
    assert "The table names it." in mine


def test_who_adjudicates_sees_both_and_they_may_not(
    project: Project, mira: User, jonas: User
) -> None:
    review, sam = disagreed(project, mira, jonas), make_user(project, Role.REVIEWER, "sam")
    asked(signed_in(sam), url_of(review, "claim"))

    page, mine = page_of(signed_in(sam), review), page_of(signed_in(mira), review)

    assert "Two people disagreed about this one. What you say counts." in page
    assert "It is cited." in page
    assert "It is not." in page
    assert "Somebody else decides." in mine
    assert 'id="decide"' not in mine


def disagreed(project: Project, one: User, other: User) -> Review:
    review = held(project, one, reviewers=2)
    asked(signed_in(one), url_of(review, "decide"), outcome="pass", comment="It is cited.")
    asked(signed_in(other), url_of(review, "claim"))
    asked(signed_in(other), url_of(review, "decide"), outcome="fail", comment="It is not.")
    settling.settle_due(now=timezone.now() + settling.UNDO)
    review.refresh_from_db()
    assert review.is_adjudication
    return review


def test_the_next_one_is_taken_and_shown_as_it_will_be(project: Project, mira: User) -> None:
    current, following = held(project, mira, urgency=90), doubted(project, urgency=80)
    prefetch = reverse("review_prefetch", args=[project.slug])

    answer = asked(signed_in(mira), prefetch, without=[current.uuid])
    nothing = asked(signed_in(mira), prefetch, without=[current.uuid, following.uuid])

    following.refresh_from_db()
    assert f'data-review="{following.uuid}"' in answer.content.decode()
    assert f'data-url="{url_of(following)}"' in answer.content.decode()
    assert "<html" not in answer.content.decode()
    assert following.claimed_by == mira
    assert nothing.status_code == 204


def test_a_heartbeat_keeps_it_and_says_when_somebody_else_has_it(
    project: Project, mira: User, jonas: User
) -> None:
    review = held(project, mira)
    Review.objects.update(lease_until=timezone.now() + timedelta(seconds=30))

    kept = asked(signed_in(mira), url_of(review, "heartbeat"))
    refused = asked(signed_in(jonas), url_of(review, "heartbeat"))

    assert kept.json()["seconds"] > 240
    assert (refused.status_code, refused.json()["code"]) == (409, "review.held")


def test_a_page_that_goes_gives_back_what_it_had(project: Project, mira: User) -> None:
    review = held(project, mira)
    review.refresh_from_db()
    assert review.lease_until is not None

    signed_in(mira).post(url_of(review, "release"), {"until": review.lease_until.isoformat()})

    review.refresh_from_db()
    assert review.claimed_by is None


def test_a_page_that_went_gives_back_nothing_that_was_taken_anew(
    project: Project, mira: User
) -> None:
    review, client = held(project, mira), signed_in(mira)
    review.refresh_from_db()
    assert review.lease_until is not None
    before = review.lease_until.isoformat()
    asked(client, url_of(review, "heartbeat"))

    answer = client.post(url_of(review, "release"), {"until": before})

    review.refresh_from_db()
    assert (answer.status_code, review.claimed_by) == (204, mira)


def test_skipping_leads_to_the_next(project: Project, mira: User) -> None:
    review, following = held(project, mira, urgency=90), doubted(project, urgency=80)

    answer = signed_in(mira).post(url_of(review, "skip"))

    review.refresh_from_db()
    assert answer["Location"] == url_of(following)
    assert review.claimed_by is None


def test_one_key_makes_a_golden_case_and_unmakes_it(project: Project, mira: User) -> None:
    review, client = held(project, mira), signed_in(mira)

    made = asked(client, url_of(review, "case")).json()
    page = page_of(client, review)
    unmade = asked(client, url_of(review, "case")).json()

    assert (made, unmade) == ({"is_case": True}, {"is_case": False})
    assert 'data-key="g" aria-pressed="true"' in page
    assert not CaseDraft.objects.exists()


def test_what_one_person_said_is_not_stored_as_anothers(
    project: Project, mira: User, jonas: User
) -> None:
    review = held(project, jonas)

    answer = asked(signed_in(jonas), url_of(review, "decide"), outcome="pass", person=mira.pk)

    assert (answer.status_code, answer.json()["code"]) == (409, "review.not_you")
    assert not Decision.objects.exists()


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({"outcome": "approved"}, 422),
        ({"outcome": "pass", "comment": "x" * 10_001}, 422),
        ({"outcome": "pass", "finding-unknown": "right"}, 422),
        ({"outcome": "pass", "evaluation": "none"}, 422),
        ({"outcome": "pass", "evaluation": str(UUID(int=7))}, 409),
        ({"outcome": "pass", "comment": "\0 and \ud800".encode("utf-8", "replace").decode()}, 200),
        ({"outcome": "pass", "finding-": "maybe", "stage": "last"}, 200),
    ],
    ids=["outcome", "long", "finding", "evaluation", "looked at another", "hidden", "words"],
)
def test_hostile_decisions_are_refused_with_a_sentence(
    project: Project, mira: User, form: dict[str, str], status: int
) -> None:
    review = held(project, mira)

    answer = asked(signed_in(mira), url_of(review, "decide"), **form)

    assert answer.status_code == status
    assert Decision.objects.count() == (status == 200)
    assert status == 200 or answer.json()["message"]


@pytest.mark.parametrize(
    "query", ["?state=nothing", "?process=\0", "?at=99999&file=\0", "?rule=" + "x" * 300]
)
def test_an_address_that_means_nothing_shows_the_review(
    project: Project, mira: User, query: str
) -> None:
    assert 'id="decide"' in page_of(signed_in(mira), held(project, mira), query)


def test_a_page_of_many_findings_asks_no_more_than_one_of_few(project: Project, mira: User) -> None:
    few = held(project, mira)
    many = held(project, mira, run=doubted_run(project, findings=FINDINGS * 40))
    client = signed_in(mira)
    counts = []
    for review in (few, few, many):
        with CaptureQueriesContext(connection) as captured:
            page_of(client, review)
        counts.append(len(captured))

    assert counts[1] == counts[2]


def run_page_of(client: Client, review: Review) -> str:
    path = reverse("run_detail", args=[review.project.slug, review.run.uuid])
    return " ".join(re.sub("<[^>]+>", " ", client.get(path).content.decode()).split())


def test_a_runs_page_says_who_is_asked_and_what_they_decided(project: Project, mira: User) -> None:
    review, client = held(project, mira), signed_in(mira)
    form = {"outcome": "pass", "comment": "The table names its source."}

    waiting = run_page_of(client, review)
    asked(client, url_of(review, "decide"), **form)
    decided = run_page_of(client, review)
    settling.settle_due(now=timezone.now() + settling.UNDO)
    told = run_page_of(client, review)

    assert "A person is asked about this run. The review" in waiting
    assert re.search("A person has decided about this run. It takes effect in [0-9]+ s.", decided)
    assert "The table names its source." not in decided
    assert "pass decided by mira now The table names its source." in told
    assert "Undecided: votes or alternatives disagree." in told  # the verifier's own word stays


@pytest.mark.parametrize("state", [ReviewState.HELD, ReviewState.EXPIRED, ReviewState.WITHDRAWN])
def test_a_runs_page_says_why_nobody_is_asked_any_more(
    project: Project, mira: User, state: ReviewState
) -> None:
    assert f"{CLOSED[state]} The review" in run_page_of(
        signed_in(mira), doubted(project, state=state)
    )


def test_a_run_that_nobody_was_asked_about_has_no_review(project: Project, mira: User) -> None:
    run = make_run(project)

    page = signed_in(mira).get(reverse("run_detail", args=[project.slug, run.uuid]))

    assert "run-review" not in page.content.decode()
