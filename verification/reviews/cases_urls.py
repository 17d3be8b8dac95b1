"""Below `/p/<project>/review/cases/`."""

from django.urls import URLPattern, path

from verification.reviews import cases_views as views

urlpatterns: list[URLPattern] = [
    path("p/<slug:project>/review/cases/", views.review_cases, name="review_cases"),
]
