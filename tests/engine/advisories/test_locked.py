"""Which packages lock files name, and where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.advisories import lock_files
from tests.tables import check_rows
from verification.engine.advisories import model, reading
from verification.engine.advisories.locked import KINDS, adds_nothing, kind_of, read_locked
from verification.engine.advisories.model import BeyondBounds, Ecosystem
from verification.engine.advisories.versions import NoVersion, key_of
from verification.engine.reports.model import Unreadable


@check_rows(
    ("path", "content", "named"),
    [
        (
            "requirements-dev.txt",
            lock_files.REQUIREMENTS,
            ["django 4.2.1 @2", "requests 2.19.0 @4", "urllib3 1.24.1 @5", "jinja2 2.10 @10"],
        ),
        ("poetry.lock", lock_files.POETRY, ["jinja2 2.10 @2", "mirrored 3.1 @13"]),
        ("uv.lock", lock_files.UV, ["jinja2 2.10 @4"]),
        ("pdm.lock", lock_files.PDM, ["jinja2 2.10 @2"]),
        ("pylock.toml", lock_files.PYLOCK, ["jinja2 2.10 @3"]),
        ("Pipfile.lock", lock_files.PIPENV, ["jinja2 2.10 @4", "six 1.16.0 @10"]),
        (
            "package-lock.json",
            lock_files.NPM_THREE,
            ["lodash 4.17.20 @5", "lodash 3.0.0 @9", "minimist 1.2.0 @12"],
        ),
        (
            "npm-shrinkwrap.json",
            lock_files.NPM_ONE,
            ["lodash 4.17.20 @4", "archived 2.0.1 @12", "minimist 1.2.0 @7"],
        ),
        (
            "yarn.lock",
            lock_files.YARN_ONE,
            ["@babel/core 7.1.0 @4", "lodash 4.17.20 @10", "minimist 1.2.0 @13"],
        ),
        ("yarn.lock", lock_files.YARN_BERRY, ["@babel/core 7.1.0 @7", "minimist 1.2.0 @17"]),
        (
            "bun.lock",
            lock_files.BUN,
            ["@babel/core 7.1.0 @10", "lodash 4.17.20 @14", "minimist 1.2.0 @16", "lodash 3.0.0 @20"],
        ),
        ("pnpm-lock.yaml", lock_files.PNPM_FIVE, ["@babel/core 7.1.0 @5", "lodash 4.17.20 @9"]),
        ("pnpm-lock.yaml", lock_files.PNPM_NINE, ["@babel/core 7.1.0 @8", "lodash 4.17.20 @11"]),
        (
            "go.mod",
            lock_files.GO_MOD,
            [
                "golang.org/x/text v0.3.5 @6", "example.com/new v1.1.0 @7",
                "example.com/single v2.0.0+incompatible @11",
            ],
        ),
        ("go.sum", lock_files.GO_SUM, ["golang.org/x/text v0.10.0 @3"]),
        ("Cargo.lock", lock_files.CARGO, ["time 0.1.42 @4"]),
        ("Gemfile.lock", lock_files.GEMFILE, ["nokogiri 1.13.0 @9", "rails 7.0.1 @11"]),
        ("composer.lock", lock_files.COMPOSER, ["guzzle/http v6.5.0 @4", "phpunit/phpunit 9.5.0 @11"]),
        ("packages.lock.json", lock_files.NUGET, ["newtonsoft.json 12.0.1 @5"]),
        (
            "gradle.lockfile",
            lock_files.GRADLE,
            ["org.apache.logging.log4j:log4j-core 2.14.1 @2"],
        ),
    ],
)  # fmt: skip
def test_a_lock_file_names_what_comes_from_a_registry(
    path: str, content: str, named: list[str]
) -> None:
    found = read_locked(f"part/{path}", content.encode())

    assert [f"{one.name} {one.version} @{one.line}" for one in found] == named
    assert {one.path for one in found} == {f"part/{path}"}


@check_rows(("path", "content"), [
    ("pnpm-lock.yaml", "lockfileVersion: '9.0'\npackages:\n  NAME@1.0.0: {}\n"),
    ("pnpm-lock.yaml", "lockfileVersion: '6.0'\npackages:\n  /NAME@1.0.0(react@1.0.0): {}\n"),
    ("pnpm-lock.yaml", "lockfileVersion: 5.4\npackages:\n  /NAME/1.0.0: {}\n"),
    ("yarn.lock", "NAME@^1.0.0:\n  version \"1.0.0\"\n"),
    ("yarn.lock", "__metadata: {}\n\"NAME@npm:^1.0.0\":\n  resolution: \"NAME@npm:1.0.0\"\n"),
    ("package-lock.json", '{"packages": {"node_modules/NAME": {"version": "1.0.0"}}}'),
    ("package-lock.json", '{"dependencies": {"NAME": {"version": "1.0.0"}}}'),
])  # fmt: skip
@check_rows("name", ["path-to-regexp", "file-type", "git-url-parse", "link-x", "patch"])
def test_a_package_that_is_called_as_a_place_is_one_all_the_same(
    path: str, content: str, name: str
) -> None:
    found = read_locked(path, content.replace("NAME", name).encode())

    assert [(one.name, one.version) for one in found] == [(name, "1.0.0")]


@pytest.mark.parametrize("source", [
    "git+ssh://git@example.com/a/b.git#0", "git://example.com/a", "git@github.com:a/b.git",
    "github:a/b#0", "gist:00", "file:../b", "link:../b", "workspace:*", "ssh://git@example.com/a",
    "https://codeload.github.com/a/b/tar.gz/0", "https://me@bitbucket.org/a/b.git",
])  # fmt: skip
def test_what_is_of_no_registry_is_left_out(source: str) -> None:
    one, three = {"version": source}, {"version": "1.0.0", "resolved": source}

    for content in ({"dependencies": {"b": one}}, {"packages": {"node_modules/b": three}}):
        assert read_locked("package-lock.json", json.dumps(content).encode()) == ()
    assert read_locked("yarn.lock", f'"b@{source}":\n  version "1.0.0"\n'.encode()) == ()


def test_what_powershell_writes_is_read_as_pip_reads_it() -> None:
    content = "# \\u00fc\r\njinja2==2.10\r\n".encode("utf-16")

    (found,) = read_locked("requirements.txt", content)

    assert (found.name, found.version, found.line) == ("jinja2", "2.10", 2)


def test_a_remark_that_ends_in_a_backslash_hides_nothing() -> None:
    found = read_locked(
        "requirements.txt", b"six==1.0 \\\n# a \\\njinja2==2.10\n  # b \\\nidna==2.7"
    )

    assert [f"{one.name} {one.version} @{one.line}" for one in found] == [
        "six 1.0 @1", "jinja2 2.10 @3", "idna 2.7 @5",
    ]  # fmt: skip


def test_gradle_before_its_seventh_version_wrote_a_file_for_each_classpath() -> None:
    (found,) = read_locked("gradle/dependency-locks/a.lockfile", b"# by hand\norg.a:b:1.0\n")

    assert (found.name, found.version, found.line) == ("org.a:b", "1.0", 2)


def test_windows_line_ends_and_a_byte_order_mark_change_nothing() -> None:
    plain = read_locked("yarn.lock", lock_files.YARN_ONE.encode())

    found = read_locked("yarn.lock", lock_files.YARN_ONE.replace("\n", "\r\n").encode("utf-8-sig"))

    assert found == plain


@check_rows(
    ("path", "is_lock_file"),
    [
        ("requirements.txt", True),
        ("api/requirements_prod.txt", True),
        ("go.sum", True),
        ("vendor/github.com/a/b/go.sum", False),
        ("node_modules/a/package-lock.json", False),
        ("docs/requirements.md", False),
        ("package.json", False),
        ("requirements/base.txt", True),
        ("api/requirements/base.in", False),
        ("dev-requirements.txt", True),
        ("requirements-dev.lock", True),
        ("constraints.txt", True),
        ("docs/my-requirements.md", False),
        ("pylock.dev.toml", True),
        ("web/bun.lock", True),
        ("gems.locked", True),
        ("gradle/dependency-locks/compileClasspath.lockfile", True),
        ("other.lockfile", False),
        ("poetry.lock/readme", False),
    ],
)
def test_lock_files_are_known_by_their_names_where_the_work_is_its_own(
    path: str, is_lock_file: bool
) -> None:
    assert bool(kind_of(path)) is is_lock_file


@pytest.mark.parametrize(
    ("version", "adds"), [("1.21", False), ("1.17", False), ("1.16", True), ("", True)]
)
def test_go_sum_adds_nothing_where_go_mod_names_all_modules(version: str, adds: bool) -> None:
    content = f"module a\n\ngo {version}\n".encode()

    assert adds_nothing("api/go.sum", {"api/go.mod": content}.get) is not adds
    assert not adds_nothing("other/go.sum", {"api/go.mod": content}.get)
    assert not adds_nothing("api/go.mod", {"api/go.mod": content}.get)


DEEP = b"[" * 200_000
BROKEN = [
    ("package-lock.json", b'{"packages": {"node_modules/a": {"version": '),
    ("package-lock.json", b'{"packages": ["a"]}'),
    ("package-lock.json", b'{"packages": {"node_modules/a": "1.0.0"}}'),
    ("package-lock.json", b'{"a": ' + DEEP),
    ("package-lock.json", b"\xff\xfe"),
    ("Pipfile.lock", b"[]"),
    ("poetry.lock", b"[[package]]\nname = 1\nversion = '1'"),
    ("poetry.lock", b"package = 7"),
    ("uv.lock", b"a" + b".a" * 100_000 + b" = 1"),
    ("pdm.lock", b"a = " + DEEP),
    ("pnpm-lock.yaml", DEEP),
    ("bun.lock", b'{"packages": {"a": []},}'),
    ("bun.lock", b'{"packages": {"a": {}}}'),
    ("bun.lock", b'{"packages": ["a@1.0.0"],,}'),
    ("pnpm-lock.yaml", b"? [a]\n: b\n"),
    ("pnpm-lock.yaml", b"packages:\n  a: *nobody\n b: c"),
    ("pnpm-lock.yaml", b"".join(b" " * one + b"a:\n" for one in range(70))),
    ("yarn.lock", b'"' + b"@" * 500 + b"\n  version 1"),
    ("yarn.lock", b"a" * 30_000),
    ("Cargo.lock", b"[[package]]\nname = 'a'\nsource = 'registry+x'\n"),
    ("composer.lock", b'{"packages": [{"name": "a"}]}'),
    ("packages.lock.json", b'{"dependencies": {"net8.0": {"a": {"type": "Direct"}}}}'),
]


@check_rows(("path", "content"), BROKEN)
def test_a_lock_file_that_is_none_is_unreadable(path: str, content: bytes) -> None:
    with pytest.raises(Unreadable) as raised:
        read_locked(path, content)

    assert not isinstance(raised.value, BeyondBounds)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("poetry.lock", b"#" * 2_001),
        ("package-lock.json", b"{" * 21),
        ("pnpm-lock.yaml", b"a: {" + b"b: c, " * 20),
        ("requirements.txt", b"".join(b"p%d==1\n" % one for one in range(21))),
    ],
)
def test_what_is_larger_than_our_bounds_is_told_apart_from_what_is_broken(
    path: str, content: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_LOCK_BYTES", 2_000)
    monkeypatch.setattr(reading, "MAX_PARTS", 20)
    monkeypatch.setattr(model, "MAX_LOCKED", 20)

    with pytest.raises(BeyondBounds):
        read_locked(path, content)


def test_one_odd_entry_hides_no_others() -> None:
    content = b"a==" + b"1" * 101 + b"\n" + b"b" * 301 + b"==1\nc==2.0\n"

    found = read_locked("requirements.txt", content)

    assert [(one.name, len(one.version)) for one in found] == [("a", 100), ("c", 3)]
    with pytest.raises(NoVersion):
        key_of(Ecosystem.PYPI, found[0].version)


def test_one_package_at_two_places_is_named_once() -> None:
    packages = {f"node_modules/p{one}/node_modules/a": {"version": "1.0.0"} for one in range(9)}

    found = read_locked("package-lock.json", json.dumps({"packages": packages}).encode())

    assert [(one.name, one.version) for one in found] == [("a", "1.0.0")]


LOCK_FILES = [value.encode() for name, value in vars(lock_files).items() if name.isupper()]
PATHS = [*sorted(KINDS), "requirements.txt"]


@given(
    path=st.sampled_from(PATHS),
    content=st.one_of(
        st.binary(max_size=300),
        st.sampled_from(LOCK_FILES),
        st.tuples(st.sampled_from(LOCK_FILES), st.integers(0, 400), st.binary(max_size=8)).map(
            lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + len(cut[2]) :]
        ),
    ),
)
def test_reading_never_raises_but_unreadable(path: str, content: bytes) -> None:
    try:
        found = read_locked(path, content)
    except Unreadable:
        return

    assert all(one.name and one.version and one.path == path for one in found)
    assert len({(one.name, one.version) for one in found}) == len(found)
