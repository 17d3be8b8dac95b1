"""Below `/p/<project>/`."""

from django.urls import path

from verification.verifiers import views

JUDGES = "p/<slug:project>/settings/judges/"
BUDGETS = "p/<slug:project>/settings/budgets/"

urlpatterns = [
    path(JUDGES, views.settings_judges, name="settings_judges"),
    path(f"{JUDGES}add/", views.judge_add, name="judge_add"),
    path(f"{JUDGES}choose/", views.judges_choose, name="judges_choose"),
    path(f"{JUDGES}<uuid:judge_id>/", views.judge_edit, name="judge_edit"),
    path(f"{JUDGES}<uuid:judge_id>/remove/", views.judge_remove, name="judge_remove"),
    path(f"{JUDGES}<uuid:judge_id>/test/", views.judge_test, name="judge_test"),
    path(f"{JUDGES}<uuid:judge_id>/tested/", views.judge_tested, name="judge_tested"),
    path(BUDGETS, views.settings_budgets, name="settings_budgets"),
    path(f"{BUDGETS}set/", views.budget_set, name="budget_set"),
]
