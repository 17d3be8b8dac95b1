"""A judge's rule, past runs that it may be asked about, and a judge that minds what is BAD."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from loomverify.accounts.access import Access, person
from loomverify.accounts.models import Project, Role
from tests.builders import make_run, make_user
from verification.rules.backtest.wish import Wish, wish_of, with_rule
from verification.rules.models import Drawn, Sample
from verification.rules.samples import services, working


def blames_bad(request: dict[str, Any]) -> str:
    """A judge that calls the rule violated where the work says BAD."""
    system, prompt = (str(one["content"]) for one in request["messages"])
    is_bad = "BAD" in prompt
    said = {
        "token": system.split("token: the text ")[1].split()[0],
        "passed": not is_bad,
        "rules": [
            {
                "rule": name,
                "verdict": "violated" if is_bad and name == "tone" else "satisfied",
                "why": "It is rude.",
                "quote": "BAD" if is_bad and name == "tone" else "",
            }
            for name in ("tone", "figures-have-sources")
            if f'"{name}"' in prompt
        ],
        "acceptance": {"verdict": "satisfied", "why": ""},
        "claims": [],
        "confidence": 0.9,
        "suggestion": "",
        "score": None,
    }
    return json.dumps(said)


def wish(project: Project, check: str = "The tone is polite", **fields: Any) -> Wish:
    process = project.processes.get(slug="small-work")
    assert process.published is not None
    said = {"name": "tone", "check": check, "type": "llm", "applies_to_phases": ["write"]}
    text = process.published.source_text
    return wish_of(process, *with_rule(text, {**said, "enforcement": "hard", **fields}))


def past(project: Project, output: str, **about: Any) -> Any:
    usual: dict[str, Any] = {"phase": "write", "tier_requested": 2, "tier_achieved": 2}
    return make_run(project, output=output, **{**usual, **about})


def decided(project: Project, label: str, output: str, **about: Any) -> Any:
    return past(project, output, review_state="decided", final_outcome=label, **about)


def editor(project: Project, role: Role = Role.EDITOR) -> Access:
    user = make_user(project, role)
    return Access(project, role, person(user))


def start(project: Project, wish_: Wish, usd: str = "9", **about: Any) -> Sample:
    size, how = about.get("size", 20), about.get("how", Drawn.BY_LOT)
    access = editor(project)
    return services.start(access=access, wish=wish_, drawn=how, size=size, max_usd=Decimal(usd))


def asked(project: Project, wish_: Wish, usd: str = "9", **about: Any) -> Sample:
    sample = start(project, wish_, usd, **about)
    working.work_on(sample.pk, seconds=60)
    sample.refresh_from_db()
    return sample
