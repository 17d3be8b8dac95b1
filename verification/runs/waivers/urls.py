"""Below `/p/<project>/review/waivers/`, and beside a finding of a run."""

from django.urls import path

from verification.runs.waivers import views

LIST = "p/<slug:project>/review/waivers/"
ONE = f"{LIST}<uuid:waiver>/"

urlpatterns = [
    path(LIST, views.waiver_list, name="waiver_list"),
    path(f"{LIST}waivers.csv", views.waivers_csv, name="waiver_export"),
    path(f"{ONE}end/", views.waiver_end, name="waiver_end"),
    path(f"{ONE}undo/", views.waiver_undo, name="waiver_undo"),
    path(
        "p/<slug:project>/runs/<uuid:run>/waive/<str:fingerprint>/",
        views.waiver_new,
        name="waiver_new",
    ),
]
