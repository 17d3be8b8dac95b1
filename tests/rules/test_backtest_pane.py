"""The pane beside the rule form, as the browser asks for it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from loomverify.accounts.access import SYSTEM, Access, person
from loomverify.accounts.models import Project, Role
from processes.checking import check
from processes.models import Draft
from processes.services import open_draft
from tests.builders import SOURCE_TEXT, make_project, make_run, make_user, signed_in
from verification.engine.outcome import Outcome
from verification.rules.backtest.pane import drawings, drawings_aside
from verification.rules.backtest.readers import SIDE_BY_SIDE, Reader, Readers
from verification.rules.backtest.running import Running
from verification.rules.backtest.wish import wish_of, with_rule
from verification.rules.models import Backtest
from verification.runs.models import Review, Run

pytestmark = pytest.mark.django_db(transaction=True)

TYPED = {
    "name": "no-cells", "type": "regex", "check": "N/A", "expect": "no_match",
    "target": "output", "where": "every", "severity": "warning", "enforcement": "hard",
}  # fmt: skip


@pytest.fixture
def project() -> Project:
    return make_project("ours")


def editor(project: Project, role: Role = Role.ADMIN) -> Client:
    user = make_user(project, role)
    open_draft(process=project.processes.get(), editor=user, actor=person(user))
    return signed_in(user)


def pane(client: Client, project: Project, **typed: Any) -> str:
    path = reverse("backtest_live", args=[project.slug, "small-work"])
    answer: Any = client.post(path, {**TYPED, **typed})
    assert answer.status_code == 200
    return str(answer.getvalue().decode().split("<!--next-->")[-2])


def test_a_rule_that_is_not_saved_yet_is_tried_and_its_match_is_marked(project: Project) -> None:
    run = make_run(project, output="a <b>N/A</b>")

    shown = pane(editor(project), project)

    assert "1 of 1 run<" in shown
    assert "a &lt;b&gt;<mark>N/A</mark>&lt;/b&gt;" in shown
    assert f"/runs/{run.uuid}/output/?from=1&amp;places=1.hard#L1" in shown
    assert Backtest.objects.get().figures["buckets"]["unlabelled"] == 1


def test_a_rule_of_the_draft_stands_in_for_the_published_one(project: Project) -> None:
    """Renamed and loosened: what the old one stopped is told of."""
    make_run(project, output="TODO", outcome=Outcome.FAIL, findings=[{"rule": "no-placeholders"}])

    shown = pane(editor(project), project, seen_name="no-placeholders", name="no-cells")

    assert "1 unsafe pass" in shown


def test_a_rule_renamed_in_the_saved_draft_stands_in_for_the_published_one(
    project: Project,
) -> None:
    make_run(project, output="TODO", outcome=Outcome.FAIL, findings=[{"rule": "no-placeholders"}])
    client = editor(project)
    Draft.objects.update(source_text=SOURCE_TEXT.replace("no-placeholders", "no-gaps"))

    shown = pane(client, project, seen_name="no-gaps", name="no-gaps")

    assert "1 unsafe pass" in shown


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"check": "("}, "Not a pattern"),
        ({"check": " "}, "Say what it looks for"),
        ({"type": "llm"}, "asks no judge"),
        ({"name": ""}, "required"),
        ({"where": "named"}, "Mark a phase"),
    ],
)
def test_what_is_no_rule_yet_says_what_is_missing(
    project: Project, typed: dict[str, str], told: str
) -> None:
    make_run(project, output="N/A")

    assert told in pane(editor(project), project, **typed)
    assert not Backtest.objects.exists()


def test_where_nothing_ran_the_pane_says_so(project: Project) -> None:
    assert "No run has finished yet" in pane(editor(project), project)


def test_a_viewer_and_a_stranger_see_nothing(project: Project) -> None:
    path = reverse("backtest_live", args=[project.slug, "small-work"])
    assert signed_in(make_user(project, Role.REVIEWER)).post(path, TYPED).status_code == 403
    assert signed_in(make_user(make_project("theirs"), Role.ADMIN)).post(path).status_code == 404


def test_who_goes_away_stops_what_was_begun_for_them(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(project, output="a" * 4_000_000)
    process = project.processes.get()
    said = {"name": "slow", "type": "regex", "check": "(a?){500}b", "applies_to_phases": ["*"]}
    assert process.published is not None
    wish = wish_of(process, *with_rule(process.published.source_text, said))
    running = Running(wish)
    access = Access(project, Role.ADMIN, SYSTEM)
    given_back: list[Reader] = []
    give_back = Readers.give_back

    def gives(pool: Readers, reader: Reader, *, owes: bool) -> None:
        give_back(pool, reader, owes=owes)
        given_back.append(reader)

    monkeypatch.setattr(Readers, "give_back", gives)

    async def leave() -> None:
        content = drawings_aside(running, drawings(running, wish, access))
        reading = asyncio.ensure_future(anext(content))
        while not running.owed:
            await asyncio.sleep(0)
        reading.cancel()
        with suppress(asyncio.CancelledError):
            await reading
        while len(given_back) < SIDE_BY_SIDE:
            await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(leave(), 60))

    assert running.is_stopped
    assert not Backtest.objects.exists()


class TestSendingToReview:
    def send(self, client: Client, project: Project, *runs: Run) -> Any:
        path = reverse("backtest_to_review", args=[project.slug, "small-work"])
        return client.post(path, {"runs": ",".join(str(run.uuid) for run in runs)})

    def test_people_are_asked_once_about_each_run(self, project: Project) -> None:
        runs = [make_run(project, output="N/A") for _ in range(2)]
        stranger = make_run(make_project("theirs"), output="N/A")
        client = editor(project)

        first = self.send(client, project, *runs, stranger)
        again = self.send(client, project, *runs)

        assert first.content == b"2 sent to review. 1 left out: asked about before, or gone."
        assert again.content == b"0 sent to review. 2 left out: asked about before, or gone."
        assert {one.run_id for one in Review.objects.all()} == {run.pk for run in runs}
        assert set(project.runs.values_list("review_state", flat=True)) == {"pending"}
        queue = client.get(reverse("review_queue", args=[project.slug]))
        assert queue.status_code == 200
        assert "somebody asked for it" in queue.content.decode()

    def test_what_is_decided_stays_decided(self, project: Project) -> None:
        run = make_run(project, review_state="decided", final_outcome="fail")

        assert self.send(editor(project), project, run).content.startswith(b"0 sent")
        run.refresh_from_db()
        assert run.review_state == "decided"

    def test_only_reviewers_may_and_only_runs(self, project: Project) -> None:
        run = make_run(project)
        viewer = signed_in(make_user(project, Role.VIEWER))
        assert self.send(viewer, project, run).status_code == 403
        path = reverse("backtest_to_review", args=[project.slug, "small-work"])
        assert editor(project).post(path, {"runs": "nothing"}).status_code == 422


class TestNeverTried:
    def codes(self, project: Project, source: str) -> list[tuple[str, int]]:
        checked = check(source, project.processes.get())
        return [(one.code, one.line) for one in checked.warnings if one.code == "rule.never_tried"]

    @pytest.mark.extended
    def test_a_hard_pattern_is_warned_of_until_it_was_tried(self, project: Project) -> None:
        process = project.processes.get()
        assert process.published is not None
        hard = {"name": "new", "type": "regex", "check": "N/A", "applies_to_phases": ["*"]}
        source, _ = with_rule(process.published.source_text, {**hard, "enforcement": "hard"})
        line = next(n for n, text in enumerate(source.split("\n"), 1) if "check: N/A" in text)

        assert self.codes(project, source) == []  # there is nothing to try it on
        make_run(project, output="fine")
        assert self.codes(project, source) == [("rule.never_tried", line)]
        assert (
            self.codes(project, source.replace("enforcement: hard", "enforcement: observe")) == []
        )

        client = editor(project)
        Draft.objects.update(source_text=source)
        url = reverse("draft_publish", args=[project.slug, "small-work"])
        assert "was never tried on past runs" in client.get(url).content.decode()

        pane(client, project, enforcement="observe")
        assert self.codes(project, source) == []
        assert "was never tried" not in client.get(url).content.decode()
        edited = source.replace("check: N/A", "check: N/A|n/a")
        assert self.codes(project, edited) == [("rule.never_tried", line)]
        Draft.objects.update(source_text=edited)
        assert "was never tried on past runs" in client.get(url).content.decode()

    def test_where_it_speaks_in_no_phase_that_has_a_run_there_is_nothing_to_try(
        self, project: Project
    ) -> None:
        process = project.processes.get()
        assert process.published is not None
        hard = {"name": "new", "type": "regex", "check": "N/A", "applies_to_phases": ["write"]}
        source, _ = with_rule(process.published.source_text, {**hard, "enforcement": "hard"})
        make_run(project, output="fine", phase="build")

        assert self.codes(project, source) == []
        make_run(project, output="fine", phase="write")
        assert len(self.codes(project, source)) == 1
