from django.urls import URLPattern, path

from verification.reviews.item import acts, views

REVIEWS = "p/<slug:project>/review/"
REVIEW = f"{REVIEWS}<uuid:review>/"

urlpatterns: list[URLPattern] = [
    path(f"{REVIEWS}undo/", acts.review_undo, name="review_undo"),
    path(f"{REVIEWS}prefetch/", acts.review_prefetch, name="review_prefetch"),
    path(REVIEW, views.review_item, name="review_item"),
    path(f"{REVIEW}take/", acts.review_claim, name="review_claim"),
    path(f"{REVIEW}heartbeat/", acts.review_heartbeat, name="review_heartbeat"),
    path(f"{REVIEW}release/", acts.review_release, name="review_release"),
    path(f"{REVIEW}skip/", acts.review_skip, name="review_skip"),
    path(f"{REVIEW}decide/", acts.review_decide, name="review_decide"),
    path(f"{REVIEW}case/", acts.review_case, name="review_case"),
]
