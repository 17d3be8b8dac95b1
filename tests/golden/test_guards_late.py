from __future__ import annotations

import pytest

from loomverify.accounts.models import Project
from loomverify.guarding import Objected
from tests.golden.builders import make_case
from tests.golden.guarding import (
    ASKING,
    BREAKING,
    HOLDS,
    put_live,
    version_of,
)
from tests.golden.replayed import replayed

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("text", [BREAKING, ASKING], ids=["fails", "could not be judged"])
def test_what_holds_as_published_counts_though_the_change_was_replayed_first(
    project: Project, text: str
) -> None:
    make_case(project, "revenue-may-be-spoken-of", **HOLDS)
    version = version_of(project, text)
    replayed(project, process_version=version)
    replayed(project)

    with pytest.raises(Objected) as caught:
        put_live(version)

    assert caught.value.code == "golden.regressed"
    assert "1 of 1 golden case that held before does not hold now" in str(caught.value)
