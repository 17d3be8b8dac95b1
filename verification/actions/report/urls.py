"""Below `/p/<project>/`."""

from django.urls import path

from verification.actions.report import settings_views, views

REPORT = "p/<slug:project>/report/"

urlpatterns = [
    path(REPORT, views.morning_report, name="morning_report"),
    path(f"{REPORT}report.md", views.morning_report_file, name="morning_report_file"),
    path(
        "p/<slug:project>/settings/reports/",
        settings_views.settings_reports,
        name="settings_reports",
    ),
]
