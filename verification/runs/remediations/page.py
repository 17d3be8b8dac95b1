"""What the page of remediations shows of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from verification.runs import wording
from verification.runs.models import Remediation
from verification.runs.models.followup import RemediationState
from verification.runs.remediations.rows import OPEN

MAX_SHOWN_CLAIMS = 50


@dataclass(frozen=True, slots=True)
class Row:
    row: Remediation
    now: datetime

    @property
    def badge(self) -> wording.Badge:
        return wording.REMEDIATION_STATES[self.row.state]

    @property
    def words(self) -> str:
        return wording.REMEDIATION_MODES.get(self.row.mode, self.row.mode)

    @property
    def reason_code(self) -> str:
        return str(self.row.request.get("reason_code") or "")

    @property
    def rule(self) -> str:
        return str(self.row.request.get("rule") or "")

    @property
    def message(self) -> str:
        return str(self.row.request.get("message") or "")

    @property
    def suggestion(self) -> str:
        return str(self.row.request.get("suggestion") or "")

    @property
    def place(self) -> str:
        """Path and line."""
        told = self.row.request
        return ":".join(str(part) for part in (told.get("path"), told.get("line")) if part)

    @property
    def instructions(self) -> str:
        return str(self.row.request.get("instructions") or "")

    @property
    def claims(self) -> Sequence[Mapping[str, Any]]:
        """Requests are our own, and read as if they were not."""
        claims = self.row.request.get("claims")
        listed = claims if isinstance(claims, list) else []
        return [one for one in listed if isinstance(one, dict)][:MAX_SHOWN_CLAIMS]

    @property
    def claim_count(self) -> int:
        claims = self.row.request.get("claims")
        return len(claims) if isinstance(claims, list) else 0

    @property
    def hidden_claims(self) -> int:
        return self.claim_count - len(self.claims)

    @property
    def is_open(self) -> bool:
        return self.row.state in OPEN

    @property
    def is_claimed(self) -> bool:
        return self.row.state == RemediationState.CLAIMED

    @property
    def time_left(self) -> str:
        """In hours and minutes, until nobody may answer it any more."""
        minutes = max(0, int((self.row.expires_at - self.now).total_seconds() // 60))
        hours, rest = divmod(minutes, 60)
        return f"{hours} h {rest} min left" if hours else f"{rest} min left"
