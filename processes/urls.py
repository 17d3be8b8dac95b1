"""Below `/p/<project>/`."""

from django.urls import path

from processes import views

PROCESSES = "p/<slug:project>/processes/"

urlpatterns = [
    path(PROCESSES, views.process_list, name="process_list"),
    path(f"{PROCESSES}<str:slug>/", views.process_detail, name="process_detail"),
    path(f"{PROCESSES}<str:slug>/compare/", views.process_compare, name="process_compare"),
    path(
        f"{PROCESSES}<str:slug>/versions/<int:number>.yaml",
        views.process_source,
        name="process_source",
    ),
]
