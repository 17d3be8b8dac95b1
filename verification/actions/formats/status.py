"""An event as what a code host shows beside a commit, by a template that admins may write.

Sources: the commit status and check run APIs of GitHub, GitLab and Gitea.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from verification.engine.outcome import Outcome, Verdict
from verification.reviews.notices.text import one_line
from verification.runs import outbox, wording

TOPICS = (outbox.RUN_FINISHED, outbox.RUN_DECIDED, outbox.ACTION_TAKEN)
MAX_TEMPLATE_CHARS = 8_000
MAX_DEPTH = 6
MAX_DESCRIPTION_CHARS = 140
NO_COMMIT = "0" * 40
STATES: Mapping[str, Mapping[str, str]] = {
    Verdict.ACCEPT: {"state": "success", "gitlab_state": "success", "conclusion": "success"},
    Verdict.REJECT: {"state": "failure", "gitlab_state": "failed", "conclusion": "failure"},
    Verdict.UNDECIDED: {
        "state": "pending",
        "gitlab_state": "pending",
        "conclusion": "action_required",
    },
}
"""As each calls it. What waits for a person is no failure."""
NAMES = frozenset(
    ("commit", "url", "project", "run", "process", "phase", "task", "outcome", "description")
) | frozenset(STATES[Verdict.ACCEPT])
USUAL = """{
  "state": "{state}",
  "target_url": "{url}",
  "description": "{description}",
  "context": "loomverify/{process}"
}"""
_PLACE = re.compile(r"\{([^{}]{0,60})\}")


class TemplateRefused(Exception):
    """One sentence that says what is wrong with a template."""


def checked(template: str) -> Mapping[str, Any]:
    """The template as JSON.

    Raises:
        TemplateRefused: it is none, too long, too deep, or names what there is not.
    """
    if len(template) > MAX_TEMPLATE_CHARS:
        raise TemplateRefused(f"The template is longer than {MAX_TEMPLATE_CHARS:,} characters.")
    try:
        found = json.loads(template or USUAL, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise TemplateRefused(f"The template is no JSON: {str(error)[:200]}.") from None
    if not isinstance(found, dict):
        raise TemplateRefused("The template must be a JSON object.")
    _check(found, 1)
    return found


def check_url(url: str) -> None:
    """Raises `TemplateRefused`: the commit alone can stand in an address, and behind its host."""
    head, _, path = url.partition("://")[2].partition("/")
    if "{" in head or set(_PLACE.findall(path)) - {"commit"}:
        raise TemplateRefused("An address can hold {commit}, behind its host, and no other place.")


def body(template: str, values: Mapping[str, str]) -> Mapping[str, Any]:
    """The template with values in their places. Values never change its shape."""
    filled: Mapping[str, Any] = _filled(checked(template), values)
    return filled


def values_of(
    topic: str, payload: Mapping[str, Any], *, project: str, commit: str, url: str
) -> dict[str, str]:
    """What a template can name. An event of an action is of a commit that landed."""
    verdict = _verdict(topic, payload)
    code = str(payload.get("reason_code") or "")
    is_taken_back = topic == outbox.ACTION_TAKEN and verdict is Verdict.REJECT
    by_person = " by a person" if topic == outbox.RUN_DECIDED or is_taken_back else ""
    words = {
        Verdict.ACCEPT: f"Accepted{by_person}",
        Verdict.REJECT: f"Rejected{by_person}",
        Verdict.UNDECIDED: "Undecided, a person is asked",
    }[verdict]
    why = f": {wording.reason(code)}" if code and not by_person else ""
    texts = {name: str(payload.get(name) or "") for name in ("run", "process", "phase", "task")}
    outcome = payload.get("final_outcome") or payload.get("outcome")
    return {
        **{name: one_line(text) for name, text in texts.items()},
        **STATES[verdict],
        "outcome": str(outcome or ""),
        "project": project,
        "commit": commit,
        "url": url,
        "description": one_line(f"{words}{why}", MAX_DESCRIPTION_CHARS),
    }


def _verdict(topic: str, payload: Mapping[str, Any]) -> Verdict:
    if topic == outbox.RUN_DECIDED:
        return Verdict.ACCEPT if payload.get("passed") else Verdict.REJECT
    if topic == outbox.RUN_FINISHED:
        return Verdict(payload.get("verdict") or Verdict.UNDECIDED)
    if topic == outbox.ACTION_TAKEN:  # what landed was accepted, unless a person said no meanwhile
        is_rejected = payload.get("final_outcome") == Outcome.FAIL
        return Verdict.REJECT if is_rejected else Verdict.ACCEPT
    return Verdict.UNDECIDED


def _check(node: Any, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise TemplateRefused(f"The template is more than {MAX_DEPTH} levels deep.")
    for inner in _inner(node):
        _check(inner, depth + 1)
    unknown = set(_PLACE.findall(node)) - NAMES if isinstance(node, str) else set()
    if unknown:
        known = ", ".join(sorted(NAMES))
        raise TemplateRefused(f"There is no {{{min(unknown)}}}; there are {known}.")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _inner(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


def _filled(node: Any, values: Mapping[str, str]) -> Any:
    if isinstance(node, dict):
        return {name: _filled(one, values) for name, one in node.items()}
    if isinstance(node, list):
        return [_filled(one, values) for one in node]
    if isinstance(node, str):
        return _PLACE.sub(lambda place: values[place[1]], node)
    return node
