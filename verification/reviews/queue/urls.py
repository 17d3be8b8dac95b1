"""Below `/p/<project>/review/`."""

from django.urls import URLPattern, path

from verification.reviews.queue import group_views, views

LIST = "p/<slug:project>/review/"
ONE = f"{LIST}<uuid:review>/"

urlpatterns: list[URLPattern] = [
    path(LIST, views.review_queue, name="review_queue"),
    path(f"{LIST}rows/", views.review_rows, name="review_rows"),
    path(f"{LIST}next/", views.review_next, name="review_next"),
    path(f"{LIST}groups/", group_views.review_groups, name="review_groups"),
    path(f"{LIST}groups/<str:fingerprint>/", group_views.review_group, name="review_group"),
    path(f"{ONE}assign/", views.review_assign, name="review_assign"),
    path(f"{ONE}pass/", views.review_pass, name="review_pass"),
    path(f"{ONE}take-in/", views.review_take_in, name="review_take_in"),
]
