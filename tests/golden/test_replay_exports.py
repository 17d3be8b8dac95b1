from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import fromstring

from loomverify.accounts.models import Project, Role
from loomverify.errors import Conflict
from tests.builders import make_process, make_project
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.replayed import ASKS, FAILS, FILES, queued, replayed
from tests.runs.conftest import Caller
from verification.engine.golden.standing import Change, Standing
from verification.golden.models import GoldenCase, Replay, ReplayState
from verification.golden.replays import exports, services

pytestmark = pytest.mark.django_db
HOSTILE = "\x1b]]>&<failure> [[ATTACHMENT|/etc/passwd]] \ufffe\n'\""


@pytest.fixture
def project() -> Project:
    return make_project("ours")


def told(replay: Replay) -> Element:
    root: Element = fromstring(exports.junit(replay).decode())
    for element in (root, *root):
        kinds = [(one.tag, one) for case in element.iter("testcase") for one in case]
        assert element.get("tests") == str(len(list(element.iter("testcase"))))
        for name, tag in (("failures", "failure"), ("errors", "error")):
            assert element.get(name) == str(sum(kind == tag for kind, _ in kinds))
    return root


def colours(root: Element) -> dict[str, list[str]]:
    return {str(case.get("name")): [one.tag for one in case] for case in root.iter("testcase")}


@pytest.mark.parametrize(
    ("change", "standing", "tags"),
    [
        (Change.REGRESSED, Standing.FAILING, ["failure"]),
        (Change.NEW, Standing.FAILING, ["failure"]),
        (Change.STILL_FAILING, Standing.FAILING, ["failure"]),
        (Change.NOT_JUDGED, Standing.NOT_JUDGED, ["error"]),
        (Change.FIXED, Standing.HELD, []),
        (Change.HELD, Standing.HELD, []),
    ],
)
def test_what_does_not_hold_fails_and_what_was_not_judged_is_an_error(
    project: Project, change: Change, standing: Standing, tags: list[str]
) -> None:
    replay = make_replay(project)
    make_result(replay, make_case(project, "case", files=FILES), standing=standing, change=change)

    assert colours(told(replay)) == {"case": tags}


def test_each_process_is_a_suite_and_each_case_a_test(project: Project) -> None:
    make_process(project, slug="another")
    make_case(project, "b", files=FILES)
    make_case(project, "a", files=FILES, expected=FAILS)
    make_case(project, "c", process="another", phase="lost")

    root = told(replayed(project))

    assert [(suite.get("name"), suite.get("tests")) for suite in root] == [
        ("another", "1"), ("small-work", "2"),
    ]  # fmt: skip
    assert colours(root) == {"c": ["error"], "a": ["failure"], "b": []}
    [failure] = root.iter("failure")
    assert failure.get("message") == (
        "It does not hold, and was never replayed before. outcome: expected 'fail', observed 'pass'"
    )


def test_a_cancelled_replays_cases_that_were_left_out_are_errors(project: Project) -> None:
    make_case(project, "case", files=FILES)
    replay = queued(project)
    Replay.objects.filter(pk=replay.pk).update(state=ReplayState.CANCELLED)
    replay.refresh_from_db()

    assert colours(told(replay)) == {"case": ["error"]}


@pytest.mark.extended
def test_hostile_texts_stay_texts(project: Project) -> None:
    replay, case = make_replay(project), make_case(project, "case", files=FILES)
    text = HOSTILE
    GoldenCase.objects.filter(pk=case.pk).update(process=text[:80], phase=text)
    difference = {"place": "feedback[0]", "expected": text, "observed": text * 9_000}
    make_result(
        replay, case, standing=Standing.FAILING, change=Change.REGRESSED,
        differences=[difference] * 99, error_text=text,
    )  # fmt: skip

    content = exports.junit(replay)

    root = fromstring(content.decode())
    assert [one.tag for one in root.iter("testcase")] == ["testcase"]
    assert b"[[ATTACHMENT" not in content
    assert len(content) < 200_000
    assert "And 49 more." in str(next(root.iter("failure")).text)


def test_the_report_holds_every_case_as_plain_json(project: Project) -> None:
    make_case(project, "held", files=FILES)
    make_case(project, "asked", **ASKS)

    replay = replayed(project)
    report = exports.report(replay)

    assert json.loads(json.dumps(report)) == report
    assert [(one["name"], one["standing"]) for one in report["results"]] == [
        ("asked", "not_judged"), ("held", "held"),
    ]  # fmt: skip
    assert (report["id"], report["counts"]["held"]) == (str(replay.uuid), 1)


@pytest.mark.parametrize("name", ["junit.xml", "report.json"])
def test_an_open_replay_is_not_exported(project: Project, name: str) -> None:
    make_case(project, "case", files=FILES)
    replay, viewer = queued(project), Caller(project, Role.VIEWER)

    answer = viewer.get(f"/golden/replays/{replay.uuid}/{name}")

    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (409, "replay.not_over")
    with pytest.raises(Conflict):
        exports.junit(replay)


@pytest.mark.parametrize(
    ("name", "kind"), [("junit.xml", "application/xml"), ("report.json", "application/json")]
)
def test_an_export_is_an_attachment(project: Project, name: str, kind: str) -> None:
    make_case(project, "case", files=FILES)
    replay: Any = replayed(project)

    answer = Caller(project, Role.VIEWER).get(f"/golden/replays/{replay.uuid}/{name}")

    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert answer["Content-Disposition"].startswith('attachment; filename="replay-')
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_nothing_to_replay_exports_nothing_that_fails(project: Project) -> None:
    replay = queued(project)

    assert list(told(replay)) == []
    assert exports.report(replay)["error"] == services.NOTHING
