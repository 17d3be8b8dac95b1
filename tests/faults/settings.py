"""The product's settings with short leases, and workers that die on purpose."""

from loomverify.settings import *  # noqa: F403
from loomverify.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.chaos"]
RUN_LEASE_SECONDS = 2
