from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.actions.models import (
    Action,
    BudgetWarning,
    Change,
    Delivery,
    Mail,
    NightReport,
    ReportSettings,
    Repository,
    Webhook,
)


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    exclude = ("secret", "url")
    readonly_fields = ("shown_url",)
    list_display = ("project", "shown_url", "topics", "is_enabled", "created_at")
    list_select_related = ("project",)


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("topic", "webhook", "state", "attempts", "last_status", "created_at")
    list_filter = ("state", "topic")
    list_select_related = ("webhook",)


@admin.register(Repository)
class RepositoryAdmin(ReadOnlyAdmin):
    list_display = ("project", "name", "location", "target_branch", "is_removed", "created_at")
    list_select_related = ("project",)


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    list_display = ("run", "repository", "kind", "base_sha", "tree_sha", "created_at")
    list_select_related = ("run", "repository")


@admin.register(Action)
class ActionAdmin(ReadOnlyAdmin):
    list_display = ("kind", "state", "reason_code", "ref", "new_sha", "created_at")
    list_filter = ("kind", "state", "reason_code")


@admin.register(ReportSettings)
class ReportSettingsAdmin(ReadOnlyAdmin):
    list_display = ("project", "is_on", "begins", "ends", "quiet_begins", "quiet_ends")
    list_select_related = ("project",)


@admin.register(NightReport)
class NightReportAdmin(ReadOnlyAdmin):
    list_display = ("project", "start", "end", "summary", "made_at")
    list_select_related = ("project",)


@admin.register(BudgetWarning)
class BudgetWarningAdmin(ReadOnlyAdmin):
    list_display = ("project", "process", "day", "warned_at")
    list_select_related = ("project", "process")


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    exclude = ("body",)
    list_display = ("member", "subject", "created_at", "sent_at")
    list_select_related = ("member__user", "member__project")
