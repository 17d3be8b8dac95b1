"""Below `/p/<project>/review/`."""

from django.urls import URLPattern

from verification.reviews.agreement.urls import urlpatterns as agreement
from verification.reviews.cases_urls import urlpatterns as cases
from verification.reviews.item.urls import urlpatterns as item
from verification.reviews.labels_urls import urlpatterns as labels
from verification.reviews.notices.urls import urlpatterns as notices
from verification.reviews.queue.urls import urlpatterns as queue

urlpatterns: list[URLPattern] = [*queue, *agreement, *notices, *labels, *cases, *item]
