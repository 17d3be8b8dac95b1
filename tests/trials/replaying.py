"""Trials over past runs and over the corpus, for tests."""

from __future__ import annotations

import hashlib
from typing import Any

from loomverify.accounts.models import Project
from processes.models import ProcessVersion
from tests.builders import SOURCE_TEXT
from tests.trials.builders import access_to
from verification.engine.cutover import Criterion
from verification.trials.models import Comparison, Trial, TrialReplay
from verification.trials.replays import cases, services
from verification.trials.selectors import gate_of

STRICT_TEXT = SOURCE_TEXT.replace(
    '      check: "TODO|TBD"\n', '      check: "Revenue"\n      enforcement: hard\n'
)
"""A text of the process in which revenue may not be spoken of."""


def unpublished(project: Project, source_text: str = STRICT_TEXT) -> ProcessVersion:
    process = project.processes.get(slug="small-work")
    return ProcessVersion.objects.create(
        process=process,
        number=process.versions.count() + 1,
        source_text=source_text,
        sha256=hashlib.sha256(source_text.encode()).hexdigest(),
    )


def over_past(trial: Trial, **wish: Any) -> TrialReplay:
    return services.start_past(access=access_to(trial.project), trial=trial, **wish)


def over_corpus(trial: Trial, **wish: Any) -> TrialReplay:
    return services.start_corpus(access=access_to(trial.project), trial=trial, **wish)


def titles(replay: TrialReplay) -> list[str]:
    """What is compared, in the order in which it is."""
    return list(replay.comparisons.order_by("pk").values_list("title", flat=True))


def compared(replay: TrialReplay) -> dict[str, dict[str, Any]]:
    """Each case's columns, by its name, without storing them."""
    rows = Comparison.objects.filter(replay=replay).select_related("replay", "trial")
    return {row.title: cases.beside(row, row.trial).columns for row in rows}


def corpus_criterion(trial: Trial) -> Criterion:
    """What the gate says of the corpus."""
    return next(one for one in gate_of(trial).criteria if one.name == "corpus")
