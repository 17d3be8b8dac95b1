from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loomverify.accounts.models import Project
from loomverify.errors import InputError
from tests.actions.builders import make_action, make_change
from tests.actions.conftest import hooked
from tests.actions.receiver import Receiver
from tests.builders import make_process, make_project, make_run
from tests.tables import check_rows
from verification.actions import services
from verification.actions.formats import chat, status
from verification.actions.models import Delivery
from verification.runs import outbox
from verification.runs.models import Run

FINISHED = {
    "run": "3c0f6f0e-6a0b-4f0e-8f43-0d7a4f4d9d0b",
    "process": "coding",
    "phase": "implement",
    "task": "market-7",
    "verdict": "reject",
    "outcome": "fail",
    "reason_code": "tests_failed",
}
DECIDED = {**FINISHED, "passed": True, "final_outcome": "pass", "comment": "Its source is there."}
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def project(db: None) -> Project:
    return make_project("loom")


def test_a_chat_room_reads_what_happened_and_where_to_look(
    project: Project, receiver: Receiver
) -> None:
    hooked(project, f"{receiver.url}/T0/secret", format="chat")

    [body] = [json.loads(one) for one in sent(project, receiver, outbox.RUN_FINISHED, FINISHED)]

    assert set(body) == {"text"}
    first, url = body["text"].split("\n")
    assert first == "Rejected: market-7 (coding, implement): tests failed."
    assert urlsplit(url).path == f"/p/loom/runs/{FINISHED['run']}/"


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ((1, 1, 1), "1 waits for a person; since the last hour 1 came and 1 was decided."),
        ((3, 2, 0), "3 wait for a person; since the last hour 2 came and 0 were decided."),
    ],
)
def test_a_chat_room_reads_of_one_as_of_one(counts: tuple[int, ...], told: str) -> None:
    payload = dict(zip(("waiting", "opened", "decided"), counts, strict=True))

    assert chat.message(outbox.REVIEW_DIGEST, payload, "") == {"text": told}


@check_rows("topic", outbox.TOPICS)
@check_rows("payload", [{}, FINISHED, {**DECIDED, "summary": "x", "title": "t"}])
def test_every_topic_has_words_of_its_own(topic: str, payload: dict[str, Any]) -> None:
    text = chat.message(topic, payload, "")["text"]

    assert text.strip()
    assert text != topic or topic == outbox.REPORT_MORNING


@pytest.mark.parametrize(
    "task",
    ["<!channel>", "@all", "[x](https://evil.example)", "<https://evil.example|ok>", "a\nb\u202ec"],
)
def test_submitted_text_calls_nobody_and_is_no_link(task: str) -> None:
    [text] = chat.message(outbox.RUN_FINISHED, {**FINISHED, "task": task}, "")["text"].split("\n")

    assert not {"<", ">", "[", "\u202e"}.intersection(text)
    assert "@all" not in text
    assert "://" not in text


def test_a_code_host_is_told_of_the_commit_that_was_submitted(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST", "t0ken")
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST_PROJECTS", "loom")
    run = make_run(project, action="retry")
    make_change(run, kind="commit", commit_sha=SHA)
    hooked(
        project,
        f"{receiver.url}/statuses/{{commit}}",
        format="status",
        credential_reference="LOOMVERIFY_KEY_HOST",
    )

    [body] = sent(project, receiver, outbox.RUN_FINISHED, {**FINISHED, "run": str(run.uuid)}, run)

    [received] = receiver.received
    assert received.path == f"/hook/statuses/{SHA}"
    assert received.headers["Authorization"] == "Bearer t0ken"
    assert json.loads(body) == {
        "state": "failure",
        "target_url": f"http://localhost:8000/p/loom/runs/{run.uuid}/",
        "description": "Rejected: tests failed",
        "context": "loomverify/coding",
    }


def test_a_token_that_was_not_given_to_the_project_sends_nothing(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST", "t0ken")
    monkeypatch.setenv("LOOMVERIFY_KEY_HOST_PROJECTS", "other")
    hooked(project, receiver.url, credential_reference="LOOMVERIFY_KEY_HOST")

    assert sent(project, receiver, outbox.RUN_FINISHED, FINISHED) == []
    delivery = Delivery.objects.get()
    assert delivery.state == "pending"
    assert "has not given LOOMVERIFY_KEY_HOST" in delivery.last_error


@pytest.mark.parametrize(
    ("topic", "payload", "has_commit", "is_sent"),
    [
        (outbox.RUN_FINISHED, FINISHED, True, True),
        (outbox.RUN_FINISHED, FINISHED, False, False),
        (outbox.RUN_DECIDED, DECIDED, True, True),
        (outbox.ACTION_TAKEN, {"kind": "commit", "commit": SHA}, False, True),
        (outbox.ACTION_TAKEN, {"kind": "review_branch", "commit": SHA}, True, False),
    ],
)
def test_a_status_stands_beside_a_commit_or_is_not_sent(
    project: Project,
    receiver: Receiver,
    topic: str,
    payload: dict[str, Any],
    has_commit: bool,
    is_sent: bool,
) -> None:
    run = make_run(project, action="retry")
    make_change(run, commit_sha=SHA if has_commit else "")
    hooked(project, receiver.url, status.TOPICS, format="status")

    assert len(sent(project, receiver, topic, payload, run)) == is_sent


def test_a_person_who_rejects_what_landed_turns_its_commit_red(
    project: Project, receiver: Receiver
) -> None:
    run = make_run(project, action="auto_commit")
    landed = make_action(make_change(run), state="done", new_sha=SHA, expected_sha="1" * 40)
    taken = {**FINISHED, "kind": "commit", "commit": SHA}
    hooked(project, f"{receiver.url}/{{commit}}", status.TOPICS, format="status")

    [green] = sent(project, receiver, outbox.ACTION_TAKEN, taken, run)
    no = {**DECIDED, "passed": False, "final_outcome": "fail"}
    [red] = sent(project, receiver, outbox.RUN_DECIDED, no, run)

    assert json.loads(green)["state"] == "success"
    assert (json.loads(red)["state"], json.loads(red)["description"]) == (
        "failure", "Rejected by a person",
    )  # fmt: skip
    assert [one.path for one in receiver.received] == [f"/hook/{SHA}"] * 2
    assert landed.new_sha == SHA


def test_work_that_was_rejected_while_it_landed_is_told_as_rejected(
    project: Project, receiver: Receiver
) -> None:
    run = make_run(project, action="auto_commit", review_state="decided", final_outcome="fail")
    make_action(make_change(run), state="done", new_sha=SHA, expected_sha="1" * 40)
    hooked(project, receiver.url, status.TOPICS, format="status")

    taken = {"kind": "commit", "commit": SHA, "process": "coding"}
    [body] = sent(project, receiver, outbox.ACTION_TAKEN, taken, run)

    assert json.loads(body)["state"] == "failure"


def test_an_older_status_does_not_come_after_a_newer_one(
    project: Project, receiver: Receiver
) -> None:
    run = make_run(project, action="retry")
    make_change(run, kind="commit", commit_sha=SHA)
    hooked(project, receiver.url, status.TOPICS, format="status")
    receiver.behaviour = [500, 200]
    sent(project, receiver, outbox.RUN_FINISHED, {**FINISHED, "verdict": "accept"}, run)
    sent(project, receiver, outbox.RUN_DECIDED, {**DECIDED, "passed": False}, run)
    older = Delivery.objects.order_by("pk")[0]

    services.deliver(delivery_id=older.pk, attempt=2)

    older.refresh_from_db()
    assert (older.state, len(receiver.received)) == ("dead", 2)
    assert older.last_error == "A newer status of this commit is sent instead."


@pytest.mark.parametrize(
    ("topic", "payload", "state", "gitlab", "conclusion"),
    [
        (outbox.RUN_FINISHED, {"verdict": "accept"}, "success", "success", "success"),
        (outbox.RUN_FINISHED, {"verdict": "reject"}, "failure", "failed", "failure"),
        (outbox.RUN_FINISHED, {"verdict": "undecided"}, "pending", "pending", "action_required"),
        (outbox.RUN_DECIDED, {"passed": True}, "success", "success", "success"),
        (outbox.RUN_DECIDED, {"passed": False}, "failure", "failed", "failure"),
        (outbox.ACTION_TAKEN, {"kind": "commit"}, "success", "success", "success"),
        (outbox.ACTION_TAKEN, {"final_outcome": "fail"}, "failure", "failed", "failure"),
        ("webhook.test", {}, "pending", "pending", "action_required"),
    ],
)
def test_doubt_is_neither_a_success_nor_a_failure_of_a_commit(
    topic: str, payload: dict[str, Any], state: str, gitlab: str, conclusion: str
) -> None:
    values = status.values_of(topic, payload, project="loom", commit=SHA, url="")
    template = '{"a": "{state}", "b": ["{gitlab_state}", {"c": "{conclusion}"}], "d": 7}'

    assert status.body(template, values) == {"a": state, "b": [gitlab, {"c": conclusion}], "d": 7}


@pytest.mark.extended
@given(st.text(max_size=60), st.sampled_from(sorted(status.NAMES)))
def test_no_value_changes_a_templates_shape(value: str, name: str) -> None:
    values = dict.fromkeys(status.NAMES, value)

    filled = status.body(f'{{"a": "x {{{name}}}", "b": "{{state}}{{state}}"}}', values)

    assert filled == {"a": f"x {value}", "b": value * 2}
    assert json.loads(json.dumps(filled)) == filled


def test_only_events_of_the_named_processes_are_sent_and_those_of_none(
    project: Project, receiver: Receiver
) -> None:
    make_process(project, slug="coding")
    hooked(
        project, receiver.url, [outbox.RUN_FINISHED, outbox.BUDGET_WARNING], processes=["coding"]
    )

    for process in ("coding", "research"):
        sent(project, receiver, outbox.RUN_FINISHED, {**FINISHED, "process": process})
    sent(project, receiver, outbox.BUDGET_WARNING, {"process": None})

    told = [json.loads(one.body)["payload"]["process"] for one in receiver.received]
    assert told == ["coding", None]


@check_rows(
    ("fields", "code", "place"),
    [
        ({"format": "fax"}, "format_unknown", ("format",)),
        ({"processes": ["research"]}, "process_unknown", ("processes", 0)),
        ({"processes": ["a"] * 51}, "too_many_processes", ("processes",)),
        ({"credential_reference": "PATH"}, "credential_refused", ("credential_reference",)),
        ({"template": "{}"}, "template_refused", ("template",)),
        ({"format": "status", "topics": ["review.digest"]}, "topic_unknown", ("topics", 0)),
        ({"format": "status", "template": "{"}, "template_refused", ("template",)),
        ({"format": "status", "template": "[]"}, "template_refused", ("template",)),
        ({"format": "status", "template": '{"a": NaN}'}, "template_refused", ("template",)),
        ({"format": "status", "template": '{"a": "{key}"}'}, "template_refused", ("template",)),
        (
            {"format": "status", "template": '{"a":' * 7 + "1" + "}" * 7},
            "template_refused",
            ("template",),
        ),
        (
            {"format": "status", "template": "[" * 50_000},
            "template_refused",
            ("template",),
        ),
        (
            {"format": "status", "url": "http://127.0.0.1/{task}"},
            "url_refused",
            ("url",),
        ),
        (
            {"format": "status", "url": "http://{commit}.example.com/"},
            "url_refused",
            ("url",),
        ),
    ],
    rollback=True,
)
def test_what_cannot_be_sent_is_refused_with_its_place(
    project: Project, fields: dict[str, Any], code: str, place: tuple[str | int, ...]
) -> None:
    usual: dict[str, Any] = {"url": "http://127.0.0.1/hook", "topics": [outbox.RUN_FINISHED]}

    with pytest.raises(InputError) as refused:
        hooked(project, **{**usual, **fields})

    assert refused.value.code == f"webhook.{code}"
    assert refused.value.issues[0].loc == ("body", *place)


def test_the_address_of_a_chat_room_is_never_shown_whole(project: Project) -> None:
    webhook = hooked(project, "http://127.0.0.1:9/services/T0/B0/s3cret-key", format="chat")

    assert webhook.shown_url == "http://127.0.0.1:9/…-key"
    assert str(webhook) == webhook.shown_url
    assert hooked(project, "http://127.0.0.1:9/a").shown_url == "http://127.0.0.1:9/a"


def sent(
    project: Project,
    receiver: Receiver,
    topic: str,
    payload: dict[str, Any],
    run: Run | None = None,
) -> list[bytes]:
    """The bodies that one event leads to."""
    before = len(receiver.received)
    run_id = run.pk if run else None
    outbox.add(topic, project_id=project.pk, payload=payload, run_id=run_id)
    outbox.dispatch()
    for delivery in Delivery.objects.filter(state="pending", attempts=0):
        services.deliver(delivery_id=delivery.pk, attempt=1)
    return [one.body for one in receiver.received[before:]]
