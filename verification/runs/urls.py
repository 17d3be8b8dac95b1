"""Below `/p/<project>/`."""

from django.urls import path

from verification.runs import export_views, judged_views, views
from verification.runs.gating.urls import urlpatterns as gating
from verification.runs.viewing.urls import urlpatterns as viewing

RUNS = "p/<slug:project>/runs/"
RUN = f"{RUNS}<uuid:run>/"
CALL = f"{RUN}calls/<uuid:evaluation>/<int:tier>/<int:seq>/"

urlpatterns = [
    *viewing,
    *gating,
    path("p/<slug:project>/", views.overview, name="overview"),
    path(RUNS, views.run_list, name="run_list"),
    path(f"{RUNS}runs.csv", export_views.runs_csv, name="run_export"),
    path(f"{RUNS}findings.csv", export_views.findings_csv, name="finding_export"),
    path(f"{RUNS}live/", views.run_rows, name="run_rows"),
    path(RUN, views.run_detail, name="run_detail"),
    path(f"{RUN}export/<str:name>", export_views.run_file, name="run_export_file"),
    path(f"{RUN}cancel/", views.run_cancel, name="run_cancel"),
    path(f"{RUN}reverify/", views.run_reverify, name="run_reverify"),
    path(f"{CALL}", judged_views.run_call, name="run_call"),
    path(f"{CALL}<str:side>.txt", judged_views.run_call_text, name="run_call_text"),
    path(f"{RUN}artefacts/<uuid:artefact>", judged_views.run_artefact, name="run_artefact"),
    path(f"{RUN}download/<path:path>", views.run_file_download, name="run_file_download"),
]
