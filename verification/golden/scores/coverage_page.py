"""What the corpus comes to, and what no case of it does, with a way to close each gap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models.fields.json import KT, KeyTextTransform, KeyTransform

from loomverify.accounts.models import Project
from processes.models import Process
from processes.selectors import definitions_of
from verification.engine.golden.coverage import Covered, CoveredRule, Seen, coverage
from verification.engine.reasons import REASONS, Effect
from verification.golden.cases.expecting import SHADOW
from verification.golden.models import Replay, ReplayResult
from verification.runs import judge_wording, wording

IN_A_RUN = "Open a run that ended so and press g, or write a case by hand"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that cases may come to. `query` leads to those that do; `how` makes one."""

    name: str
    words: str
    cases: int
    guarding: int
    query: str
    how: str


@dataclass(frozen=True, slots=True)
class RuleLine:
    process: str
    rule: str
    applied: int
    violated: int
    guarding: int
    applied_query: str
    violated_query: str
    without_case: Sequence[str]
    how: str


@dataclass(frozen=True, slots=True)
class Section:
    """`gaps` have no case; `covered` have one."""

    id: str
    title: str
    gaps: Sequence[Line]
    covered: Sequence[Line]

    @property
    def total(self) -> int:
        return len(self.gaps) + len(self.covered)


@dataclass(frozen=True, slots=True)
class CoveragePage:
    rule_gaps: Sequence[RuleLine]
    rules: Sequence[RuleLine]
    sections: Sequence[Section]

    @property
    def rule_total(self) -> int:
        return len(self.rule_gaps) + len(self.rules)


def coverage_page(project: Project, replay: Replay) -> CoveragePage:
    published = dict(
        Process.objects.filter(project=project, published__isnull=False)
        .order_by("slug")
        .values_list("slug", "published_id")
    )
    found = definitions_of(published.values())
    definitions = {slug: found[pk] for slug, pk in published.items()}
    told = coverage(definitions, seen(replay))
    rules = [_rule(one) for one in told.rules]
    return CoveragePage(
        rule_gaps=[one for one in rules if not one.violated],
        rules=[one for one in rules if one.violated],
        sections=[
            _section("phases", "Phases", [_phase(name, one) for name, one in told.phases]),
            _section("reasons", "Reasons", [_reason(one) for one in told.reasons]),
            _section("shadow", "Old and new beside each other", [_shadow(one) for one in told.diff_classes]),
            _section("stages", "How answers are read", [_stage(one) for one in told.stages]),
        ],
    )  # fmt: skip


def seen(replay: Replay) -> Iterator[Seen]:
    """What was judged, with no more of it than coverage reads."""
    rows = ReplayResult.objects.filter(replay=replay).exclude(verdict="").order_by("pk")
    rows = rows.annotate(
        own=KeyTextTransform("process_text", "case_version__spec"),
        expected=KeyTransform("expected", "case_version__spec"),
        rules=KeyTransform("rules", "observed"),
        tiers=KeyTransform("tiers", "observed"),
        findings=KeyTransform("findings", "observed"),
        terminal=KT("observed__attempt__terminal"),
        shadow=KT("observed__shadow"),
    )
    names = (
        "case__process", "case__phase", "reason_code", "own", "expected", "rules", "tiers",
        "findings", "terminal", "shadow", "played",
    )  # fmt: skip
    for row in rows.values(*names).iterator(chunk_size=1000):
        yield Seen(
            process="" if row["own"] else row["case__process"],
            phase=row["case__phase"],
            observed={
                "reason_code": row["reason_code"],
                "rules": row["rules"] or {"applied": [], "skipped": []},
                "tiers": row["tiers"] or [],
                "findings": row["findings"] or [],
                "attempt": {"terminal": row["terminal"] or ""},
                "shadow": row["shadow"],
            },
            expected=row["expected"] or {},
            stages={one.get("recovery") or "" for one in row["played"] or ()},
        )


def _section(id_: str, title: str, lines: Sequence[Line]) -> Section:
    return Section(
        id_, title, [one for one in lines if not one.cases], [one for one in lines if one.cases]
    )


def _rule(one: CoveredRule) -> RuleLine:
    where = {"process": one.process, "rule": one.rule}
    how = f"A run of {one.process} that breaks this rule"
    if not one.applied:
        how = f"A run of {one.process} in a phase that the rule is for"
        how += f" ({one.without_case[0]})" if one.without_case else ""
    return RuleLine(
        one.process,
        one.rule,
        one.applied,
        one.violated,
        one.guarding,
        urlencode(where),
        urlencode({**where, "broken": "1"}),
        one.without_case,
        f"{how}: press g there.",
    )


def _phase(process: str, one: Covered) -> Line:
    query = urlencode({"process": process, "phase": one.name})
    how = f"Any run of {process} in this phase: press g there."
    return Line(f"{process} / {one.name}", "", one.cases, one.guarding, query, how)


def _reason(one: Covered) -> Line:
    effect = REASONS[one.name].effect
    how = f"{IN_A_RUN} that expects reason_code: {one.name}."
    if effect is Effect.TERMINAL:
        how = f"A case with a history, that expects attempt: {{terminal: {one.name}}}."
    query = urlencode({"code": one.name})
    return Line(one.name, wording.reason(one.name), one.cases, one.guarding, query, how)


def _shadow(one: Covered) -> Line:
    how = f"A case that the two engines judge so, and that expects shadow: {one.name}."
    words, query = SHADOW.get(one.name, ""), urlencode({"shadow": one.name})
    return Line(one.name, words, one.cases, one.guarding, query, how)


def _stage(one: Covered) -> Line:
    told = judge_wording.stage(one.name)
    how = "A case of tier 2 with a recorded reply of this shape."
    query = urlencode({"stage": one.name})
    return Line(one.name, told.short if told else "", one.cases, one.guarding, query, how)
