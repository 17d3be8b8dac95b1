from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry, Project, Role
from loomverify.errors import Conflict, Forbidden, InputError, NotFound
from processes.models import ProcessVersion
from processes.services import add_version, publish
from tests.builders import SOURCE_TEXT, make_process, make_project
from tests.golden.builders import document, editor_of, make_case
from tests.golden.replayed import ASKS, FAILS, FILES, PASSED, names, queued, replayed, results
from tests.tables import check_rows
from verification.engine.golden.standing import Change, Standing
from verification.engine.verifier import Flags, VerifierSpec
from verification.golden.cases.services import accept, change_case, retire
from verification.golden.models import GoldenCase, Replay, ReplayPurpose, ReplayState
from verification.golden.replays import selectors, services
from verification.golden.shipped import PROGRAM
from verification.verifiers.services import add_version as add_verifier

pytestmark = pytest.mark.django_db

UNREADABLE = "name: small-work\nphases: 3\nverification: []\n"


def good(project: Project, name: str, **fields: Any) -> GoldenCase:
    return make_case(project, name, **{"files": FILES, **fields})


def change_to(project: Project, name: str, **fields: Any) -> None:
    case = GoldenCase.objects.get(project=project, name=name)
    changed = document(name, **{"files": FILES, **fields})
    change_case(access=editor_of(project), case=case.uuid, document=changed, reason="Better.")


def stricter(project: Project) -> ProcessVersion:
    """A version of the process, not published, in which revenue may not be spoken of."""
    source = SOURCE_TEXT.replace(
        '      check: "TODO|TBD"\n', '      check: "Revenue"\n      enforcement: hard\n'
    )
    version, _ = add_version(project=project, source_text=source, actor=SYSTEM, role=Role.EDITOR)
    return version


def put_live(project: Project, number: int) -> None:
    process = project.processes.get(slug="small-work")
    publish(process=process, number=number, actor=SYSTEM, reason="Try", corpus_reason="Try")


def test_a_replay_holds_each_case_against_what_it_expects(project: Project) -> None:
    good(project, "right")
    good(project, "wrong", expected=FAILS)

    replay = replayed(project)

    assert replay.state == ReplayState.FINISHED
    assert results(replay, "change") == {"right": Change.HELD, "wrong": Change.NEW}
    assert replay.counts == {**dict.fromkeys(Change, 0), Change.HELD: 1, Change.NEW: 1}
    assert results(replay, "differences")["wrong"] == [
        {"place": "outcome", "expected": "fail", "observed": "pass"}
    ]


def test_what_the_old_engine_made_of_a_case_stands_beside_it(project: Project) -> None:
    good(project, "old", run={"output": "TODO"}, expected={"shadow": "old_fail_new_pass"})

    replay = replayed(project)

    [legacy] = results(replay, "legacy").values()
    assert results(replay) == {"old": Standing.HELD}
    assert (legacy["outcome"], legacy["verdict"]) == ("fail", "reject")
    assert results(replay, "verdict") == {"old": "accept"}


def test_a_missing_recording_is_never_a_pass(project: Project) -> None:
    make_case(project, "asked", **ASKS, expected={"outcome": "fail"})

    replay = replayed(project)

    assert results(replay) == {"asked": Standing.NOT_JUDGED}
    assert results(replay, "error_text") == {
        "asked": "No answer to question 1 (assess) of tier 2 was recorded."
    }


def test_a_recorded_reply_stands_in_for_the_judge(project: Project) -> None:
    make_case(project, "asked", **ASKS, replies=[{"text": PASSED}])

    replay = replayed(project)

    assert results(replay) == {"asked": Standing.HELD}
    [[played]] = results(replay, "played").values()
    assert (played["tier"], played["ask"], played["number"]) == (2, "assess", 1)
    assert replay.stale_share == 0


def test_a_changed_question_uses_the_recording_and_marks_it_stale(project: Project) -> None:
    reply = {"text": PASSED, "prompt": "0123456789abcdef"}
    make_case(project, "asked", **ASKS, replies=[reply])

    replay = replayed(project)

    assert results(replay) == {"asked": Standing.HELD}
    assert results(replay, "stale") == {"asked": 1}
    assert replay.stale_share == 1


def test_a_case_that_held_once_regresses_until_it_holds_again(project: Project) -> None:
    good(project, "case")
    told = [results(replayed(project), "change")["case"]]
    for number in (stricter(project).number, None, 1, None):
        if number:
            put_live(project, number)
        told.append(results(replayed(project), "change")["case"])

    assert told == [Change.HELD, Change.REGRESSED, Change.REGRESSED, Change.FIXED, Change.HELD]


def test_a_case_that_never_held_is_new_once_and_still_failing_then(project: Project) -> None:
    good(project, "case", expected=FAILS)

    told = [results(replayed(project), "change")["case"] for _ in range(3)]

    assert told == [Change.NEW, Change.STILL_FAILING, Change.STILL_FAILING]


def test_an_accepted_expectation_begins_without_a_past(project: Project) -> None:
    good(project, "case", expected=FAILS)
    first = replayed(project)

    accept(access=editor_of(project), result=first.results.get(), reason="It was wrong.")

    assert results(replayed(project), "change") == {"case": Change.HELD}


def test_a_candidate_under_which_a_case_holds_promises_nothing(project: Project) -> None:
    good(project, "strict", expected=FAILS)
    replayed(project, process_version=stricter(project))

    assert results(replayed(project), "change") == {"strict": Change.NEW}


def test_a_candidate_is_held_against_what_judges_runs_now(project: Project) -> None:
    good(project, "case")
    replayed(project)

    candidate = replayed(project, process_version=stricter(project))

    assert not candidate.is_live_line
    assert results(candidate, "change") == {"case": Change.REGRESSED}
    assert results(replayed(project), "change") == {"case": Change.HELD}


def test_a_shipped_case_counts_as_having_held_until_people_change_it(project: Project) -> None:
    case = good(project, "shipped", expected=FAILS)
    GoldenCase.objects.filter(pk=case.pk).update(is_shipped=True)
    assert results(replayed(project), "change") == {"shipped": Change.NEW}

    case.versions.update(created_by=PROGRAM)

    assert results(replayed(project), "change") == {"shipped": Change.REGRESSED}


@check_rows(
    ("wish", "taken"),
    [
        ({}, ["a", "b"]),
        ({"tags": ["one"]}, ["a"]),
        ({"tags": ["one", "two"]}, ["a", "b"]),
        ({"tags": ["none"]}, []),
        ({"with_canary": True}, ["a", "b", "held-set"]),
        ({"tags": ["canary"]}, ["held-set"]),
        ({"tags": ["one"], "with_canary": True}, ["a", "held-set"]),
        ({"purpose": ReplayPurpose.CUTOVER}, ["a", "b", "held-set"]),
        ({"purpose": ReplayPurpose.NIGHTLY}, ["a", "b"]),
    ],
    ids=str,
    rollback=True,
)
def test_a_replay_takes_the_cases_that_are_asked_for(
    project: Project, wish: dict[str, Any], taken: list[str]
) -> None:
    good(project, "b", tags=["two"])
    good(project, "a", tags=["one"])
    good(project, "held-set", tags=["one", "canary"])
    retire(access=editor_of(project), case=good(project, "gone", tags=["one"]).uuid)

    assert names(queued(project, **wish)) == taken


def test_a_case_is_replayed_as_it_was_when_the_replay_began(project: Project) -> None:
    good(project, "case")
    replay = queued(project)

    change_to(project, "case", expected=FAILS)
    services.run_now(replay)

    assert results(replay) == {"case": Standing.HELD}
    assert results(replayed(project)) == {"case": Standing.FAILING}


def test_publishing_meanwhile_changes_nothing(project: Project) -> None:
    good(project, "case")
    replay, version = queued(project), stricter(project)

    put_live(project, version.number)
    services.run_now(replay)

    assert results(replay) == {"case": Standing.HELD}


def test_a_process_of_their_own_goes_with_cases_wherever_it_can_matter(project: Project) -> None:
    own = SOURCE_TEXT.replace("small-work", "their-own")
    good(project, "own", process="their-own", process_text=own)
    good(project, "lost", process="unheard-of")
    good(project, "usual")

    replay = replayed(project)

    assert results(replay) == {
        "lost": Standing.NOT_JUDGED, "own": Standing.HELD, "usual": Standing.HELD,
    }  # fmt: skip
    assert results(replay, "error_text")["lost"] == (
        "This project has no published process 'unheard-of'."
    )


def test_a_replay_of_one_process_leaves_out_what_it_cannot_change(project: Project) -> None:
    make_process(project, slug="general")
    good(project, "own", process_text=SOURCE_TEXT)
    good(project, "other", process="general", phase="work")
    good(project, "usual")
    process = project.processes.get(slug="small-work")

    version = queued(project, process_version=stricter(project))
    text = queued(project, process=process, candidate_text=SOURCE_TEXT)

    assert names(version) == names(text) == ["usual"]
    assert version.corpus_sha256 == selectors.corpus_sha256(project, process=process)
    assert selectors.corpus_sha256(project) == queued(project).corpus_sha256


def test_a_text_that_is_no_version_yet_is_tried(project: Project) -> None:
    good(project, "case")
    text = SOURCE_TEXT.replace("- id: build", "- id: make").replace("[build]", "[make]")

    replay = replayed(project, candidate_text=text)

    assert results(replay) == {"case": Standing.NOT_JUDGED}
    assert results(replay, "error_text") == {"case": "The process has no phase 'build'."}
    assert replay.candidate_sha256 == selectors.candidate_sha256(text)


def test_a_text_that_does_not_load_is_refused_with_every_error(project: Project) -> None:
    with pytest.raises(InputError) as refused:
        queued(project, candidate_text=UNREADABLE)

    assert len(refused.value.issues) > 1
    assert {issue.loc[:2] for issue in refused.value.issues} == {("body", "candidate_text")}
    assert all(isinstance(issue.loc[2], int) for issue in refused.value.issues)
    assert not Replay.objects.exists()


def test_a_text_of_another_process_is_refused(project: Project) -> None:
    with pytest.raises(InputError) as refused:
        queued(project, candidate_text=SOURCE_TEXT.replace("small-work", "large-work"))

    assert refused.value.code == "replay.other_process"


def test_a_version_of_another_process_is_refused(project: Project) -> None:
    other = make_process(project, slug="other")

    with pytest.raises(InputError) as refused:
        queued(project, process=other, process_version=stricter(project))

    assert refused.value.code == "replay.other_process"


def test_any_verifier_version_is_replayed(project: Project) -> None:
    good(project, "case", run={"output": "TODO"})
    strict = replace(Flags(), regex_default_advisory=False)
    version = add_verifier(project=project, spec=VerifierSpec(strict))

    assert results(replayed(project), "outcome") == {"case": "pass_with_warnings"}
    replay = replayed(project, verifier=version)

    assert not replay.is_live_line
    assert results(replay, "outcome") == {"case": "fail"}


def test_nothing_to_replay_is_said_at_once(project: Project) -> None:
    replay = queued(project)

    assert replay.state == ReplayState.FINISHED
    assert replay.error_text == services.NOTHING
    assert replay.counts == dict.fromkeys(Change, 0)


def test_replays_of_a_project_that_are_not_over_are_bounded(project: Project) -> None:
    good(project, "case")
    started = [queued(project) for _ in range(services.MAX_OPEN)]

    with pytest.raises(Conflict) as refused:
        queued(project)
    services.run_now(started[0])

    assert refused.value.code == "replay.too_many"
    assert queued(project).total == 1
    assert replayed(make_project()).state == ReplayState.FINISHED


@pytest.mark.parametrize(
    "tags",
    [[f"t{n}" for n in range(21)], ["A"], ["a b"], ["\0"]],
    ids=["many", "capital", "space", "nul"],
)
def test_tags_that_no_case_can_have_are_refused(project: Project, tags: list[str]) -> None:
    with pytest.raises(InputError) as refused:
        queued(project, tags=tags)

    assert refused.value.code == "replay.tags"


def test_a_cancelled_replay_is_over(project: Project) -> None:
    good(project, "case")
    replay = queued(project)

    assert services.cancel(access=editor_of(project), replay=replay.uuid)
    assert not services.cancel(access=editor_of(project), replay=replay.uuid)
    services.run_now(replay)

    assert replay.state == ReplayState.CANCELLED
    assert results(replay) == {"case": ""}
    verbs = AuditEntry.objects.filter(project=project, verb__startswith="replay.")
    assert list(verbs.order_by("pk").values_list("verb", flat=True)) == [
        "replay.started", "replay.cancelled",
    ]  # fmt: skip


def test_only_editors_of_the_project_cancel(project: Project) -> None:
    good(project, "case")
    replay = queued(project)

    with pytest.raises(Forbidden):
        services.cancel(access=replace(editor_of(project), role=Role.AGENT), replay=replay.uuid)
    with pytest.raises(NotFound):
        services.cancel(access=editor_of(make_project()), replay=replay.uuid)


def test_the_latest_replay_is_the_one_of_exactly_what_is_asked(project: Project) -> None:
    good(project, "case", tags=["one"])
    version = stricter(project)
    whole, candidate = replayed(project), replayed(project, process_version=version)
    replayed(project, tags=["one"])
    queued(project)

    assert selectors.latest(project) == whole
    assert selectors.latest(project, corpus_sha256=whole.corpus_sha256) == whole
    assert selectors.latest(project, process_version=version) == candidate
    assert selectors.latest(project, process=version.process) is None
    assert selectors.latest(make_project()) is None

    change_to(project, "case", expected=FAILS)
    now = selectors.corpus_sha256(project)
    assert selectors.latest(project, corpus_sha256=now) is None


def test_the_most_urgent_results_come_first(project: Project) -> None:
    for name in ("b-new", "a-new"):
        good(project, name, expected=FAILS)
    make_case(project, "asked", **ASKS)
    good(project, "held")

    rows = selectors.results(replayed(project))

    assert [row.case.name for row in rows] == ["a-new", "b-new", "asked", "held"]
