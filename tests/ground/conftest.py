from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ground.installation import Installation, installed


@pytest.fixture(scope="session")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Installation, str]]:
    """An installation that was started once and stopped, and what it said."""
    with installed(tmp_path_factory.mktemp("ground") / "a folder of élan") as installation:
        installation.start_and_wait()
        said = installation.output
        installation.press()
        installation.wait()
        yield installation, said


@pytest.fixture
def stopped(first_start: tuple[Installation, str]) -> Iterator[Installation]:
    installation, _ = first_start
    installation.kill_everything()
    yield installation
    installation.kill_everything()


@pytest.fixture
def running(first_start: tuple[Installation, str]) -> Installation:
    """As the test before left it, where it is still running: a start takes all of two processors."""
    installation, _ = first_start
    if not (installation.is_running and installation.answers()):
        installation.kill_everything()
        installation.start_and_wait()
    return installation
