from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from ninja import Schema

from loomverify.accounts.models import Project, Role
from tests.builders import SOURCE_TEXT, add_version, make_project, make_run
from tests.golden.builders import make_case
from tests.openapi import openapi_document
from tests.runs.conftest import Caller, problem
from tests.tables import check_rows
from tests.trials.builders import (
    fill_open,
    make_candidate,
    make_compared_run,
    make_comparison,
    make_comparisons,
    make_cutover_replay,
    make_legacy,
    make_queued,
    make_trial,
    make_trial_replay,
)
from verification.trials import examples, schemas
from verification.trials.filters import CHOSEN, ComparisonFilters
from verification.trials.models import Origin, Trial

pytestmark = pytest.mark.django_db
ALL = "/shadow/trials"
MANUAL = Path(__file__).resolve().parents[2] / "docs" / "shadow.md"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = openapi_document()
    return found


@pytest.fixture
def project(db: None) -> Project:
    return make_project("ours")


@pytest.fixture
def admin(project: Project) -> Caller:
    return Caller(project, Role.ADMIN)


@pytest.fixture
def editor(project: Project) -> Caller:
    return Caller(project, Role.EDITOR)


@pytest.fixture
def viewer(project: Project) -> Caller:
    return Caller(project, Role.VIEWER)


def started(editor: Caller, **body: Any) -> dict[str, Any]:
    answer = editor.post(ALL, body)
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def read(caller: Caller, trial: Trial, path: str = "") -> dict[str, Any]:
    answer = caller.get(f"{ALL}/{trial.uuid}{path}")
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_a_trial_is_started_with_what_differs_alone(project: Project, editor: Caller) -> None:
    make_legacy(project)

    trial = started(editor, baseline_verifier=2)

    assert (trial["baseline_verifier"], trial["candidate_verifier"]) == (2, 1)
    assert (trial["state"], trial["sample_rate"], trial["process"]) == ("running", 1.0, None)
    assert (trial["pairs"], trial["waiting"], trial["matrix"]) == (0, 0, {})
    assert trial["gate"]["state"] == "insufficient_data"
    assert trial["url"].endswith(f"/p/ours/shadow/{trial['id']}/")
    assert trial["created_by"] == "key editor"


def test_a_version_of_a_process_is_tried_with_its_process(project: Project, editor: Caller) -> None:
    process = project.processes.get()
    first = process.published
    add_version(process, SOURCE_TEXT + "# Better.\n")

    trial = started(
        editor, process="small-work", candidate_process_version=1, budget_usd="2.50",
        sample_rate=0.25, title="One back",
    )  # fmt: skip

    assert first is not None
    assert (trial["process"], trial["candidate_process_version"]) == ("small-work", 1)
    assert (trial["budget_usd"], trial["title"]) == ("2.500000", "One back")


@check_rows(
    ("body", "refusal"),
    [
        ({}, (422, "trial.same_sides", ["body", "candidate_verifier"])),
        ({"candidate_verifier": 9}, (404, "verifier.unknown", [])),
        ({"candidate_verifier": 2, "process": "none"}, (404, "process.unknown", [])),
        (
            {"candidate_process_version": 1},
            (422, "trial.no_process", ["body", "candidate_process_version"]),
        ),
        (
            {"candidate_process_version": 7, "process": "small-work"},
            (404, "process_version.unknown", []),
        ),
        ({"candidate_verifier": 2, "sample_rate": 0}, (422, "trial.sample_rate", ["body", "sample_rate"])),
        ({"candidate_verifier": 2, "budget_usd": "-1"}, (422, "trial.budget", ["body", "budget_usd"])),
        ({"candidate_verifier": 2, "ends_at": "2020-01-01T00:00:00Z"}, (422, "trial.end", ["body", "ends_at"])),
        (
            {"candidate_verifier": 2, "ends_at": "2020-01-01T00:00:00"},
            (422, "timezone_aware", ["body", "body", "ends_at"]),
        ),
    ],
    rollback=True,
)  # fmt: skip
def test_a_wish_that_makes_no_sense_is_refused_with_its_place(
    project: Project, editor: Caller, body: Mapping[str, Any], refusal: tuple[Any, ...]
) -> None:
    make_candidate(project)

    assert problem(editor.post(ALL, body)) == refusal
    assert not Trial.objects.exists()


def test_an_unknown_field_is_refused(project: Project, editor: Caller) -> None:
    make_candidate(project)

    answer = editor.post(ALL, {"candidate_verifier": 2, "rate": 1})

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["loc"] == ["body", "body", "rate"]


def test_trials_are_listed_by_state(project: Project, viewer: Caller) -> None:
    running = make_trial(project)
    make_trial(project, state="stopped")
    make_trial(make_project())

    def listed(query: str) -> list[str]:
        return [one["state"] for one in viewer.get(f"{ALL}{query}").json()["items"]]

    assert listed("") == ["stopped", "running"]
    assert listed("?state=running") == ["running"]
    assert viewer.get(f"{ALL}?state=lost").status_code == 422
    assert problem(viewer.get(f"{ALL}?stat=lost"))[0] == 422
    first = viewer.get(f"{ALL}?limit=1").json()
    [second] = viewer.get(f"{ALL}?limit=1&cursor={first['next']}").json()["items"]
    assert second["id"] == str(running.uuid)
    assert problem(viewer.get(f"{ALL}?cursor=ours")) == (
        400, "cursor.invalid", ["query", "cursor"],
    )  # fmt: skip


def test_a_trial_tells_its_matrix_classes_and_gate(project: Project, viewer: Caller) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("pass", "pass"): 3, ("fail", "pass"): 2})
    make_comparison(trial, "fail", "pass", judged="new")
    make_queued(trial)

    told = read(viewer, trial)

    assert told["matrix"] == {"pass": {"pass": 3}, "fail": {"pass": 3}}
    assert told["classes"]["old_fail_new_pass"] == 3
    assert (told["pairs"], told["judged"], told["waiting"]) == (6, 1, 1)
    gate = told["gate"]
    assert (gate["n"], gate["discordant"], gate["p_value"]) == (6, 3, pytest.approx(0.25))
    assert [one["name"] for one in gate["criteria"]][:2] == ["discordant_pairs", "difference"]
    assert gate["criteria"][0]["missing"] == "22 more discordant pairs"


@pytest.mark.extended
def test_an_open_gate_is_told_with_what_it_rests_on(project: Project, viewer: Caller) -> None:
    trial = make_trial(project)
    fill_open(trial)

    told = read(viewer, trial)

    assert told["gate"]["state"] == "open"
    assert {one["state"] for one in told["gate"]["criteria"]} == {"holds"}
    assert told["corpus_replay"]["state"] == "finished"


def test_comparisons_are_listed_and_filtered(project: Project, viewer: Caller) -> None:
    trial = make_trial(project)
    compared = make_compared_run(trial)
    make_comparisons(trial, {("pass", "pass"): 2})

    every = read(viewer, trial, "/comparisons")["items"]
    [laxer] = read(viewer, trial, "/comparisons?move=laxer&judged=no")["items"]

    assert len(every) == 3
    assert compared.run is not None
    assert laxer["run"] == str(compared.run.uuid)
    assert (laxer["old"]["verdict"], laxer["new"]["verdict"]) == ("reject", "accept")
    assert laxer["old"]["reason_code"] == "rule_violated"
    assert (laxer["diff_class"], laxer["rules"]) == ("old_fail_new_pass", ["no-placeholders"])
    assert laxer["acknowledged"] is False


def test_pages_of_comparisons_follow_each_other(project: Project, viewer: Caller) -> None:
    trial = make_trial(project)
    make_comparisons(trial, {("fail", "pass"): 3})

    first = read(viewer, trial, "/comparisons?limit=2")
    second = read(viewer, trial, f"/comparisons?limit=2&cursor={first['next']}")

    assert len({one["id"] for one in first["items"] + second["items"]}) == 3
    assert second["next"] is None


@pytest.mark.parametrize(
    "query",
    ["old=good", "move=up", "judged=maybe", "limit=0", "limit=201", "clas=no_diff", "q=%00"],
)
def test_a_filter_that_is_none_is_refused(project: Project, viewer: Caller, query: str) -> None:
    trial = make_trial(project)

    answer = viewer.get(f"{ALL}/{trial.uuid}/comparisons?{query}")

    assert problem(answer)[0] == 422


def test_every_filter_of_pages_is_one_of_the_api() -> None:
    filters = set(ComparisonFilters.__dataclass_fields__)

    assert filters | {"cursor", "limit"} == set(schemas.ComparisonQuery.model_fields)
    for name, choices in CHOSEN.items():
        for value in choices:
            assert getattr(schemas.ComparisonQuery.model_validate({name: value}), name) == value


def test_a_comparison_holds_both_sides_full_results(project: Project, viewer: Caller) -> None:
    trial = make_trial(project)
    comparison = make_compared_run(trial)

    told = read(viewer, trial, f"/comparisons/{comparison.uuid}")

    old, new = told["old_evaluation"], told["new_evaluation"]
    assert (old["purpose"], old["outcome"], old["verifier_version"]) == ("shadow", "fail", 1)
    assert (new["outcome"], new["verifier_version"], new["findings"]) == ("pass", 2, [])
    assert set(new) > {"rules", "tiers", "votes", "feedback", "claims"}
    assert told["old_observed"] is None


def test_a_comparison_of_a_golden_case_holds_what_was_observed(
    project: Project, viewer: Caller
) -> None:
    trial = make_trial(project)
    comparison = make_comparison(
        trial, "fail", "pass", origin=Origin.CORPUS, old_observed={"outcome": "fail"}
    )

    told = read(viewer, trial, f"/comparisons/{comparison.uuid}")

    assert told["old_observed"] == {"outcome": "fail"}
    assert (told["run"], told["old_evaluation"]) == (None, None)


def test_what_is_not_there_is_404(project: Project, admin: Caller) -> None:
    trial, foreign = make_trial(project), make_trial(make_project())
    theirs = make_comparison(foreign)

    for path in (
        f"{ALL}/{uuid4()}",
        f"{ALL}/{foreign.uuid}",
        f"{ALL}/{foreign.uuid}/comparisons",
        f"{ALL}/{foreign.uuid}/comparisons/{theirs.uuid}",
        f"{ALL}/{trial.uuid}/comparisons/{theirs.uuid}",
    ):
        assert problem(admin.get(path))[0] == 404
    for act, body in ACTS.items():
        assert problem(admin.post(f"{ALL}/{foreign.uuid}/{act}", body))[0] == 404


ACTS: Mapping[str, Mapping[str, Any]] = {
    "stop": {},
    "replay": {"origin": "past"},
    "cutover-replay": {},
    "promote": {"reason": "Try."},
    "roll-back": {"reason": "Try."},
}


def test_a_trial_is_stopped_once(project: Project, editor: Caller) -> None:
    trial = make_trial(project)

    told = [
        editor.post(f"{ALL}/{trial.uuid}/stop", {"reason": "We know enough."}).json()
        for _ in range(2)
    ]

    assert [one["stopped"] for one in told] == [True, False]
    assert {one["state"] for one in told} == {"stopped"}
    assert read(editor, trial)["stop_reason"] == "person"


def test_a_standing_trial_is_not_stopped(project: Project, editor: Caller) -> None:
    trial = make_trial(project, is_standing=True)

    assert problem(editor.post(f"{ALL}/{trial.uuid}/stop"))[:2] == (409, "trial.standing")


def test_a_trial_is_taken_over_past_runs(project: Project, editor: Caller) -> None:
    trial = make_trial(project)
    for _ in range(3):
        make_run(project)

    answer = editor.post(f"{ALL}/{trial.uuid}/replay", {"origin": "past", "limit": 2})

    told = answer.json()
    assert answer.status_code == 202
    assert (told["origin"], told["total"], told["done"]) == ("past", 2, 0)
    assert [one["id"] for one in read(editor, trial)["replays"]] == [told["id"]]


def test_one_replay_of_a_trial_is_cancelled_once_and_the_other_goes_on(
    project: Project, editor: Caller
) -> None:
    trial = make_trial(project)
    make_run(project)
    make_case(project)
    path = f"{ALL}/{trial.uuid}/replay"
    past, corpus = (editor.post(path, {"origin": one}).json() for one in ("past", "corpus"))

    told = [editor.post(f"{path}s/{past['id']}/cancel") for _ in range(2)]

    assert [answer.status_code for answer in told] == [200, 200]
    assert told[0].json() == told[1].json()
    assert (told[0].json()["cancelled"], told[0].json()["total"]) == (True, 1)
    left = {one["id"]: one for one in read(editor, trial)["replays"]}
    assert (left[past["id"]]["cancelled"], left[corpus["id"]]["cancelled"]) == (True, False)
    assert left[past["id"]]["cancel_text"].endswith(" cancelled it.")
    assert left[corpus["id"]]["cancel_text"] == ""
    assert left[corpus["id"]]["finished_at"] is None
    assert [row.origin for row in trial.comparisons.all()] == ["corpus"]
    elsewhere = f"{ALL}/{make_trial(project).uuid}/replays/{corpus['id']}/cancel"
    assert problem(editor.post(elsewhere))[:2] == (404, "trial_replay.unknown")


def test_a_trial_is_taken_over_the_corpus(project: Project, editor: Caller) -> None:
    trial = make_trial(project)
    make_case(project, tags=["injection"])
    make_case(project)

    answer = editor.post(f"{ALL}/{trial.uuid}/replay", {"origin": "corpus", "tags": ["injection"]})

    assert (answer.json()["origin"], answer.json()["total"]) == ("corpus", 1)


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ({}, ["body", "body", "origin"]),
        ({"origin": "live"}, ["body", "body", "origin"]),
        ({"origin": "past", "since": "2026-01-01T00:00:00"}, ["body", "body", "since"]),
        ({"origin": "past", "limit": 0}, ["body", "limit"]),
        ({"origin": "past", "limit": 10_001}, ["body", "limit"]),
        ({"origin": "corpus", "tags": ["no tag"]}, ["body", "body", "tags", 0]),
    ],
)
def test_a_replay_that_makes_no_sense_is_refused(
    project: Project, editor: Caller, body: Mapping[str, Any], place: list[Any]
) -> None:
    trial = make_trial(project)

    answer = editor.post(f"{ALL}/{trial.uuid}/replay", body)

    status, _, found = problem(answer)
    assert (status, found) == (422, place)


def test_the_corpus_is_replayed_for_the_gate(project: Project, editor: Caller) -> None:
    trial = make_trial(project)
    make_case(project)

    answers = [editor.post(f"{ALL}/{trial.uuid}/cutover-replay") for _ in range(2)]

    told = [answer.json() for answer in answers]
    assert {answer.status_code for answer in answers} == {202}
    assert told[0] == told[1], "one under way is enough"
    assert read(editor, trial)["corpus_replay"] == told[0]


def test_an_open_gate_promotes_and_one_call_leads_back(project: Project, admin: Caller) -> None:
    trial = make_trial(project)
    fill_open(trial)

    promoted = admin.post(f"{ALL}/{trial.uuid}/promote", {"reason": "Better."}).json()
    live = project.verifiers.get(is_active=True).number
    back = admin.post(f"{ALL}/{trial.uuid}/roll-back", {"reason": "Worse."}).json()

    assert (promoted["state"], live) == ("promoted", 2)
    assert promoted["promotion"]["verifier"] == {"before": 1, "after": 2}
    watch = Trial.objects.get(watches=trial)
    assert promoted["watched_by"] == str(watch.uuid)
    assert (back["state"], project.verifiers.get(is_active=True).number) == ("rolled_back", 1)
    assert read(admin, watch)["watches"] == str(trial.uuid)


def test_a_closed_gate_names_what_is_missing(project: Project, admin: Caller) -> None:
    trial = make_trial(project)

    answer = admin.post(f"{ALL}/{trial.uuid}/promote", {"reason": "Better."})

    assert problem(answer)[:2] == (409, "trial.gate_insufficient_data")
    assert "25 more discordant pairs" in answer.json()["detail"]
    overridden = admin.post(
        f"{ALL}/{trial.uuid}/promote", {"reason": "The old one is broken.", "override": True}
    )
    assert overridden.json()["promotion"]["override"] is True


def test_a_guards_word_is_told_with_the_field_that_answers_it(
    project: Project, admin: Caller
) -> None:
    trial = make_trial(project)
    make_case(project)
    body = {"reason": "It must be.", "override": True}

    refused = admin.post(f"{ALL}/{trial.uuid}/promote", body)
    taken = admin.post(f"{ALL}/{trial.uuid}/promote", {**body, "corpus_reason": "It is new."})

    assert problem(refused) == (409, "golden.not_replayed", ["body", "corpus_reason"])
    assert taken.status_code == 200


@check_rows("act", ["promote", "roll-back"])
@check_rows("reason", ["", " ", None, "x" * 1001], rollback=True)
def test_a_reason_is_asked_for(
    project: Project, admin: Caller, act: str, reason: str | None
) -> None:
    trial = make_trial(project)

    answer = admin.post(f"{ALL}/{trial.uuid}/{act}", {"reason": reason})

    status, _, place = problem(answer)
    assert (status, place[-1]) == (422, "reason")


def test_whatever_number_there_is_is_read_with_as_many_queries(
    project: Project, viewer: Caller
) -> None:
    def counted(path: str) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert viewer.get(path).status_code == 200
        return len(queries)

    few, many = make_trial(project), make_trial(project)
    make_trial_replay(few)
    make_compared_run(few)
    for _ in range(15):
        make_compared_run(many)
        make_trial_replay(many)
    for trial in (few, many):
        make_cutover_replay(trial, counts={})
    counted(ALL)  # the key's first use is written down
    for path in ("", "/comparisons"):
        assert counted(f"{ALL}/{few.uuid}{path}") == counted(f"{ALL}/{many.uuid}{path}")
    before = counted(ALL)
    for _ in range(5):
        make_trial(project, process=project.processes.get())
    assert counted(ALL) == before


@pytest.mark.extended
def test_an_answer_leads_to_every_address_of_the_trial(document: dict[str, Any]) -> None:
    links = document["paths"]["/api/v1/shadow/trials"]["post"]["responses"]["201"]["links"]

    led_to = {link["operationId"].rpartition("_api_")[2] for link in links.values()}
    assert led_to >= {
        "get_trial", "list_comparisons", "stop_trial", "replay_trial", "replay_cutover_corpus",
        "promote_trial", "roll_back_trial",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "example"),
    [
        (schemas.TrialOut, examples.TRIAL),
        (schemas.TrialPage, examples.PAGE),
        (schemas.ComparisonPage, examples.COMPARISONS),
        (schemas.TrialStopped, examples.STOPPED),
        (schemas.TrialReplayOut, examples.TRIAL_REPLAY),
        (schemas.CorpusReplay, examples.CORPUS_REPLAY),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_example_of_an_answer_is_a_whole_one(
    answer: type[Schema], example: dict[str, Any]
) -> None:
    assert json.loads(answer(**example).model_dump_json()) == example


@pytest.mark.extended
def test_the_examples_of_wishes_are_taken(project: Project, admin: Caller) -> None:
    make_legacy(project)
    trial = Trial.objects.get(uuid=started(admin, **examples.START)["id"])
    promotable = make_trial(project)
    fill_open(promotable)

    statuses = [
        admin.post(f"{ALL}/{trial.uuid}/replay", examples.PAST).status_code,
        admin.post(f"{ALL}/{trial.uuid}/stop", examples.STOP).status_code,
        admin.post(f"{ALL}/{promotable.uuid}/promote", examples.PROMOTE).status_code,
        admin.post(f"{ALL}/{promotable.uuid}/roll-back", examples.ROLL_BACK).status_code,
    ]

    assert statuses == [202, 200, 200, 200]


def test_what_the_manual_shows_is_taken(project: Project, editor: Caller) -> None:
    make_legacy(project)
    make_run(project)
    shown = MANUAL.read_text().partition("\n## Over the API\n")[2]
    commands = re.findall(r"\$ (curl .+?)(?=\n\$|\n```)", shown, re.DOTALL)
    answers: list[Any] = []
    for command in commands:
        address = re.search(r'\$LOOMVERIFY_URL/api/v1([^"]+)"', command)
        body = re.search(r"-d '(.+)'", command, re.DOTALL)
        assert address, command
        trial = answers[0].json()["id"] if answers else ""
        path = address[1].replace("$TRIAL", trial)
        answers.append(editor.post(path, json.loads(body[1])) if body else editor.get(path))

    assert [answer.status_code for answer in answers] == [201, 202, 200]
    assert answers[-1].json()["waiting"] == 1


def test_the_manual_names_every_operation(document: dict[str, Any]) -> None:
    told = re.findall(r"`((?:GET|POST|DELETE) [^` ]+)`", MANUAL.read_text())
    there = [
        f"{method.upper()} {_as_written(path)}"
        for path, methods in document["paths"].items()
        if path.startswith("/api/v1/shadow/trials")
        for method in methods
    ]

    assert [one for one in there if one not in told] == []
    assert "POST …/roll-back" in there


def _as_written(path: str) -> str:
    short = path.removeprefix("/api/v1").replace("/shadow/trials/{trial_id}/", "…/")
    return re.sub(r"\{[^}]+\}", "{id}", short)
