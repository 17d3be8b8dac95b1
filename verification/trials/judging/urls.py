"""Below `/p/<project>/shadow/<trial>/`."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.trials.judging import acts, views

TRIAL = "p/<slug:project>/shadow/<uuid:trial>/"
COMPARISON = f"{TRIAL}comparisons/<uuid:comparison>/"
JUDGE = f"{TRIAL}judge/"

urlpatterns: list[URLPattern] = [
    path(COMPARISON, views.comparison_detail, name="comparison_detail"),
    path(f"{COMPARISON}asked/<int:number>/", views.comparison_asked, name="comparison_asked"),
    path(f"{COMPARISON}reveal/", acts.comparison_reveal, name="comparison_reveal"),
    path(f"{COMPARISON}take-back/", acts.comparison_take_back, name="comparison_take_back"),
    path(f"{COMPARISON}note/", acts.comparison_note, name="comparison_note"),
    path(f"{COMPARISON}acknowledge/", acts.comparison_acknowledge, name="comparison_acknowledge"),
    path(
        f"{TRIAL}acknowledgements/<int:number>/end/",
        acts.acknowledgement_end,
        name="acknowledgement_end",
    ),
    path(JUDGE, views.trial_judge, name="trial_judge"),
    path(f"{JUDGE}next/", acts.trial_judge_next, name="trial_judge_next"),
    path(f"{JUDGE}undo/", acts.trial_judge_undo, name="trial_judge_undo"),
    path(f"{JUDGE}<uuid:comparison>/", views.comparison_judge, name="comparison_judge"),
    path(f"{JUDGE}<uuid:comparison>/said/", acts.comparison_said, name="comparison_said"),
]
