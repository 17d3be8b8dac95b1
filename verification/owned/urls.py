"""Below `/p/<project>/settings/project/`."""

from django.urls import path

from verification.owned import views

PROJECT = "p/<slug:project>/settings/project/"

urlpatterns = [
    path(f"{PROJECT}export.zip", views.project_export, name="project_export"),
    path(f"{PROJECT}remove/", views.project_remove, name="project_remove"),
]
