"""A rule on past runs, with real readers over what is really stored."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from loomverify.accounts.models import Project, Role
from loomverify.errors import InputError
from tests.builders import generate_runs, make_project, make_run
from tests.engine.cases import evaluate, regex
from tests.runs.conftest import Caller, new_project
from verification.engine.outcome import Outcome
from verification.rules.backtest import history, running
from verification.rules.backtest import readers as pool
from verification.rules.backtest.child import Disk
from verification.rules.backtest.running import Progress, Running, backtest
from verification.rules.backtest.wish import Wish, wish_of, with_rule
from verification.rules.models import Backtest
from verification.runs.models import Submission

pytestmark = pytest.mark.django_db(transaction=True)

MATCHING = "fax: N/A"
SPOKE = [{"rule": "no-cells", "enforcement": "hard"}]


@pytest.fixture
def project() -> Project:
    return make_project("ours")


def wish(project: Project, check: str = "N/A", *, limit: int = 100, **fields: Any) -> Wish:
    process = project.processes.get(slug="small-work")
    assert process.published is not None
    rule = {"name": "no-cells", "check": check, "type": "regex", "enforcement": "hard"}
    said = {**rule, "applies_to_phases": ["build"], **fields}
    return wish_of(process, *with_rule(process.published.source_text, said), limit=limit)


def tried(wish: Wish) -> Progress:
    progress = backtest(wish)
    assert progress.is_over
    return progress


def buckets(progress: Progress) -> dict[str, int]:
    return {bucket.value: count for bucket, count in progress.buckets.items() if count}


def decided(project: Project, label: str, **about: Any) -> Any:
    return make_run(project, review_state="decided", final_outcome=label, **about)


def test_runs_are_told_apart_by_what_people_said(project: Project) -> None:
    caught = decided(project, "fail", output=MATCHING)
    decided(project, "pass", output=MATCHING)
    make_run(project, output=MATCHING)
    make_run(project, output="nothing")
    make_run(project, output=MATCHING, outcome=Outcome.FAIL, findings=[{"rule": "other"}])
    make_run(project, output=MATCHING, phase="write")
    make_run(make_project("theirs"), output=MATCHING)

    progress = tried(wish(project))

    assert buckets(progress) == {"good_catch": 1, "false_alarm": 1, "unlabelled": 1}
    assert (progress.evaluated, progress.matched, progress.total) == (5, 4, 5)
    found = next(one for one in progress.changed if one.bucket == "good_catch")
    assert found.run.uuid == caught.uuid
    assert found.place == {
        "path": "", "evidence": "", "line": 1, "column": 6, "quote": "N/A",
        "before": "fax: ", "after": "",
    }  # fmt: skip


@pytest.mark.parametrize(("enforcement", "matched"), [("hard", 1), ("advisory", 0)])
def test_a_hard_rule_is_tried_on_what_a_person_reads(
    project: Project, enforcement: str, matched: int
) -> None:
    make_run(project, output="fax: N\u200b/A")

    progress = tried(wish(project, enforcement=enforcement))

    assert progress.matched == matched


def test_a_rule_about_conflicts_is_not_tried_on_examples(project: Project) -> None:
    conflict = "<<<<<<< a\n=======\n>>>>>>> b\n"
    make_run(project, files={"notes.md": f"```\n{conflict}```\n".encode()})
    make_run(project, files={"notes.md": conflict.encode()})

    progress = tried(wish(project, "(?m)^<<<<<<< ", target="deliverables"))

    assert (progress.evaluated, progress.matched) == (2, 1)


def test_a_laxer_rule_shows_what_it_lets_go(project: Project) -> None:
    fail: dict[str, Any] = {"outcome": Outcome.FAIL, "findings": SPOKE, "output": "none"}
    make_run(project, **fail)
    decided(project, "pass", **fail)
    make_run(project, tier_requested=2, **fail)
    make_run(project, **{**fail, "output": MATCHING})

    progress = tried(wish(project))

    assert buckets(progress) == {"unsafe_pass": 1, "relieved": 1, "could_not_evaluate": 1}
    assert progress.matched == 1


def test_a_phase_that_the_rule_leaves_is_tried_as_well(project: Project) -> None:
    """The published rule speaks in `build`; one that moves to `write` lets its runs go."""
    process = project.processes.get(slug="small-work")
    assert process.published is not None
    said = {"name": "no-placeholders", "check": "TODO", "type": "regex"}
    moved = {**said, "applies_to_phases": ["write"], "enforcement": "hard"}
    make_run(project, outcome=Outcome.FAIL, output="TODO", findings=[{"rule": "no-placeholders"}])
    make_run(project, phase="write", output="TODO")

    progress = tried(wish_of(process, *with_rule(process.published.source_text, moved)))

    assert buckets(progress) == {"unsafe_pass": 1, "unlabelled": 1}


def test_deliverables_are_those_that_the_check_itself_searches(project: Project) -> None:
    files = {"report.json": b'{\n "a": "N/A"}', "notes.txt": b"N/A", "blob.bin": b"\0N/A"}
    make_run(project, files=files)
    make_run(project, files={"report.json": b"{}", "notes.txt": b"N/A"})

    progress = tried(wish(project, target="deliverables"))

    assert (progress.evaluated, progress.matched) == (2, 1)
    [found] = progress.changed
    assert found.place is not None
    assert (found.place["path"], found.place["line"], found.place["column"]) == (
        "report.json", 2, 8,
    )  # fmt: skip


@pytest.mark.parametrize("is_kept", [True, False], ids=["paths beside", "body alone"])
def test_files_that_a_submission_names_are_searched(project: Project, is_kept: bool) -> None:
    make_run(
        project,
        body={"task": {"expected_outputs": ["notes.*"]}},
        files={"notes.txt": b"N/A", "other.txt": b"N/A"},
    )
    if not is_kept:  # as an earlier program did
        Submission.objects.update(named_paths=None)

    [found] = tried(wish(project, target="deliverables")).changed

    assert found.place is not None
    assert found.place["path"] == "notes.txt"


@pytest.mark.parametrize(("seconds", "announced"), [(1.0, 3), (0.000001, 0)])
def test_a_slow_disk_is_asked_ahead_and_a_fast_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, announced: int
) -> None:
    digests = [hashlib.sha256(text).hexdigest() for text in (b"a", b"b", b"c")]
    for digest, text in zip(digests, (b"a", b"b", b"c"), strict=True):
        (tmp_path / digest[:2]).mkdir(exist_ok=True)
        (tmp_path / digest[:2] / digest).write_bytes(text)
    asked: list[int] = []
    monkeypatch.setattr(os, "posix_fadvise", lambda file, *_: asked.append(file))
    disk = Disk(tmp_path, seconds=seconds, read=1)

    disk.announce([*digests, "0" * 64])
    disk.threads.shutdown()

    assert len(asked) == announced
    assert [disk.content(digest) for digest in digests] == [b"a", b"b", b"c"]
    with pytest.raises(OSError, match="No such file"):
        disk.content("0" * 64)


@pytest.mark.parametrize("is_gone", [True, False])
def test_a_file_that_is_gone_or_changed_is_doubt(
    project: Project, tmp_path: Any, is_gone: bool
) -> None:
    make_run(project, files={"report.json": b"N/A"})
    for content in (tmp_path / "evidence").rglob("*"):
        if content.is_file():
            content.unlink()
            if not is_gone:
                content.write_bytes(b"fine")

    progress = tried(wish(project, target="deliverables"))

    assert buckets(progress) == {"could_not_evaluate": 1}
    assert "not stored" in progress.changed[0].why


def test_evidence_is_searched_piece_by_piece(project: Project) -> None:
    evidence = [{"id": "e1", "text": "fine"}, {"id": "e2", "text": "a\nN/A"}]
    make_run(project, body={"evidence": evidence})

    [found] = tried(wish(project, target="evidence")).changed

    assert found.place is not None
    assert (found.place["evidence"], found.place["line"]) == ("e2", 2)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"expect": "match"},
        {"min_count": 2},
        {"min_count": 2, "requires_exact_cardinality": True},
        {"min_count": 0, "requires_exact_cardinality": True},
    ],
)
def test_it_says_of_each_text_what_the_engine_says(project: Project, fields: Any) -> None:
    texts = ["", "x", "xx", "x\nx", "xxx", "y\u0301x", "\ufeffx", "é" * 300 + "x x"]
    for text in texts:
        make_run(project, output=text)

    progress = tried(wish(project, "x", **fields))

    rule = regex("no-cells", "x", **fields)
    expected = sum(
        any(one.rule == rule.name for one in evaluate(rules=[rule], output=text).findings)
        for text in texts
    )
    assert (progress.evaluated, progress.matched) == (len(texts), expected)


def test_an_observed_rule_is_tried_as_what_it_may_become(project: Project) -> None:
    make_run(project, output=MATCHING)

    progress = tried(wish(project, enforcement="observe"))

    assert progress.counted_as == "hard"
    assert progress.changed[0].after == ("fail", "reject")


def test_the_newest_runs_are_tried_up_to_the_limit(project: Project) -> None:
    now = timezone.now()
    runs = [
        make_run(project, output=MATCHING, created_at=now - timedelta(hours=n)) for n in range(60)
    ]

    progress = tried(wish(project, limit=40))

    assert (progress.evaluated, progress.total) == (40, 40)
    assert [one.run.uuid for one in progress.newest_first] == [run.uuid for run in runs[:40]]


def test_a_reader_that_dies_blames_no_run(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        make_run(project, output=MATCHING)
    asked = pool.Reader.ask

    def dies(reader: pool.Reader, runs: Any) -> None:
        reader.kill()
        asked(reader, runs)

    monkeypatch.setattr(pool.Reader, "ask", dies)

    progress = tried(wish(project))

    assert buckets(progress) == {"could_not_evaluate": 3}
    assert progress.matched == 0


@pytest.mark.extended
@pytest.mark.parametrize("ends", ["closed", "stopped"])
def test_what_is_given_up_leaves_no_reader_at_work(
    project: Project, monkeypatch: pytest.MonkeyPatch, ends: str
) -> None:
    monkeypatch.setattr(running, "FIRST_BATCH", 1)
    for _ in range(40):
        make_run(project, output=MATCHING)
    killed: list[pool.Reader] = []
    kill = pool.Reader.kill

    def kills(reader: pool.Reader) -> None:
        killed.append(reader)
        kill(reader)

    monkeypatch.setattr(pool.Reader, "kill", kills)
    trial = Running(wish(project))
    going: Any = iter(trial)
    next(going)
    if ends == "closed":
        going.close()
    else:
        trial.stop()
        assert not any(progress.is_over for progress in going)

    assert killed
    assert not any(reader.is_alive for reader in killed)
    assert tried(wish(project)).evaluated == 40


def test_what_comes_after_a_reject_was_never_asked(project: Project) -> None:
    fail: dict[str, Any] = {"outcome": Outcome.FAIL, "findings": SPOKE, "output": "none"}
    claim = {"text": "It grows.", "label": "unsupported"}
    make_run(project, evaluation={"claim_list": [claim]}, **fail)

    assert buckets(tried(wish(project))) == {"could_not_evaluate": 1}


def test_a_reader_that_died_while_it_waited_costs_nothing(project: Project) -> None:
    make_run(project, output=MATCHING)
    assert tried(wish(project)).matched == 1
    for reader in list(pool.READERS._waiting):
        with connection.cursor() as cursor:
            cursor.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where datname = current_database() and pid != pg_backend_pid()"
            )
        assert reader.is_alive

    assert buckets(tried(wish(project))) == {"unlabelled": 1}


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_what_takes_too_long_is_stopped_and_says_so(project: Project, seconds: float) -> None:
    for _ in range(3):
        make_run(project, output="a" * 4_000_000)

    progress = backtest(wish(project, "(a?){500}b"), seconds=seconds)

    assert progress.is_over
    assert progress.stopped == running.NO_TIME
    assert progress.evaluated < 3


class TestApi:
    def body(self, **fields: Any) -> dict[str, Any]:
        rule = {"name": "no-cells", "check": "N/A", "type": "regex", "enforcement": "hard"}
        return {"rule": {**rule, "applies_to_phases": ["build"], **fields}}

    def path(self, slug: str = "small-work") -> str:
        return f"/processes/{slug}/rules/backtest"

    def test_it_answers_with_buckets_and_places_and_is_remembered(self, project: Project) -> None:
        run = make_run(project, output=MATCHING)

        answer = Caller(project, Role.EDITOR).post(self.path(), self.body())

        assert answer.status_code == 200, answer.content
        said = answer.json()
        assert said["evaluated"] == said["matched"] == said["buckets"]["unlabelled"] == 1
        [found] = said["runs"]
        assert (found["id"], found["line"], found["quote"]) == (str(run.uuid), 1, "N/A")
        assert (found["before"], found["after"]) == ("pass", "fail")
        kept = Backtest.objects.get(process__project=project, rule="no-cells")
        assert kept.figures["buckets"]["unlabelled"] == 1

    def test_a_name_with_spaces_around_it_is_the_same_rule(self, project: Project) -> None:
        make_run(project, output="N/A")
        make_run(project, output="TODO")

        body = self.body(name=" no-placeholders ")
        said = Caller(project, Role.EDITOR).post(self.path(), body).json()

        assert [one["quote"] for one in said["runs"]] == ["N/A"]

    def test_a_narrowed_try_is_not_remembered(self, project: Project) -> None:
        make_run(project, output=MATCHING)
        editor = Caller(project, Role.EDITOR)
        narrowed: list[dict[str, Any]] = [
            {"limit": 1},
            {"since": "2020-01-01T00:00:00Z"},
            {"phase": "build"},
        ]
        for narrow in narrowed:
            assert editor.post(self.path(), {**self.body(), **narrow}).status_code == 200

        assert not Backtest.objects.exists()

    @pytest.mark.parametrize(
        ("fields", "place"),
        [
            ({"name": " "}, ["body", "rule", "name"]),
            ({"check": "(?=a)"}, ["body", "rule", "check"]),
            ({"check": ""}, ["body", "body", "rule", "check"]),
            ({"type": "llm"}, ["body", "body", "rule", "type"]),
            ({"applies_to_phases": ["nowhere"]}, ["body", "rule", "applies_to_phases"]),
            ({"nonsense": 1}, ["body", "body", "rule", "nonsense"]),
            ({"check": "a\0b"}, ["body", "body", "rule", "check"]),
        ],
    )
    def test_what_cannot_be_tried_is_refused_with_its_place(
        self, project: Project, fields: Any, place: list[str]
    ) -> None:
        answer = Caller(project, Role.EDITOR).post(self.path(), self.body(**fields))

        assert answer.status_code == 422, answer.content
        assert [error["loc"] for error in answer.json()["errors"]] == [place]
        assert not Backtest.objects.exists()

    def test_only_editors_of_the_project_may(self, project: Project) -> None:
        assert Caller(project, Role.REVIEWER).post(self.path(), self.body()).status_code == 403
        stranger = Caller(new_project("theirs"), Role.EDITOR)
        assert stranger.post(self.path(), self.body()).status_code == 404


def test_a_file_that_does_not_load_is_refused(project: Project) -> None:
    process = project.processes.get(slug="small-work")
    with pytest.raises(InputError, match="errors"):
        wish_of(process, "name: [", 0)


@pytest.mark.extended
def test_the_runs_of_a_rare_phase_are_found_by_their_index(project: Project) -> None:
    generate_runs(project, 2_000)
    judged = make_run(project, phase="rare")
    project.runs.update(live_evaluation=judged.live_evaluation_id)
    rare = replace(wish(project), phase_ids=["rare"])

    with connection.cursor() as cursor:
        cursor.execute("analyze runs_run")
        cursor.execute(f"explain {history.RUNS}", history._asked(rare, page=100))
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert "run_by_phase" in plan
