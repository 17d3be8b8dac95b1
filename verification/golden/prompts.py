"""Which question each reply of the shipped corpus answers: known, so that a new prompt shows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verification.adapters.probe import ChildProbe
from verification.engine.evidence import Probe
from verification.engine.fakes import MemoryWorkspace
from verification.engine.golden.replay import World, replay
from verification.engine.verifier import VerifierSpec
from verification.golden.documents.reading import read_case
from verification.golden.shipped import (
    CORPUS,
    PROMPTS,
    Prompts,
    builtin_definitions,
    reply_key,
    shipped_documents,
)


def write_prompts() -> int:
    """Note anew which question each reply answers today; returns how many cases have one.

    A reply that is noted so counts as an answer to today's question: look first whether it
    still is one.
    """
    found = prompts_now()
    text = json.dumps(found, indent=1, sort_keys=True)
    Path(str(CORPUS / PROMPTS)).write_text(f"{text}\n", encoding="utf-8")
    return len(found)


def prompts_now() -> Prompts:
    """Ask every question of the shipped corpus once, of nobody."""
    probe = ChildProbe()
    each = {
        str(document["id"]): _prompts_of(document, probe)
        for _, document in shipped_documents()
        if document.get("replies")
    }
    return {name: prompts for name, prompts in each.items() if prompts}


def _prompts_of(document: Mapping[str, Any], probe: Probe) -> Mapping[str, str]:
    case = read_case(document, loc=(str(document["id"]),))
    definition = case.definition or builtin_definitions()[case.document.process]
    world = World(MemoryWorkspace(case.files), probe)
    replayed = replay(case.given, definition, VerifierSpec(), world)
    return {
        reply_key(one.tier, one.ask, one.number): one.prompt
        for one in replayed.played
        if not one.is_missing
    }
