"""Below `/p/<project>/`."""

from django.urls import include, path

from verification.actions import views
from verification.actions.deliveries import views as deliveries
from verification.actions.landing import views as landing
from verification.actions.repositories import views as repositories

SETTINGS = "p/<slug:project>/settings/webhooks/"
DELIVERIES = f"{SETTINGS}deliveries/"
REPOSITORIES = "p/<slug:project>/settings/repositories/"
ACTIONS = "p/<slug:project>/landing/"

urlpatterns = [
    path(REPOSITORIES, repositories.settings_repositories, name="settings_repositories"),
    path(f"{REPOSITORIES}<uuid:repository>/", repositories.repository_edit, name="repository_edit"),
    path(
        f"{REPOSITORIES}<uuid:repository>/test/",
        repositories.repository_test,
        name="repository_test",
    ),
    path(
        f"{REPOSITORIES}<uuid:repository>/remove/",
        repositories.repository_remove,
        name="repository_remove",
    ),
    path(ACTIONS, landing.action_list, name="action_list"),
    path(f"{ACTIONS}<uuid:action>/", landing.action_detail, name="action_detail"),
    path(f"{ACTIONS}<uuid:action>/approve/", landing.action_approve, name="action_approve"),
    path(f"{ACTIONS}<uuid:action>/decline/", landing.action_decline, name="action_decline"),
    path(SETTINGS, views.settings_webhooks, name="settings_webhooks"),
    path(f"{SETTINGS}<uuid:webhook_id>/enable/", views.enable_webhook, name="webhook_enable"),
    path(f"{SETTINGS}<uuid:webhook_id>/disable/", views.disable_webhook, name="webhook_disable"),
    path(f"{SETTINGS}<uuid:webhook_id>/test/", views.test_webhook, name="webhook_test"),
    path(f"{SETTINGS}<uuid:webhook_id>/remove/", views.remove_webhook, name="webhook_remove"),
    path(DELIVERIES, deliveries.delivery_list, name="delivery_list"),
    path(f"{DELIVERIES}repeat/", deliveries.deliveries_repeat, name="deliveries_repeat"),
    path(f"{DELIVERIES}<uuid:delivery>/", deliveries.delivery_detail, name="delivery_detail"),
    path(
        f"{DELIVERIES}<uuid:delivery>/repeat/", deliveries.delivery_repeat, name="delivery_repeat"
    ),
    path("", include("verification.actions.report.urls")),
]
