from django.urls import URLPattern, path

from verification.reviews.agreement import views

PAGE = "p/<slug:project>/review/agreement/"

urlpatterns: list[URLPattern] = [
    path(PAGE, views.review_agreement, name="review_agreement"),
    path(f"{PAGE}runs/", views.review_agreement_runs, name="review_agreement_runs"),
    path(
        "p/<slug:project>/review/calibration/", views.review_calibration, name="review_calibration"
    ),
]
