"""Below `/p/<project>/processes/<process>/`."""

from __future__ import annotations

from django.urls import URLPattern, path

from processes.urls import DRAFT, PROCESS
from verification.rules.backtest import views

urlpatterns: list[URLPattern] = [
    path(f"{DRAFT}rules/backtest/", views.backtest_live, name="backtest_live"),
    path(f"{PROCESS}rules/to-review/", views.backtest_to_review, name="backtest_to_review"),
]
