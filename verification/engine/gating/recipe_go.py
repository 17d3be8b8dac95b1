"""Go: its own tools, which report what they do."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from verification.engine.gating.components import Component, Read
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    LINT,
    NO_ENTRY_POINT,
    REPORT,
    TEST,
    TYPES_BY_BUILD,
    Cover,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.gating.unforeseen import COULD_NOT_RUN_EXIT_CODE, unless_said
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

WARM = (
    "[ -d /tmp/go ] || [ ! -d /opt/loomverify/go-cache ] || cp -rs /opt/loomverify/go-cache /tmp/go"
)
"""What the tools compiled is found again; a container begins without anything of its own."""
WORDS_OF_RACE = "The image has no C compiler, which -race needs."
WORDS_OF_C = 'The image has no C compiler, which import "C" needs.'
_RACES = re.compile(r"\bgo\s+(?:test|build|run|vet|install)\b[^;&|\n]*\s--?race(?:=true)?(?:\s|$)")
_HAS_COMPILER = "command -v gcc > /dev/null || command -v clang > /dev/null"
_NO_COMPILER = (
    f"{_HAS_COMPILER} || {{ echo '{WORDS_OF_RACE}' >&2; exit {COULD_NOT_RUN_EXIT_CODE}; }}"
)
_USES_C = "CGO_ENABLED=1 go list -e -f '{{{{if and .CgoFiles (not .{other})}}}}c{{{{end}}}}'"
# Without a compiler Go leaves such files out. Whatever fails then may fail by that; what ends well
# was not all built, where a package has no others.
_WITHOUT_C = f"""{_HAS_COMPILER} || {{
if [ $code = 0 ]; then left=$({_USES_C.format(other="GoFiles")} ./... 2> /dev/null) || :
else left=$({_USES_C.format(other="Standard")} -deps -test ./... 2> /dev/null) || :; fi
[ -z "$left" ] || {{ echo '{WORDS_OF_C}' >&2; exit {COULD_NOT_RUN_EXIT_CODE}; }}
}}"""
_OF_NONE = "[ -e go.mod ] || go mod init example.com/work > /dev/null 2>&1"
"""Files alone are tried as a module: Go tries nothing else."""
_NEWER = r"^go: .*requires go >= [0-9.a-z]+ \(running go"
"""It asks for a newer one than the image has."""

_MANY_MAINS = "|main redeclared in this block"
"""Programs of one file each, side by side: they are no package together, and need not be."""
MAX_GO_BYTES = 100_000
"""Of a go.mod or a go.work."""
MAX_MANIFESTS = 500
_MANIFESTS = ("go.mod", "go.sum", "go.work", "go.work.sum")
_LOCAL = re.compile(rb"=>[ \t]*\.\.?/")
"""It is replaced by a module of the work, whose own manifest is read, too."""
_MODULE = re.compile(rb"^module[ \t]+(?P<path>[\w./~-]{1,300})\s*$", re.MULTILINE)


def go(component: Component, paths: Sequence[str], read: Read) -> Part:
    above = _above(component, paths)
    inner = component.folder.removeprefix(above or "") if above != component.path("") else ""
    is_used = above is not None and _uses(read(f"{above}go.work") or b"", inner)
    # A workspace that does not use the module would keep it from being built at all.
    alone = {} if is_used or above is None else {"GOWORK": "off"}
    return Part(
        component,
        _install(component, paths, read, above if is_used else None),
        _stages(component, paths, read),
        environment={
            "PATH": "/usr/local/go/bin:/usr/lib/go/bin:/usr/local/bin:/usr/bin:/bin",
            "GOMODCACHE": f"{deps_of(component)}/mod",
            "GOCACHE": "/tmp/go",  # noqa: S108 - of the container
            "GOFLAGS": "-mod=readonly",
            "GOPROXY": "off",
            "GOTOOLCHAIN": "local",
            **alone,
        },
        before=WARM,
    )


def _stages(component: Component, paths: Sequence[str], read: Read) -> tuple[Stage, ...]:
    is_module = any(f"{one}go.mod" in paths for one in _places(component))
    build, vet, test = (
        _command(said, is_module)
        for said in (
            "go build ./...",
            "go vet ./...",
            f'{{ go test -json ./... > "{REPORT}"; }}',
        )
    )
    cover = _cover(read(component.path("go.mod")))
    return (
        Stage(BUILD, build, Expected(ProblemFormat.GO_BUILD, Stream.OUT)),
        TYPES_BY_BUILD,
        Stage(LINT, vet, Expected(ProblemFormat.GO_VET, Stream.OUT)),
        Stage(TEST, test, Expected(TestFormat.GO), cover=cover),
        NO_ENTRY_POINT,
    )


def _install(component: Component, paths: Sequence[str], read: Read, place: str | None) -> Install:
    """`place` is the folder of the workspace that uses it."""
    inputs = _manifests(component, paths, place)
    if _LOCAL.search((read(component.path("go.mod")) or b"")[:MAX_GO_BYTES]):
        inputs = tuple(dict.fromkeys((*inputs, *_manifests(component, paths, ""))))
    if not any(path.endswith(".sum") for path in inputs):
        return Install()
    return Install("GOPROXY= GOFLAGS= go mod download", inputs, excuses=_NEWER)


def _above(component: Component, paths: Sequence[str]) -> str | None:
    """The folder of the nearest go.work, with a slash at its end."""
    known = frozenset(paths)
    return next((one for one in _places(component) if f"{one}go.work" in known), None)


def _places(component: Component) -> Iterator[str]:
    """Its folder and those above it, each with a slash at its end; '' for the root."""
    steps = component.folder.split("/") if component.folder else []
    above = ("/".join(steps[:count]) for count in range(len(steps), -1, -1))
    return (f"{folder}/" if folder else "" for folder in above)


def _manifests(component: Component, paths: Sequence[str], place: str | None) -> tuple[str, ...]:
    """Its own; in a workspace those of every module: their versions are chosen together."""
    if place is None:
        return tuple(path for path in map(component.path, ("go.mod", "go.sum")) if path in paths)
    found = (
        path for path in paths if path.startswith(place) and posixpath.basename(path) in _MANIFESTS
    )
    return tuple(islice(found, MAX_MANIFESTS))


def _uses(content: bytes, folder: str) -> bool:
    """Whether a go.work uses a folder below its own; '' is that one."""
    is_open = False
    text = content[:MAX_GO_BYTES].decode(errors="replace")
    for line in text.replace("(", " ( ").replace(")", " ) ").split("\n"):
        words = line.partition("//")[0].split()
        is_one = words[:1] == ["use"]
        words = words[is_one:]
        if is_one and words == ["("]:
            is_open = True
        elif words == [")"]:
            is_open = False
        elif words and (is_one or is_open):
            named = posixpath.normpath(words[0].strip('"`'))
            if named == (folder or "."):
                return True
    return False


def _command(said: str, is_module: bool) -> str:
    before = WARM if is_module else f"{WARM}\n{_OF_NONE}"
    unforeseen = _NEWER if is_module else _NEWER + _MANY_MAINS
    return f"{before}\n{unless_said(unforeseen, said)}\n{_WITHOUT_C}\nexit $code"


def with_compiler(command: str) -> str:
    """What races are looked for with is compiled by C's compiler: without one it could not be run."""
    return f"{_NO_COMPILER}\n{command}" if _RACES.search(command) else command


def _cover(manifest: bytes | None) -> Cover | None:
    """A profile names files by the module: without it, none is known."""
    module = _MODULE.search((manifest or b"")[:MAX_GO_BYTES])
    if module is None:
        return None
    arguments = f'-coverprofile "{COVERAGE}"'
    return Cover("go test -json", arguments, CoverageFormat.GO_COVER, module["path"].decode())
