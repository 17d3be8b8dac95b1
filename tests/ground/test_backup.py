from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from loomverify.backup.archive import BLOCK, ArchiveWriter, DamagedBackup, members, read
from loomverify.backup.checking import check
from loomverify.backup.manifest import Part, seal_of
from loomverify.backup.tables import PART_BYTES, part_name, unpacked
from loomverify.embedded import start_server, stop_server
from loomverify.variables import ConfigurationError
from tests.ground.installation import WORKERS, Installation, installed
from tests.stack import wait_for

ROWS = SQL("select t::text from {} t")
TABLES = "select tablename from pg_tables where schemaname = 'public' order by 1"
SEQUENCES = """
    select sequencename, last_value from pg_sequences where schemaname = 'public' order by 1
"""
STRUCTURE = """
    select 'column', table_name || '.' || column_name,
           concat_ws(' ', data_type, is_nullable, column_default, identity_generation)
    from information_schema.columns where table_schema = 'public'
    union all
    select 'constraint', conrelid::regclass || '.' || conname, pg_get_constraintdef(oid)
    from pg_constraint where connamespace = 'public'::regnamespace
    union all
    select 'index', indexname, indexdef from pg_indexes where schemaname = 'public'
    union all
    select 'trigger', tgname, pg_get_triggerdef(oid) || ' ' || tgenabled::text from pg_trigger
    where not tgisinternal
    order by 1, 2
"""


@dataclass(frozen=True, slots=True)
class Everything:
    """All that an installation keeps."""

    rows: dict[str, list[tuple[Any, ...]]]
    sequences: list[tuple[Any, ...]]
    structure: list[tuple[Any, ...]]
    files: dict[str, bytes]
    keys: dict[str, bytes]


def everything_of(url: str, data: Path) -> Everything:
    with psycopg.connect(url) as connection:
        names = [row[0] for row in connection.execute(TABLES).fetchall()]
        return Everything(
            rows={
                name: sorted(connection.execute(ROWS.format(Identifier(name))).fetchall())
                for name in names
            },
            sequences=connection.execute(SEQUENCES).fetchall(),
            structure=connection.execute(STRUCTURE).fetchall(),
            files={
                str(path.relative_to(data)): path.read_bytes()
                for path in (data / "evidence").rglob("*")
                if path.is_file()
            },
            keys={path.name: path.read_bytes() for path in data.glob("*-key")},
        )


def kept_by(stopped: Installation) -> Everything:
    folder = stopped.data / "postgres"
    try:
        return everything_of(start_server(folder), stopped.data)
    finally:
        stop_server(folder)


def command(installation: Installation, *arguments: str, **variables: str) -> tuple[int, str]:
    """Exit code and everything said, on a machine where nothing else of it runs."""
    done = subprocess.run(
        [sys.executable, "-m", "loomverify.cli", *arguments],
        env={**installation.variables, **variables},
        capture_output=True,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).decode()


def submit(installation: Installation, key: str, **fields: Any) -> dict[str, Any]:
    answer = httpx.post(
        f"http://127.0.0.1:{installation.port}/api/v1/runs?wait=60",
        json={
            "process": "general",
            "task": {"id": "greeting", "description": "Greet."},
            "output": "Hello.",
            **fields,
        },
        headers={"Authorization": f"Bearer {key}"},
        timeout=90,
    )
    assert answer.status_code == 200, answer.text
    run: dict[str, Any] = answer.json()
    return run


@dataclass(frozen=True, slots=True)
class Original:
    """`under_load` was made while runs were submitted, `backup` when nobody worked."""

    kept: Everything
    backup: Path
    under_load: Path
    key: str


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Original]:
    """A used installation that was backed up while it ran, and stopped."""
    folder = tmp_path_factory.mktemp("backup")
    backup, under_load = folder / "all of it.loomverify", folder / "under-load"
    with installed(folder / "original") as installation:
        installation.start_and_wait()
        wait_for(lambda: len(installation.workers()) == WORKERS, "the workers")
        key = (installation.data / "api-key").read_text().strip()
        with ThreadPoolExecutor(1) as operator:
            loaded = operator.submit(command, installation, "backup", str(under_load))
            count = 0
            while count < 3 or not loaded.done():
                submit_files(installation, key, count)
                count += 1
        url = start_server(installation.data / "postgres")  # it runs: this adopts it
        wait_for(lambda: is_idle(url), "the relay to have handed on every event")
        idle = command(installation, "backup", str(backup))
        for code, said in (loaded.result(), idle):
            assert code == 0, said
            assert "lost" not in said
        installation.press()
        installation.wait()
        yield Original(kept_by(installation), backup, under_load, key)


def is_idle(url: str) -> bool:
    with psycopg.connect(url) as connection:
        undone = "select 1 from runs_outboxevent where dispatched_at is null limit 1"
        return connection.execute(undone).fetchone() is None


def submit_files(installation: Installation, key: str, number: int) -> None:
    files = {
        "a.json": '{"a": [1, 2}',
        "é/ü.txt": f"Line\n\ttab \\N \\. {number} \U0001f525",
    }
    task = {"id": f"t{number}", "description": "D"}
    assert submit(installation, key, files=files, task=task)["state"] == "finished"


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path / "restored") as installation:
        yield installation


def without_time_passing(kept: Everything) -> Everything:
    """Heartbeats go on while a backup is made; nothing else does where nobody works."""
    rows = {name: rows for name, rows in kept.rows.items() if name != "runs_heartbeat"}
    sequences = [row for row in kept.sequences if "heartbeat" not in row[0]]
    return Everything(rows, sequences, kept.structure, kept.files, kept.keys)


@pytest.mark.extended
def test_a_restored_installation_is_equal_and_goes_on(
    original: Original, fresh: Installation
) -> None:
    code, said = command(fresh, "restore", str(original.backup))

    assert code == 0, said
    assert said.startswith("Restored ")
    restored, before = without_time_passing(kept_by(fresh)), without_time_passing(original.kept)
    assert restored.rows.keys() == before.rows.keys()
    for name, rows in before.rows.items():
        assert restored.rows[name] == rows, name
    assert len(restored.rows["runs_run"]) >= 3
    assert len(restored.files) == len(restored.rows["runs_blob"]) >= 4
    assert restored == before

    fresh.start_and_wait()
    wait_for(lambda: len(fresh.workers()) == WORKERS, "the workers")
    run = submit(fresh, original.key)

    assert run["verdict"] == "accept"
    assert "Sign in as" not in fresh.output


def test_a_backup_is_for_its_owner_alone_and_any_tar_lists_it(original: Original) -> None:
    assert original.backup.stat().st_mode & 0o777 == 0o600
    with tarfile.open(original.backup) as opened:
        names = opened.getnames()
    assert names[-2:] == ["manifest.json", "manifest.sha256"]
    assert {"keys/secret-key", "keys/api-key", "tables/runs_run.00000"} <= set(names)
    assert [path.name for path in original.backup.parent.iterdir() if "part" in path.name] == []


@pytest.mark.extended
def test_a_backup_never_overwrites(original: Original, fresh: Installation) -> None:
    before = original.backup.stat()

    code, said = command(fresh, "backup", str(original.backup))

    assert (code, said) == (
        3,
        f"loomverify: {original.backup} is there already: give the backup a name of its own.\n",
    )
    assert original.backup.stat() == before


@pytest.mark.extended
def test_nothing_is_no_backup(fresh: Installation, tmp_path: Path) -> None:
    code, said = command(fresh, "backup", str(tmp_path / "file"))

    assert (code, said) == (
        3,
        "loomverify: There is nothing to back up: the database is empty.\n",
    )
    assert not (tmp_path / "file").exists()


@pytest.mark.extended
def test_an_installation_in_use_is_replaced_only_when_asked_for(
    original: Original, fresh: Installation
) -> None:
    assert command(fresh, "migrate")[0] == 0
    (fresh.data / "evidence" / "some-project" / "ab").mkdir(parents=True)
    (fresh.data / "evidence" / "some-project" / "ab" / "abcd").write_bytes(b"old")
    before = kept_by(fresh)

    refused, why = command(fresh, "restore", str(original.backup))
    unchanged = kept_by(fresh)
    replaced, said = command(fresh, "restore", str(original.backup), "--replace")

    assert refused == 3
    assert "This installation is not empty." in why
    assert unchanged == before
    assert replaced == 0, said
    assert without_time_passing(kept_by(fresh)) == without_time_passing(original.kept)


def poisoned(backup: Path) -> bytes:
    """A backup that is whole by its own word, and holds the same project twice."""
    whole, found = io.BytesIO(backup.read_bytes()), io.BytesIO()
    archive = ArchiveWriter(found)
    for member in members(whole):
        content = read(whole, member)
        if member.name == part_name("accounts_project", 0):
            text = 2 * zlib.decompress(content)
            content = zlib.compress(text)
            part = {"sha256": hashlib.sha256(content).hexdigest(), "size": len(text)}
        elif member.name == "manifest.json":
            said = json.loads(content)
            (table,) = [one for one in said["tables"] if one["name"] == "accounts_project"]
            table |= {"rows": 2 * table["rows"], "parts": [part]}
            content = json.dumps(said).encode()
            seal = seal_of(content)
        archive.add(member.name, seal if member.name == "manifest.sha256" else content)
    return found.getvalue() + bytes(2 * BLOCK)


@pytest.mark.extended
def test_a_backup_that_postgresql_refuses_leaves_everything_as_it_was(
    original: Original, fresh: Installation, tmp_path: Path
) -> None:
    (tmp_path / "poisoned").write_bytes(poisoned(original.backup))
    assert command(fresh, "migrate")[0] == 0
    before = kept_by(fresh)

    code, said = command(fresh, "restore", str(tmp_path / "poisoned"), "--replace")

    assert code == 3
    assert said.startswith("loomverify: PostgreSQL refused the backup, and nothing was changed: ")
    after = kept_by(fresh)
    assert (after.rows, after.structure) == (before.rows, before.structure)
    assert after.keys == before.keys


@pytest.mark.extended
def test_a_running_installation_is_not_replaced(original: Original, fresh: Installation) -> None:
    fresh.start_and_wait()

    code, said = command(fresh, "restore", str(original.backup), "--replace")

    assert (code, said) == (
        3,
        f"loomverify: Another LoomVerify is running on the data folder {fresh.data}.\n",
    )
    assert fresh.answers()


@pytest.mark.extended
def test_a_backup_moves_between_the_embedded_and_another_server(
    original: Original, fresh: Installation, tmp_path: Path
) -> None:
    server = tmp_path / "another" / "postgres"
    url = start_server(server)
    there = Installation(tmp_path / "there")
    try:
        out = command(there, "restore", str(original.backup), DATABASE_URL=url)
        again = command(there, "backup", str(tmp_path / "again"), DATABASE_URL=url)
    finally:
        stop_server(server)
    back = command(fresh, "restore", str(tmp_path / "again"))

    assert [code for code, _ in (out, again, back)] == [0, 0, 0], (out, again, back)
    assert without_time_passing(kept_by(fresh)) == without_time_passing(original.kept)


def changed(content: bytes, old: bytes, new: bytes) -> bytes:
    assert old in content
    return content.replace(old, new, 1)


def flipped(content: bytes, name: bytes) -> bytes:
    """The backup with one bit changed in the content of a member."""
    at = content.index(name) + BLOCK + 20
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def with_member(content: bytes, name: str, body: bytes = b"", **fields: Any) -> bytes:
    """The backup with one more member in front of it."""
    info = tarfile.TarInfo(name)
    info.size = len(body)
    for field, value in fields.items():
        setattr(info, field, value)
    return info.tobuf(tarfile.GNU_FORMAT) + body + bytes(-len(body) % BLOCK) + content


HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "no tar": lambda _: b"PK\x03\x04" + bytes(5000),
    "only zeroes": lambda _: bytes(4096),
    "cut in the middle": lambda whole: whole[: len(whole) // 2],
    "cut before the manifest": lambda whole: whole[: whole.rindex(b"manifest.json")],
    "a changed row": lambda whole: flipped(whole, b"tables/accounts_project.00000"),
    "a changed manifest": lambda whole: changed(whole, b'"format": 1', b'"format": 2'),
    "a changed file": lambda whole: changed(whole, b'{"a": [1, 2}', b'{"a": [1, 3}'),
    "a climbing name": lambda whole: with_member(whole, "../../etc/cron.d/x", b"x"),
    "an absolute name": lambda whole: with_member(whole, "/etc/passwd", b"x"),
    "a link": lambda whole: with_member(
        whole, "tables/x.00000", type=tarfile.SYMTYPE, linkname="/etc/passwd"
    ),
    "a device": lambda whole: with_member(whole, "tables/x.00000", type=tarfile.CHRTYPE),
    "one more table": lambda whole: with_member(whole, "tables/auth_user.00000", b"x"),
    "a huge size": lambda whole: with_member(whole, "tables/x.00000", size=2**40),
    "a negative size": lambda whole: with_member(whole, "tables/x.00000", size=-1),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_damaged_or_hostile_backup_is_refused_before_anything_is_touched(
    original: Original, name: str
) -> None:
    hostile = HOSTILE[name](original.backup.read_bytes())

    with pytest.raises(DamagedBackup):
        check(io.BytesIO(hostile))


@pytest.mark.extended
def test_a_refused_backup_is_one_sentence(
    original: Original, fresh: Installation, tmp_path: Path
) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(HOSTILE["a changed file"](original.backup.read_bytes()))

    code, said = command(fresh, "restore", str(path))

    assert (code, said) == (3, "loomverify: The backup is damaged: a file in it was changed.\n")
    assert not (fresh.data / "evidence").exists()


def rewritten(backup: Path, change: Callable[[dict[str, Any]], object]) -> io.BytesIO:
    """The backup with another manifest, sealed as ours are."""
    whole = io.BytesIO(backup.read_bytes())
    *kept, last, seal = members(whole)
    said = json.loads(read(whole, last))
    change(said)
    content = json.dumps(said).encode()
    whole.truncate(last.offset - BLOCK)
    whole.seek(0, io.SEEK_END)
    archive = ArchiveWriter(whole)
    archive.add(last.name, content)
    archive.add(seal.name, seal_of(content))
    whole.write(bytes(2 * BLOCK))
    assert kept
    return whole


def test_a_backup_of_a_newer_version_is_refused(original: Original) -> None:
    newer = rewritten(
        original.backup, lambda said: said["migrations"].append(["runs", "0999_later"])
    )

    with pytest.raises(ConfigurationError) as refusal:
        check(newer)

    assert str(refusal.value) == (
        "The backup was made by a newer LoomVerify (runs.0999_later is unknown here): "
        "restore it with that version."
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda said: said.update(format=2),
        lambda said: said.update(more=1),
        lambda said: said.pop("evidence"),
        lambda said: said["evidence"].update(files=5),
        lambda said: said["tables"].pop(),
        lambda said: said["tables"][0].update(name='x"; drop table runs_run; --'),
        lambda said: said["keys"][0].update(name="../../etc/passwd"),
        lambda said: said["sequences"][0].update(last_value=-1),
        lambda said: said["tables"][-1]["parts"].append({"sha256": "0" * 64, "size": 1}),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(
    original: Original, change: Callable[[dict[str, Any]], object]
) -> None:
    with pytest.raises(DamagedBackup):
        check(rewritten(original.backup, change))


def test_an_untouched_backup_passes_the_same_check(original: Original) -> None:
    checked = check(rewritten(original.backup, lambda _: None))

    assert checked.said.evidence.files == len(list(checked.evidence())) >= 4


def test_a_backup_under_load_has_each_file_that_its_rows_name(original: Original) -> None:
    with original.under_load.open("rb") as file:
        checked = check(file)
        (blobs,) = [table for table in checked.said.tables if table.name == "runs_blob"]

        assert checked.said.evidence.files == blobs.rows
        assert checked.said.evidence.missing == 0


@pytest.mark.extended
def test_an_older_backup_is_brought_to_this_version(
    original: Original, fresh: Installation, tmp_path: Path
) -> None:
    old = Installation(tmp_path / "old")
    url = start_server(old.data / "postgres")
    migrate = [sys.executable, "manage.py", "migrate", "runs", "0001", "-v0"]
    try:
        subprocess.run(migrate, env={**old.variables, "DATABASE_URL": url}, check=True)
        with psycopg.connect(url) as connection:
            connection.execute("insert into auth_group (name) values ('of old')")
        made = command(old, "backup", str(tmp_path / "older"), DATABASE_URL=url)
    finally:
        stop_server(old.data / "postgres")

    restored = command(fresh, "restore", str(tmp_path / "older"))

    assert (made[0], restored[0]) == (0, 0), (made, restored)
    kept = kept_by(fresh)
    assert kept.structure == original.kept.structure
    assert kept.rows["auth_group"] == [('(1,"of old")',)]


@pytest.mark.extended
def test_lost_files_are_told_and_keys_stay_where_they_are_when_asked(
    original: Original, fresh: Installation, tmp_path: Path
) -> None:
    command(fresh, "restore", str(original.backup))
    lost, spoilt, *_ = (fresh.data / "evidence").glob("*/*/*")
    lost.unlink()
    spoilt.write_bytes(b"something else")

    code, said = command(fresh, "backup", str(tmp_path / "partly"), "--without-keys")

    assert code == 0
    assert "2 files are lost in the evidence store, or changed" in said
    with (tmp_path / "partly").open("rb") as file:
        assert check(file).said.evidence.missing == 2
        assert check(file).said.keys == []


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (zlib.compress(bytes(PART_BYTES + 1)), PART_BYTES + 1),
        (zlib.compress(bytes(PART_BYTES + 1)), PART_BYTES),
        (zlib.compress(b"row\n"), 5),
        (zlib.compress(b"row\n") + b"more", 4),
        (zlib.compress(b"row\n")[:-2], 4),
        (b"row\n", 4),
    ],
    ids=["bomb", "hidden bomb", "other size", "more behind", "cut", "not packed"],
)
def test_parts_that_we_do_not_write_are_refused(content: bytes, size: int) -> None:
    with pytest.raises(DamagedBackup):
        unpacked(content, Part(sha256=hashlib.sha256(content).hexdigest(), size=size))
