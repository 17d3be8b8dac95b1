"""Rust: cargo, which reports what it does, and clippy."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from verification.engine.gating.components import Component, Read
from verification.engine.gating.stages import (
    BUILD,
    LINT,
    NO_ENTRY_POINT,
    REPORT,
    TEST,
    TOOLS,
    TYPES_BY_BUILD,
    Expected,
    Install,
    Part,
    Stage,
    deps_of,
)
from verification.engine.gating.unforeseen import COULD_NOT_RUN_EXIT_CODE, unless_said
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat
from verification.engine.reports.testing.cargo import NAMES

MAX_MANIFESTS = 500
# Cargo reads no manifest whose targets are not there: each is given an empty library instead.
# A lock file says nothing of targets.
_WITHOUT_TARGETS = r"""find /workspace -name Cargo.toml -exec sh -c '
for manifest; do
  awk "/^[ \t]*\[/ {
    skip = /^[ \t]*(\[\[[ \t]*(bin|test|bench|example)[ \t]*\]\]|\[[ \t]*lib[ \t]*\])/
  } !skip && !/^[ \t]*default-run[ \t]*=/" "$manifest" > "$manifest.own" &&
  mv "$manifest.own" "$manifest" && mkdir -p "${manifest%/*}/src" && : > "${manifest%/*}/src/lib.rs"
done' sh {} +
"""
_ANOTHER = (
    "requires rustc |rustc [0-9.]+ is not supported|feature .edition20.. is required"
    "|this version of Cargo (is older|does not understand)"
)
"""It asks for a newer one than the image has."""
_NOT_BUILT = (
    "^error: failed to run custom build command for `[^`()]+( \\((https?|git|registry)[^`()]*\\))?`"
)
"""A package of others' is built by more than the image has: the work's own lies in a path."""
# A linker is what there is nothing to be built without.
_NO_LINKER = f"""[ $code = 0 ] || command -v cc > /dev/null || command -v clang > /dev/null ||
! grep -q 'linker .*cc. not found' "{REPORT}" "{REPORT}.log" || exit {COULD_NOT_RUN_EXIT_CODE}"""
# Nobody stands between Cargo and a test: the work's settings may name a runner of their own.
_RUN_ITSELF = "export CARGO_TARGET_$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')_RUNNER=/usr/bin/env"
_MESSAGES = f'--message-format json > "{REPORT}"'


# Cargo names each binary beside what that reports. Where both are as many, each is named there.
_NAMED = rf"""sed -n 's/^ *Running \(unittests \)\{{0,1\}}\([^ ]*\) (.*[/]\([^/]*\)-[0-9a-f]*)$/\2 (\3)/p
s/^ *Doc-tests \(.*\)$/doc-tests (\1)/p' "{REPORT}.log" > "{REPORT}.names"
if [ -s "{REPORT}.names" ] &&
  [ $(grep -c . "{REPORT}.names") = $(grep -c '^running [0-9]* tests*$' "{REPORT}") ]; then
  awk 'NR == FNR {{ name[NR] = $0; next }} /^running [0-9]+ tests?$/ {{ print "{NAMES}" name[++n] }} 1' \
    "{REPORT}.names" "{REPORT}" > "{REPORT}.named" && mv "{REPORT}.named" "{REPORT}"
fi"""


def rust(component: Component, paths: Sequence[str], read: Read) -> Part:
    folder = deps_of(component)
    stages = (
        _built(component, paths, BUILD, "cargo build"),
        TYPES_BY_BUILD,
        _built(component, paths, LINT, "cargo-clippy clippy --all-targets"),
        _test(component, paths),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        _install(component, paths, read),
        stages,
        environment={
            # The toolchain itself: a proxy would look for the one that the work asks for.
            "PATH": f"{TOOLS}/rust/bin:/usr/local/bin:/usr/bin:/bin",
            # What the work's settings would have judge in their place is not asked.
            "RUSTC": f"{TOOLS}/rust/bin/rustc",
            "RUSTDOC": f"{TOOLS}/rust/bin/rustdoc",
            "RUSTC_WRAPPER": "",
            "RUSTC_WORKSPACE_WRAPPER": "",
            "CARGO_HOME": folder,
            "CARGO_TARGET_DIR": "/tmp/target",  # noqa: S108 - of the container
            "CARGO_TERM_COLOR": "never",
            # What is built once needs neither; there is room for so much.
            "CARGO_INCREMENTAL": "0",
            "CARGO_PROFILE_DEV_DEBUG": "0",
        },
    )


def _install(component: Component, paths: Sequence[str], read: Read) -> Install:
    """By the manifests alone; those beside the component may be named by its own."""
    lock = component.path("Cargo.lock")
    manifests = tuple(islice(_named("Cargo.toml", paths), MAX_MANIFESTS))
    if not any(b"dependencies" in (read(path) or b"") for path in manifests):
        return Install()
    locked = (lock,) if lock in paths else ()
    fetch = "cargo fetch --locked" if locked else "cargo fetch"
    return Install(f"{_WITHOUT_TARGETS}{fetch}", (*manifests, *locked), excuses=_ANOTHER)


def _named(name: str, paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if posixpath.basename(path) == name)


def _built(component: Component, paths: Sequence[str], gate: str, verb: str) -> Stage:
    """`cargo clippy` could be anything that the work's settings give the name: cargo is not asked."""
    if component.path("Cargo.toml") not in paths:
        return Stage(gate, skipped="There is no Cargo.toml.")
    built = f"{{ {verb} --offline --workspace {_MESSAGES}; }}"
    command = f"{unless_said(f'{_ANOTHER}|{_NOT_BUILT}', built)}\n{_NO_LINKER}"
    return Stage(gate, f"{command}\nexit $code", Expected(ProblemFormat.CLIPPY))


def _test(component: Component, paths: Sequence[str]) -> Stage:
    if component.path("Cargo.toml") not in paths:
        return Stage(TEST, skipped="There is no Cargo.toml.")
    told = f'{{ cargo test --offline --workspace --no-fail-fast > "{REPORT}"; }}'
    # What a test wrote itself excuses nothing.
    said = f"{_ANOTHER}|{_NOT_BUILT}|linker .*cc. not found"
    command = unless_said(said, told, unless=f'grep -q "^running [0-9]" "{REPORT}"')
    return Stage(
        TEST, f"{_RUN_ITSELF}\n{command}\n{_NAMED}\nexit $code", Expected(TestFormat.CARGO)
    )
