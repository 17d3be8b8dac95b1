from __future__ import annotations

from loomverify.accounts.mails import link
from verification.trials.models import Comparison, Trial


def url_of(trial: Trial) -> str:
    return link("trial", project=trial.project.slug, trial=trial.uuid)


def comparison_url(trial: Trial, comparison: Comparison) -> str:
    slug = trial.project.slug
    return link("comparison_detail", project=slug, trial=trial.uuid, comparison=comparison.uuid)
