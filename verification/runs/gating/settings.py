"""The operator's sandbox, as the environment says."""

from __future__ import annotations

import hashlib
import os
import socket

from django.conf import settings

from loomverify.env import environment
from verification.adapters.sandbox.settings import IMAGES, NETWORK, SandboxSettings


def sandbox_settings() -> SandboxSettings:
    """Of this very process: what it leaves behind is known by its number."""
    env = environment()
    return SandboxSettings(
        owner=hashlib.sha256(f"sandbox:{settings.SECRET_KEY}".encode()).hexdigest()[:16],
        worker=f"{socket.gethostname()}:{os.getpid()}",
        images={**IMAGES, **dict(env.sandbox_images)},
        runtime=env.sandbox_runtime,
        proxy=env.sandbox_proxy,
        network=env.sandbox_network or NETWORK,
    )
