"""Doubts a verdict beside which the judge's own prose says the opposite."""

from __future__ import annotations

from verification.engine.protocol import verdict_line
from verification.engine.protocol.doubt import DISAGREE, TOO_LONG, Doubt
from verification.engine.protocol.reply import Reply
from verification.engine.protocol.stance import blames_the_work, passes_the_work

MAX_CHARS = 200_000


def check_beside(rest: str, reply: Reply) -> None:
    """Hold a verdict against the text outside of the object that it was read from.

    More than `MAX_CHARS` of prose cannot be examined, and leave a pass in doubt.

    Raises:
        Doubt: a verdict line says something else, or the prose does, in whatever words.
    """
    lines = verdict_line.verdicts_in(rest)
    if (not reply.passed) in lines or (reply.passed and None in lines):
        raise Doubt(DISAGREE)
    if reply.passed and len(rest) > MAX_CHARS:
        raise Doubt(TOO_LONG)
    rest = rest[:MAX_CHARS]
    if blames_the_work(rest) if reply.passed else passes_the_work(rest):
        raise Doubt(DISAGREE)
