"""What npm would run around a script: of the install, and what stands before and behind a test."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from verification.engine.gating.manifests import inner_table
from verification.engine.gating.stages import FRAMED, REPORT
from verification.engine.gating.unforeseen import COULD_NOT_RUN_EXIT_CODE, unless_said

OF_INSTALL = ("preinstall", "install", "postinstall", "prepare")
KEPT = " || code=$?"
"""Behind a command that something is asked about where it fails."""
# Whose first command fails ends so: that holds for none on the left of `||`.
_FRAMED = f"""set +e
(set -e
{FRAMED}
)
code=$?
set -e"""
MAX_RANGE_CHARS = 200
# What is not there offline; the report is none of theirs, nor are the lines that they run.
_OFFLINE = "EAI_AGAIN|ENOTFOUND|ENETUNREACH|ECONNREFUSED|name resolution|ould not resolve host"
_ALONE = "unset LV_REPORT NODE_V8_COVERAGE; npm run --silent"
_PREPARED, _UNPREPARED = "/tmp/prepared", "/tmp/unprepared"  # noqa: S108 - in the container

_IS_PREPARED = f"[ $code = 0 ] || [ ! -e {_UNPREPARED} ] || exit {COULD_NOT_RUN_EXIT_CODE}"


def around(
    command: str, package: Mapping[str, Any], name: str = "", *, is_read: bool = False
) -> str:
    """A shell's text: one command, with the package's own scripts around it as npm has them.

    `name` is the script's whose hooks are run, where npm does not run them itself. A script of the
    install is run once, offline. Where it fails, or the package asks for another Node than there
    is, a command that fails could not be tried. `is_read`: the command's output is its report, so
    that nothing else may stand there.
    """
    to = ">&2" if is_read else "2>&1"
    before, behind = _guards(package, to)
    tried = [command]
    if behind:
        tried = ["code=0", f"{command}{KEPT}", *behind, "[ $code = 0 ] || exit $code"]
    first, last = (_hook(package, f"{when}{name}", to) if name else [] for when in ("pre", "post"))
    return "\n".join([*before, *first, *tried, *last])


def frame(package: Mapping[str, Any]) -> str:
    """The same around commands that somebody names; '' where nothing is to stand there."""
    before, behind = _guards(package, ">&2")
    return "\n".join([*before, _FRAMED, *behind, "exit $code"]) if behind else ""


def _guards(package: Mapping[str, Any], to: str) -> tuple[list[str], list[str]]:
    """What stands before a command, and what behind it asks why it failed, by its `$code`."""
    prepare = [one for one in OF_INSTALL if _is_script(package, one)]
    asked = _asked(package)
    before = [_prepared(prepare, to)] if prepare else []
    behind = [_IS_PREPARED] if prepare else []
    return before, [*behind, _fits(asked)] if asked else behind


def _is_script(package: Mapping[str, Any], name: str) -> bool:
    script = inner_table(package, "scripts").get(name)
    return isinstance(script, str) and bool(script.strip())


def _prepared(names: list[str], to: str) -> str:
    each = "; ".join(f"({_ALONE} {one}) {to} || : > {_UNPREPARED}" for one in names)
    return f"[ -e {_PREPARED} ] || {{ {each}; : > {_PREPARED}; }}"


def _hook(package: Mapping[str, Any], name: str, to: str) -> list[str]:
    if not _is_script(package, name):
        return []
    said = unless_said(_OFFLINE, f"({_ALONE} {name})")
    return [f"{{ {said}\n[ $code = 0 ] || exit $code\n}} {to}"]


def _asked(package: Mapping[str, Any]) -> str:
    asked = inner_table(package, "engines").get("node")
    return asked.strip() if isinstance(asked, str) and len(asked) <= MAX_RANGE_CHARS else ""


def _fits(asked: str) -> str:
    """Npm itself knows what a range of versions means."""
    package = shlex.quote(json.dumps({"engines": {"node": asked}}))
    place = f'"{REPORT}.node"'
    strict = f"cd {place} && npm install --engine-strict --offline --ignore-scripts 2>&1"
    return (
        f"[ $code = 0 ] || ! {{ mkdir -p {place} && printf %s {package} > {place}/package.json && "
        f"({strict}) | grep -E 'EBADENGINE|Required:|Actual:' >&2; }} "
        f"|| exit {COULD_NOT_RUN_EXIT_CODE}"
    )
