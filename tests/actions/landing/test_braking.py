"""A repository that is switched to propose only stops what is under way, and lets it go again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.models import AuditEntry
from loomverify.errors import InputError
from tests.actions.landing.scene import BASE, Scene
from verification.actions.landing import steps, working
from verification.actions.models import Action, Mode, Repository
from verification.actions.repositories import services
from verification.actions.repositories.terms import Terms
from verification.runs.models import OutboxEvent

pytestmark = pytest.mark.django_db

BETTER = {"app.py": BASE["app.py"] + "\n\ndef sub(a, b):\n    return a - b\n"}


def switched(scene: Scene, mode: Mode, field: str = "commit_mode") -> None:
    scene.repository.refresh_from_db()
    changed: Any = {field: mode}
    terms = replace(Terms.of(scene.repository), **changed)
    services.change(
        project=scene.project, actor=SYSTEM, repository_id=scene.repository.uuid, terms=terms
    )


def noted() -> list[str]:
    rows = AuditEntry.objects.filter(object_type="action").order_by("pk")
    return list(rows.values_list("verb", flat=True))


@pytest.mark.extended
def test_what_was_not_begun_becomes_a_proposal_and_says_why(scene: Scene) -> None:
    change = scene.verified(BETTER)
    before = scene.origin.refs()

    switched(scene, Mode.PROPOSE)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("proposed", "braked")}
    assert scene.origin.refs() == before
    assert noted() == ["action.braked"]
    assert OutboxEvent.objects.filter(topic="action.proposed").count() == 1
    scene.reviewer.post(f"/actions/{Action.objects.get().uuid}/approve")
    scene.act()
    assert scene.actions_of(change) == {"commit": ("done", "")}


def test_what_the_brake_stopped_goes_on_when_it_is_let_go(scene: Scene) -> None:
    switched(scene, Mode.PROPOSE)
    older = scene.verified({"notes.txt": None})
    switched(scene, Mode.DO)
    stopped = scene.verified(BETTER)
    switched(scene, Mode.PROPOSE)
    declined = scene.verified({"third.txt": "3\n"})

    switched(scene, Mode.DO)
    scene.act()

    assert scene.actions_of(stopped) == {"commit": ("done", "")}
    assert scene.actions_of(older) == {"commit": ("proposed", "")}
    assert scene.actions_of(declined) == {"commit": ("proposed", "")}
    assert noted() == ["action.braked", "action.released"]


def test_what_was_declined_meanwhile_is_not_let_go(scene: Scene) -> None:
    change = scene.verified(BETTER)
    switched(scene, Mode.PROPOSE)
    scene.reviewer.post(f"/actions/{Action.objects.get().uuid}/decline", {"reason": "No."})

    switched(scene, Mode.DO)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("declined", "declined")}


def test_what_a_person_approved_goes_on(scene: Scene) -> None:
    change = scene.verified(BETTER, tier=1)
    scene.decide(change.run, "pass")

    switched(scene, Mode.PROPOSE)

    assert scene.actions_of(change)["commit"] == ("pending", "")


def test_a_mode_of_other_actions_stops_nothing(scene: Scene) -> None:
    change = scene.verified(BETTER)

    switched(scene, Mode.PROPOSE, "revert_mode")

    assert scene.actions_of(change) == {"commit": ("pending", "")}


@pytest.mark.extended
def test_what_a_worker_has_in_its_hands_is_stopped_before_its_push(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    before, planned = scene.origin.refs(), steps.plan

    def meanwhile(*given: Any) -> Any:
        found = planned(*given)
        switched(scene, Mode.PROPOSE)
        return found

    monkeypatch.setattr(working, "plan", meanwhile)
    scene.act()

    assert scene.actions_of(change) == {"commit": ("proposed", "braked")}
    assert scene.origin.refs() == before
    assert noted() == ["action.braked"]
    assert Action.objects.get().finished_at is None
    monkeypatch.undo()
    switched(scene, Mode.DO)
    scene.act()
    assert scene.actions_of(change) == {"commit": ("done", "")}


@pytest.mark.extended
def test_what_a_person_approved_while_a_worker_had_it_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    scene.ask(change.run)
    planned = steps.plan

    def meanwhile(*given: Any) -> Any:
        found = planned(*given)
        switched(scene, Mode.PROPOSE)
        scene.decide(change.run, "pass")
        return found

    monkeypatch.setattr(working, "plan", meanwhile)
    scene.act()
    monkeypatch.undo()
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}


@pytest.mark.extended
def test_what_is_let_go_again_before_a_worker_has_laid_it_down_goes_on(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = scene.verified(BETTER)
    planned, settled = steps.plan, working._settle

    def stopped(*given: Any) -> Any:
        found = planned(*given)
        switched(scene, Mode.PROPOSE)
        return found

    def let_go(*given: Any) -> Any:
        switched(scene, Mode.DO)
        return settled(*given)

    monkeypatch.setattr(working, "plan", stopped)
    monkeypatch.setattr(working, "_settle", let_go)
    scene.act()
    monkeypatch.undo()
    assert noted() == []
    scene.act()

    assert scene.actions_of(change) == {"commit": ("done", "")}


def test_a_repository_that_cannot_be_reached_is_stopped_all_the_same(scene: Scene) -> None:
    stopped = scene.verified(BETTER)
    lost = "https://nowhere.invalid/app.git"
    Repository.objects.filter(pk=scene.repository.pk).update(location=lost)

    switched(scene, Mode.PROPOSE)

    assert scene.actions_of(stopped) == {"commit": ("proposed", "braked")}
    with pytest.raises(InputError, match="has no address"):
        switched(scene, Mode.DO)


def test_what_is_changed_beside_the_brake_is_checked(scene: Scene) -> None:
    scene.repository.refresh_from_db()
    terms = replace(Terms.of(scene.repository), commit_mode=Mode.PROPOSE, target_branch="a..b")

    with pytest.raises(InputError, match="branch"):
        services.change(
            project=scene.project, actor=SYSTEM, repository_id=scene.repository.uuid, terms=terms
        )

    scene.repository.refresh_from_db()
    assert scene.repository.commit_mode == Mode.DO
