from django.urls import URLPattern, path

from verification.reviews.notices import views

NOTICES = "p/<slug:project>/review/notices/"

urlpatterns: list[URLPattern] = [
    path(NOTICES, views.review_notices, name="review_notices"),
    path(f"{NOTICES}example/", views.review_notices_example, name="review_notices_example"),
    path("unsubscribe/<str:token>/", views.notice_unsubscribe, name="notice_unsubscribe"),
]
