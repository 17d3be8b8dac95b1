"""Below `/p/<project>/shadow/` and `/p/<project>/acceptance/`."""

from __future__ import annotations

from django.urls import URLPattern

from verification.trials.acceptance.urls import urlpatterns as acceptance
from verification.trials.judging.urls import urlpatterns as judging
from verification.trials.pages.urls import urlpatterns as pages

urlpatterns: list[URLPattern] = [*pages, *judging, *acceptance]
