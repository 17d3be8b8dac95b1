from __future__ import annotations

import pytest

from loomverify.accounts.access import Access
from loomverify.accounts.models import Project
from tests.builders import make_project
from tests.reviews.people import reviewer_of


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def anna(project: Project) -> Access:
    return reviewer_of(project, "anna")


@pytest.fixture
def bert(project: Project) -> Access:
    return reviewer_of(project, "bert")
