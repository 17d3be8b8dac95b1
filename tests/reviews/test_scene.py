from __future__ import annotations

import pytest

from tests.builders import make_project
from tests.reviews.scene import make_scene
from verification.reviews.models import Decision, FindingLabel
from verification.runs.models import Review, RunFile

pytestmark = pytest.mark.django_db


@pytest.mark.extended
def test_the_scene_has_all_kinds_of_reviews_and_a_past() -> None:
    scene = make_scene(make_project(), decisions=60)

    waiting = Review.objects.filter(state="pending")
    assert waiting.count() == len(scene.waiting) == 60
    assert {"is_blind", "is_adjudication"} <= {
        name for name in ("is_blind", "is_adjudication") if waiting.filter(**{name: True}).exists()
    }
    assert Decision.objects.filter(review__state="decided").count() >= 60
    assert FindingLabel.objects.filter(is_right=False).exists()
    assert {path.rsplit(".")[-1] for path in RunFile.objects.values_list("path", flat=True)} == {
        "md", "csv", "xlsx", "json", "py", "txt", "png", "pdf", "bin",
    }  # fmt: skip
