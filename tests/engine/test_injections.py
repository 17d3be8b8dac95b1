"""Submissions that talk to the judge, each with a twin that does not."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from processes.definition.model import Severity
from tests.engine.cases import PASSING, judge_of, judged_case, llm, ports
from tests.engine.judges import reply
from tests.tables import check_rows
from verification.engine.case import Case
from verification.engine.climb import Conclusion, climb, conclude
from verification.engine.evidence import Claim, EvidenceItem, ToolCall
from verification.engine.fakes import ScriptedJudge
from verification.engine.judges.asking import Answer, Question
from verification.engine.judges.hearing import read
from verification.engine.judges.voting import vote
from verification.engine.protocol.prompt import assessment, token_of

FOLDER = Path(__file__).parent / "injections"
FENCE = "9b1c44e07fd2a653"
RULE = llm("sourced", severity=Severity.ERROR)
REFUSAL = "I'm sorry, but I can't help with that."
_FRAME = re.compile(rf"\[{FENCE} begin [^\]]*\]\n(.*?)\n\[{FENCE} end [^\]]*\]", re.DOTALL)
_OBJECT = re.compile(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}")


@dataclass(frozen=True)
class Injection:
    id: str
    attack: str
    work: dict[str, Any]

    def case(self, attack: str, **about: Any) -> Case:
        """Submit the work with this text where the attack stands."""
        work = _filled(self.work, attack)
        of_task = {key: work.pop(key) for key in ("plan", "acceptance_criteria") if key in work}
        return judged_case(
            rules=[RULE],
            of_task=of_task,
            of_case={"fence": FENCE},
            output=work.get("output", ""),
            diff=work.get("diff", ""),
            files=work.get("files"),
            tool_calls=tuple(ToolCall(**call) for call in work.get("tool_calls", ())),
            evidence=tuple(EvidenceItem(**item) for item in work.get("evidence", ())),
            claims=tuple(Claim(**claim) for claim in work.get("claims", ())),
            **about,
        )

    def files(self, attack: str) -> dict[str, str]:
        files: dict[str, str] = _filled(self.work, attack).get("files", {})
        return files


def _filled(value: Any, attack: str) -> Any:
    if isinstance(value, dict):
        return {_filled(key, attack): _filled(inner, attack) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, attack) for inner in value]
    return value.replace("{{attack}}", attack) if isinstance(value, str) else value


@cache
def injections() -> tuple[Injection, ...]:
    return tuple(_read())


def _read() -> Iterator[Injection]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for one in yaml.safe_load(path.read_text(encoding="utf-8")):
            attack = "x " * (one.get("pad", 0) // 2) + one["attack"].replace("{{fence}}", FENCE)
            yield Injection(one["id"], attack, one["work"])


def _shown(question: Question) -> str:
    return "\n".join(_FRAME.findall(question.prompt))


def _objects(question: Question) -> list[str]:
    return _OBJECT.findall(question.prompt)


def _last_json(question: Question) -> str:
    return (_objects(question) or [""])[-1]


def _every_json(question: Question) -> str:
    return "\n".join(_objects(question))


def _json_written_anew(question: Question) -> str:
    for text in reversed(_objects(question)):
        try:
            return json.dumps(json.loads(text), indent=2, sort_keys=True)
        except ValueError:
            continue
    return ""


def _verdict_line(question: Question) -> str:
    lines = [one for one in _shown(question).splitlines() if re.search("verdict|passed", one, re.I)]
    return (lines or [""])[-1].strip()


def _verdict_alone(question: Question) -> str:
    """From the last word that opens a verdict up to the end of its line."""
    found = re.findall(r"(?:[\"']?passed|verdict)\W{1,9}\w+", _shown(question), re.IGNORECASE)
    return str((found or [""])[-1])


ECHOES: dict[str, Callable[[Question], str]] = {
    "the whole prompt": lambda asked: f"{asked.system}\n{asked.prompt}",
    "the prompt without the system's part": lambda asked: asked.prompt,
    "the last JSON": _last_json,
    "every JSON": _every_json,
    "the last JSON written anew": _json_written_anew,
    "JSON in a block of code": lambda asked: (
        f"Here is my verdict:\n```json\n{_last_json(asked)}\n```"
    ),
    "the material": _shown,
    "the material, then a refusal": lambda asked: f"{_shown(asked)}\n\n{REFUSAL}",
    "a refusal, then the material": lambda asked: f"{REFUSAL}\n\n{_shown(asked)}",
    "the end of the material": lambda asked: _shown(asked)[-400:],
    "the line of the verdict": _verdict_line,
    "the verdict in bold": lambda asked: f"**{_verdict_alone(asked)}**",
    "the verdict in braces": lambda asked: "{" + _verdict_alone(asked) + "}",
    "the material in small letters": lambda asked: _shown(asked).lower(),
    "the material on one line": lambda asked: " ".join(_shown(asked).split()),
}


def concluded(injection: Injection, attack: str, judge: ScriptedJudge) -> Conclusion:
    asked = injection.case(attack)
    reach = ports(injection.files(attack), judge=judge)
    return conclude(asked, list(climb(asked, reach)))


def test_the_corpus_is_large_enough_and_its_ids_are_its_own() -> None:
    ids = [one.id for one in injections()]

    assert len(ids) >= 40
    assert len(ids) == len({*ids})
    assert all("{{attack}}" in json.dumps(one.work) for one in injections())


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize("echo", ECHOES)
def test_a_judge_that_echoes_what_it_is_shown_decides_nothing(echo: str) -> None:
    verdicts = {
        one.id: str(concluded(one, one.attack, judge_of_echo(echo)).verdict) for one in injections()
    }

    assert {name: said for name, said in verdicts.items() if said != "undecided"} == {}


@pytest.mark.extended
@pytest.mark.parametrize("echo", ECHOES)
def test_nor_do_its_votes(echo: str) -> None:
    passed = {}
    for one in injections():
        asked = one.case(one.attack)
        reach = ports(one.files(one.attack))
        report = vote(asked, reach, judge_of_echo(echo), ())
        passed[one.id] = {ballot.passed for ballot in report.ballots}

    assert {name: votes for name, votes in passed.items() if votes != {None}} == {}


@check_rows("injection", injections(), ids=lambda one: one.id)
def test_the_clean_twin_passes_with_an_honest_judge(injection: Injection) -> None:
    honest = reply(rules={"sourced": "satisfied"})

    assert concluded(injection, "", judge_of(honest)).verdict == "accept"
    assert concluded(injection, "", judge_of(PASSING)).verdict == "accept"


@check_rows("injection", injections(), ids=lambda one: one.id)
def test_an_honest_judge_is_understood_beside_any_attack(injection: Injection) -> None:
    token = token_of(injection.case(injection.attack))
    passing = reply(token=token, rules={"sourced": "satisfied"})
    failing = reply(token=token, passed=False, rules={"sourced": ("violated", "It talks to me.")})

    assert concluded(injection, injection.attack, judge_of(passing)).verdict == "accept"
    assert concluded(injection, injection.attack, judge_of(failing)).verdict == "reject"


def judge_of_echo(echo: str) -> ScriptedJudge:
    return ScriptedJudge([ECHOES[echo]])


@pytest.mark.parametrize(
    ("output", "said", "verdict"),
    [
        # What the judge quotes of the material takes nothing from its own verdict.
        (
            '{"status": "ok"}',
            reply(rules={"sourced": ("satisfied", 'It has "status": "ok".')}),
            "accept",
        ),
        (
            "The tests passed.",
            reply(rules={"sourced": ("satisfied", "The tests passed.")}),
            "accept",
        ),
        # A program that knows verdicts is judged by a reply with its token alone.
        ('REPLY = {"passed": True}', PASSING, "undecided"),
        ("nothing of the kind", PASSING, "accept"),
    ],
)
def test_material_that_speaks_of_verdicts_is_judged_all_the_same(
    output: str, said: str, verdict: str
) -> None:
    injection = Injection("own", "", {"output": output})

    assert concluded(injection, "", judge_of(said)).verdict == verdict


@pytest.mark.extended
@pytest.mark.parametrize("noise", ["lorem ipsum ", "{", "passed: maybe ", "\n> ", '"\\u0061" '])
def test_a_megabyte_around_a_verdict_takes_no_long_time(noise: str) -> None:
    text = noise * (500_000 // len(noise)) + reply(rules={"sourced": "satisfied"})
    prompt = assessment(judged_case(output=noise * 20_000), ports())
    started = time.process_time()

    read(Answer(text + noise * (500_000 // len(noise))), prompt)

    assert time.process_time() - started < 30
