"""Pages of the golden corpus: replays."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.golden.replays import choice_views, result_views, views

ALL = "p/<slug:project>/golden/replays/"
ONE = f"{ALL}<uuid:replay>/"
RESULT = f"{ONE}cases/<uuid:case>/"
SCHEDULE = "p/<slug:project>/golden/schedule/"

urlpatterns: list[URLPattern] = [
    path(ALL, views.golden_replays, name="golden_replays"),
    path(f"{ALL}start/", choice_views.golden_replay_start, name="golden_replay_start"),
    path(f"{ALL}trend/", views.golden_trend, name="golden_trend"),
    path(ONE, views.golden_replay, name="golden_replay"),
    path(f"{ONE}cancel/", views.golden_replay_cancel, name="golden_replay_cancel"),
    path(f"{ONE}export/<str:name>", views.golden_replay_export, name="golden_replay_export"),
    path(RESULT, result_views.golden_result, name="golden_result"),
    path(f"{RESULT}accept/", result_views.golden_accept, name="golden_accept"),
    path(f"{RESULT}record-anew/", result_views.golden_record_anew, name="golden_record_anew"),
    path(SCHEDULE, choice_views.golden_schedule, name="golden_schedule"),
    path(f"{SCHEDULE}mail/", choice_views.golden_schedule_mail, name="golden_schedule_mail"),
]
