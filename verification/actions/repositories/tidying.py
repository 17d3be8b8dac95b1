"""What was submitted goes from our copies of repositories, too, once nothing needs it there.

Nothing of ours names it: a mirror's refs are the remote's branches. What a run under way needs is
made again from what is stored, whenever it is needed.
"""

from __future__ import annotations

import logging
import time

from verification.actions.models import Repository
from verification.actions.repositories.reaching import forget_mirrors_of_nobody, prune_mirror
from verification.adapters.git import GitLost, LocationRefused

logger = logging.getLogger(__name__)

AT_MOST_SECONDS = 1_800.0


def tidy() -> int:
    """Prune each copy, in the time there is; return how many. A day later comes the next turn.

    Copies of what is in use no more go first.
    """
    forget_mirrors_of_nobody()
    until, pruned = time.monotonic() + AT_MOST_SECONDS, 0
    for repository in Repository.objects.filter(is_removed=False).order_by("?"):
        if time.monotonic() > until:
            break
        try:
            pruned += prune_mirror(repository)
        except (GitLost, LocationRefused) as error:
            logger.warning("mirror_not_pruned repository=%s error=%s", repository.uuid, error)
    return pruned
