"""Whether this worker's Docker engine answers; what lost workers left in it is swept by the way."""

from __future__ import annotations

import logging

from loomverify.env import environment
from verification.adapters.sandbox.container import FAULTS
from verification.adapters.sandbox.docker import connect
from verification.adapters.sandbox.sweeping import prune, sweep
from verification.engine.gating.sandbox import SandboxLost
from verification.runs.gating.settings import sandbox_settings

logger = logging.getLogger(__name__)


def answers() -> bool:
    """Never raises: a worker without an engine serves nobody, and harms nobody."""
    if environment().sandbox == "off":
        return False
    settings = sandbox_settings()
    try:
        client = connect(settings)
    except SandboxLost:
        return False
    try:
        if swept := sweep(client, settings):
            logger.warning("sandbox_swept containers=%s", swept)
        if pruned := prune(client):
            logger.info("sandbox_pruned images=%s", pruned)
    except FAULTS as error:
        logger.warning("sandbox_not_swept error=%s", type(error).__name__)
        return False
    finally:
        client.close()
    return True
