from __future__ import annotations

from django.urls import URLPattern, path

from verification.golden.guards import views

GUARDS = "p/<slug:project>/golden/guards/"

urlpatterns: list[URLPattern] = [
    path(f"{GUARDS}drafts/<str:slug>/", views.golden_guard_draft, name="golden_guard_draft"),
    path(
        f"{GUARDS}processes/<str:slug>/<int:number>/",
        views.golden_guard_version,
        name="golden_guard_version",
    ),
    path(
        f"{GUARDS}verifiers/<int:number>/",
        views.golden_guard_verifier,
        name="golden_guard_verifier",
    ),
]
