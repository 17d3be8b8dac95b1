from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from verification.adapters.probe import ChildProbe
from verification.engine.fakes import MemoryWorkspace
from verification.engine.golden.replay import World
from verification.engine.verifier import VerifierSpec
from verification.golden import prompts, shipped
from verification.golden.documents.reading import read_case
from verification.golden.prompts import prompts_now, write_prompts
from verification.golden.replaying import Judged, judge_case
from verification.golden.shipped import builtin_definitions, shipped_documents, shipped_prompts

PASSING = "{passed: true, confidence: 0.9, acceptance: {verdict: satisfied, why: ok}}"
CASES = f"""
- id: a-note
  guards: A note that a judge passes stays accepted.
  process: general
  phase: work
  tier: 2
  run: {{task: {{id: t, description: Write a note.}}, output: It is written.}}
  replies:
    - text: '{PASSING}'
    - {{number: 7, text: never asked for}}
  expected: {{verdict: accept}}
- id: a-note-of-old
  guards: A case may say itself which question its reply answered.
  process: general
  phase: work
  tier: 2
  run: {{task: {{id: t, description: Write a note.}}, output: It is written.}}
  replies:
    - {{text: '{PASSING}', prompt: ffffffffffffffff}}
  expected: {{verdict: accept}}
- id: a-note-nobody-judged
  guards: A case without replies has no question to be noted.
  process: general
  phase: work
  tier: 1
  run: {{task: {{id: t, description: Write a note.}}, output: It is written.}}
  expected: {{verdict: accept}}
"""


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "cases.yaml").write_text(CASES)
    for module in (shipped, prompts):
        monkeypatch.setattr(module, "CORPUS", tmp_path)
    return tmp_path


def documents() -> dict[str, dict[str, Any]]:
    return {document["id"]: document for _, document in shipped_documents()}


def judged(document: dict[str, Any]) -> Judged:
    case = read_case(document)
    definition = builtin_definitions()[case.document.process]
    world = World(MemoryWorkspace(case.files), ChildProbe())
    return judge_case(case.given, case.expected, definition, VerifierSpec(), world)


@pytest.mark.extended
def test_every_reply_that_comes_with_the_program_answers_todays_question() -> None:
    assert shipped_prompts() == prompts_now(), "see the replies, then: loomverify golden prompts"


def test_questions_are_noted_by_case_tier_kind_and_number(corpus: Path) -> None:
    assert write_prompts() == 2

    noted = json.loads((corpus / "prompts.json").read_text())
    assert {name: list(those) for name, those in noted.items()} == {
        "a-note": ["2.assess.1"],
        "a-note-of-old": ["2.assess.1"],
    }
    assert noted == shipped_prompts() == prompts_now()


def test_a_reply_says_which_question_it_answered(corpus: Path) -> None:
    write_prompts()

    asked, never = documents()["a-note"]["replies"]
    assert asked["prompt"] == shipped_prompts()["a-note"]["2.assess.1"]
    assert "prompt" not in never
    assert judged(documents()["a-note"]).replayed.stale == 0


def test_what_a_case_says_of_its_own_reply_stays(corpus: Path) -> None:
    write_prompts()

    assert documents()["a-note-of-old"]["replies"][0]["prompt"] == "f" * 16
    assert judged(documents()["a-note-of-old"]).replayed.stale == 1


def test_nothing_noted_is_nothing_known(corpus: Path) -> None:
    assert shipped_prompts() == {}
    assert all("prompt" not in reply for reply in documents()["a-note"]["replies"])
    assert "replies" not in documents()["a-note-nobody-judged"]


def test_a_question_that_changed_since_is_used_and_marked_stale(corpus: Path) -> None:
    write_prompts()
    document = documents()["a-note"]
    changed = {
        **document,
        "run": {**document["run"], "task": {"id": "t", "description": "Write a long note."}},
    }

    result = judged(changed)

    assert result.standing == "held"
    assert (result.replayed.stale, result.replayed.missing) == (1, 0)
