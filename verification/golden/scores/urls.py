"""Pages of the golden corpus: scores."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.golden.scores import views

urlpatterns: list[URLPattern] = [
    path("p/<slug:project>/golden/scores/", views.golden_scores, name="golden_scores"),
    path("p/<slug:project>/golden/coverage/", views.golden_coverage, name="golden_coverage"),
]
