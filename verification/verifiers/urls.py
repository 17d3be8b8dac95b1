"""Below `/p/<project>/`."""

from django.urls import path

from verification.verifiers import version_views, views

JUDGES = "p/<slug:project>/settings/judges/"
VERIFIERS = "p/<slug:project>/settings/verifiers/"
BUDGETS = "p/<slug:project>/settings/budgets/"

urlpatterns = [
    path(JUDGES, views.settings_judges, name="settings_judges"),
    path(f"{JUDGES}add/", views.judge_add, name="judge_add"),
    path(f"{JUDGES}choose/", views.judges_choose, name="judges_choose"),
    path(f"{JUDGES}<uuid:judge_id>/", views.judge_edit, name="judge_edit"),
    path(f"{JUDGES}<uuid:judge_id>/remove/", views.judge_remove, name="judge_remove"),
    path(f"{JUDGES}<uuid:judge_id>/test/", views.judge_test, name="judge_test"),
    path(f"{JUDGES}<uuid:judge_id>/tested/", views.judge_tested, name="judge_tested"),
    path(VERIFIERS, version_views.settings_verifiers, name="settings_verifiers"),
    path(f"{VERIFIERS}new/", version_views.verifier_new, name="verifier_new"),
    path(f"{VERIFIERS}compare/", version_views.verifier_compare, name="verifier_compare"),
    path(f"{VERIFIERS}roll-back/", version_views.verifier_roll_back, name="verifier_roll_back"),
    path(f"{VERIFIERS}<int:number>/", version_views.verifier_detail, name="verifier_detail"),
    path(BUDGETS, views.settings_budgets, name="settings_budgets"),
    path(f"{BUDGETS}set/", views.budget_set, name="budget_set"),
]
