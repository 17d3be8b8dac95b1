"""The product's settings with short leases and short pauses; nobody dies by chance.

A lease outlives the first import of what asks judges, on a busy machine too.
"""

from loomverify.settings import *  # noqa: F403

RUN_LEASE_SECONDS = 6
JUDGE_FIRST_WAIT_SECONDS = 0.05
REVERIFY_FIRST_PAUSE_SECONDS = 1.0
