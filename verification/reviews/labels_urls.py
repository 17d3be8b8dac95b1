from django.urls import URLPattern, path

from verification.reviews.labels_views import review_labels

BELOW = "p/<slug:project>/review/labels"

urlpatterns: list[URLPattern] = [
    path(f"{BELOW}.csv", review_labels, {"suffix": "csv"}, name="review_labels_csv"),
    path(f"{BELOW}.jsonl", review_labels, {"suffix": "jsonl"}, name="review_labels_jsonl"),
]
