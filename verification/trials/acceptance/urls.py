"""Below `/p/<project>/acceptance/`."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.trials.acceptance import views

PAGE = "p/<slug:project>/acceptance/"

urlpatterns: list[URLPattern] = [
    path(PAGE, views.acceptance, name="acceptance"),
    path(f"{PAGE}part/", views.acceptance_part, name="acceptance_part"),
    path(f"{PAGE}<slug:target>/", views.acceptance_rows, name="acceptance_rows"),
]
