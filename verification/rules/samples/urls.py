"""Below the draft, and `/p/<project>/rules/-/samples/`."""

from __future__ import annotations

from django.urls import URLPattern, path

from processes.urls import DRAFT
from verification.rules.samples import views

SAMPLE = "p/<slug:project>/rules/-/samples/<uuid:uuid>/"

urlpatterns: list[URLPattern] = [
    path(f"{DRAFT}rules/sample/", views.sample_start, name="sample_start"),
    path(SAMPLE, views.sample_live, name="sample_live"),
    path(f"{SAMPLE}cancel/", views.sample_cancel, name="sample_cancel"),
]
