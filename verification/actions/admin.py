from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.actions.models import Delivery, Webhook


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    exclude = ("secret",)
    list_display = ("project", "url", "topics", "is_enabled", "created_at")
    list_select_related = ("project",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("topic", "webhook", "state", "attempts", "last_status", "created_at")
    list_filter = ("state", "topic")
    list_select_related = ("webhook",)
