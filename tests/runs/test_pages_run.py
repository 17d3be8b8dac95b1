from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from tests.builders import evaluate, make_project, make_run, make_task, make_user, signed_in
from tests.tables import check_rows
from verification.engine.outcome import Action, Outcome, Verdict
from verification.engine.reasons import REASONS
from verification.runs import wording
from verification.runs.events import append_to_each
from verification.runs.models import Run, RunState, Task

pytestmark = pytest.mark.django_db

HOSTILE = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
RIGHT_TO_LEFT = "invoice\u202efdp.exe"


def url_of(run: Run, name: str = "run_detail", *path: str) -> str:
    return reverse(name, args=[run.project.slug, run.uuid, *path])


def get(run: Run, query: str = "", **headers: str) -> HttpResponse:
    client = signed_in(make_user(run.project))
    answer: Any = client.get(url_of(run) + query, headers=headers)
    assert answer.status_code == 200
    return answer  # type: ignore[no-any-return]


def html_of(run: Run, query: str = "", **headers: str) -> str:
    return get(run, query, **headers).content.decode()


PAGES = [
    ("run_detail", ()),
    ("run_file_page", ("report.json",)),
    ("run_file_download", ("report.json",)),
]


@pytest.mark.parametrize(("name", "path"), PAGES)
def test_a_run_of_another_project_does_not_exist(name: str, path: tuple[str, ...]) -> None:
    run = make_run(make_project(), files={"report.json": b"{}"})
    elsewhere = make_project()
    client = signed_in(make_user(elsewhere, Role.ADMIN))

    assert client.get(url_of(run, name, *path)).status_code == 404
    foreign = reverse(name, args=[elsewhere.slug, run.uuid, *path])
    assert client.get(foreign).status_code == 404


@pytest.mark.parametrize("name", ["run_cancel", "run_reverify"])
def test_only_who_may_act_cancels_and_verifies_again(name: str) -> None:
    run = make_run(make_project(), state=RunState.QUEUED)

    assert signed_in(make_user()).post(url_of(run, name)).status_code == 404
    assert signed_in(make_user(run.project, Role.VIEWER)).post(url_of(run, name)).status_code == 403
    assert signed_in(make_user(run.project, Role.AGENT)).get(url_of(run, name)).status_code == 405


def test_an_agent_cancels_a_run_that_is_not_over() -> None:
    run = make_run(make_project(), state=RunState.QUEUED)

    answer = signed_in(make_user(run.project, Role.AGENT)).post(url_of(run, "run_cancel"))

    run.refresh_from_db()
    assert answer["Location"] == url_of(run)
    assert run.state == RunState.CANCELLED


def test_a_viewer_sees_no_button_to_act() -> None:
    html = html_of(make_run(make_project(), state=RunState.QUEUED))

    assert "/cancel/" not in html


@pytest.mark.parametrize(
    ("outcome", "verdict", "reason_code", "sentence"),
    [
        (Outcome.PASS, None, "", "Accepted: every check that was asked for holds."),
        (
            Outcome.PASS_WITH_WARNINGS,
            None,
            "rule_violated",
            "Accepted with warnings: a rule of the process is violated.",
        ),
        (
            Outcome.PARTIAL_VERIFIED,
            None,
            "recommendation_pruned",
            "Partly verified: unconfirmed recommendations were taken out.",
        ),
        (Outcome.FAIL, None, "syntax_invalid", "Rejected: a file does not parse."),
        (
            Outcome.PARTIAL_VERIFIED,
            Verdict.UNDECIDED,
            "verifier_unavailable",
            "Undecided: no judge is configured for the tier that was asked for.",
        ),
    ],
)
def test_the_verdict_is_one_sentence(
    outcome: Outcome, verdict: Verdict | None, reason_code: str, sentence: str
) -> None:
    run = make_run(make_project(), outcome=outcome, verdict=verdict, reason_code=reason_code)

    assert sentence in html_of(run)


def test_an_undecided_run_says_what_would_let_it_be_decided() -> None:
    run = make_run(
        make_project(),
        outcome=Outcome.PARTIAL_VERIFIED,
        verdict=Verdict.UNDECIDED,
        reason_code="verifier_unavailable",
    )

    assert "Set LOOMVERIFY_JUDGE_MODEL" in html_of(run)


@pytest.mark.parametrize(
    ("action", "is_exhausted", "may_retry", "sentence"),
    [
        (Action.RETRY, False, True, "submit the task again. 1 of 3 attempts used."),
        (Action.RETRY, True, True, "Nothing: the task was tried again since"),
        (Action.REVERT, True, False, "takes no more submissions: a person decides."),
        (Action.REVIEW_BRANCH, False, False, "until a person has looked at it."),
    ],
)
def test_the_next_step_fits_what_became_of_the_task(
    action: Action, is_exhausted: bool, may_retry: bool, sentence: str
) -> None:
    task = Task(max_attempts=3, attempts_used=1, exhausted=is_exhausted)
    run = Run(task=task, verdict="reject", rerun_execution=may_retry, review_state="pending")

    assert sentence in wording.next_step(run, action)


@pytest.mark.parametrize(
    ("action", "outcome", "review_state", "sentence"),
    [
        (Action.REVIEW_BRANCH, Outcome.PASS, "not_required", "No review is required."),
        (Action.REVIEW_BRANCH, Outcome.PASS, "pending", "until a person has looked at it."),
        (Action.REVIEW_BRANCH, Outcome.PARTIAL_VERIFIED, "not_required", "but not all of it"),
        (Action.AUTO_COMMIT, Outcome.PASS, "not_required", "Nothing is left to do"),
        (Action.AUTO_COMMIT, Outcome.PASS, "pending", "Nothing is left to do"),
    ],
)
def test_the_next_step_names_a_person_only_if_one_is_asked(
    action: Action, outcome: Outcome, review_state: str, sentence: str
) -> None:
    run = Run(
        task=Task(max_attempts=3), verdict="accept", outcome=outcome, review_state=review_state
    )

    assert sentence in wording.next_step(run, action)


def test_an_open_run_asks_again_and_a_finished_one_does_not() -> None:
    project = make_project()
    running, finished = make_run(project, state=RunState.RUNNING), make_run(project)

    assert re.search(
        rf'id="body" hx-get="{url_of(running)}\?seen=\w+" hx-trigger="every 1s"', html_of(running)
    )
    assert 'hx-trigger="every' not in html_of(finished)


def test_a_poll_is_answered_with_nothing_where_nothing_has_changed() -> None:
    run = make_run(make_project(), state=RunState.RUNNING)
    client = signed_in(make_user(run.project))
    found = re.search(r'id="body" hx-get="([^"]+)"', client.get(url_of(run)).content.decode())
    assert found

    before = client.get(found[1], headers={"HX-Target": "body"})
    append_to_each([run.pk], "review_withdrawn", at=timezone.now())
    after = client.get(found[1], headers={"HX-Target": "body"})

    assert (before.status_code, before.content) == (204, b"")
    assert after.status_code == 200
    assert "review withdrawn" in after.content.decode()
    assert client.get(found[1]).status_code == 200  # asked for by itself, it is a page


def test_a_poll_is_answered_with_the_body_alone() -> None:
    html = html_of(make_run(make_project(), state=RunState.RUNNING), **{"HX-Target": "body"})

    assert html.lstrip().startswith('<div id="body"')
    assert "<html" not in html


def test_a_poll_after_the_end_brings_the_title_and_what_may_be_done_now() -> None:
    run = make_run(make_project())
    client = signed_in(make_user(run.project, Role.AGENT))

    html = client.get(url_of(run), headers={"HX-Target": "body"}).content.decode()

    assert f"<title>pass · {run.title}</title>" in html
    assert 'id="run-actions" hx-swap-oob="true"' in html
    assert url_of(run, "run_reverify") in html
    assert url_of(run, "run_cancel") not in html


def test_a_finding_leads_to_its_marked_line_in_the_file() -> None:
    lines = b"".join(b'"line %d",\n' % n for n in range(1, 60))
    run = make_run(
        make_project(),
        outcome=Outcome.FAIL,
        files={"report.json": lines},
        findings=[{"path": "report.json", "line": 40, "quote": "line 40", "message": "Wrong."}],
    )

    html = html_of(run, "?at=1", **{"HX-Target": "artefact"})

    assert html.lstrip().startswith('<section class="sheet artefact"')
    marked = '<span class="l hit" data-n="40">&quot;<mark>line 40</mark>&quot;,</span>'
    assert marked in html
    assert "31 lines before" in html


def test_a_run_opens_at_what_a_rule_found_and_at_the_place_that_an_address_names() -> None:
    evidence = [{"id": "E1", "text": "".join(f"row {n}\n" for n in range(1, 60))}]
    run = make_run(
        make_project(),
        output="first\nsecond",
        body={"evidence": evidence},
        findings=[
            {"rule": "one", "line": 1, "target": "output"},
            {"rule": "two", "place": {"evidence": "E1"}, "line": 20, "quote": "row 20"},
        ],
    )
    artefact = {"HX-Target": "artefact"}

    of_rule = html_of(run, "?rule=two", **artefact)
    of_place = html_of(run, "?evidence=E1&places=40.advisory,x,0.hard", **artefact)
    odd = html_of(run, "?rule=%00&show=output&places=999999.hard", **artefact)

    assert '<span class="l hit" data-n="20"><mark>row 20</mark></span>' in of_rule
    assert '<span class="l hit-advisory" data-n="40" id="L40">row 40</span>' in of_place
    assert "31 lines before" in of_place
    assert 'data-n="2" id="L2">second</span>' in odd


def test_a_finding_in_a_tool_call_shows_that_call_alone() -> None:
    calls = [{"tool": "search", "success": True}, {"tool": "fetch", "success": False}]
    run = make_run(
        make_project(),
        body={"tool_calls": calls},
        findings=[{"place": {"tool_call": 1}, "target": "", "enforcement": "advisory"}],
    )

    html = html_of(run, "?at=1", **{"HX-Target": "artefact"})

    assert "Tool call 2" in html
    assert '<b class="mono">fetch</b>' in html
    assert '<b class="mono">search</b>' not in html


def test_a_call_without_success_is_shown_as_neither_and_with_its_oddities() -> None:
    calls = [{"tool": "search", "oddities": ["it names no tool", "success is null"]}]

    html = html_of(make_run(make_project(), body={"tool_calls": calls}), "?show=tools")

    assert "success not stated" in html
    assert "Unusual: it names no tool; success is null." in html
    assert "oddities" not in html


def test_findings_stand_in_groups_with_the_hard_ones_first() -> None:
    run = make_run(
        make_project(),
        findings=[{"enforcement": "observe"}, {"enforcement": "hard"}, {"enforcement": "advisory"}],
    )

    groups = get(run).context["page"].groups  # type: ignore[attr-defined]

    assert [name for name, _, _ in groups] == ["hard", "advisory", "observe"]


def test_rules_are_listed_as_applied_or_skipped_with_reasons() -> None:
    trace = [
        {"rule": "kept", "phase": "build", "applied": True, "verdict": "violated", "reason": "all"},
        {"rule": "not-here", "phase": "write", "applied": False, "reason": "other_phase"},
    ]
    html = html_of(make_run(make_project(), evaluation={"rule_trace": trace}))

    assert "1 applied, 1 skipped" in html
    assert "other phase" in html


@pytest.mark.parametrize(
    ("enforcement", "tone"),
    [("hard", "fail"), ("advisory", "warn"), ("observe", "warn")],
)
def test_a_rule_that_only_advises_does_not_look_like_one_that_rejects(
    enforcement: str, tone: str
) -> None:
    trace = [{"rule": "kept", "applied": True, "verdict": "violated", "reason": "phase"}]
    found = [{"rule": "kept", "enforcement": enforcement}]
    run = make_run(make_project(), findings=found, evaluation={"rule_trace": trace})

    [entry] = get(run).context["page"].applied  # type: ignore[attr-defined]

    assert (entry["badge"].word, entry["badge"].tone) == ("violated", tone)
    assert entry["why"] == "this phase"


def test_feedback_stands_ready_to_copy() -> None:
    said = {"text": "<verification_rejected>Fix it.", "items": []}
    html = html_of(make_run(make_project(), evaluation={"feedback": said}))

    assert 'data-copy="feedback"' in html
    assert "&lt;verification_rejected&gt;Fix it." in html


def test_what_changed_since_the_submission_before_is_shown() -> None:
    project = make_project()
    task = make_task(project.processes.get())
    make_run(project, task=task, output="one\ntwo\n", files={"gone.txt": b"x", "a.txt": b"old\n"})
    run = make_run(
        project, task=task, output="one\nthree\n", files={"a.txt": b"new\n", "new.txt": b"y"}
    )

    html = html_of(run, "?show=diff", **{"HX-Target": "artefact"})

    for text in (
        "-two",
        "+three",
        "-old",
        "+new",
        "gone.txt</span> removed",
        "new.txt</span> added",
    ):
        assert text in html


def test_another_evaluation_is_shown_as_one_that_does_not_count() -> None:
    run = make_run(make_project(), outcome=Outcome.FAIL, reason_code="syntax_invalid")
    shadow = evaluate(run, purpose="shadow", outcome="pass", verdict="accept", reason_code="")

    html = html_of(run, f"?evaluation={shadow.uuid}")

    assert "This is a shadow evaluation by verifier v1. It does not count." in html
    assert "Accepted: every check" in html


@pytest.mark.parametrize("asked", ["x", "00000000-0000-0000-0000-000000000000"])
def test_an_unknown_evaluation_does_not_exist(asked: str) -> None:
    run = make_run(make_project())

    answer = signed_in(make_user(run.project)).get(url_of(run), {"evaluation": asked})

    assert answer.status_code == 404


@pytest.mark.parametrize(
    "query", ["", "?show=output", "?show=tools", "?file=a/<b>.txt", "?at=1", "?at=2", "?at=999"]
)
def test_hostile_text_is_escaped_wherever_it_stands(query: str) -> None:
    project = make_project()
    run = make_run(
        project,
        title=HOSTILE,
        task=make_task(project.processes.get(), HOSTILE),
        phase=HOSTILE,
        executor_model=HOSTILE,
        output=HOSTILE,
        outcome=Outcome.FAIL,
        files={"a/<b>.txt": HOSTILE.encode()},
        body={
            "task": {"plan": HOSTILE, "acceptance_criteria": HOSTILE},
            "tool_calls": [
                {"tool": HOSTILE, "success": False, "error": HOSTILE, "oddities": [HOSTILE]}
            ],
        },
        findings=[
            {"rule": HOSTILE, "message": HOSTILE, "suggestion": HOSTILE, "quote": HOSTILE},
            {"path": "a/<b>.txt", "line": 1, "message": HOSTILE},
        ],
        evaluation={
            "feedback": {"text": HOSTILE, "items": []},
            "rule_trace": [{"rule": HOSTILE, "phase": HOSTILE, "applied": True, "reason": HOSTILE}],
        },
    )

    html = html_of(run, query)

    assert "<script>alert" not in html
    assert "<img" not in html
    assert "&lt;script&gt;alert" in html


def test_characters_that_turn_text_around_are_made_visible() -> None:
    run = make_run(make_project(), title=RIGHT_TO_LEFT, output=RIGHT_TO_LEFT)

    html = html_of(run)

    assert "\u202e" not in html.split("</title>")[1]
    assert 'invoice<span class="ctl">U+202E</span>fdp.exe' in html


def test_a_file_page_shows_numbered_lines() -> None:
    run = make_run(make_project(), files={"src/a.py": b"x = 1\ny = <2>\n"})

    answer = signed_in(make_user(run.project)).get(url_of(run, "run_file_page", "src/a.py"))

    assert '<span class="l" data-n="2" id="L2">y = &lt;2&gt;</span>' in answer.content.decode()


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\x00\x01", "not UTF-8 text"), (b"\xff\xfe", "not UTF-8 text"), (b"", "It is empty.")],
)
def test_a_file_that_is_no_text_says_so(content: bytes, words: str) -> None:
    run = make_run(make_project(), files={"blob": content})

    answer = signed_in(make_user(run.project)).get(url_of(run, "run_file_page", "blob"))

    assert words in answer.content.decode()


@pytest.mark.parametrize("path", ["none.txt", "../secret", "a\x00b"])
def test_a_file_that_was_not_submitted_does_not_exist(path: str) -> None:
    run = make_run(make_project(), files={"report.json": b"{}"})

    answer = signed_in(make_user(run.project)).get(url_of(run, "run_file_page", path))

    assert answer.status_code == 404


def test_a_download_is_never_opened_by_the_browser() -> None:
    run = make_run(make_project(), files={'a/"x"é.html': b"<script>alert(1)</script>"})

    answer = signed_in(make_user(run.project)).get(url_of(run, "run_file_download", 'a/"x"é.html'))

    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Disposition"].startswith("attachment;")
    assert "filename*=utf-8''%22x%22%C3%A9.html" in answer["Content-Disposition"]


def test_every_state_has_a_page() -> None:
    project: Project = make_project()

    for state in RunState:
        assert html_of(make_run(project, state=state))


def test_every_reason_has_words_for_people() -> None:
    assert set(REASONS) <= set(wording.REASONS)


def test_a_finding_about_a_missing_file_says_that_it_was_not_submitted() -> None:
    run = make_run(make_project(), findings=[{"path": "report.csv", "target": "deliverables"}])

    assert "No such file was submitted." in html_of(run, "?at=1")


@check_rows(
    ("finding", "place"),
    [
        ({"path": "a.py", "line": 3, "column": 7}, "a.py:3:7"),
        ({"path": "a.py"}, "a.py"),
        ({"line": 2, "column": 1}, "output:2:1"),
        ({"path": "", "target": ""}, ""),
        ({"place": {"tool_call": 1}, "target": "evidence"}, "tool call 2"),
        ({"place": {"tool_call": 1}, "path": "gone.txt"}, "gone.txt · tool call 2"),
        ({"place": {"claims": [0]}, "target": "evidence"}, "claim 1"),
        ({"place": {"claims": list(range(9))}}, "claims 1, 2, 3, 4, 5, 6, …"),
        ({"place": {"claims": [1, 4]}, "target": "evidence"}, "claims 2, 5"),
        ({"place": {"evidence": "e2"}, "line": 3, "column": 7}, "evidence e2:3:7"),
    ],
    rollback=True,
)
def test_a_finding_names_its_place(finding: dict[str, Any], place: str) -> None:
    run = make_run(make_project(), findings=[finding])

    assert get(run).context["page"].findings[0].place == place  # type: ignore[attr-defined]


def test_a_finding_on_evidence_opens_that_evidence_at_its_line() -> None:
    texts = "".join(f"line {number}\n" for number in range(1, 40))
    run = make_run(
        make_project(),
        body={"evidence": [{"id": "e1", "text": "other"}, {"id": "e2", "text": texts}]},
        findings=[{"place": {"evidence": "e2"}, "line": 30, "column": 1, "quote": "line 30"}],
    )

    pane = get(run, "?at=1").context["page"].pane  # type: ignore[attr-defined]

    assert pane.title == "Evidence e2"
    assert pane.text.lines[0].number == 22
    assert [line.number for line in pane.text.lines if line.enforcement] == [30]


def test_work_that_is_used_in_part_is_not_called_done() -> None:
    run = make_run(
        make_project(),
        outcome=Outcome.PARTIAL_VERIFIED,
        reason_code="unconfirmed_above_threshold",
        evaluation={"action": "auto_commit"},
    )

    html = html_of(run)

    assert "The work can be used, but not all of it is verified" in html
    assert "Nothing is left to do" not in html


def test_a_finding_on_claims_opens_them_with_those_marked() -> None:
    claims = [
        {"text": f"Claim {number}", "label": "inferred", "section": "other"} for number in range(3)
    ]
    run = make_run(
        make_project(), body={"claims": claims}, findings=[{"place": {"claims": [0, 2]}}]
    )

    pane = get(run, "?at=1").context["page"].pane  # type: ignore[attr-defined]

    assert [line.number for line in pane.text.lines if line.enforcement] == [1, 3]
    assert ">Claim 2 (inferred, other; evidence: none)" in html_of(run, "?at=1")


def test_the_verdict_says_how_many_hard_findings_stand_beside_the_leading_one() -> None:
    run = make_run(
        make_project(),
        outcome=Outcome.FAIL,
        reason_code="tests_failed",
        findings=[{"reason_code": "syntax_invalid"}, {"reason_code": "tests_failed"}, {}],
    )

    assert "And 2 more hard findings." in html_of(run)


def test_an_undecided_run_says_that_the_work_is_not_blamed() -> None:
    run = make_run(make_project(), outcome=Outcome.FAIL, verdict=Verdict.UNDECIDED)

    assert "The work is not blamed and no attempt was counted." in html_of(run)
