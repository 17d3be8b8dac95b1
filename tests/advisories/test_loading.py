"""Snapshots of known vulnerabilities, as operators load them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from loomverify.errors import InputError
from verification.advisories import command, services, sources
from verification.advisories.models import Advisory, Snapshot
from verification.advisories.selectors import known, snapshots
from verification.advisories.services import LOCK_KEY, load
from verification.engine.advisories.model import Ecosystem

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PYPI, NPM = Ecosystem.PYPI, Ecosystem.NPM
Contents = dict[str, bytes]


def entry(number: int, *ecosystems: str, name: str = "Some_Package", **parts: Any) -> bytes:
    affected = [
        {
            "package": {"ecosystem": one, "name": name},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.0"}]}],
        }
        for one in ecosystems or ("PyPI",)
    ]
    modified = (NOW - timedelta(days=100 - number)).isoformat()
    whole = {"id": f"A-{number}", "modified": modified, "affected": affected, "summary": "Bad"}
    return json.dumps(whole | parts).encode()


def zipped(path: Path, contents: Contents) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)
    return path


def foldered(path: Path, contents: Contents) -> Path:
    path.mkdir()
    for name, content in contents.items():
        (path / name).write_bytes(content)
    return path


def lined(path: Path, contents: Contents) -> Path:
    path.write_bytes(b"\n".join([*contents.values(), b""]))
    return path


def many(count: int, **parts: Any) -> Contents:
    return {f"A-{one}.json": entry(one, **parts) for one in range(count)}


def ids(ecosystem: Ecosystem = PYPI, name: str = "some-package") -> list[str]:
    return [one.id for one in known(ecosystem, [name]).get(name, [])]


@pytest.mark.parametrize("written", [zipped, foldered, lined])
def test_a_zip_a_folder_and_a_file_of_lines_say_the_same(
    tmp_path: Path, written: Callable[[Path, Contents], Path]
) -> None:
    contents = many(3) | {"gone.json": entry(50, withdrawn="2026-11-01T00:00:00Z")}

    loaded = load(path=written(tmp_path / "all.zip", contents), now=NOW)

    (snapshot,) = loaded.snapshots
    assert (snapshot.ecosystem, snapshot.advisories, snapshot.unreadable) == ("PyPI", 3, 0)
    assert snapshot.taken_at == NOW - timedelta(days=50)
    assert snapshots() == {PYPI: snapshot}
    first = known(PYPI, ["some-package", "other"])["some-package"][0]
    assert (first.id, first.summary, first.ecosystem) == ("A-0", "Bad", PYPI)
    assert first.ranges == ((("introduced", "0"), ("fixed", "2.0")),)


def test_a_new_snapshot_takes_the_place_of_the_old_one_alone(tmp_path: Path) -> None:
    load(path=zipped(tmp_path / "npm.zip", {"a.json": entry(1, "npm", name="a")}), now=NOW)
    load(path=zipped(tmp_path / "old.zip", many(2)), now=NOW)

    load(path=zipped(tmp_path / "new.zip", {"a.json": entry(7), "b.json": entry(8)}), now=NOW)

    assert ids() == ["A-7", "A-8"]
    assert ids(NPM, "a") == ["A-1"]
    assert Snapshot.objects.count() == 2
    assert Advisory.objects.count() == 3


def test_a_load_that_is_interrupted_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(path=zipped(tmp_path / "old.zip", many(1)), now=NOW)
    monkeypatch.setattr(services, "BATCH_ROWS", 2)

    def interrupted(_path: Path) -> Iterator[tuple[str, bytes]]:
        for number in range(10, 15):
            yield f"{number}.json", entry(number)
        assert Advisory.objects.filter(osv_id="A-10").exists()
        assert ids() == ["A-0"]
        raise KeyboardInterrupt

    monkeypatch.setattr(services, "contents_of", interrupted)

    with pytest.raises(KeyboardInterrupt):
        load(path=tmp_path / "new.zip", now=NOW)

    assert ids() == ["A-0"]
    assert Advisory.objects.count() == 1


def test_what_a_killed_load_left_is_seen_by_nobody_and_swept_by_the_next(tmp_path: Path) -> None:
    left = Snapshot.objects.create(ecosystem=PYPI, taken_at=NOW, loaded_at=NOW)
    Advisory.objects.create(snapshot=left, ecosystem=PYPI, name="some-package", osv_id="A-left")
    assert (snapshots(), ids()) == ({}, [])

    load(path=zipped(tmp_path / "all.zip", many(1)), now=NOW)

    assert Advisory.objects.count() == 1


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(InputError) as raised:
        load(path=path, now=NOW, **options)
    return raised.value.code


def test_what_is_no_whole_snapshot_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    load(path=zipped(tmp_path / "old.zip", many(5)), now=NOW)
    noise = tmp_path / "noise.zip"
    noise.write_bytes(b"PK\x05\x06" + b"\0" * 18 + b"x" * 100)
    both = zipped(tmp_path / "both.zip", {"a.json": entry(1), "b.json": entry(2, "npm")})
    truncated = tmp_path / "cut.zip"
    truncated.write_bytes((tmp_path / "old.zip").read_bytes()[:-30])

    assert refusal(tmp_path / "missing.zip") == "advisories.unreadable"
    assert refusal(noise) in ("advisories.none", "advisories.unreadable", "advisories.damaged")
    assert refusal(truncated) in ("advisories.none", "advisories.damaged")
    assert refusal(zipped(tmp_path / "empty.zip", {})) == "advisories.none"
    assert refusal(both) == "advisories.ecosystem"
    assert refusal(both, ecosystems=[Ecosystem.GO]) == "advisories.none"
    assert refusal(zipped(tmp_path / "few.zip", many(2))) == "advisories.fewer"
    assert refusal(tmp_path / "old.zip", taken_at=NOW + timedelta(days=1)) == "advisories.future"
    assert ids() == ["A-0", "A-1", "A-2", "A-3", "A-4"]
    assert Advisory.objects.count() == 5


def test_an_operator_who_knows_better_is_believed(tmp_path: Path) -> None:
    load(path=zipped(tmp_path / "old.zip", many(5)), now=NOW)
    few = zipped(tmp_path / "few.zip", {"a.json": entry(1), "b.json": entry(2, "npm", name="a")})
    taken = NOW - timedelta(days=3)

    load(path=few, now=NOW, ecosystems=[PYPI, NPM], may_shrink=True, taken_at=taken)

    assert (ids(), ids(NPM, "a")) == (["A-1"], ["A-2"])
    assert {one.taken_at for one in snapshots().values()} == {taken}


def test_an_ecosystem_named_by_the_way_is_no_snapshot_of_it(tmp_path: Path) -> None:
    contents = {"a.json": entry(1), "b.json": entry(2, "PyPI", "npm")}

    load(path=zipped(tmp_path / "all.zip", contents), now=NOW)

    assert list(snapshots()) == [PYPI]
    assert ids(NPM, "Some_Package") == []


def test_a_snapshot_is_not_taken_after_it_was_loaded(tmp_path: Path) -> None:
    path = zipped(tmp_path / "all.zip", {"a.json": entry(1, modified="2999-01-01T00:00:00Z")})

    (snapshot,) = load(path=path, now=NOW).snapshots

    assert snapshot.taken_at == NOW


def test_hostile_members_are_counted_said_and_followed_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_ADVISORY_BYTES", 5_000)
    monkeypatch.setattr(services, "READABLE_OF", 2)
    inner = zipped(tmp_path / "inner.zip", many(1)).read_bytes()
    contents = many(5) | {
        "../../outside.json": entry(7),
        "/etc/absolute.json": entry(8),
        "huge.json": b" " * 1_000_000,
        "deep.json": b"[" * 4_000,
        "broken.json": b'{"id": ',
        "nested.zip": inner,
        "nested.json": inner,
    }

    loaded = load(path=zipped(tmp_path / "all.zip", contents), now=NOW)

    assert (loaded.unreadable, loaded.snapshots[0].unreadable) == (4, 4)
    assert loaded.first_unreadable == "huge.json: It is damaged, or too large."
    assert ids()[-2:] == ["A-7", "A-8"]
    assert not (tmp_path.parent / "outside.json").exists()


def test_many_that_cannot_be_read_are_no_snapshot(tmp_path: Path) -> None:
    contents = many(98) | {"a.json": b"{", "b.json": b"{"}

    assert refusal(zipped(tmp_path / "all.zip", contents)) == "advisories.damaged"
    assert snapshots() == {}


def test_more_than_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "MAX_ENTRIES", 2)
    path = zipped(tmp_path / "all.zip", many(3))
    assert refusal(path) == "advisories.too_many"

    monkeypatch.setattr(sources, "MAX_PACKED_BYTES", 10)
    assert refusal(path) == "advisories.too_many"


def test_a_line_that_is_too_long_is_one_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_ADVISORY_BYTES", 1_000)
    monkeypatch.setattr(services, "READABLE_OF", 1)
    path = lined(tmp_path / "all.jsonl", {"a": entry(1), "b": b"x" * 3_500, "c": entry(2)})

    loaded = load(path=path, now=NOW)

    assert (loaded.unreadable, ids()) == (1, ["A-1", "A-2"])
    assert loaded.first_unreadable.startswith("line 2: ")


@pytest.mark.django_db(transaction=True)
def test_two_loads_at_once_do_not_mix(tmp_path: Path) -> None:
    other = connections.create_connection("default")
    try:
        with other.cursor() as cursor:
            cursor.execute("select pg_advisory_lock(%s, %s)", LOCK_KEY)
        assert refusal(zipped(tmp_path / "all.zip", many(1))) == "advisories.loading"
    finally:
        other.close()


def test_the_command_loads_says_how_old_and_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = zipped(tmp_path / "all.zip", many(100) | {"broken.json": b"{"})

    done = command.main(["load", str(whole), "--taken-at", "2026-01-05"], prepare=_nothing)

    said = capsys.readouterr()
    assert (done, said.out) == (0, "PyPI: 100 advisories of 2026-01-05.\n")
    assert "1 could not be read, and are not known. broken.json: It is not JSON." in said.err
    assert command.main(["status"], prepare=_nothing) == 0
    said = capsys.readouterr()
    assert "PyPI: 100 advisories of 2026-01-05, 1 unreadable" in said.out
    assert "npm: nothing is loaded" in said.out
    assert command.main(["load", str(tmp_path / "none.zip")], prepare=_nothing) == 3
    assert "cannot be read" in capsys.readouterr().err


def _nothing() -> None:
    """The database of the tests is there already."""
