"""Below `/p/<project>/rules/-/examples/`: no process can be named by a hyphen."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.rules.examples import views

EXAMPLES = "p/<slug:project>/rules/-/examples/"

urlpatterns: list[URLPattern] = [
    path(EXAMPLES, views.rule_examples, name="rule_examples"),
    path(f"{EXAMPLES}runs/<uuid:run>/", views.rule_example_of_run, name="rule_example_of_run"),
    path(f"{EXAMPLES}<uuid:pin>/remove/", views.rule_example_remove, name="rule_example_remove"),
    path(f"{EXAMPLES}<uuid:pin>/restore/", views.rule_example_restore, name="rule_example_restore"),
]
