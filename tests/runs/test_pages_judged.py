from __future__ import annotations

import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Role
from tests.builders import evaluate, make_project, make_run, make_user, signed_in
from tests.judged import (
    VERDICT,
    claim,
    live_of,
    make_artefact,
    make_call,
    make_remediation,
    make_tier,
    make_votes,
    set_claims,
)
from tests.tables import check_rows
from verification.engine.claims.settlement import ArtefactKind, ClaimState
from verification.engine.outcome import Outcome, Verdict
from verification.engine.protocol.reply import Stage
from verification.runs import judge_wording
from verification.runs.exchanges import place_read
from verification.runs.models import Evaluation, ModelCall, Run, RunState
from verification.runs.models.followup import RemediationState
from verification.runs.prompt_parts import Part, parts_of_prompt, parts_of_request

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


@pytest.fixture
def run() -> Run:
    return make_run(make_project(), tier_requested=2, tier_achieved=2, output="Revenue rose.\n")


def get(run: Run, path: str = "", *, status: int = 200, target: str = "") -> HttpResponse:
    url = reverse("run_detail", args=[run.project.slug, run.uuid])
    answer: Any = signed_in(make_user(run.project)).get(
        url + path, headers={"HX-Target": target} if target else {}
    )
    assert answer.status_code == status
    return answer  # type: ignore[no-any-return]


def html_of(run: Run, path: str = "", *, target: str = "") -> str:
    return get(run, path, target=target).content.decode()


def path_of(call: ModelCall) -> str:
    return f"calls/{call.evaluation.uuid}/{call.tier}/{call.seq}/"


def test_calls_stand_in_order_with_what_became_of_each(run: Run) -> None:
    live = live_of(run)
    make_call(live, reply=None, lost="rate_limited", duration_ms=30)
    make_call(live, tried=2, recovery="embedded_json")
    make_call(live, ask="restate", cached=True, cost_usd=0)

    html = html_of(run)

    words = ["the judge was too busy", "found inside prose", "Asked to restate", "cached"]
    assert [html.index(one) for one in words] == sorted(html.index(one) for one in words)
    assert '<span class="tag">try 2</span>' in html
    assert html.count('hx-trigger="toggle from:closest details once"') == 3


def test_an_open_runs_calls_are_links_that_survive_its_refreshing() -> None:
    run = make_run(make_project(), state=RunState.RUNNING, tier_requested=2)
    evaluation = evaluate(run)
    call = make_call(evaluation)

    html = html_of(run)

    assert (
        f'<a class="asked-row" href="{reverse("run_detail", args=[run.project.slug, run.uuid])}{path_of(call)}">'
        in html
    )
    assert "toggle from" not in html


@pytest.mark.parametrize("target", ["", "call-2-1"])
def test_a_call_shows_what_was_sent_and_what_came_back(run: Run, target: str) -> None:
    reply = f"Here it is:\n{VERDICT}\nDone."
    call = make_call(live_of(run), reply=reply, recovery="embedded_json")

    html = html_of(run, path_of(call), target=target)

    assert ("<html" in html) is not bool(target)
    assert "Found inside prose." in html
    assert "Every figure names its source" in html
    assert '<span class="mono">output</span> <span class="tag">from the work</span>' in html
    assert (
        "<mark>{&quot;passed&quot;: true, &quot;rules&quot;: [], &quot;confidence&quot;: 0.9}</mark>"
        in html
    )


def test_a_lost_call_says_that_the_work_is_not_blamed(run: Run) -> None:
    call = make_call(live_of(run), reply=None, lost="infra_verifier_error", error="No route.")

    html = html_of(run, path_of(call))

    assert "None: the verifier could not be reached, or failed itself." in html
    assert "The work is not blamed." in html
    assert "No route." in html
    assert "Nothing came back." in html


def test_long_texts_are_cut_until_all_is_asked_for(run: Run) -> None:
    reply = "\n".join(f"line {number}" for number in range(1, 401))
    call = make_call(live_of(run), reply=reply, recovery="unreadable")

    cut, whole = html_of(run, path_of(call)), html_of(run, path_of(call) + "?lines=all")

    assert "340 lines after" in cut
    assert "?lines=all" in cut
    assert "line 400" not in cut
    assert "line 400" in whole
    assert "?lines=all" not in whole


@pytest.mark.parametrize("side", ["request", "reply"])
def test_what_was_said_can_be_downloaded_and_is_never_opened(run: Run, side: str) -> None:
    call = make_call(live_of(run), reply="<script>alert(1)</script>")

    answer = get(run, f"{path_of(call)}{side}.txt")

    assert answer["Content-Disposition"] == f'attachment; filename="call-2-1-{side}.txt"'
    assert answer["Content-Type"] == "application/octet-stream"
    expected = b"<script>" if side == "reply" else b'"system"'
    assert expected in answer.content


@pytest.mark.parametrize(
    "path",
    [
        "calls/00000000-0000-0000-0000-000000000000/2/1/",
        "{evaluation}9/1/",
        "{evaluation}2/99999999999999999999/",
        "{evaluation}2/1/secret.txt",
        "{evaluation}2/2/reply.txt",
        "artefacts/00000000-0000-0000-0000-000000000000",
    ],
)
def test_what_was_never_said_does_not_exist(run: Run, path: str) -> None:
    call = make_call(live_of(run))
    make_call(live_of(run), reply=None)

    get(run, path.format(evaluation=f"calls/{call.evaluation.uuid}/"), status=404)


def test_another_projects_calls_and_texts_do_not_exist(run: Run) -> None:
    call = make_call(live_of(run))
    made = make_artefact(live_of(run), b"x")
    client = signed_in(make_user(make_project(), Role.ADMIN))
    base = reverse("run_detail", args=[run.project.slug, run.uuid])

    answers = [
        client.get(base + path).status_code
        for path in (path_of(call), f"{path_of(call)}reply.txt", f"artefacts/{made.uuid}")
    ]

    assert answers == [404, 404, 404]


def test_a_call_of_another_run_is_not_reached_through_this_one(run: Run) -> None:
    other = make_run(run.project)
    call = make_call(live_of(other))

    get(run, path_of(call), status=404)


@check_rows(
    ("text", "recovery", "read"),
    [
        (VERDICT, "strict_json", None),
        (f"So: {VERDICT} Good.", "embedded_json", VERDICT),
        (f'{{"passed": false}} then {VERDICT}', "embedded_json", VERDICT),
        (f'{{"result": {VERDICT}}}', "embedded_json", VERDICT),
        (f'{VERDICT} {{"note": 1}}', "embedded_json", VERDICT),
        (f"```json\n{VERDICT}\n```", "restated", VERDICT),
        ("{'passed': True}", "repaired_json", None),
        (
            "I looked.\n**Verdict:** FAIL, see above.\nBye.",
            "verdict_line",
            "**Verdict:** FAIL, see above.",
        ),
        ("VERDICT: PASS\nVERDICT: FAIL", "verdict_line", None),
        ("{" * 50_000, "embedded_json", None),
        ('{"a":' * 50_000, "embedded_json", None),
        (VERDICT, "unreadable", None),
        ("", "embedded_json", None),
    ],
    rollback=True,
)
def test_the_object_that_was_read_is_found_within_the_reply(
    text: str, recovery: str, read: str | None
) -> None:
    place = place_read(text, recovery)

    assert (text[slice(*place)] if place else None) == read


def test_a_prompt_falls_into_our_words_and_the_works() -> None:
    fence = "data-5f1c9b7de04a"
    prompt = (
        f"# What was asked for\n\n[{fence} begin task]\nWrite.\n[{fence} end task]\n\n# The work\n\n"
        f"[{fence} begin output]\n# Fake\n[other-fence begin task]\n[{fence} end task]\n"
        f"[{fence} end output]\n\nGive it."
    )

    assert parts_of_prompt(prompt) == [
        Part("task", "Write.", is_material=True),
        Part("output", f"# Fake\n[other-fence begin task]\n[{fence} end task]", is_material=True),
        Part("Closing words", "Give it."),
    ]


@pytest.mark.parametrize(
    "stored", ["", "plain words", "{", "[]", '"text"', '{"system": 1, "prompt": []}', "[" * 99_999]
)
def test_a_request_of_any_shape_is_shown(stored: str) -> None:
    parts = parts_of_request(stored)

    assert all(part.text for part in parts)
    assert len(parts) <= 1


def test_every_stage_and_every_ask_has_words() -> None:
    assert set(judge_wording.STAGES) == set(Stage)
    assert set(judge_wording.MADE) == set(ArtefactKind)


CLAIMS = [
    claim("Revenue rose by 4 %.", evidence=("e1",), state=ClaimState.CONFIRMED, quote="rose by 4"),
    claim("Costs fell.", "inferred", said="confirmed", note="It names no evidence."),
    claim("Buy the competitor.", "unsupported", section="recommendation"),
    claim("The moon helps.", "unsupported", section="recommendation", state=ClaimState.PRUNED),
]


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [1, 2, 3, 4]),
        ("?claims=confirmed", [1]),
        ("?claims=inferred", [2]),
        ("?claims=unsupported", [3]),
        ("?claims=recommendation_unconfirmed", [3]),
        ("?claims=pruned", [4]),
        ("?claims=splendid", [1, 2, 3, 4]),
    ],
)
def test_claims_are_filtered_by_label_in_the_address(
    run: Run, query: str, numbers: list[int]
) -> None:
    set_claims(live_of(run), CLAIMS)

    answer = get(run, query)

    table = answer.context["page"].judged.claims  # type: ignore[attr-defined]
    assert [one.number for one in table.rows] == numbers
    counts = {name: count for name, _, count in table.counts}
    assert counts == {
        "confirmed": 1,
        "inferred": 1,
        "unsupported": 1,
        "recommendation_unconfirmed": 1,
        "pruned": 1,
    }


def test_a_claim_tells_its_label_its_evidence_and_what_became_of_it() -> None:
    run = make_run(make_project(), body={"evidence": [{"id": "e1", "text": "It rose by 4 %."}]})
    set_claims(live_of(run), CLAIMS, supporting_unconfirmed_ratio=0.5)

    html = html_of(run)

    assert "said: confirmed" in html
    assert "It names no evidence." in html
    assert "<del><bdi>The moon helps.</bdi></del>" in html
    assert '<q class="quoted"><bdi>rose by 4</bdi></q>' in html
    assert 'href="?evidence=e1#artefact"' in html
    assert "50.0 % unconfirmed outside recommendations." in html


def test_evidence_that_was_not_submitted_leads_nowhere(run: Run) -> None:
    set_claims(live_of(run), [claim("It rose.", evidence=("e9",))])

    html = html_of(run)

    assert '<small class="faint">not submitted</small>' in html
    assert "evidence=e9" not in html


def test_alternatives_stand_beside_the_output() -> None:
    run = make_run(
        make_project(),
        tier_requested=3,
        body={"alternatives": ["Revenue fell.", HOSTILE]},
        findings=[{"rule": "alternatives", "tier": 3, "source": "llm"}],
    )

    html = html_of(run, "?at=1", target="artefact")

    assert 'aria-current="true">Alternatives <span class="figures faint">2</span></a>' in html
    assert "Revenue fell." in html
    assert "<script>alert" not in html
    assert html_of(run, "?show=alternatives", target="artefact").count("Alternative 2") == 1


@pytest.mark.parametrize(
    ("reason_code", "is_told"), [("vote_divergence", True), ("verifier_unavailable", False)]
)
def test_an_undecided_run_tells_what_was_found_out_about_its_doubt(
    reason_code: str, is_told: bool
) -> None:
    run = make_run(
        make_project(),
        outcome=Outcome.FAIL,
        verdict=Verdict.UNDECIDED,
        reason_code=reason_code,
        findings=[{"verdict": "unknown", "reason_code": reason_code, "message": "Of 3, 1 each."}],
    )

    assert ("<bdi>Of 3, 1 each.</bdi></p>" in html_of(run)) is is_told


@pytest.mark.parametrize(("tokens", "said"), [(0, "· no answer came"), (20, "· could not be read")])
def test_an_answer_that_did_not_come_is_not_called_unreadable(
    run: Run, tokens: int, said: str
) -> None:
    make_tier(live_of(run), status="error", recovery="unreadable", completion_tokens=tokens)

    assert said in html_of(run)


@pytest.mark.parametrize(("tier_achieved", "is_advised"), [(1, True), (0, False)])
def test_only_a_judge_that_failed_is_tested_in_the_settings(
    tier_achieved: int, is_advised: bool
) -> None:
    run = make_run(
        make_project(),
        outcome=Outcome.FAIL,
        verdict=Verdict.UNDECIDED,
        reason_code="infra_verifier_error",
        tier_achieved=tier_achieved,
    )

    assert ("Settings, Judges tests the connection" in html_of(run)) is is_advised


def test_the_filtered_claims_come_alone(run: Run) -> None:
    set_claims(live_of(run), CLAIMS)

    html = html_of(run, "?claims=pruned", target="claims")

    assert html.count("<section") == 1
    assert html.count("<tr") == 2


def test_many_claims_are_shown_in_part(run: Run) -> None:
    set_claims(live_of(run), [claim(f"Claim {number}.") for number in range(230)])

    html = html_of(run)

    assert "30 more are not shown" in html
    assert "Claim 229." not in html


def test_evidence_shows_the_words_that_confirm_a_claim() -> None:
    run = make_run(make_project(), body={"evidence": [{"id": "e1", "text": "It rose by 4 %."}]})
    set_claims(live_of(run), CLAIMS)

    html = html_of(run, "?evidence=e1", target="artefact")

    filtered = html_of(run, "?evidence=e1&claims=pruned", target="artefact")

    assert "It <mark>rose by 4</mark> %." in html
    assert html.count("<mark>") == filtered.count("<mark>")
    assert "No such evidence was submitted." in html_of(run, "?evidence=e9")


@pytest.mark.parametrize(
    ("passed", "said"),
    [
        ([True, True, True], "All 3 are for it."),
        ([False, False], "All 2 are against it."),
        ([True, True, False], "A majority of all 3 is for it. Not unanimous: a person looks at it."),
        ([False, False, None], "A majority of all 3 is against it. Not unanimous: a person looks at it."),
        ([True, None, False, True], "No majority among all 4: nothing is decided, a person looks at it."),
        ([None, None], "No majority among all 2: nothing is decided, a person looks at it."),
    ],
)  # fmt: skip
def test_votes_say_what_they_come_to(run: Run, passed: list[bool | None], said: str) -> None:
    make_votes(live_of(run), passed)

    html = html_of(run)

    assert said in html
    assert html.count('<rect class="s-') == len(set(passed))
    assert f"Reason {len(passed)}." in html


def test_a_quote_the_work_does_not_hold_is_marked_and_not_highlighted() -> None:
    found: dict[str, Any] = {"tier": 2, "source": "llm", "line": None, "confidence": 0.8}
    run = make_run(
        make_project(),
        outcome=Outcome.FAIL,
        output="Revenue rose.\nCosts fell.\n",
        findings=[
            {**found, "rule": "a", "quote": "Costs fell.", "quote_verified": True},
            {**found, "rule": "b", "quote": "Revenue", "quote_verified": False},
        ],
    )

    html = html_of(run)

    assert "<mark>Costs fell.</mark>" in html
    assert "<mark>Revenue</mark>" not in html
    assert html.count("not in the material") == 1
    assert "judge 80.0 % sure" in html


def test_a_pruned_text_shows_what_was_taken_out(run: Run) -> None:
    run.submission.body["output"] = "Revenue rose.\nThe moon helps.\n"
    run.submission.save()
    made = make_artefact(live_of(run), b"Revenue rose.\n")

    html = html_of(run, f"?made={made.uuid}", target="artefact")
    download = get(run, f"artefacts/{made.uuid}")

    assert "Without the pruned claims" in html
    assert '<span class="l del">-The moon helps.</span>' in html
    assert download.content == b"Revenue rose.\n"
    assert download["Content-Disposition"] == 'attachment; filename="pruned-output.md"'


@pytest.mark.parametrize("state", list(RemediationState))
def test_remediations_are_listed_with_their_state(run: Run, state: RemediationState) -> None:
    make_remediation(run, state=state, note="Nobody came.")

    html = html_of(run)

    assert f'?run={run.uuid}">Confirm or take out</a>' in html
    assert "Nobody came." in html
    assert "0 of 2 attempts" in html


def test_what_a_custom_verifier_returned_is_shown_as_json(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(result={"rows": 12, "note": HOSTILE})

    html = html_of(run)

    assert "&quot;rows&quot;: 12" in html
    assert "<script>alert" not in html


def waiting_run(**columns: Any) -> Run:
    now = timezone.now()
    run = make_run(
        make_project(),
        outcome=Outcome.FAIL,
        verdict=Verdict.UNDECIDED,
        reason_code="rate_limited",
        tier_requested=2,
    )
    Evaluation.objects.filter(run=run).update(finished_at=now)
    Run.objects.filter(pk=run.pk).update(
        **{
            "state": RunState.QUEUED,
            "outcome": None,
            "verdict": "",
            "reason_code": "",
            "undecided_since": now,
            "next_at": now + timedelta(seconds=40),
            "lease_until": now + timedelta(seconds=40),
            **columns,
        }
    )
    run.refresh_from_db()
    return run


def test_a_run_that_tries_again_says_when_and_until_when() -> None:
    html = html_of(waiting_run())

    assert "Not decided yet: the judge was too busy." in html
    assert "Tried once; next try in about 40 s, until " in html
    assert "The work is not blamed" in html


def test_lists_tell_a_run_in_doubt_from_one_that_nobody_looked_at() -> None:
    run = waiting_run()
    make_run(run.project, state=RunState.QUEUED)
    listed = reverse("run_list", args=[run.project.slug])

    html = signed_in(make_user(run.project)).get(listed).content.decode()

    assert len(re.findall(r"</svg>in doubt</span>", html)) == 1
    assert html.count('<span class="soft why">the judge was too busy</span>') == 1
    assert len(re.findall(r"</svg>queued</span>", html)) == 1


def test_a_page_that_waits_refreshes_that_line_alone() -> None:
    run = waiting_run()

    html = html_of(run)
    answer = get(run, target="waiting")

    assert html.count('hx-trigger="every') == 1
    assert answer.content.decode().count("<section") == 1
    assert "HX-Refresh" not in answer.headers


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.FINISHED])
def test_a_page_that_waited_is_read_anew_when_something_happens(state: RunState) -> None:
    run = waiting_run()
    outcome = "fail" if state == RunState.FINISHED else None
    Run.objects.filter(pk=run.pk).update(state=state, outcome=outcome, verdict="")

    answer = get(run, target="waiting")

    assert answer["HX-Refresh"] == "true"


def test_hostile_words_of_a_judge_are_escaped_wherever_they_stand(run: Run) -> None:
    live = live_of(run)
    make_tier(live, model=HOSTILE)
    call = make_call(
        live, judge=HOSTILE, model=HOSTILE, system=HOSTILE, prompt=HOSTILE, reply=HOSTILE,
        recovery="unreadable", error=HOSTILE,
    )  # fmt: skip
    make_votes(live, [True, False], why=HOSTILE)
    set_claims(live, [claim(HOSTILE, HOSTILE, said="x", section=HOSTILE, note=HOSTILE, quote=HOSTILE, evidence=(HOSTILE,))])  # fmt: skip
    made = make_artefact(live, HOSTILE.encode(), path=HOSTILE)
    make_remediation(run, note=HOSTILE, mode=HOSTILE[:40])

    pages = [html_of(run, path) for path in ("", path_of(call), f"?made={made.uuid}")]
    pages.append(html_of(run, f"?evidence={HOSTILE}"))

    assert not any("<script>alert" in html or "<img" in html for html in pages)
    assert all("&lt;script&gt;alert" in html for html in pages)


def test_a_reply_that_is_stored_no_more_says_so(run: Run, settings: Any, tmp_path: Any) -> None:
    call = make_call(live_of(run))
    lost = {**settings.STORAGES["evidence"], "OPTIONS": {"location": tmp_path / "elsewhere"}}
    settings.STORAGES = {**settings.STORAGES, "evidence": lost}

    assert "What was said is no longer stored." in html_of(run, path_of(call))
    get(run, f"{path_of(call)}reply.txt", status=404)


def test_evaluations_are_listed_with_their_reasons(run: Run) -> None:
    evaluate(run, purpose="reverify", verdict="undecided", reason_code="parse_inconclusive")

    assert "the judge&#x27;s answer could not be read" in html_of(run)


def test_the_shape_asked_for_is_part_of_what_was_sent() -> None:
    stored = json.dumps({"system": "S", "prompt": "P", "schema": {"type": "object"}})

    assert [part.title for part in parts_of_request(stored)] == [
        "Instructions",
        "Prompt",
        "Shape of the answer",
    ]
