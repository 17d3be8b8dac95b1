from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path

from loomverify import ops
from loomverify.api import api
from processes.api import router as processes_router
from verification.actions.api import router as webhooks_router
from verification.actions.deliveries.api import router as deliveries_router
from verification.actions.landing.api import router as landing_router
from verification.actions.report.api import router as reports_router
from verification.actions.report.settings_api import router as report_settings_router
from verification.actions.repositories.api import router as repositories_router
from verification.golden.cases.api import router as golden_cases_router
from verification.golden.replays.api import router as golden_replays_router
from verification.owned.api import router as owned_router
from verification.reviews.agreement.api import router as agreement_router
from verification.reviews.api import router as reviews_router
from verification.reviews.run_api import router as run_reviews_router
from verification.rules.backtest.api import router as backtest_router
from verification.rules.examples.api import router as examples_router
from verification.rules.pages.api import router as rules_router
from verification.rules.samples.api import router as samples_router
from verification.runs.api import router as runs_router
from verification.runs.export_api import router as exports_router
from verification.runs.gating.api import router as gates_router
from verification.runs.judged_api import router as judged_router
from verification.runs.metrics_api import router as metrics_router
from verification.runs.remediations.api import router as remediations_router
from verification.runs.waivers.api import router as waivers_router
from verification.trials.acceptance.api import router as acceptance_router
from verification.trials.api import router as trials_router
from verification.trials.judging.api import router as judging_router
from verification.verifiers.api import router as verifiers_router

for router in (
    runs_router,
    exports_router,
    gates_router,
    judged_router,
    metrics_router,
    agreement_router,
    reviews_router,
    run_reviews_router,
    golden_cases_router,
    golden_replays_router,
    trials_router,
    judging_router,
    acceptance_router,
    remediations_router,
    waivers_router,
    processes_router,
    backtest_router,
    examples_router,
    rules_router,
    samples_router,
    verifiers_router,
    webhooks_router,
    deliveries_router,
    reports_router,
    report_settings_router,
    repositories_router,
    landing_router,
    owned_router,
):
    api.add_router("", router)

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", ops.healthz, name="healthz"),
    path("readyz", ops.readyz, name="readyz"),
    path("metrics", ops.metrics, name="metrics"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("", include("loomverify.accounts.urls")),
    path("", include("verification.runs.urls")),
    path("", include("verification.runs.remediations.urls")),
    path("", include("verification.runs.waivers.urls")),
    path("", include("verification.reviews.urls")),
    path("", include("verification.golden.urls")),
    path("", include("verification.trials.urls")),
    path("", include("verification.rules.urls")),
    path("", include("processes.urls")),
    path("", include("verification.verifiers.urls")),
    path("", include("verification.actions.urls")),
    path("", include("verification.owned.urls")),
]
