from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from loomverify.accounts.models import Role
from tests.builders import make_project, make_user
from tests.golden.builders import make_case, make_replay, make_result
from tests.golden.replayed import FILES
from verification.engine.golden.standing import Standing
from verification.golden.models import ReplayResult
from verification.golden.replays import keeping

pytestmark = pytest.mark.django_db


def test_long_after_a_replay_only_what_did_not_hold_is_kept_whole(client: Client) -> None:
    project = make_project("ours")
    cases = {standing: make_case(project, standing.value.replace("_", "-"), files=FILES)
             for standing in Standing}  # fmt: skip
    old = make_replay(project, created_at=timezone.now() - keeping.KEPT_WHOLE - timedelta(hours=1))
    new = make_replay(project, created_at=timezone.now() - timedelta(days=1))
    for replay in (old, new):
        for standing, case in cases.items():
            make_result(replay, case, standing=standing)

    assert [keeping.thin(), keeping.thin()] == [1, 0]

    [emptied] = ReplayResult.objects.filter(observed={})
    assert (emptied.replay, emptied.standing) == (old, Standing.HELD)
    client.force_login(make_user(project, Role.VIEWER))
    page = f"/p/ours/golden/replays/{old.uuid}/cases/{emptied.case.uuid}/"
    assert client.get(page).status_code == 200
