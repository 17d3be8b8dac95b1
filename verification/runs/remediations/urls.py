"""Below `/p/<project>/remediations/`."""

from django.urls import path

from verification.runs.remediations import views

LIST = "p/<slug:project>/remediations/"
ONE = f"{LIST}<uuid:remediation>/"

urlpatterns = [
    path(LIST, views.remediation_list, name="remediation_list"),
    path(f"{ONE}release/", views.remediation_release, name="remediation_release"),
    path(f"{ONE}give-up/", views.remediation_give_up, name="remediation_give_up"),
]
