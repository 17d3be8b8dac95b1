"""What tools write is redacted as what was submitted is, before it is stored and before anybody reads it."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from loomverify.accounts.models import Project
from loomverify.errors import FaultError, InputError
from verification.engine.gates import GateReport
from verification.engine.gating.judging import Judged
from verification.engine.reports.model import ProblemReport, TestReport
from verification.runs.intake.redaction import Redaction

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
        texts = iter(self._redacted(list(_texts(told))))
        kept = _rebuilt(told, lambda _text: next(texts))
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


def _texts(node: Any) -> Iterator[str]:
    found: list[str] = []
    _rebuilt(node, lambda text: found.append(text) or text)  # type: ignore[func-returns-value]
    yield from found


def _rebuilt(node: Any, change: Callable[[str], str], key: str = "") -> Any:
    if isinstance(node, str):
        return change(node) if key in TEXTS else node
    if isinstance(node, Mapping):
        return {name: _rebuilt(child, change, name) for name, child in node.items()}
    if isinstance(node, list | tuple):
        return [_rebuilt(child, change) for child in node]
    return node
