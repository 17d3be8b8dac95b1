"""Go: its own tools, which report what they do."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from itertools import islice

from verification.engine.gating.components import Component, Read
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    LINT,
    NO_ENTRY_POINT,
    REPORT,
    TEST,
    TYPES,
    Cover,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.gating.unforeseen import unless_said
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

WARM = (
    "[ -d /tmp/go ] || [ ! -d /opt/loomverify/go-cache ] || cp -rs /opt/loomverify/go-cache /tmp/go"
)
"""What the tools compiled is found again; a container begins without anything of its own."""
_NEWER = r"^go: .*requires go >= [0-9.a-z]+ \(running go"
"""It asks for a newer one than the image has."""

MAX_MANIFEST_BYTES = 100_000
MAX_MANIFESTS = 500
_MANIFESTS = ("go.mod", "go.sum", "go.work", "go.work.sum")
_MODULE = re.compile(rb"^module[ \t]+(?P<path>[\w./~-]{1,300})\s*$", re.MULTILINE)


def go(component: Component, paths: Sequence[str], read: Read) -> Part:
    folder = deps_of(component)
    inputs = _manifests(component, paths)
    needs = any(path.endswith(".sum") for path in inputs)
    download = f"{unless_said(_NEWER, 'GOPROXY= GOFLAGS= go mod download')}\nexit $code"
    stages = (
        Stage(BUILD, _command("go build ./..."), Expected(ProblemFormat.GO_BUILD, Stream.OUT)),
        Stage(TYPES, skipped="The build checks the types."),
        Stage(LINT, _command("go vet ./..."), Expected(ProblemFormat.GO_VET, Stream.OUT)),
        Stage(
            TEST,
            _command(f'{{ go test -json ./... > "{REPORT}"; }}'),
            Expected(TestFormat.GO),
            cover=_cover(read(component.path("go.mod"))),
        ),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        Install(download, inputs) if needs else Install(),
        stages,
        environment={
            "PATH": "/usr/local/go/bin:/usr/lib/go/bin:/usr/local/bin:/usr/bin:/bin",
            "GOMODCACHE": f"{folder}/mod",
            "GOCACHE": "/tmp/go",  # noqa: S108 - of the container
            "GOFLAGS": "-mod=readonly",
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
        },
        before=WARM,
    )


def _manifests(component: Component, paths: Sequence[str]) -> tuple[str, ...]:
    """Its own; below the nearest go.work those of every module: their versions are chosen together."""
    known = frozenset(paths)
    steps = component.folder.split("/") if component.folder else []
    above = ("/".join(steps[:count]) for count in range(len(steps), -1, -1))
    places = (f"{folder}/" if folder else "" for folder in above)
    place = next((one for one in places if f"{one}go.work" in known), None)
    if place is None:
        return tuple(path for path in map(component.path, ("go.mod", "go.sum")) if path in known)
    found = (
        path for path in paths if path.startswith(place) and posixpath.basename(path) in _MANIFESTS
    )
    return tuple(islice(found, MAX_MANIFESTS))


def _command(said: str) -> str:
    return f"{WARM}\n{unless_said(_NEWER, said)}\nexit $code"


def _cover(manifest: bytes | None) -> Cover | None:
    """A profile names files by the module: without it, none is known."""
    module = _MODULE.search((manifest or b"")[:MAX_MANIFEST_BYTES])
    if module is None:
        return None
    arguments = f'-coverprofile "{COVERAGE}"'
    return Cover("go test -json", arguments, CoverageFormat.GO_COVER, module["path"].decode())
