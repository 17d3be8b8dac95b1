"""What pages show of a delivery."""

from __future__ import annotations

from dataclasses import dataclass

from verification.actions.formats.sent import body_of
from verification.actions.landing.wording import STATES as ACTIONS
from verification.actions.models import ActionState, Delivery, DeliveryState
from verification.runs.wording import Badge

STATES = {
    DeliveryState.PENDING: Badge("on its way", "open", ACTIONS[ActionState.PENDING].sign),
    DeliveryState.DEAD: Badge("given up", "fail", ACTIONS[ActionState.DECLINED].sign),
    DeliveryState.DELIVERED: Badge("delivered", "pass", ACTIONS[ActionState.DONE].sign),
}


@dataclass(frozen=True, slots=True)
class Row:
    row: Delivery

    @property
    def badge(self) -> Badge:
        return STATES[DeliveryState(self.row.state)]

    @property
    def answer(self) -> str:
        """How the last attempt ended."""
        if not self.row.attempts:
            return ""
        status = self.row.last_status
        return self.row.last_error or (f"Answered {status}." if status else "No answer yet.")

    @property
    def is_over(self) -> bool:
        return self.row.state != DeliveryState.PENDING

    @property
    def body(self) -> str:
        return body_of(self.row).decode()
