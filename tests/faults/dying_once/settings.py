"""The product's settings with short leases, and a worker that dies once."""

from loomverify.settings import *  # noqa: F403
from loomverify.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.faults.dying_once"]
RUN_LEASE_SECONDS = 2
