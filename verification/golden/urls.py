"""Below `/p/<project>/golden/`."""

from __future__ import annotations

from django.urls import URLPattern

from verification.golden.cases.urls import urlpatterns as cases
from verification.golden.guards.urls import urlpatterns as guards
from verification.golden.replays.urls import urlpatterns as replays
from verification.golden.scores.urls import urlpatterns as scores

urlpatterns: list[URLPattern] = [*scores, *replays, *guards, *cases]
