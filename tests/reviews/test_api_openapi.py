from __future__ import annotations

from typing import Any

import pytest
from ninja import Schema

from loomverify.accounts.models import Project, Role
from tests.builders import make_process, make_project, make_run, make_user
from tests.openapi import openapi_document
from tests.reviewing import DOUBTED, make_review
from tests.runs.conftest import Caller
from verification.reviews import examples, schemas
from verification.reviews.agreement.examples import AGREEMENT, CALIBRATION
from verification.reviews.agreement.schemas import ReviewAgreement, ReviewCalibration
from verification.reviews.queue.selectors import QueueFilters
from verification.runs.models import Review
from verification.runs.schemas import REVIEW_EXAMPLE, ReviewOut


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = openapi_document()
    return found


@pytest.fixture
def project(db: None) -> Project:
    return make_project("ours")


@pytest.fixture
def ann(project: Project) -> Caller:
    make_user(project, Role.REVIEWER, "ann")
    make_process(project, slug="general")
    return Caller(project, Role.REVIEWER)


@pytest.fixture
def review(project: Project) -> Review:
    run = make_run(project, **DOUBTED, findings=[{"fingerprint": examples.FINGERPRINT}])
    return make_review(project, run, uuid=examples.REVIEW_ID)


def reviews_of(document: dict[str, Any]) -> dict[str, Any]:
    return {
        f"{method.upper()} {path}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if path.startswith("/api/v1/reviews")
    }


def contents_of(operation: dict[str, Any]) -> dict[str, Any]:
    """What is sent and what is answered, by `body` and status."""
    parts = {"body": operation.get("requestBody", {})} | {
        status: answer for status, answer in operation["responses"].items() if status < "300"
    }
    return {name: one for name, part in parts.items() for one in part.get("content", {}).values()}


def has_example(document: dict[str, Any], content: dict[str, Any]) -> bool:
    schema = content["schema"]
    if reference := schema.get("$ref"):
        schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    return "example" in content or bool(schema.get("examples"))


@pytest.mark.extended
def test_whatever_is_sent_and_answered_is_described_with_an_example(
    document: dict[str, Any],
) -> None:
    without = [
        (label, name)
        for label, operation in reviews_of(document).items()
        for name, content in contents_of(operation).items()
        if not has_example(document, content)
    ]

    assert without == []


@pytest.mark.parametrize(
    ("answer", "example"),
    [
        (schemas.ReviewWork, examples.REVIEW),
        (schemas.ReviewPage, examples.QUEUE),
        (schemas.Decided, examples.DECIDED),
        (schemas.DecidedTogether, examples.DECIDED_TOGETHER),
        (schemas.Undone, examples.UNDONE),
        (schemas.CaseDraftPage, examples.CASES),
        (ReviewAgreement, AGREEMENT),
        (ReviewCalibration, CALIBRATION),
        (ReviewOut, REVIEW_EXAMPLE),
    ],
)
def test_the_example_of_an_answer_is_a_whole_one(
    answer: type[Schema], example: dict[str, Any]
) -> None:
    assert answer(**example).model_dump(mode="json") == example


@pytest.mark.parametrize("body", [examples.DECIDE, examples.AGREE], ids=["whole", "smallest"])
def test_the_examples_of_a_decision_are_taken(
    ann: Caller, review: Review, body: dict[str, Any]
) -> None:
    assert ann.post(f"/reviews/{review.uuid}/decide", body).status_code == 200


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/reviews/claim", examples.NEXT, 204),
        (f"/reviews/{examples.REVIEW_ID}/assign", examples.ASSIGN, 200),
        ("/reviews/decide", examples.TOGETHER, 200),
        ("/reviews/undo", examples.UNDO, 404),
    ],
)
def test_the_other_examples_are_taken(
    ann: Caller, review: Review, path: str, body: dict[str, Any], status: int
) -> None:
    assert ann.post(path, body).status_code == status


def test_every_filter_of_the_pages_is_one_of_the_api() -> None:
    pages = set(QueueFilters.__dataclass_fields__)

    assert pages | {"cursor", "limit"} == set(schemas.ReviewQuery.model_fields)
    assert pages - {"state"} | {"without"} == set(schemas.NextClaim.model_fields)


def test_who_claims_finds_everything_that_can_be_done_with_it(document: dict[str, Any]) -> None:
    answers = reviews_of(document)["POST /api/v1/reviews/claim"]["responses"]

    led_to = {
        link["operationId"].rpartition("_api_")[2] for link in answers["200"]["links"].values()
    }
    assert {"get_review", "claim_review", "release_review", "skip_review", "assign_review",
            "decide_review", "get_run"} <= led_to  # fmt: skip
    assert "links" not in answers["204"]
