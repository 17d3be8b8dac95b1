"""Below `/p/<project>/shadow/`: trials."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.trials.pages import acts, promoting_views, starting_views, views

ALL = "p/<slug:project>/shadow/"
ONE = f"{ALL}<uuid:trial>/"

urlpatterns: list[URLPattern] = [
    path(ALL, views.trials, name="trial_list"),
    path(f"{ALL}start/", starting_views.trial_start, name="trial_start"),
    path(ONE, views.trial, name="trial"),
    path(f"{ONE}over-time/", views.trial_over_time, name="trial_over_time"),
    path(f"{ONE}comparisons.<slug:kind>", views.trial_export, name="trial_export"),
    path(f"{ONE}stop/", acts.trial_stop, name="trial_stop"),
    path(f"{ONE}past/", acts.trial_past, name="trial_past"),
    path(f"{ONE}corpus/", acts.trial_corpus, name="trial_corpus"),
    path(
        f"{ONE}replays/<uuid:replay>/cancel/", acts.trial_replay_cancel, name="trial_replay_cancel"
    ),
    path(f"{ONE}cutover-replay/", acts.trial_cutover_replay, name="trial_cutover_replay"),
    path(f"{ONE}promote/", promoting_views.trial_promote, name="trial_promote"),
    path(f"{ONE}roll-back/", promoting_views.trial_roll_back, name="trial_roll_back"),
]
