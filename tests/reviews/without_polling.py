"""The product's settings, for an installation in which a waiting request does not poll.

A request that waits for a decision then returns in time only if a notice wakes it.
"""

from django.apps import AppConfig

from loomverify.settings import *  # noqa: F403
from loomverify.settings import INSTALLED_APPS


class WithoutPolling(AppConfig):
    name = "tests.reviews.without_polling"
    label = "without_polling"

    def ready(self) -> None:
        from verification.runs import waiting

        waiting.LOOK_AGAIN_SECONDS = 600


INSTALLED_APPS = [*INSTALLED_APPS, f"{__name__}.WithoutPolling"]
