"""Malformed replies by the thousand: from a seed, with a known truth."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import yaml

from verification.engine.outcome import FindingVerdict
from verification.engine.protocol.reply import Recovered

RULES = ("no-placeholders", "total-is-right", "cites-sources")
WORDS = ("satisfied", "violated", "unknown")
TEXTS = (
    "The date is missing.",
    'Line 3 says "done", and isn\'t.',
    "缺少日期。",
    'It prints {"ok": 1}.',
    "a, b; c: d",
    "C:\\temp\\x",
    "",
)
PROSE = (
    "Here is what I found.",
    "I looked at all of it.\nNothing else stood out.",
    "Voilà le bilan.",
    "Steps: first the files {a, b}, then the numbers [1].",
    "Thank you!",
)
Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """A reply and what its judge meant. `is_whole`: nothing of the meaning was lost on the way."""

    text: str
    passed: bool
    is_whole: bool
    how: str


def made(seed: int) -> Made:
    """A reply in some form, with some damage, in some wrapper."""
    random = Random(seed)  # noqa: S311 - a seed makes the same reply again
    document = a_reply(random)
    form = random.choice([*FORMS])
    text = FORMS[form](document, random)
    harm = random.choice([*HARMS]) if random.random() < 0.4 else ""
    if form not in _OBJECTS and document["passed"] is not is_a_pass(document):
        harm = ""  # lines that are lost leave no gap: the rest reads like a whole reply
    if harm:
        text = HARMS[harm](text, random)
    wraps = random.sample([*WRAPPERS], random.choice([0, 1, 1, 2])) if form in _OBJECTS else []
    for wrap in wraps:
        text = WRAPPERS[wrap](text, random)
    how = " + ".join([form, *filter(None, [harm]), *wraps])
    return Made(text, is_a_pass(document), not harm, how)


def a_reply(random: Random) -> dict[str, Any]:
    """A reply of the short or the long form, that may contradict itself."""
    passed = random.random() < 0.5
    issues = [random.choice(TEXTS[:6])] if not passed or random.random() < 0.2 else []
    short = {
        "passed": passed,
        "issues": issues,
        "confidence": random.choice([0, 0.5, 0.95, 1]),
        "suggestion": random.choice(TEXTS),
    }
    if random.random() < 0.5:
        return short
    words = WORDS if not passed or random.random() < 0.3 else WORDS[:1]
    rules = [
        {
            "rule": rule,
            "verdict": random.choice(words),
            "why": random.choice(TEXTS),
            "quote": random.choice(TEXTS),
        }
        for rule in RULES
    ]
    acceptance = {"verdict": random.choice(words), "why": random.choice(TEXTS)}
    long = {"passed": passed, "rules": rules, "acceptance": acceptance, "claims": []}
    entries = [*{**long, "confidence": 0.9, "suggestion": ""}.items()]
    if random.random() < 0.3:
        random.shuffle(entries)
    return dict(entries)


def is_a_pass(document: Document) -> bool:
    """Whether the judge passes the work as a whole, each rule, and the acceptance criteria."""
    told = [rule["verdict"] for rule in document.get("rules", ())]
    told += [document["acceptance"]["verdict"]] if "acceptance" in document else []
    return document["passed"] and all(verdict == "satisfied" for verdict in told)


def accepts(found: Recovered) -> bool:
    """Whether what was read would let the work pass, every rule of `RULES` being asked for."""
    reply = found.reply
    if reply is None or not reply.passed:
        return False
    if reply.is_short:
        return True
    told = {answer.rule: answer.verdict for answer in reply.rules}
    satisfied = FindingVerdict.SATISFIED
    return reply.acceptance is satisfied and all(told.get(rule) is satisfied for rule in RULES)


def blames(found: Recovered) -> bool:
    """Whether what was read would reject the work."""
    reply = found.reply
    if reply is None:
        return False
    told = [answer.verdict for answer in reply.rules] + [reply.acceptance]
    return reply.passed is False or FindingVerdict.VIOLATED in told


def _json(document: Document, random: Random) -> str:
    indent = random.choice([None, None, 2])
    return json.dumps(document, ensure_ascii=random.random() < 0.5, indent=indent)


def _trailing_commas(document: Document, random: Random) -> str:
    return re.sub(r"(?<=[\"\]}\de])\n\s*(?=[\]}])", ",\n", json.dumps(document, indent=1))


def _unquoted_keys(document: Document, random: Random) -> str:
    return re.sub(r'^(\s*)"(\w+)":', r"\1\2:", json.dumps(document, indent=1), flags=re.MULTILINE)


def _commented(document: Document, random: Random) -> str:
    lines = json.dumps(document, indent=1).split("\n")
    at = random.randrange(1, len(lines))
    return "\n".join([*lines[:at], random.choice(["// so", "/* so */", "# so"]), *lines[at:]])


def _missing_comma(document: Document, random: Random) -> str:
    text = json.dumps(document, indent=1)
    commas = [found.start() for found in re.finditer(r",\n", text)]
    at = random.choice(commas)
    return text[:at] + text[at + 1 :]


def _lines(document: Document, random: Random) -> str:
    mark = random.choice(["", "**", "- "])
    after = "**" if mark == "**" else ""
    told = {key: document[key] for key in ("passed", "confidence") if key in document}
    told["issues"] = "; ".join(document.get("issues", ())) or "none"
    return "\n".join(f"{mark}{key.title()}:{after} {value}" for key, value in told.items())


def _verdict_line(document: Document, random: Random) -> str:
    line = random.choice(["VERDICT: {}", "**Verdict:** {}", "Verdict - {}", "## Verdict: {}"])
    said = line.format("PASS" if is_a_pass(document) else "FAIL")
    return random.choice(["{0}", "{0}\n\n{1}", "{1}\n\n{0}"]).format(said, random.choice(PROSE))


def _of_short(form: Callable[[Document, Random], str]) -> Callable[[Document, Random], str]:
    """A form that says nothing of single rules says what all of them come to."""

    def shortened(document: Document, random: Random) -> str:
        return form({**document, "passed": is_a_pass(document)}, random)

    return shortened


def _in_envelope(text: str, random: Random) -> str:
    try:
        inner = json.loads(text)
    except ValueError:
        return text
    inner = random.choice([inner, [inner], json.dumps(inner)])
    return json.dumps({random.choice(["result", "response", "data", "arguments"]): inner})


def _a_guess(random: Random) -> str:
    """What is thought before an answer, which may be something else."""
    return random.choice(
        ['{"passed": true, "issues": []}', '{"passed": false}', "VERDICT: FAIL", "It fails. No?"]
    )


def _a_doubt(random: Random) -> str:
    """A guess that is no pass: before a mark that may be lost, nothing tells it from an answer."""
    return random.choice(['{"passed": false}', "VERDICT: FAIL", "It fails."])


FORMS: dict[str, Callable[[Document, Random], str]] = {
    "json": _json,
    "python": lambda document, _: repr(document),
    "trailing commas": _trailing_commas,
    "unquoted keys": _unquoted_keys,
    "commented": _commented,
    "missing comma": _missing_comma,
    "yaml": lambda document, _: yaml.safe_dump(document, sort_keys=False, allow_unicode=True),
    "lines": _of_short(_lines),
    "verdict line": _verdict_line,
}
_OBJECTS = frozenset(FORMS) - {"yaml", "lines", "verdict line"}
WRAPPERS: dict[str, Callable[[str, Random], str]] = {
    "fence": lambda text, random: f"```{random.choice(['json', '', 'JSON'])}\n{text}\n```",
    "prose before": lambda text, random: f"{random.choice(PROSE)}\n\n{text}",
    "prose after": lambda text, random: f"{text}\n\n{random.choice(PROSE)}",
    "thoughts": lambda text, random: f"<think>{random.choice(PROSE)} VERDICT: PASS?</think>{text}",
    "closing mark": lambda text, random: f"{_a_doubt(random)} Or does it?\n</think>\n\n{text}",
    "channels": lambda text, random: (
        f"<|channel|>analysis<|message|>{_a_guess(random)}<|end|>"
        f"<|start|>assistant<|channel|>final<|message|>{text}<|return|>"
    ),
    "reasoning": lambda text, random: f"[THINK]{_a_guess(random)}[/THINK]{text}",
    "envelope": _in_envelope,
    "byte order mark": lambda text, random: f"\ufeff{text}",
    "CRLF": lambda text, random: text.replace("\n", "\r\n") + "\r\n",
    "colours": lambda text, random: f"\x1b[1;31m{text}\x1b[0m",
    "log prefix": lambda text, random: f"2026-05-01 INFO judge: {text}",
    "element": lambda text, random: f"<answer>{text}</answer>",
    "noise": lambda text, random: f"{'blah (x) [y] 12% ' * 200}\n{text}\n{'zz. ' * 500}",
}


def truncated(text: str, random: Random) -> str:
    return text[: random.randrange(len(text))]


def beheaded(text: str, random: Random) -> str:
    return text[random.randrange(len(text)) :]


def less_one(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    return text[:at] + text[at + 1 :]


def swapped(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    return text[:at] + text[at + 1 : at + 2] + text[at] + text[at + 2 :]


def with_a_mark(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice("\"'{}[],:\\\n\0`<>é") + text[at:]


def less_a_stretch(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    return text[:at] + text[at + random.randrange(1, 40) :]


def said_again(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    end = at + random.randrange(1, 60)
    return text[:end] + text[at:end] + text[end:]


def moved(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    end = at + random.randrange(1, 40)
    rest = text[:at] + text[end:]
    to = random.randrange(len(rest) + 1)
    return rest[:to] + text[at:end] + rest[to:]


def broken_line(text: str, random: Random) -> str:
    at = random.randrange(len(text))
    return text[:at] + random.choice(["\n", "\r\n\n", "...", " // ", "\n# "]) + text[at:]


def with_raw_line_breaks(text: str, random: Random) -> str:
    return text.replace("\\n", "\n")


def with_unescaped_quotes(text: str, random: Random) -> str:
    return text.replace('\\"', '"')


HARMS: dict[str, Callable[[str, Random], str]] = {
    "truncated": truncated,
    "beheaded": beheaded,
    "less one": less_one,
    "swapped": swapped,
    "with a mark": with_a_mark,
    "less a stretch": less_a_stretch,
    "said again": said_again,
    "moved": moved,
    "broken line": broken_line,
    "raw line breaks": with_raw_line_breaks,
    "unescaped quotes": with_unescaped_quotes,
}
