"""Below `/p/<project>/golden/`: pages of cases."""

from __future__ import annotations

from django.urls import URLPattern, path

from verification.golden.cases import drafts, editing, importing_views, views

GOLDEN = "p/<slug:project>/golden/"
CASES = f"{GOLDEN}cases/"
CASE = f"{CASES}<uuid:case>/"
DRAFTS = f"{GOLDEN}drafts/"
DRAFT = f"{DRAFTS}<uuid:draft>/"

urlpatterns: list[URLPattern] = [
    path(GOLDEN, views.golden_cases, name="golden_cases"),
    path(f"{GOLDEN}export/", views.golden_export, name="golden_export"),
    path(f"{CASES}new/", editing.golden_case_new, name="golden_case_new"),
    path(f"{CASES}check/", editing.golden_case_check, name="golden_case_check"),
    path(CASE, views.golden_case, name="golden_case"),
    path(f"{CASE}edit/", editing.golden_case_edit, name="golden_case_edit"),
    path(f"{CASE}fields/", editing.golden_case_fields, name="golden_case_fields"),
    path(f"{CASE}retire/", views.golden_case_retire, name="golden_case_retire"),
    path(f"{CASE}restore/", views.golden_case_restore, name="golden_case_restore"),
    path(f"{CASE}download/", views.golden_case_download, name="golden_case_download"),
    path(f"{CASE}files/<path:path>", views.golden_case_file, name="golden_case_file"),
    path(f"{GOLDEN}runs/<uuid:run>/", drafts.golden_case_of_run, name="golden_case_of_run"),
    path(f"{GOLDEN}import/", importing_views.golden_import, name="golden_import"),
    path(DRAFTS, drafts.golden_drafts, name="golden_drafts"),
    path(f"{DRAFT}take/", drafts.golden_draft_take, name="golden_draft_take"),
    path(f"{DRAFT}remove/", drafts.golden_draft_remove, name="golden_draft_remove"),
]
