"""From a claimed case to the columns of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from loomverify.errors import FaultError
from processes.definition.load import load
from processes.definition.model import Definition
from processes.selectors import definition_of
from verification.engine.golden.replay import CannotReplay, Replayed, World
from verification.engine.golden.standing import Standing
from verification.engine.verifier import VerifierSpec
from verification.golden.cases.selectors import ReadVersion, read_version
from verification.golden.models import GoldenCaseVersion, Replay
from verification.golden.replaying import LEGACY, Judged, judge_case
from verification.golden.replays.claiming import Claimed
from verification.golden.replays.live import Paid, asked_live, doubted, fresh_fence
from verification.runs import worker

MAX_TEXT = 500
OLD = ("outcome", "verdict", "reason_code", "severity_class", "retry_strategy")
"""What is kept of the old engine's word."""
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CaseJudge:
    """Replays the cases of one replay."""

    replay: Replay
    verifier: VerifierSpec
    legacy: VerifierSpec

    @classmethod
    def of(cls, replay: Replay) -> CaseJudge:
        verifier = VerifierSpec.from_json(replay.verifier_version.spec)
        return cls(replay, verifier, replace(LEGACY, models=verifier.models))

    def columns(self, one: Claimed, version: GoldenCaseVersion) -> Columns:
        """What came of a case.

        Raises:
            CannotReplay, InputError, FaultError: it could not be replayed; the text says why.
        """
        read = read_version(version)
        definition = read.definition or self._definition(one, version)
        if self.replay.is_live:
            return self._asked_anew(one, read, definition)
        judged = judge_case(
            read.given, read.expected, definition, self.verifier, _world(read), legacy=self.legacy
        )
        return columns_of(judged, [asdict(played) for played in judged.replayed.played])

    def _asked_anew(self, one: Claimed, read: ReadVersion, definition: Definition) -> Columns:
        """The old engine is asked only where the case says what it expects of it."""
        paid = Paid.of(self.replay, one, read.document.process)
        given = replace(read.given, fence=fresh_fence())
        world, judge = asked_live(paid, given, definition, self.verifier, _world(read))
        judges, legacy, old_world = [judge], None, None
        if "shadow" in read.expected:
            legacy = self.legacy
            old_world, old_judge = asked_live(paid, given, definition, legacy, _world(read))
            judges.append(old_judge)
        judged = judge_case(
            given, read.expected, definition, self.verifier, world,
            legacy=legacy, legacy_world=old_world,
        )  # fmt: skip
        return columns_of(judged, judge.played) | doubted(judged, judges)

    def _definition(self, one: Claimed, version: GoldenCaseVersion) -> Definition:
        if self.replay.candidate_text:
            return _loaded(self.replay.candidate_text)
        if one.process_version is None:
            raise CannotReplay(
                f"This project has no published process {version.spec['process']!r}."
            )
        return definition_of(one.process_version)


def columns_of(judged: Judged, played: Sequence[Mapping[str, Any]]) -> Columns:
    replayed, observed = judged.replayed, judged.observed
    old = judged.legacy
    return {
        "standing": judged.standing,
        "outcome": observed["outcome"],
        "verdict": observed["verdict"],
        "reason_code": observed["reason_code"],
        "observed": observed,
        "differences": [one.to_json() for one in judged.differences],
        "legacy": _legacy(old) if old else {},
        "played": list(played),
        "questions": len(played),
        "stale": replayed.stale,
        "missing": replayed.missing,
        "error_text": _why(judged),
    }


def not_judged(why: str) -> Columns:
    """A case that could not be replayed at all."""
    return {
        "standing": Standing.NOT_JUDGED,
        "outcome": "",
        "verdict": "",
        "reason_code": "",
        "observed": {},
        "differences": [],
        "legacy": {},
        "played": [],
        "questions": 0,
        "stale": 0,
        "missing": 0,
        "error_text": why[:MAX_TEXT],
    }


def _legacy(old: Replayed) -> Columns:
    return {**{name: old.observed[name] for name in OLD}, "missing": old.missing}


def _why(judged: Judged) -> str:
    """What nobody recorded, for a case that could not be judged."""
    if judged.standing is not Standing.NOT_JUDGED:
        return ""
    lacking = [one for one in judged.replayed.played if one.is_missing]
    if not lacking:
        return "No answer to a question of the old engine was recorded."
    first = lacking[0]
    asked = f"question {first.number} ({first.ask}) of tier {first.tier}"
    more = f", and to {len(lacking) - 1} more" if len(lacking) > 1 else ""
    return f"No answer to {asked} was recorded{more}."


def _world(read: ReadVersion) -> World:
    return World(read.workspace, worker.probe(), worker.custom())


@lru_cache(maxsize=8)
def _loaded(text: str) -> Definition:
    definition = load(text).definition
    if definition is None:
        raise FaultError("The process of this replay does not load any more.")
    return definition
