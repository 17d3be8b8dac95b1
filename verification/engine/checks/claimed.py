"""Claims as the work labels them, and what of them no later tier could put right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from processes.definition.model import Target
from verification.engine.case import Case, Ports
from verification.engine.checks.drafts import violated
from verification.engine.checks.registry import Observation, check
from verification.engine.claims import labels, routing
from verification.engine.evidence import Claim

MAX_LABEL_CHARS = 40


@check(routing.ID)
def claimed(case: Case, _ports: Ports) -> Iterator[Observation]:
    """Where confirm-or-prune comes first, nothing is certain yet: `unconfirmed` tells it."""
    submitted = case.submission.claims
    yield from _unknown_labels(submitted)
    counted = labels.counted_claims(submitted, routing.first_support(case))
    for short in routing.shortfalls(case, counted):
        if not routing.route_of(case, recommends=short.recommends).is_tried:
            yield routing.finding_of(case, short, counted)


def _unknown_labels(submitted: Sequence[Claim]) -> Iterator[Observation]:
    """One finding for each label that does not exist, not for each claim that carries it."""
    by_label: defaultdict[str, list[int]] = defaultdict(list)
    for number, claim in enumerate(submitted):
        if not labels.is_known_label(claim):
            by_label[claim.label[:MAX_LABEL_CHARS]].append(number)
    for label, numbers in list(by_label.items())[: routing.MAX_SHOWN]:
        yield violated(
            routing.ID,
            "claim_label_invalid",
            f"There is no label {label!r}: what carries it counts as unsupported.",
            target=Target.EVIDENCE,
            place={"claims": numbers[: routing.MAX_SHOWN]},
            suggestion=f"Use one of {', '.join(labels.LABELS)}.",
        )
