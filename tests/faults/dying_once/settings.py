"""The product's settings with short leases, and a worker that dies once.

A lease outlives a moment in which a busy machine does not come to its heartbeat.
"""

from loomverify.settings import *  # noqa: F403
from loomverify.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.dying_once"]
RUN_LEASE_SECONDS = 6
