"""Find the verdict in whatever a judge has written."""

from __future__ import annotations

import json

from verification.engine.protocol.reading import reply_of
from verification.engine.protocol.reply import Recovered, Stage


def recover(text: str, *, strict: bool = False) -> Recovered:
    """Read a reply by the first stage that finds exactly one verdict. Never raises.

    `strict` leaves only the first stage: the whole text is one JSON object.

    Source: docs/engine.md, "Protocol".
    """
    try:
        document = json.loads(text)
    except ValueError:
        return Recovered(Stage.UNREADABLE, why="The reply holds no verdict.")
    reply = reply_of(document) if isinstance(document, dict) else None
    if reply is None:
        return Recovered(Stage.UNREADABLE, why="The reply holds no verdict.")
    return Recovered(Stage.STRICT, reply)
