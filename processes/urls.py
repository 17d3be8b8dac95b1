"""Below `/p/<project>/`."""

from django.urls import path

from processes.views import (
    drafts,
    head,
    importing,
    matrix,
    phases,
    publishing,
    reading,
    review,
    rows,
    rules,
)

PROCESSES = "p/<slug:project>/processes/"
PROCESS = f"{PROCESSES}<str:slug>/"
DRAFT = f"{PROCESS}draft/"

urlpatterns = [
    path(PROCESSES, reading.process_list, name="process_list"),
    # No process can be named by a hyphen.
    path(f"{PROCESSES}-/import/", importing.process_import, name="process_import"),
    path(f"{PROCESSES}-/all.zip", reading.process_archive, name="process_archive"),
    path(PROCESS, reading.process_detail, name="process_detail"),
    path(f"{PROCESS}compare/", reading.process_compare, name="process_compare"),
    path(f"{PROCESS}versions/<int:number>.yaml", reading.process_source, name="process_source"),
    path(
        f"{PROCESS}versions/<int:number>/publish/",
        publishing.version_publish,
        name="version_publish",
    ),
    path(f"{PROCESS}edit/", drafts.draft_open, name="draft_open"),
    path(f"{PROCESS}history/", reading.process_history, name="process_history"),
    path(DRAFT, drafts.draft_yaml, name="draft_yaml"),
    path(f"{DRAFT}check/", drafts.draft_check, name="draft_check"),
    path(f"{DRAFT}undo/", drafts.draft_undo, name="draft_undo"),
    path(f"{DRAFT}discard/", drafts.draft_discard, name="draft_discard"),
    path(f"{DRAFT}restore/", drafts.draft_restore, name="draft_restore"),
    path(f"{DRAFT}rebase/", drafts.draft_rebase, name="draft_rebase"),
    path(f"{DRAFT}matrix/", matrix.draft_matrix, name="draft_matrix"),
    path(f"{DRAFT}matrix/switch/", matrix.draft_toggle, name="draft_toggle"),
    path(f"{DRAFT}rules/", rows.draft_rules, name="draft_rules"),
    path(f"{DRAFT}rules/new/", rules.draft_rule_new, name="draft_rule_new"),
    path(f"{DRAFT}rules/try/", rules.draft_rule_try, name="draft_rule_try"),
    path(f"{DRAFT}rules/<int:index>/", rules.draft_rule, name="draft_rule"),
    path(f"{DRAFT}rules/<int:index>/copy/", rules.draft_rule_copy, name="draft_rule_copy"),
    path(f"{DRAFT}rules/<int:index>/set/", rows.draft_rule_set, name="draft_rule_set"),
    path(f"{DRAFT}rules/<int:index>/move/", rows.draft_rule_move, name="draft_rule_move"),
    path(f"{DRAFT}rules/<int:index>/delete/", rules.draft_rule_delete, name="draft_rule_delete"),
    path(f"{DRAFT}phases/", rows.draft_phases, name="draft_phases"),
    path(f"{DRAFT}phases/new/", phases.draft_phase_new, name="draft_phase_new"),
    path(f"{DRAFT}phases/delete/", phases.draft_phase_delete, name="draft_phase_delete"),
    path(f"{DRAFT}phases/<int:index>/", phases.draft_phase, name="draft_phase"),
    path(f"{DRAFT}phases/<int:index>/move/", rows.draft_phase_move, name="draft_phase_move"),
    path(f"{DRAFT}process/", head.draft_process, name="draft_process"),
    path(f"{DRAFT}review/", review.draft_review, name="draft_review"),
    path(f"{DRAFT}publish/", publishing.draft_publish, name="draft_publish"),
]
