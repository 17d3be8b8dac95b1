from __future__ import annotations

from loomverify.accounts.mails import link
from verification.golden.models import Replay


def url_of(replay: Replay) -> str:
    return link("golden_replay", project=replay.project.slug, replay=replay.uuid)
