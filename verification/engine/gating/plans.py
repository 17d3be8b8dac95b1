"""Explicit commands in a task's plan: a heading that names a gate, and the commands under it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from verification.engine.gating.inner import tidy
from verification.engine.gating.plain import is_plain

MAX_PLAN_CHARS = 200_000
MAX_LINES = 50
MAX_COMMAND_CHARS = 4_000
SHELLS = frozenset({"", "bash", "sh", "shell", "zsh", "console", "shell-session", "terminal"})
YAML = frozenset({"yaml", "yml"})
MARKDOWN = frozenset({"", "markdown", "md"})
LIMITS = "limits"
"""Stands in place of a gate: below it are the seconds of all of them."""
GATES = {
    "install": "install", "installation": "install", "setup": "install", "dependencies": "install",
    "build": "build", "compile": "build",
    "types": "types", "type": "types", "typecheck": "types", "type-check": "types",
    "test": "test", "tests": "test", "testing": "test",
    "lint": "lint", "linting": "lint",
    "security": "security", "run": "run", "start": "run",
    "limits": LIMITS, "timeouts": LIMITS,
}  # fmt: skip
_HEADING = re.compile(
    r"""^\s{0,3}(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?P<mark>\#{1,6}\s+)?(?:\d{1,3}(?:\.\d{1,3}){0,3}[.)]?\s+)?(?P<bold>\*\*|__)?
    (?P<gate>[A-Za-z-]{3,14})(?P<check>\s+check)?(?P<word>\s+(?:commands?|steps?|scripts?))?\s*
    (?:\((?P<folder>[^()]{1,300})\)\s*)?
    (?P<colon>:)?(?:\*\*|__)?(?P<after>:)?(?:\s*\#+)?\s*(?P<rest>.*)$""",
    re.VERBOSE | re.IGNORECASE,
)
_FENCE = re.compile(r"^(?P<indent>[ \t]{0,20})(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_INLINE = re.compile(r"`+([^`]+)`+\.?")
_REMARKED = re.compile(r"`([^`]+)`\s*(?:[.:(–—-].*)?")  # noqa: RUF001
_BULLET = re.compile(r"\s{0,20}(?P<mark>[-*+]|\d{1,3}[.)])\s+(?P<entry>\S.*)")
_BETWEEN = re.compile(r"(?:,|;|&&|,?\s+and|,?\s+then|,?\s+and\s+then)\s*")
_PROMPT = re.compile(r"^\s*[$%>]\s+")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Heading:
    """`names_commands`: it says so in words; `rest` is what stands behind its colon."""

    gate: str
    names_commands: bool
    rest: str
    folder: str | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """What stands below a heading: commands, or the text of a YAML block.

    `folder` is the component's that the heading speaks of, '' for the root; None: it names none.
    """

    gate: str
    folder: str | None = None
    commands: Sequence[str] = ()
    yaml: str = ""


def commands_of(plan: str) -> Mapping[str, Sequence[str]]:
    """Return the commands of each gate that the plan names without naming a component.

    Of two lists for one gate the first counts.
    """
    found: dict[str, Sequence[str]] = {}
    for block in blocks_of(plan):
        if block.commands and block.folder is None:
            found.setdefault(block.gate, block.commands)
    return found


def blocks_of(plan: str) -> Iterator[Block]:
    """Yield what the plan names for its gates, in the plan's order.

    A heading is bold, of Markdown, or a line that ends with a colon. Commands stand in a fenced or
    an indented block below it, each in an entry of a list or in a line, or behind the colon: in
    backticks, or plain, where nothing else could be meant. What is no shell's is none.
    """
    lines = _unwrapped(plan[:MAX_PLAN_CHARS].splitlines(), MARKDOWN)
    position = 0
    while position < len(lines):
        heading = _heading(lines[position])
        position += 1
        if heading is None:
            position = _past_fence(lines, position - 1)
            continue
        block, position = _below(heading, lines, position)
        yield block


def _heading(line: str) -> Heading | None:
    match = _HEADING.match(line)
    gate = GATES.get(match["gate"].lower()) if match else None
    if match is None or gate is None:
        return None
    if match["gate"].lower() == "type" and not match["check"]:
        return None
    is_marked = bool(match["mark"] or match["bold"])
    has_colon = bool(match["colon"] or match["after"])
    rest = match["rest"].strip()
    if not (is_marked or has_colon) or (rest and not has_colon):
        return None
    return Heading(gate, bool(match["word"]), rest, _folder(match["folder"]))


def _folder(named: str | None) -> str | None:
    """As components call it."""
    return None if named is None else tidy(named.strip(" `"))


def _below(heading: Heading, lines: Sequence[str], position: int) -> tuple[Block, int]:
    """What stands below a heading, and the line behind it."""
    block = Block(heading.gate, heading.folder)
    if heading.rest:
        return replace(block, commands=_clean(_behind(heading))), position
    while position < len(lines) and not lines[position].strip():
        position += 1
    if position == len(lines):
        return block, position
    fence = _FENCE.match(lines[position])
    if fence is None:
        if not heading.names_commands:
            return block, position
        found, end = _listed(lines, position)
        if not found:
            found = list(_indented(lines, position)) or _lined(lines, position)
            end = position + len(found)
        return replace(block, commands=_clean(found)), end
    end = _past_fence(lines, position)
    info = fence["info"].split()
    shell = info[0].lower() if info else ""
    inner = _inner(lines[position + 1 : end - 1], fence["indent"])
    if shell in YAML:
        return replace(block, yaml="\n".join(inner)), end
    is_shell = shell in SHELLS and (shell or heading.names_commands)
    return replace(block, commands=_clean(_unwrapped(inner, SHELLS)) if is_shell else ()), end


def _inner(lines: Sequence[str], indent: str) -> Sequence[str]:
    """As far from the left as the fences that they stand between."""
    return [line.removeprefix(indent) for line in lines]


def _unwrapped(lines: Sequence[str], kinds: Collection[str]) -> Sequence[str]:
    """What stands in one fence of such a kind, where that is all; else the lines as they are."""
    said = [number for number, line in enumerate(lines) if line.strip()]
    opened = _FENCE.match(lines[said[0]]) if said else None
    if opened is None or opened["info"].strip().lower() not in kinds:
        return lines
    end = _past_fence(lines, said[0])
    if end != said[-1] + 1:
        return lines
    return _inner(lines[said[0] + 1 : end - 1], opened["indent"])


def _past_fence(lines: Sequence[str], position: int) -> int:
    """The line behind a fenced block that begins here; the next line where none does."""
    opened = _FENCE.match(lines[position])
    if opened is None:
        return position + 1
    for end in range(position + 1, len(lines)):
        closed = _FENCE.match(lines[end])
        if closed and closed["fence"].startswith(opened["fence"]) and not closed["info"].strip():
            return end + 1
    return len(lines) + 1


def _behind(heading: Heading) -> Sequence[str]:
    """Commands in the heading's own line: one, or several in backticks."""
    inline = _INLINE.fullmatch(heading.rest)
    if inline or not heading.names_commands:
        return [inline[1]] if inline else []
    # What stands between backticks, before the first and behind the last one, too.
    between, commands = heading.rest.split("`")[::2], heading.rest.split("`")[1::2]
    if len(commands) > 1 and not between[0] and between[-1] in ("", "."):
        return commands if all(map(_BETWEEN.fullmatch, between[1:-1])) else []
    one = _one(heading.rest)
    return [one] if one else []


def _one(text: str) -> str:
    """The command that these words are: in backticks, maybe with a remark behind it, or plain."""
    match = _REMARKED.fullmatch(text.strip())
    if match:
        return match[1]
    return text.strip() if is_plain(text) else ""


def _listed(lines: Sequence[str], position: int) -> tuple[Sequence[str], int]:
    """Commands that are each an entry of a list, and the line behind the last one.

    Entries in backticks may have others behind them, which are prose; beside plain ones nobody knows.
    """
    entries = list(_entries(lines, position))
    found = [(end, entry, _one(entry)) for end, entry in entries]
    commands = list(takewhile(lambda one: one[2], found))
    is_sure = len(commands) == len(found) or all("`" in entry for _, entry, _ in commands)
    if not commands or not is_sure:
        return [], position
    return [command for _, _, command in commands], commands[-1][0]


def _entries(lines: Sequence[str], position: int) -> Iterator[tuple[int, str]]:
    """Those of one list, each with the line behind it. Blank lines may stand between them."""
    mark, is_apart = "", False
    for end, line in enumerate(lines[position:], position + 1):
        match = _BULLET.fullmatch(line)
        if line.strip() and (match is None or _heading(line)):
            return
        if match is None:
            is_apart = True
        elif mark and is_apart and match["mark"][-1] != mark:
            return
        else:
            mark, is_apart = match["mark"][-1], False
            yield end, match["entry"]


def _lined(lines: Sequence[str], position: int) -> Sequence[str]:
    """Commands that have a line each, where the paragraph holds nothing else."""
    found: list[str] = []
    for line in lines[position:]:
        if not line.strip() or _heading(line) or _FENCE.match(line):
            break
        found.append(_one(line))
    return found if all(found) else []


def _indented(lines: Sequence[str], position: int) -> Iterator[str]:
    for line in lines[position:]:
        if not line.startswith(("    ", "\t")):
            return
        yield line


def _clean(block: Sequence[str]) -> Sequence[str]:
    """Commands without prompts, comments and output; () where one could not be what it seems."""
    has_prompts = any(_PROMPT.match(line) for line in block)
    commands: list[str] = []
    is_open = False
    for line in block:
        if has_prompts and not is_open and not _PROMPT.match(line):
            continue  # what a command printed
        text = (line if is_open else _PROMPT.sub("", line)).strip()
        if is_open:
            commands[-1] = f"{commands[-1]} {text}".strip()
        elif text and not text.startswith("#"):
            commands.append(text)
        else:
            continue
        is_open = commands[-1].endswith("\\") and not commands[-1].endswith("\\\\")
        if is_open:
            commands[-1] = commands[-1][:-1].rstrip()
    return () if is_odd(commands) else tuple(commands)


def is_odd(commands: Sequence[str]) -> bool:
    """Whether these are none that anybody would have written, or could hand to a shell."""
    return len(commands) > MAX_LINES or any(
        len(one) > MAX_COMMAND_CHARS or _UNPRINTABLE.search(one) for one in commands
    )
