"""A form that is saved untouched changes no byte, whatever file it stands in."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from processes.definition import patterns
from processes.definition.load import load
from processes.definition.model import Definition, Rule
from processes.models import Draft
from tests.builders import make_project
from tests.processes.browsing import untouched
from tests.processes.editing import Desk, new_desk, said
from tests.processes.files import SMALL, WITH_EVERYTHING
from tests.processes.patching import BUILT_IN, STYLES, text_of

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
ODD = """\
name: odd
phases:
  - id: "one two/three"
    description: |
      led
        by spaces

    acceptance_criteria: ["a", " b ", 'c: d']
    deliverables: a.md — what — else
  - {id: é, description: "  x ", deliverables: ["a-b.md - c", "b.md"], acceptance_criteria: ""}
verification:
  rules:
    - name: "  spaced  "   # kept
      check: "  TODO  "
      type: REGEX
      severity: Error
      enforcement: "observe"
      applies_to_phases: é
      requires_exact_cardinality: off
      failure_class: none
      description: "one\\ntwo\\r\\nthree "
      examples: {pass: ["a\\n", " b"], fail: "TODO  "}
    - name: "\\u202ex"
      check: |+
        two
        lines

      scope: global
      description: >-
        folded
        text
      suggestion: "a\\u2028b\\tc"
      min_count: "007"
      examples:
        pass: []
    - name: many
      check: x
      type: regex
      scope: global
      examples: {pass: ["", " ", ""], fail: [x, x, "\\r", MANY]}
    - {name: e, check: "a\\rb\\x85c", type: llm, applies_to_phases: [é, é, "one two/three"]}
    - {name: "null", check: "~", type: regex, scope: evidence, applies_to_phases: ["*", é]}
  policy:
    semantic_checks:
      - {id: s, check: "Is it\\tso?", severity: warning}
"""
# The other built-in processes write the same fields in the same ways.
OF_BUILT_IN = [
    path for path in BUILT_IN if path.stem in ("code-change", "general", "market-research")
]
FILES = {path.name: text_of(path) for path in (*OF_BUILT_IN, *STYLES)}
FILES |= {
    "small": SMALL,
    "with everything": WITH_EVERYTHING,
    "odd": ODD.replace("MANY", ", ".join(f"x{n}" for n in range(60))),
}


@pytest.fixture
def desk() -> Desk:
    return new_desk(make_project())


@pytest.mark.extended
@pytest.mark.parametrize("name", FILES)
def test_a_form_saved_untouched_changes_no_byte(desk: Desk, name: str) -> None:
    source = FILES[name]
    desk.begin()
    Draft.objects.update(source_text=source)
    definition = load(source).definition
    assert definition

    refused = []
    for place in places(definition):
        sent = urlencode(untouched(desk.get(*place).content.decode()))
        answer = desk.client.post(desk.url(*place), sent, content_type=FORM)
        assert desk.draft.source_text == source, place
        if answer.status_code != 302:
            refused.append((place, said(answer)))

    assert [place for place, _ in refused if not is_refused_anyway(definition, *place)] == []


def places(definition: Definition) -> list[tuple[Any, ...]]:
    return [
        *(("draft_rule", index) for index in range(len(definition.rules))),
        *(("draft_phase", index) for index in range(len(definition.phases))),
        ("draft_process",),
    ]


def is_refused_anyway(definition: Definition, place: str, index: int = 0) -> bool:
    """What an old file may hold, and no form may save."""
    if place != "draft_rule":
        return False
    rule = definition.rules[index]
    return _cannot_run(rule) or [one.name for one in definition.rules].count(rule.name) > 1


def _cannot_run(rule: Rule) -> bool:
    return rule.type == "regex" and patterns.problem_of(rule.check) is not None
