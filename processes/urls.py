"""Below `/p/<project>/`."""

from django.urls import path

from processes.views import drafts, publishing, reading

PROCESSES = "p/<slug:project>/processes/"
PROCESS = f"{PROCESSES}<str:slug>/"
DRAFT = f"{PROCESS}draft/"

urlpatterns = [
    path(PROCESSES, reading.process_list, name="process_list"),
    path(PROCESS, reading.process_detail, name="process_detail"),
    path(f"{PROCESS}compare/", reading.process_compare, name="process_compare"),
    path(f"{PROCESS}versions/<int:number>.yaml", reading.process_source, name="process_source"),
    path(
        f"{PROCESS}versions/<int:number>/publish/",
        publishing.version_publish,
        name="version_publish",
    ),
    path(f"{PROCESS}edit/", drafts.draft_open, name="draft_open"),
    path(DRAFT, drafts.draft_yaml, name="draft_yaml"),
    path(f"{DRAFT}check/", drafts.draft_check, name="draft_check"),
    path(f"{DRAFT}undo/", drafts.draft_undo, name="draft_undo"),
    path(f"{DRAFT}discard/", drafts.draft_discard, name="draft_discard"),
    path(f"{DRAFT}restore/", drafts.draft_restore, name="draft_restore"),
    path(f"{DRAFT}rebase/", drafts.draft_rebase, name="draft_rebase"),
    path(f"{DRAFT}publish/", publishing.draft_publish, name="draft_publish"),
]
