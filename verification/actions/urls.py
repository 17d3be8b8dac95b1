"""Below `/p/<project>/`."""

from django.urls import include, path

from verification.actions import views

SETTINGS = "p/<slug:project>/settings/webhooks/"

urlpatterns = [
    path(SETTINGS, views.settings_webhooks, name="settings_webhooks"),
    path(f"{SETTINGS}<uuid:webhook_id>/enable/", views.enable_webhook, name="webhook_enable"),
    path(f"{SETTINGS}<uuid:webhook_id>/disable/", views.disable_webhook, name="webhook_disable"),
    path(f"{SETTINGS}<uuid:webhook_id>/test/", views.test_webhook, name="webhook_test"),
    path(f"{SETTINGS}<uuid:webhook_id>/remove/", views.remove_webhook, name="webhook_remove"),
    path(
        f"{SETTINGS}deliveries/<uuid:delivery_id>/repeat/",
        views.repeat_delivery,
        name="delivery_repeat",
    ),
    path("", include("verification.actions.report.urls")),
]
