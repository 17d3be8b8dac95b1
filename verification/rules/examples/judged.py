"""What a judge said, in samples, of runs that are pinned to instructions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from processes.definition.model import Rule, RuleType
from processes.models import Process
from verification.engine.outcome import FindingVerdict
from verification.rules.models import Pin, SampledRun

Heard = Mapping[tuple[str, int], bool]
"""Whether the judge speaks against a run, by what the rule looks for and the run's id."""


def heard_of(process: Process, rules: Iterable[Rule | None]) -> Heard:
    """Return the last word on each pinned run; doubt is none."""
    asked = {one.looks_for_sha256 for one in rules if one and one.type is RuleType.LLM}
    if not asked:
        return {}
    pins = Pin.objects.filter(rule__process=process, removed_at__isnull=True, run__isnull=False)
    answered = SampledRun.objects.filter(
        sample__process=process,
        sample__looks_for_sha256__in=asked,
        run__in=pins.values("run"),
        answered_at__isnull=False,
        lost="",
    )
    rows = answered.order_by("pk").values_list("sample__looks_for_sha256", "run", "findings")
    heard: dict[tuple[str, int], bool] = {}
    for looks_for, run, findings in rows:
        verdicts = {one["verdict"] for one in findings}
        if FindingVerdict.UNKNOWN not in verdicts:
            heard[looks_for, run] = FindingVerdict.VIOLATED in verdicts
    return heard
