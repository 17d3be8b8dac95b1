"""The cases that come with the program, and the processes they are made for."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import yaml

from loomverify.errors import FaultError
from processes.definition.load import load
from processes.definition.model import Definition

CORPUS = files("verification.golden") / "corpus"
PROMPTS = "prompts.json"
Prompts = Mapping[str, Mapping[str, str]]
"""By case: the digests of questions by tier, kind and number, like `2.assess.1`."""
PROGRAM = "the program itself"
"""Who made the versions that come with the program: they count as having held."""


def shipped_documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the file and the document of every shipped case: a file holds a list of cases.

    Its replies say which question they answered when that was last noted.
    """
    noted = shipped_prompts()
    for path in _cases(CORPUS):
        for document in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) or []:
            yield path.name, _with_prompts(document, noted.get(document["id"], {}))


def shipped_prompts() -> Prompts:
    """As they were last noted by `loomverify golden prompts`."""
    noted = CORPUS / PROMPTS
    if not noted.is_file():
        return {}
    found: Prompts = json.loads(noted.read_text(encoding="utf-8"))
    return found


def reply_key(tier: int, ask: str, number: int) -> str:
    return f"{tier}.{ask}.{number}"


def _with_prompts(document: dict[str, Any], noted: Mapping[str, str]) -> dict[str, Any]:
    """What a case says of its own replies is left as it is."""
    seen: Counter[tuple[int, str]] = Counter()
    replies = []
    for one in document.get("replies") or ():
        kind = (one.get("tier", 2), one.get("ask", "assess"))
        seen[kind] += 1
        prompt = noted.get(reply_key(*kind, one.get("number") or seen[kind]), "")
        replies.append({"prompt": prompt, **one} if prompt else one)
    return {**document, "replies": replies} if replies else document


def _cases(folder: Traversable) -> Iterator[Traversable]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        if entry.is_dir():
            yield from _cases(entry)
        elif entry.name.endswith(".yaml"):
            yield entry


@cache
def builtin_definitions() -> dict[str, Definition]:
    """The shipped processes by their names."""
    found = {}
    for entry in (files("processes") / "builtin").iterdir():
        if entry.name.endswith(".yaml"):
            definition = load(entry.read_text(encoding="utf-8")).definition
            if definition is None:
                raise FaultError(f"the shipped process {entry.name} does not load")
            found[definition.name] = definition
    return found
