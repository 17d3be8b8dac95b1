"""Below `/p/<project>/runs/<run>/`."""

from django.urls import path

from verification.runs.viewing import views

RUN = "p/<slug:project>/runs/<uuid:run>/"

urlpatterns = [
    path(f"{RUN}output/", views.run_file_page, name="run_output_page"),
    path(f"{RUN}files/<path:path>", views.run_file_page, name="run_file_page"),
    path(f"{RUN}picture/<path:path>", views.run_picture, name="run_picture"),
    path(f"{RUN}pages/<path:path>", views.run_pages, name="run_pages"),
]
