from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from verification.adapters import viewing
from verification.adapters.viewing import Opened
from verification.runs.viewing import kept
from verification.runs.viewing.kinds import Kind
from verification.runs.viewing.selectors import Source, Wish, view_of

VIEW = Opened({"html": "<p>ü</p>"}, (b"\x00pixels",))
NAME = "ab" * 32 + "-markdown"


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    views = {**settings.STORAGES["views"], "OPTIONS": {"location": tmp_path}}
    settings.STORAGES = {**settings.STORAGES, "views": views}
    return tmp_path


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def aged(path: Path, seconds: float) -> None:
    at = timezone.now().timestamp() - seconds
    os.utime(path, (at, at))


def test_what_was_kept_is_found_again_by_its_project_and_name() -> None:
    kept.keep(7, NAME, VIEW)

    assert kept.kept(7, NAME) == VIEW
    assert kept.kept(8, NAME) is None
    assert kept.kept(7, NAME + "-2") is None


def test_a_refusal_is_kept_too() -> None:
    kept.keep(7, NAME, Opened({}, refusal="This PDF is broken."))

    found = kept.kept(7, NAME)
    assert found is not None
    assert found.refusal == "This PDF is broken."


def test_the_last_one_kept_counts() -> None:
    kept.keep(7, NAME, VIEW)
    kept.keep(7, NAME, Opened({"html": "newer"}))

    found = kept.kept(7, NAME)
    assert found is not None
    assert found.told == {"html": "newer"}


@pytest.mark.parametrize(
    "left",
    [
        b"",
        b"\x00",
        b"\x00\x00\x00\x05\x00\x00\x00\x00{",
        b"\xff" * 40,
        b"\x00\x00\x00\x02\0\0\0\0{}",
    ],
)
def test_a_spoilt_one_is_as_good_as_none(folder: Path, left: bytes) -> None:
    kept.keep(7, NAME, VIEW)
    [path] = files_in(folder)
    path.write_bytes(left)

    assert kept.kept(7, NAME) is None


def test_a_day_later_it_is_gone(folder: Path) -> None:
    kept.keep(7, NAME, VIEW)
    kept.keep(7, NAME + "-2", VIEW)
    aged(files_in(folder)[0], 86_401)

    assert kept.sweep() == 1
    assert len(files_in(folder)) == 1
    assert kept.sweep(timezone.now() + timedelta(days=1, seconds=1)) == 1


def test_the_oldest_make_room_for_the_newest(folder: Path) -> None:
    for number in range(5):
        kept.keep(7, f"{NAME}-{number}", Opened({"html": "x" * 1_000}))
    for number, path in enumerate(files_in(folder)):
        aged(path, 100 - number)

    assert kept.sweep(max_bytes=2_500) == 3
    assert [path.name[-4] for path in files_in(folder)] == ["3", "4"]


def test_much_that_is_kept_makes_room_by_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "SWEEP_BYTES", 3_000)
    kept.keep(7, NAME, VIEW)
    aged(files_in(folder)[0], 100_000)

    kept.keep(7, NAME + "-2", Opened({"html": "x" * 4_000}))

    assert len(files_in(folder)) == 1


def test_with_nowhere_to_keep_it_a_view_is_made_each_time(folder: Path, settings: Any) -> None:
    (folder / "file").write_bytes(b"")
    views = {**settings.STORAGES["views"], "OPTIONS": {"location": folder / "file"}}
    settings.STORAGES = {**settings.STORAGES, "views": views}

    kept.keep(7, NAME, VIEW)

    assert kept.kept(7, NAME) is None
    assert kept.sweep() == 0


def test_many_who_look_at_once_see_the_same_and_leave_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(viewing, "QUEUE_SECONDS", 120)
    source = Source(7, "cd" * 32, 4, "a.md", Kind.MARKDOWN, lambda: b"# a\n")

    with ThreadPoolExecutor(8) as threads:
        looks = list(threads.map(lambda _: view_of(source, Wish(), seconds=120), range(8)))

    assert {look.told.get("html") for look in looks} == {"<h3>a</h3>\n"}
    assert len(files_in(folder)) == 1


def test_what_came_of_the_moment_is_not_kept(folder: Path) -> None:
    source = Source(7, "cd" * 32, 4, "a.md", Kind.MARKDOWN, lambda: b"# a\n")

    assert view_of(source, Wish(), seconds=0.001).is_lasting is False
    assert files_in(folder) == []
