"""What judges were asked and how their answers were read, in words for people."""

from __future__ import annotations

from dataclasses import dataclass

from verification.engine.claims.settlement import ArtefactKind
from verification.engine.judges.asking import Ask
from verification.engine.protocol.reply import Stage

ASKS = {
    Ask.ASSESS: "assessment",
    Ask.AGAIN: "asked once more",
    Ask.RESTATE: "asked to restate",
    Ask.VOTE: "vote",
    Ask.COMPARE: "comparison",
    Ask.CONFIRM: "confirmation of claims",
}


@dataclass(frozen=True, slots=True)
class StageWords:
    """`short` stands in tables; `said` is a sentence on one reply."""

    short: str
    said: str
    tone: str = ""


STAGES = {
    Stage.STRICT: StageWords(
        "read as strict JSON", "The whole reply is one JSON object.", tone="pass"
    ),
    Stage.EMBEDDED: StageWords(
        "found inside prose", "The reply holds one JSON object with a verdict: it is what counts."
    ),
    Stage.REPAIRED: StageWords("repaired", "The JSON was damaged and could be repaired."),
    Stage.YAML: StageWords("read as YAML", "The reply was read as YAML, or as key: value lines."),
    Stage.VERDICT_LINE: StageWords(
        "read from a verdict line", "Exactly one line states a verdict; the prose counts for nothing."
    ),
    Stage.RESTATED: StageWords(
        "restated by the judge", "The judge restated an earlier reply that could not be read."
    ),
    Stage.ALTERNATE: StageWords(
        "asked the alternate", "The first judge could not be read: the alternate began from scratch."
    ),
    Stage.UNREADABLE: StageWords(
        "could not be read", "No stage found exactly one verdict. Nothing is concluded from it.", "open"
    ),
}  # fmt: skip

MADE = {
    ArtefactKind.PRUNED: "Without the pruned claims",
    ArtefactKind.VERIFIED_FINDINGS: "Verified Findings",
    ArtefactKind.UNCONFIRMED_APPENDIX: "Unconfirmed Appendix",
}


def ask(code: str) -> str:
    return ASKS.get(code, code.replace("_", " "))  # type: ignore[call-overload,no-any-return]


def stage(code: str) -> StageWords | None:
    return STAGES.get(code)  # type: ignore[call-overload,no-any-return]
