"""Below `/p/<project>/rules/`."""

from __future__ import annotations

from django.urls import URLPattern, path

from processes.urls import DRAFT
from verification.rules.pages import observing, views

RULES = "p/<slug:project>/rules/"

urlpatterns: list[URLPattern] = [
    path(f"{DRAFT}rules/observe/", observing.rule_observe, name="rule_observe"),
    path(RULES, views.rule_search, name="rule_search"),
    path(f"{RULES}<str:slug>/", views.rule_named, name="rule_named"),
    path(f"{RULES}<str:slug>/<int:rule>/", views.rule_detail, name="rule_page"),
    path(f"{RULES}<str:slug>/<int:rule>/enforcement/", views.rule_step, name="rule_step"),
]
