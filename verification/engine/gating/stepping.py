"""Commands that a plan names as from the workspace's root: whose folder they step into is meant."""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from verification.engine.gating.given import Named
from verification.engine.gating.launchers import stepped

_STEP = re.compile(
    r"cd\s+(?P<quote>[\"']?)(?P<to>[\w./@+-]+)(?P=quote)\s*(?:(?:&&|;)\s*(?P<rest>\S.*))?"
)
_GROUP = re.compile(r"\(([^()]*)\)")
_FURTHER = re.compile(r"(?:&&|;)\s*(?=cd\s)")
_FOR_ALL = re.compile(r"(?:export|set)\s.*|\w+=\S*")
"""What goes for the commands behind it, and does nothing itself."""
_UNFOLLOWED = re.compile(
    r"<<|(?<![\w-])(?:do|done|then|fi|esac|pushd|popd)(?![\w-])|[{]$|^[}]|\(\)|^\($|^\)"
)
"""What makes a text of several lines, whose steps nobody follows here."""


@dataclass(frozen=True, slots=True)
class Steps:
    """`folders` are those of the components, the first one's first; `paths` the work's, sorted."""

    folders: Collection[str]
    paths: Sequence[str]

    def taken(self, planned: Mapping[str | None, Named]) -> Mapping[str | None, Named]:
        """The same commands, those that step into a component's folder being that component's.

        Where one steps elsewhere, all of its gate stay as they are.
        """
        found = dict(planned)
        for key, named in planned.items():
            folder = next(iter(self.folders), "") if key is None else key
            if folder not in self.folders:
                continue
            own = {gate: self._own(key, folder, those) for gate, those in named.commands.items()}
            commands = [
                (start, self._own(folder, folder, [start.command])) for start in named.starts
            ]
            starts = tuple(replace(start, command=those[0]) for start, those in commands)
            found[key] = replace(found[key], commands={**found[key].commands, **own}, starts=starts)
        for folder, gate, those in self._others(planned.get(None, Named())):
            known = found.get(folder, Named())
            found[folder] = replace(known, commands={gate: those, **known.commands})
        return found

    def _own(self, key: str | None, folder: str, commands: Sequence[str]) -> Sequence[str]:
        """Those that are run in this folder; the plan names them for `key`."""
        by_folder = self._by_folder(commands)
        if by_folder and (key is None or by_folder.keys() == {folder}):
            return by_folder.get(folder, ())
        return [self._from(folder, one) for one in commands]

    def _others(self, named: Named) -> Iterator[tuple[str, str, Sequence[str]]]:
        """What is meant for other components than the first: folder, gate and commands."""
        first = next(iter(self.folders), "")
        for gate, those in named.commands.items():
            for folder, own in self._by_folder(those).items():
                if folder != first:
                    yield folder, gate, own

    def _by_folder(self, commands: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Empty where none steps into a component's folder, or one steps elsewhere."""
        if any(map(_UNFOLLOWED.search, commands)):
            return {}
        found: dict[str, list[str]] = {}
        waiting: list[str] = []
        for folder, command in self._placed(commands):
            if folder is None:
                return {}
            if not folder and ("" not in self.folders or _FOR_ALL.fullmatch(command)):
                waiting.append(command)
                continue
            found.setdefault(folder, []).extend([*waiting, command])
            waiting = []
        if waiting and found:
            found[list(found)[-1]] += waiting
        return found if found.keys() - {""} else {}

    def _placed(self, commands: Sequence[str]) -> Iterator[tuple[str | None, str]]:
        """Each command without its steps, and its folder; None: that is no component's."""
        here = ""
        for command in commands:
            group, before = _GROUP.fullmatch(command.strip()), here
            inner = stepped(group[1].strip() if group else command, self.folders)
            is_quoted = any(mark in inner for mark in "\"'`$|")
            for one in [inner] if is_quoted else map(str.strip, _FURTHER.split(inner)):
                step = _STEP.fullmatch(one)
                to = self._stepped(here, step["to"]) if step else here
                if to is None or (step is None and re.match(r"cd\b", one)):
                    yield None, one
                    return
                here = to
                if step is None or step["rest"]:
                    yield here, step["rest"] if step else one
            here = before if group else here

    def _stepped(self, here: str, to: str) -> str | None:
        """From where one is, else from the root, as each line of a plan may be meant."""
        for start in (here, ""):
            place = posixpath.normpath(posixpath.join(start, to))
            folder = "" if place == "." else place
            if not folder or folder in self.folders:
                return folder
        return None

    def _from(self, folder: str, command: str) -> str:
        """With paths as they are from this folder, where they are there as from the root alone."""

        def inner(match: re.Match[str]) -> str:
            path = match[0].removeprefix("./")
            here = f"{folder}/{path}"
            first = bisect_left(self.paths, here)
            is_there = first < len(self.paths) and self.paths[first].startswith(here)
            return match[0] if is_there else path.removeprefix(f"{folder}/") or "./"

        if not folder:
            return command
        return re.sub(rf"(?<![\w./-])(?:\./)?{re.escape(folder)}/[\w./-]*", inner, command)
