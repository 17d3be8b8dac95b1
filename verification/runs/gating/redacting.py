"""What tools write is redacted as what was submitted is, before it is stored and before anybody reads it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from loomverify.accounts.models import Project
from loomverify.errors import FaultError, InputError
from verification.engine.gates import GateReport
from verification.engine.gating.judging import Judged
from verification.engine.reports.model import ProblemReport, TestReport
from verification.runs.intake.redaction import Redaction, rebuilt, strings

logger = logging.getLogger(__name__)

TEXTS = frozenset({"detail", "contradiction", "message", "name", "suite"})
"""Keys of what a tool says in its own words; what stands under others decides what follows."""
NOT_KEPT = "[redacted: what a tool wrote here could not be searched in time]"


@dataclass(frozen=True, slots=True)
class Redacting:
    """A project's patterns at work on what gates tell. Without a pattern all stays as it is."""

    patterns: tuple[str, ...] = ()

    @classmethod
    def of(cls, project_id: int) -> Redacting:
        rows = Project.objects.filter(pk=project_id).values_list("redaction_patterns", flat=True)
        return cls(tuple(rows.get()))

    @property
    def name(self) -> str:
        """Another one where there are other patterns; '' without any."""
        if not self.patterns:
            return ""
        return hashlib.sha256(json.dumps(self.patterns).encode()).hexdigest()

    def log(self, log: bytes) -> bytes:
        if not self.patterns:
            return log
        [text] = self._redacted([log.decode(errors="replace")])
        return text.encode()

    def judged(self, judged: Judged) -> Judged:
        """Its verdict, its counts and its places are the same afterwards."""
        if not self.patterns:
            return judged
        told = {
            "report": judged.report.to_json(),
            "tests": asdict(judged.tests) if judged.tests else None,
            "problems": asdict(judged.problems) if judged.problems else None,
        }
        kept = rebuilt(told, iter(self._redacted(list(strings(told, TEXTS)))), TEXTS)
        return replace(
            judged,
            report=GateReport.from_json(kept["report"]),
            tests=TestReport.from_json(kept["tests"]) if kept["tests"] else None,
            problems=ProblemReport.from_json(kept["problems"]) if kept["problems"] else None,
        )

    def _redacted(self, texts: Sequence[str]) -> Sequence[str]:
        """Nothing is kept of what could not be searched: doubt is no reason to store it."""
        plain = [text.encode(errors="replace").decode() for text in texts]
        try:
            redacted: list[str] = Redaction(self.patterns).json(plain)
        except (InputError, FaultError):
            logger.warning("gate_not_redacted texts=%d", len(texts))
            return [NOT_KEPT if text else "" for text in texts]
        return redacted
