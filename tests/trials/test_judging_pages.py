"""The pages on which people judge, and those that show which side is which."""

from __future__ import annotations

import math
import re
import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role, User
from tests.browser.scenes import LONG_WORD, MARKUP, TURNED
from tests.builders import make_project, make_run, make_user, signed_in
from tests.golden.builders import make_case
from tests.golden.replayed import ASKS, PASSED
from tests.judged import make_call
from tests.trials.builders import (
    make_acknowledgement,
    make_comparison,
    make_judgement,
    make_queued,
    make_trial,
)
from tests.trials.judged import (
    ADVISORY,
    HARD,
    compared,
    person,
    url_of,
    walk_url,
    words_of,
)
from tests.trials.replaying import over_corpus
from verification.runs.retention import sweep_content
from verification.trials.judging import services
from verification.trials.judging.blinding import is_old_first
from verification.trials.models import (
    Acknowledgement,
    Comparison,
    ComparisonNote,
    Judgement,
    Reveal,
    Trial,
)
from verification.trials.working import working

pytestmark = pytest.mark.django_db
JSON = {"Accept": "application/json"}


@pytest.fixture(autouse=True)
def _own_evidence(settings: Any, tmp_path: Any) -> None:
    evidence = {**settings.STORAGES["evidence"], "OPTIONS": {"location": tmp_path / "evidence"}}
    settings.STORAGES = {**settings.STORAGES, "evidence": evidence}


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def trial(project: Project) -> Trial:
    return make_trial(project, title="policy v2 beside policy v1")


@pytest.fixture
def mira(project: Project) -> User:
    return person(project, "mira")


@pytest.fixture
def viewer(project: Project) -> User:
    return make_user(project, Role.VIEWER, "vera")


def page_of(user: User, address: str, status: int = 200) -> str:
    answer = signed_in(user).get(address)
    assert answer.status_code == status, answer.status_code
    return answer.content.decode()


def judged_by(user: User, row: Comparison, answer: str, **form: str) -> Any:
    return signed_in(user).post(url_of("comparison_said", row), {"answer": answer, **form})


def rich(trial: Trial, **columns: Any) -> Comparison:
    """A comparison with all that could tell its sides apart."""
    row = compared(
        trial,
        old_cost_usd=Decimal("0.0417"),
        new_cost_usd=Decimal("0.0093"),
        old_ms=4_321,
        new_ms=8_765,
        is_aa=True,
        old_again="pass",
        new_again="pass_with_warnings",
        **columns,
    )
    for side, judge in ((row.old_evaluation, "sonnet-4"), (row.new_evaluation, "gpt-5-mini")):
        assert side is not None
        make_call(side, judge=judge, model=f"vendor/{judge}", cost_usd=Decimal("0.0077"))
    return row


# ---------------------------------------------------------------- judging blind


def test_the_work_stands_beside_two_verdicts(trial: Trial, mira: User) -> None:
    row = compared(trial)

    page = page_of(mira, url_of("comparison_judge", row))

    words = words_of(page)
    assert "Rejected: a rule of the process is violated." in words
    assert "Accepted with warnings." in words
    assert words.index("First") < words.index("Second")
    assert "<mark>TODO</mark>" in page
    assert "0 of 1 judged" in words
    assert "The parser reads all three files" in words  # the task and what its phase asks


GIVEN_AWAY = re.compile(
    r"\b(old|new|old_first|laxer|stricter|baseline|legacy|policy|v\d+|vendor|sonnet|gpt|shadow_diff"
    r"|0\.0417|0\.0093|0\.0077|4\.3 s|8\.8 s|4321|8765)\b",
    re.IGNORECASE,
)


TELLING = "?move=laxer&old=fail&new=pass&diff_class=old_fail_new_pass&phase=build"


def told_by(page: str) -> set[str]:
    """What of a page would tell the sides apart: in words, addresses and attributes."""
    body = page.partition('<main class="content"')[2].partition("</main>")[0]
    assert body
    return set(GIVEN_AWAY.findall(body))


def test_nothing_on_the_blinded_page_tells_the_sides_apart(trial: Trial, mira: User) -> None:
    row = rich(trial)
    ComparisonNote.objects.create(comparison=row, text="The new one is right.", created_by="jonas")
    make_judgement(row, "old", "jonas")
    make_judgement(row, "new", "aiko")
    client = signed_in(mira)

    pages = [
        page_of(mira, url_of("comparison_judge", row)),
        page_of(mira, url_of("comparison_judge", row) + "?at=2&show=output"),
        client.get(url_of("comparison_judge", row) + TELLING, follow=True).content.decode(),
        page_of(mira, url_of("comparison_detail", row)),
        '<main class="content">'
        + client.post(walk_url(trial, "trial_judge_next")).content.decode(),
    ]

    assert [told_by(page) for page in pages] == [set()] * 5


def test_the_search_for_what_tells_the_sides_apart_finds_it(trial: Trial, viewer: User) -> None:
    told = {
        one.lower() for one in told_by(page_of(viewer, url_of("comparison_detail", rich(trial))))
    }

    assert {"old", "new", "laxer", "policy", "v1", "v2", "4.3 s", "0.0417"} <= told


def test_a_reason_that_only_one_engine_gives_is_not_told(trial: Trial, mira: User) -> None:
    given = {**ADVISORY, "reason_code": "legacy_unscoped"}
    row = compared(trial, findings=((HARD,), (given,)), new_reason="legacy_unscoped")

    page = page_of(mira, url_of("comparison_judge", row))

    assert "a rule names no phase" not in page
    assert told_by(page) == set()


def test_a_finding_about_the_scope_of_a_rule_is_not_shown(trial: Trial, mira: User) -> None:
    given = {
        **ADVISORY,
        "rule": "unscoped-rules",
        "reason_code": "legacy_unscoped",
        "fingerprint": "9" * 64,
    }
    row = compared(trial, findings=((HARD,), (given,)), new_reason="legacy_unscoped")

    page = page_of(mira, url_of("comparison_judge", row))

    assert "unscoped-rules" not in page


def order_of(page: str) -> list[str]:
    """The verdicts from left to right."""
    sides = page.partition('class="blind-sides"')[2].partition("</section>")[0]
    return re.findall(r"(Rejected|Accepted)", words_of(sides))


@pytest.mark.extended
def test_each_reviewer_sees_the_order_that_was_drawn_for_them(trial: Trial) -> None:
    row, project = compared(trial), trial.project
    people = [person(project, f"person-{number}") for number in range(12)]

    orders = {
        one.username: order_of(page_of(one, url_of("comparison_judge", row))) for one in people
    }

    drawn = {name: is_old_first(name, row) for name in orders}
    assert orders == {
        name: ["Rejected", "Accepted"] if old_first else ["Accepted", "Rejected"]
        for name, old_first in drawn.items()
    }


@pytest.mark.parametrize("answer", ["first", "second", "both", "neither"])
def test_what_is_said_of_left_and_right_is_kept_as_old_and_new(
    trial: Trial, mira: User, answer: str
) -> None:
    row = compared(trial)
    old_first = is_old_first("mira", row)

    sent = judged_by(mira, row, answer, note="Both quote the same line.")

    assert sent.status_code == 302
    made = Judgement.objects.get()
    first, second = ("old", "new") if old_first else ("new", "old")
    assert made.said == {"first": first, "second": second}.get(answer, answer)
    assert made.is_old_first is old_first
    assert ComparisonNote.objects.get().text == "Both quote the same line."


def test_after_a_word_the_next_one_comes_and_at_the_end_how_far_people_are(
    trial: Trial, mira: User
) -> None:
    rows = {str(compared(trial).uuid), str(compared(trial).uuid)}
    client = signed_in(mira)
    first = client.get(walk_url(trial) + "?move=laxer", follow=True)
    assert first.redirect_chain[0][0].endswith("?part=moves")

    left = client.post(
        first.request["PATH_INFO"] + "said/?part=moves", {"answer": "both"}, follow=True
    )
    over = client.post(
        left.request["PATH_INFO"] + "said/?part=moves", {"answer": "both"}, follow=True
    )

    seen = {one.request["PATH_INFO"].split("/")[-2] for one in (first, left)}
    assert seen == rows
    assert "Both are right: kept." in left.content.decode()
    assert "2 of 2 judged" in words_of(over.content.decode())
    assert "Nothing waits for you" in over.content.decode()


def test_while_runs_are_compared_more_may_come(trial: Trial, mira: User) -> None:
    compared(trial, judged="new")
    make_queued(trial)

    page = words_of(page_of(mira, walk_url(trial)))

    assert "Nothing waits for you yet" in page
    assert "1 of 2 runs are compared so far: more may come to be judged." in page


def test_skipping_works_without_a_script(trial: Trial, mira: User) -> None:
    compared(trial), compared(trial)
    client = signed_in(mira)
    first = client.get(walk_url(trial) + "?phase=build", follow=True)
    form = re.search(
        r'<form method="get" action="([^"]+)" data-act="skip">(.*?)<button', first.content.decode()
    )
    assert form is not None
    fields = dict(re.findall(r'name="(\w+)" value="([^"]+)"', form[2]))
    assert fields["phase"] == "build"

    second = client.get(form[1], fields, follow=True)

    assert second.request["PATH_INFO"] != first.request["PATH_INFO"]
    assert not Judgement.objects.exists()


def test_a_script_hears_how_far_people_are(trial: Trial, mira: User) -> None:
    row = compared(trial)
    compared(trial, "fail", "fail")

    answer = signed_in(mira).post(url_of("comparison_said", row), {"answer": "both"}, headers=JSON)

    assert answer.json() == {"part": "moves", "judged": 1, "total": 1}


def test_the_next_one_is_fetched_as_it_will_be_shown(trial: Trial, mira: User) -> None:
    first, second = compared(trial), compared(trial)
    client, url = signed_in(mira), walk_url(trial, "trial_judge_next")

    answer = client.post(url, {"after": first.uuid})
    none = client.post(url, {"after": first.uuid, "without": [second.uuid, "nonsense"]})

    assert f'data-comparison="{second.uuid}"' in answer.content.decode()
    assert answer.content.decode().lstrip().startswith("<article")
    assert none.status_code == 204
    assert not Judgement.objects.exists()


@pytest.mark.parametrize("answer", ["", "old", "new", "disputed", "FIRST"])
def test_anything_else_is_no_answer(trial: Trial, mira: User, answer: str) -> None:
    row = compared(trial)

    sent = signed_in(mira).post(url_of("comparison_said", row), {"answer": answer}, headers=JSON)

    assert (sent.status_code, sent.json()["code"]) == (422, "judgement.invalid")
    assert not Judgement.objects.exists()


def test_what_one_person_said_is_not_taken_for_anothers(trial: Trial, mira: User) -> None:
    row, jonas = compared(trial), person(trial.project, "jonas")
    form = {"answer": "both", "person": str(mira.pk)}

    sent = signed_in(jonas).post(url_of("comparison_said", row), form, headers=JSON)

    assert (sent.status_code, sent.json()["code"]) == (409, "comparison.not_you")
    assert not Judgement.objects.exists()


def test_a_slip_is_undone_and_judged_again(trial: Trial, mira: User) -> None:
    row = compared(trial)
    judged_by(mira, row, "first")

    undone = signed_in(mira).post(walk_url(trial, "trial_judge_undo"), headers=JSON)

    assert undone.json()["is_blind"] is True
    assert undone.json()["url"] == url_of("comparison_judge", row)
    assert judged_by(mira, row, "second").status_code == 302
    assert Comparison.objects.get(pk=row.pk).judged in ("old", "new")


def test_there_may_be_nothing_to_undo(trial: Trial, mira: User) -> None:
    answer = signed_in(mira).post(walk_url(trial, "trial_judge_undo"), follow=True)

    assert "There is nothing of yours to take back in this trial." in answer.content.decode()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.AGENT])
def test_below_a_reviewer_the_walk_is_closed(trial: Trial, role: Role) -> None:
    row, client = compared(trial), signed_in(make_user(trial.project, role))

    read = [walk_url(trial), url_of("comparison_judge", row)]
    sent = [
        walk_url(trial, "trial_judge_next"),
        walk_url(trial, "trial_judge_undo"),
        *(
            url_of(f"comparison_{name}", row)
            for name in ("said", "reveal", "take_back", "note", "acknowledge")
        ),
    ]

    assert {client.get(address).status_code for address in read} == {403}
    assert {client.post(address).status_code for address in sent} == {403}
    assert {client.get(address).status_code for address in sent} == {405}


def test_outsiders_and_strange_names_find_nothing(trial: Trial, mira: User) -> None:
    row = compared(trial)
    client, other = signed_in(mira), compared(make_trial(make_project()))
    stranger = signed_in(make_user(make_project(), Role.ADMIN))
    names = ("comparison_detail", "comparison_judge")

    def addresses(trial: uuid.UUID, comparison: uuid.UUID) -> list[str]:
        return [reverse(name, args=[row.trial.project.slug, trial, comparison]) for name in names]

    mixed = addresses(trial.uuid, other.uuid) + addresses(uuid.uuid4(), row.uuid)

    assert {client.get(address).status_code for address in mixed} == {404}
    assert {stranger.get(url_of(name, row)).status_code for name in names} == {404}
    assert client.post(url_of("comparison_said", other)).status_code == 404


def test_the_pages_of_judging_ask_the_same_of_the_database_whatever_they_show(
    trial: Trial, mira: User
) -> None:
    client = signed_in(mira)
    few, many = compared(trial), compared(trial, findings=([HARD] * 1, lots()))
    client.get(url_of("comparison_judge", few))

    counts = [queries(client, url_of("comparison_judge", row)) for row in (few, many)]

    assert counts[0] == counts[1]


def lots() -> list[dict[str, Any]]:
    return [{**ADVISORY, "fingerprint": f"{number:064x}", "line": None, "quote": "", "message": str(number)} for number in range(40)]  # fmt: skip


def queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


# ---------------------------------------------------------------- which side is which


def test_from_a_row_that_names_the_sides_only_the_walk_is_led_to(trial: Trial, mira: User) -> None:
    row = compared(trial)

    page = page_of(mira, url_of("comparison_detail", row))

    assert "You have not judged this one." in page
    assert f'href="{walk_url(trial)}"' in page
    assert url_of("comparison_judge", row) not in page
    assert "Old beside new" not in page


def test_who_is_not_to_judge_a_comparison_is_told_why_at_its_address(
    trial: Trial, mira: User
) -> None:
    known, decided = compared(trial), compared(trial)
    signed_in(mira).post(url_of("comparison_reveal", known))
    make_judgement(decided, "new", "jonas")
    rows = {
        "You know which side of this one is which: somebody else has to judge it.": known,
        "Others have judged it: it waits for nobody.": decided,
        "People are asked where one side accepts": make_comparison(
            trial, run=make_run(trial.project)
        ),
        "The run was deleted": make_comparison(trial, "fail", "pass"),
        "It is not compared yet.": make_queued(trial, run=make_run(trial.project)),
        "A golden case is judged by what it expects.": make_comparison(
            trial, "fail", "pass", origin="corpus"
        ),
    }

    for why, row in rows.items():
        page = page_of(mira, url_of("comparison_judge", row))
        assert why in page
        assert url_of("comparison_detail", row) in page
        assert walk_url(trial) in page
        assert set(re.findall('data-key="(.)"', page)) <= {"n"}
        assert not told_by(page)


def test_what_was_just_taken_back_is_judged_again_at_once(trial: Trial, mira: User) -> None:
    row, client = compared(trial), signed_in(mira)
    client.post(url_of("comparison_said", row), {"answer": "first"})
    client.post(url_of("comparison_take_back", row))

    page = client.get(url_of("comparison_detail", row)).content.decode()

    assert f'href="{url_of("comparison_judge", row)}"' in page
    assert "Old beside new" not in page


def test_a_veiled_comparison_shows_nothing_of_what_judges_were_asked(
    trial: Trial, mira: User
) -> None:
    row = rich(trial)

    answer = signed_in(mira).get(url_of("comparison_asked", row, 1))

    assert answer["Location"] == url_of("comparison_detail", row)


def test_the_sides_can_be_shown_and_it_is_noted(trial: Trial, mira: User) -> None:
    row = compared(trial)

    page = signed_in(mira).post(url_of("comparison_reveal", row), follow=True).content.decode()

    assert "Old beside new" in page
    assert "You have had the sides shown: somebody else has to." in page
    assert "had the sides shown" in words_of(page)
    assert Reveal.objects.get().reviewer == "mira"
    refused = signed_in(mira).post(url_of("comparison_said", row), {"answer": "both"}, headers=JSON)
    assert refused.json()["code"] == "comparison.revealed"


def test_what_one_has_just_said_is_shown_in_ones_own_words(trial: Trial, mira: User) -> None:
    row = compared(trial)
    judged_by(mira, row, "second")

    page = page_of(mira, url_of("comparison_detail", row))

    assert "You said: Second is right." in page
    assert told_by(page) == set()
    assert "Take it back" in page


def test_once_one_went_on_the_sides_are_shown(trial: Trial, mira: User) -> None:
    row = compared(trial)
    judged_by(mira, row, "first")
    judged_by(mira, compared(trial), "both")

    page = page_of(mira, url_of("comparison_detail", row))

    side = "old" if is_old_first("mira", row) else "new"
    assert f"{side} right" in words_of(page)
    assert f"saw the {side} one first" in words_of(page)


@pytest.mark.extended
def test_taking_back_what_was_shown_says_that_somebody_else_has_to(
    trial: Trial, mira: User
) -> None:
    row = compared(trial)
    judged_by(mira, row, "first")
    Judgement.objects.update(created_at=timezone.now() - services.FRESH)

    answer = signed_in(mira).post(url_of("comparison_take_back", row), follow=True)

    assert "somebody else has to judge it" in answer.content.decode()
    assert Comparison.objects.get(pk=row.pk).judged == ""


def test_a_comparison_shows_both_sides_and_what_differs(trial: Trial, viewer: User) -> None:
    words = words_of(page_of(viewer, url_of("comparison_detail", rich(trial))))

    assert "laxer: the new one accepts" in words
    assert "a rule of the process is violated" in words
    assert "enforcement: hard → advisory" in words
    assert "the old one alone" in words
    assert "v1, policy" in words
    assert "v2, policy" in words
    assert "$0.0417" in words
    assert "8.8 s" in words
    assert "pass: decided otherwise" in words
    assert "warnings: the same" in words


def test_the_places_of_findings_lead_into_the_material(trial: Trial, viewer: User) -> None:
    given = {**HARD, "path": "a b.txt", "fingerprint": "9" * 64}
    lost = {**HARD, "path": "../gone.txt", "fingerprint": "a" * 64}
    row = compared(
        trial, findings=((HARD, given, lost), ()), run={"files": {"a b.txt": b"1\n2\nTODO\n"}}
    )
    assert row.run is not None

    page = page_of(viewer, url_of("comparison_detail", row))

    slug, client = trial.project.slug, signed_in(viewer)
    output = reverse("run_output_page", args=[slug, row.run.uuid])
    whole = reverse("run_file_page", args=[slug, row.run.uuid, "a b.txt"])
    assert f'href="{output}?places=#L3"' in page
    assert f'href="{whole}?places=#L3"' in page
    assert client.get(whole + "?places=").status_code == 200
    assert ">../gone.txt:3<" in page


def test_rules_that_applied_on_one_side_alone_are_told(trial: Trial, viewer: User) -> None:
    row = compared(trial)
    for side, applied, reason in (
        (row.old_evaluation, True, "global_scope"),
        (row.new_evaluation, False, "other_phase"),
    ):
        assert side is not None
        verdict = "violated" if applied else "not_reached"
        side.rule_trace = [
            {"rule": "multi-factor-risk", "phase": "build", "applied": applied,
             "verdict": verdict, "reason": reason, "rule_sha256": ""}
        ]  # fmt: skip
        side.save(update_fields=["rule_trace"])

    words = words_of(page_of(viewer, url_of("comparison_detail", row)))

    assert "multi-factor-risk applied: global scope skipped: other phase" in words


def test_prompts_and_replies_are_compared_line_by_line(trial: Trial, viewer: User) -> None:
    row = compared(trial)
    old, new = row.old_evaluation, row.new_evaluation
    assert old is not None
    assert new is not None
    make_call(old, prompt="Judge it.\nBe strict.", reply='{"passed": false}', model="vendor/one")
    make_call(new, prompt="Judge it.\nBe fair.", reply='{"passed": true}', cached=True)
    make_call(new, ask="again", reply="I <b>restate</b>.")

    page = page_of(viewer, url_of("comparison_detail", row))
    answer = page_of(viewer, url_of("comparison_asked", row, 1))
    alone = page_of(viewer, url_of("comparison_asked", row, 2))

    assert "another question, another reply" in page
    assert "asked by the new one alone" in page
    assert '<span class="l del">-Be strict.</span>' in answer
    assert '<span class="l add">+Be fair.</span>' in answer
    assert "vendor/one" in answer
    assert "cached" in answer
    assert "+I &lt;b&gt;restate&lt;/b&gt;." in alone
    assert signed_in(viewer).get(url_of("comparison_asked", row, 3)).status_code == 404


def test_the_same_question_is_told_without_reading_it(trial: Trial, viewer: User) -> None:
    row = compared(trial)
    for side in (row.old_evaluation, row.new_evaluation):
        assert side is not None
        make_call(side)

    page = page_of(viewer, url_of("comparison_detail", row))
    part = signed_in(viewer).get(
        url_of("comparison_asked", row, 1), headers={"HX-Request": "true", "HX-Target": "asked-1"}
    )

    assert "the same question, the same reply" in page
    assert "<html" not in part.content.decode()
    assert part.content.decode().count("the same on both sides") == 2
    assert '<span class="l ">{&quot;passed&quot;: true' in part.content.decode()


def test_a_corpus_comparison_shows_what_the_case_expects(trial: Trial, viewer: User) -> None:
    case = make_case(
        trial.project, "kept", expected={"outcome": "fail", "reason_code": "rule_violated"}
    )
    seen = observed("fail"), observed("pass")
    row = make_comparison(
        trial, "fail", "pass", origin="corpus", case_version=case.current, judged="old",
        old_observed=seen[0], new_observed=seen[1],
    )  # fmt: skip

    words = words_of(page_of(viewer, url_of("comparison_detail", row)))

    assert "the case expects" in words
    assert "A golden case is judged by what it expects: old right." in words
    assert "the old one alone" in words
    assert "The case" in words


def test_what_was_asked_over_a_golden_case_is_shown_with_the_recorded_answers(
    trial: Trial, viewer: User
) -> None:
    """They are kept for as long as the comparison is; a recording knows a digest alone."""
    old_words = {"text": f"I am <b>sure</b>. {PASSED}", "prompt": "0" * 16}
    make_case(trial.project, "recorded", **ASKS, replies=[old_words])
    make_case(trial.project, "unrecorded", **ASKS)
    over_corpus(trial)
    working.work_on(trial.pk, seconds=math.inf)
    sweep_content(timezone.now() + timedelta(days=2))
    rows = {row.title: row for row in trial.comparisons.filter(origin="corpus")}

    pages = {name: page_of(viewer, url_of("comparison_detail", row)) for name, row in rows.items()}
    parts = {name: page_of(viewer, url_of("comparison_asked", rows[name], 1)) for name in rows}

    assert "the recording answered other words" in pages["recorded"]
    assert "the same question, the same reply" in pages["recorded"]
    assert "I am &lt;b&gt;sure&lt;/b&gt;." in parts["recorded"]
    assert parts["recorded"].count("the same on both sides") == 2
    assert "no answer recorded" in pages["unrecorded"]
    assert "the same question, no reply" in pages["unrecorded"]
    assert "There is none." in parts["unrecorded"]
    assert "# Instructions" in parts["unrecorded"]


def test_questions_of_a_golden_case_that_were_not_kept_are_said_to_be_gone(
    trial: Trial, viewer: User
) -> None:
    row = make_comparison(trial, origin="corpus", old_observed={**observed("pass"), "questions": 2})

    page = page_of(viewer, url_of("comparison_detail", row))

    assert "compared before questions of golden cases were kept" in page


def observed(outcome: str) -> dict[str, Any]:
    """What a replay keeps of what it came to."""
    found = {
        "rule": "no-placeholders", "reason_code": "rule_violated", "enforcement": "hard",
        "verdict": "violated", "source": "deterministic", "tier": 1, "target": "output",
        "severity": "error", "path": "", "line": 3, "column": None, "message": "TODO is left.",
        "quote": "TODO", "quote_verified": None, "suggestion": "", "fingerprint": "7" * 64,
    }  # fmt: skip
    return {
        "outcome": outcome,
        "verdict": "reject" if outcome == "fail" else "accept",
        "reason_code": "rule_violated" if outcome == "fail" else "",
        "severity_class": "semantic" if outcome == "fail" else None,
        "confidence": 0.9,
        "confidence_level": "HIGH",
        "tier_achieved": 1,
        "findings": [found] if outcome == "fail" else [],
        "rules": {"applied": [], "skipped": []},
    }


@pytest.mark.parametrize("kind", ["queued", "put off", "gone", "broken", "kept by nobody"])
def test_every_comparison_has_a_page(trial: Trial, mira: User, kind: str) -> None:
    row = {
        "queued": lambda: make_queued(trial),
        "put off": lambda: make_queued(trial, asked_again=2, undecided_since=trial.created_at),
        "gone": lambda: make_comparison(trial, "fail", "pass"),
        "broken": lambda: compared(trial, "fail", "undecided", has_failed=True,
                                   error_text="The verifier broke."),
        "kept by nobody": lambda: compared(trial, "fail", "pass", old_evaluation=None,
                                           origin="corpus"),
    }[kind]()  # fmt: skip

    words = words_of(page_of(mira, url_of("comparison_detail", row)))

    assert {
        "queued": "It waits to be compared.",
        "put off": "A judge was away, or could not be read, 2 times. It is asked again until",
        "gone": "The run was deleted.",
        "broken": "The verifier broke.",
        "kept by nobody": "What a side found is kept no longer.",
    }[kind] in words


def test_a_note_is_added_and_a_bad_one_is_shown_again(trial: Trial, mira: User) -> None:
    row = compared(trial, "pass", "pass")
    client, address = signed_in(mira), url_of("comparison_note", row)

    refused = client.post(address, {"note": "x" * 4001})
    added = client.post(address, {"note": f"{MARKUP}\n{TURNED}"}, follow=True)

    assert refused.status_code == 422
    assert "A note has at most 4000 characters." in refused.content.decode()
    page = added.content.decode()
    assert "<script>document" not in page
    assert "U+202E" in page
    assert ComparisonNote.objects.get().created_by == "mira"


def test_a_difference_is_acknowledged_and_looked_at_again(trial: Trial) -> None:
    editor = signed_in(make_user(trial.project, Role.EDITOR, "ed"))
    row = compared(trial, "pass", "pass_with_warnings")
    address = url_of("comparison_acknowledge", row)

    refused = editor.post(address, {"reason": " ", "days": "14"})
    wild = editor.post(address, {"reason": "Known.", "days": "9" * 40})
    page = editor.post(address, {"reason": "Rule 4 changes.", "days": "30"}, follow=True)

    assert (refused.status_code, wild.status_code) == (422, 422)
    assert "Known until" in page.content.decode()
    assert "acknowledged" in words_of(page.content.decode())
    known = Acknowledgement.objects.get()
    ended = editor.post(
        reverse("acknowledgement_end", args=[trial.project.slug, trial.uuid, known.pk]),
        {"comparison": row.uuid},
        follow=True,
    )
    assert "It is looked at again." in ended.content.decode()
    assert Acknowledgement.objects.get().withdrawn_at is not None


def test_a_reviewer_reads_an_acknowledgement_and_cannot_end_it(trial: Trial, mira: User) -> None:
    row = compared(trial, "pass", "pass_with_warnings")
    make_acknowledgement(row, reason=MARKUP)

    page = page_of(mira, url_of("comparison_detail", row))

    assert "Look at it again" not in page
    assert "<script>document" not in page
    assert "&lt;script&gt;document" in page


def hostile(trial: Trial, old: str, new: str) -> Comparison:
    given = {
        "rule": f"{MARKUP}{'r' * 90}"[:200], "message": f"{MARKUP} {TURNED} {LONG_WORD}",
        "quote": LONG_WORD, "path": f"a/{MARKUP}.txt", "line": 1, "fingerprint": "f" * 64,
    }  # fmt: skip
    return compared(
        trial, old, new,
        findings=((given,), ({**given, "enforcement": "advisory", "message": MARKUP},)),
        run={"title": f"{MARKUP} {TURNED}"[:200], "output": f"{MARKUP}\n{TURNED}\n{LONG_WORD}"},
        title=f"{MARKUP}{TURNED}"[:200], summary=f"{MARKUP}"[:300], phase=MARKUP[:120],
        error_text=MARKUP,
    )  # fmt: skip


def test_hostile_texts_stay_texts(trial: Trial, mira: User, viewer: User) -> None:
    asked, open_one = hostile(trial, "fail", "pass"), hostile(trial, "pass", "pass")

    pages = [
        page_of(mira, url_of("comparison_judge", asked)),
        page_of(mira, url_of("comparison_detail", asked)),
        page_of(viewer, url_of("comparison_detail", asked)),
        page_of(mira, url_of("comparison_detail", open_one)),
    ]

    for page in pages:
        assert "<script>document" not in page
        assert "<img src=x" not in page
        assert "\u202e" not in page


def test_a_comparison_asks_the_same_of_the_database_whatever_it_shows(
    trial: Trial, viewer: User
) -> None:
    client, few, many = signed_in(viewer), rich(trial), rich(trial, kind="other")
    assert many.new_evaluation is not None
    for number in range(6):
        make_call(many.new_evaluation, reply=f"Reply {number}.")
        make_judgement(many, "new", f"person-{number}")
        ComparisonNote.objects.create(comparison=many, text=str(number), created_by="jonas")
    client.get(url_of("comparison_detail", few))

    counts = [queries(client, url_of("comparison_detail", row)) for row in (few, many)]

    assert counts[0] == counts[1]
