"""Below `/p/<project>/`."""

from __future__ import annotations

from django.urls import URLPattern

from verification.rules.backtest.urls import urlpatterns as backtest
from verification.rules.examples.urls import urlpatterns as examples
from verification.rules.pages.urls import urlpatterns as pages
from verification.rules.samples.urls import urlpatterns as samples

urlpatterns: list[URLPattern] = [*examples, *backtest, *pages, *samples]
