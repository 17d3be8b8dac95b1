from __future__ import annotations

from pathlib import Path

import pytest

from tests.adapters.git.repositories import Repo, bare, mirror_of
from verification.adapters.git import Mirror


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return bare(tmp_path / "theirs.git")


@pytest.fixture
def mirror(repo: Repo, tmp_path: Path) -> Mirror:
    return mirror_of(repo, tmp_path / "mirror")
