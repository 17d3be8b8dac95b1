"""What a judge said, in samples, of runs that are pinned to instructions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from processes.definition.model import Rule, RuleType
from processes.models import Process
from verification.engine.outcome import FindingVerdict
from verification.rules.models import Pin, SampledRun

Place = tuple[str, str]
"""The path of a file and the id of evidence, one of them ''; both: the output, or nowhere named."""
Heard = Mapping[tuple[str, int], Collection[Place]]
"""Where the judge speaks against a run, by what the rule looks for and the run's id."""


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
    heard: dict[tuple[str, int], Collection[Place]] = {}
    for looks_for, run, findings in rows:
        if not any(one["verdict"] == FindingVerdict.UNKNOWN for one in findings):
            against = [one for one in findings if one["verdict"] == FindingVerdict.VIOLATED]
            heard[looks_for, run] = {_place(one) for one in against}
    return heard


def is_caught(pin: Pin, places: Collection[Place]) -> bool | None:
    """Whether what is pinned is spoken against; None: the judge names no place, and the pin does."""
    own = (pin.path, pin.evidence)
    if own == ("", ""):
        return bool(places)
    if own in places:
        return True
    return None if ("", "") in places else False


def _place(finding: Mapping[str, Any]) -> Place:
    return str(finding["path"]), str(finding["place"].get("evidence", ""))
