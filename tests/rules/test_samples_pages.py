"""The pane beside a judge's rule, and the addresses of samples over the API."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.access import person
from loomverify.accounts.models import Project, Role
from processes.services import open_draft
from tests.builders import make_project, make_user, signed_in
from tests.model_server import ModelServer
from tests.rules.sampled import decided, past
from tests.runs.conftest import Caller
from verification.rules.models import Sample
from verification.rules.samples import working
from verification.runs.models import CallHour

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("nobody_waits_long"),
]

TYPED = {
    "name": "tone", "type": "llm", "check": "The tone is polite", "expect": "no_match",
    "target": "output", "where": "named", "phases": ["write"], "severity": "warning",
    "enforcement": "hard",
}  # fmt: skip


@pytest.fixture
def editor(project: Project) -> Client:
    user = make_user(project, Role.EDITOR)
    open_draft(process=project.processes.get(), editor=user, actor=person(user))
    return signed_in(user)


def send(client: Client, project: Project, name: str, **typed: Any) -> str:
    answer: Any = client.post(reverse(name, args=[project.slug, "small-work"]), {**TYPED, **typed})
    assert answer.status_code == 200
    return " ".join(str(answer.content.decode()).split())


def start(client: Client, project: Project, **typed: Any) -> str:
    offered = send(client, project, "backtest_live", **typed)
    [max_usd] = re.findall(r'data-max-usd="([0-9.]+)"', offered)
    return send(client, project, "sample_start", max_usd=max_usd, **typed)


def test_the_price_stands_there_before_anything_is_asked(
    project: Project, editor: Client, server: ModelServer
) -> None:
    past(project, "fine")
    CallHour.objects.create(
        project=project, process=project.processes.get(), model="openai/first",
        hour=timezone.now(), calls=2, completion_tokens=201,
    )  # fmt: skip

    shown = send(editor, project, "backtest_live")

    assert "The judge first is asked about 1 of 1 run." in shown
    usual, most = re.findall(r"\$(\d+\.\d\d)", shown)
    assert Decimal(most) - 2 * Decimal(usual) == Decimal("0.78"), "101 tokens, or 4,000 twice"
    assert "Ask the judge</button>" in shown
    assert server.asked == []
    assert not Sample.objects.exists()


def test_asked_it_is_followed_to_its_end(
    project: Project, editor: Client, server: ModelServer
) -> None:
    past(project, "<b>BAD</b>")
    decided(project, "fail", "BAD")

    begun = start(editor, project)
    sample = Sample.objects.get()
    follow = reverse("sample_live", args=[project.slug, sample.uuid])
    assert f'hx-get="{follow}" hx-trigger="every 1s"' in begun
    assert "0 of 2 runs" in begun
    working.work_on(sample.pk, seconds=60)

    over = " ".join(editor.get(follow).content.decode().split())

    assert "2 of 2 runs" in over
    assert "hx-trigger" not in over
    assert "1 good catch" in over
    assert "It is rude." in over
    assert "<mark>BAD</mark>" in over
    again = send(editor, project, "backtest_live")
    assert "It costs nothing" in again
    assert "All runs were answered in the same words before." in again
    assert "1 good catch" in again


def test_another_text_is_another_question(
    project: Project, editor: Client, server: ModelServer
) -> None:
    past(project, "BAD")
    start(editor, project)
    working.work_on(Sample.objects.get().pk, seconds=60)

    shown = send(editor, project, "backtest_live", check="The tone is very polite")

    assert "unlabelled" not in shown
    assert "asked about 1 of 1 run." in shown


def test_a_price_that_rose_meanwhile_is_shown_again(
    project: Project, editor: Client, server: ModelServer
) -> None:
    past(project, "fine")

    shown = send(editor, project, "sample_start", max_usd="0.01")

    assert "$0.01 was agreed to" in shown
    assert "Ask the judge</button>" in shown
    assert "look at the price" in send(editor, project, "sample_start", max_usd="much")
    assert not Sample.objects.exists()


def test_the_size_and_the_draw_can_be_chosen(
    project: Project, editor: Client, server: ModelServer
) -> None:
    for number in range(12):
        past(project, f"fine {number}")
    decided(project, "fail", "BAD")
    chosen = {"sample-size": "10", "sample-drawn": "by_lot"}

    assert "10 of 10 runs" in send(editor, project, "backtest_live", **chosen)
    decided_alone = {"sample-size": "10", "sample-drawn": "decided"}
    assert "1 of 1 run." in send(editor, project, "backtest_live", **decided_alone)
    assert "13 of 13 runs" in send(editor, project, "backtest_live", **{"sample-size": "11"})


@pytest.mark.parametrize(
    ("drawn", "told"), [("pinned", "is pinned to it"), ("decided", "People have decided no run")]
)
def test_who_chose_runs_that_are_not_there_can_choose_others(
    project: Project, editor: Client, server: ModelServer, drawn: str, told: str
) -> None:
    past(project, "fine")

    shown = send(editor, project, "backtest_live", **{"sample-size": "10", "sample-drawn": drawn})

    assert told in shown
    assert f'<option value="{drawn}" selected>' in shown
    assert "Ask the judge</button>" not in shown


def test_who_may_look_may_not_stop_it(
    project: Project, editor: Client, server: ModelServer
) -> None:
    past(project, "fine")
    start(editor, project)
    sample = Sample.objects.get()
    viewer = signed_in(make_user(project, Role.VIEWER))
    stranger = signed_in(make_user(make_project("theirs"), Role.ADMIN))
    live = reverse("sample_live", args=[project.slug, sample.uuid])
    cancel = reverse("sample_cancel", args=[project.slug, sample.uuid])

    assert viewer.get(live).status_code == 200
    assert "Stop</button>" not in viewer.get(live).content.decode()
    assert [viewer.post(cancel).status_code, stranger.get(live).status_code] == [403, 404]
    assert "stopped by a person" in editor.post(cancel).content.decode()


def test_over_the_api(project: Project, server: ModelServer) -> None:
    past(project, "BAD")
    caller = Caller(project, Role.EDITOR)
    rule = {"name": "tone", "check": "Polite", "applies_to_phases": ["write"], "severity": "error"}
    path = "/processes/small-work/rules/samples"

    price = caller.post(f"{path}/price", {"rule": rule}).json()
    assert (price["runs"], price["asked"], price["drawn_from"], price["judge"]) == (
        1,
        1,
        1,
        "first",
    )
    refused = caller.post(path, {"rule": rule, "max_usd": "0.00"})
    assert (refused.status_code, refused.json()["type"].rsplit("/", 1)[1]) == (
        409,
        "backtest.price",
    )
    begun = caller.post(path, {"rule": rule, "max_usd": price["max_usd"]})
    assert (begun.status_code, begun.json()["state"]) == (202, "open")
    working.work_on(Sample.objects.get().pk, seconds=60)

    over = caller.get(f"/samples/{begun.json()['id']}").json()

    assert (over["state"], over["evaluated"], over["matched"]) == ("finished", 1, 1)
    assert over["buckets"]["unlabelled"] == 1
    assert Decimal(over["cost_usd"]) == Sample.objects.get().cost_usd > 0
    assert caller.post(f"/samples/{over['id']}/cancel").json()["state"] == "finished"
    pattern = {**rule, "type": "regex"}
    assert caller.post(f"{path}/price", {"rule": pattern}).status_code == 422


def test_a_rule_that_counts_otherwise_has_other_figures(
    project: Project, editor: Client, server: ModelServer
) -> None:
    past(project, "BAD")
    start(editor, project, enforcement="advisory")
    working.work_on(Sample.objects.get().pk, seconds=60)
    assert "counted as advisory" in send(editor, project, "backtest_live", enforcement="advisory")

    shown = send(editor, project, "backtest_live")
    assert "counted as" not in shown
    assert "It costs nothing." in shown
    start(editor, project)
    working.work_on(Sample.objects.order_by("-pk")[0].pk, seconds=60)

    assert "counted as hard" in send(editor, project, "backtest_live")
    assert len(server.asked) == 1


@pytest.mark.extended
def test_many_runs_take_no_more_queries(
    project: Project, editor: Client, server: ModelServer
) -> None:
    def queries() -> int:
        sample = Sample.objects.order_by("-pk")[0]
        working.work_on(sample.pk, seconds=60)
        with CaptureQueriesContext(connection) as seen:
            editor.get(reverse("sample_live", args=[project.slug, sample.uuid]))
        return len(seen)

    past(project, "BAD")
    start(editor, project)
    one = queries()
    for _ in range(7):
        past(project, "BAD")
    start(editor, project)

    assert queries() == one
