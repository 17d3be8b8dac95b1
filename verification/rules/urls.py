"""Below `/p/<project>/`."""

from __future__ import annotations

from django.urls import URLPattern

from verification.rules.backtest.urls import urlpatterns as backtest
from verification.rules.examples.urls import urlpatterns as examples

urlpatterns: list[URLPattern] = [*examples, *backtest]
