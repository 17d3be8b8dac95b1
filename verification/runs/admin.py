from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.runs.models import OutboxEvent, Review, Run, Task


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = ("uuid", "project", "process", "state", "outcome", "reason_code", "created_at")
    list_filter = ("state", "outcome")
    list_select_related = ("project", "process")
    exclude = ("search",)
    search_fields = ("uuid",)
    ordering = ("-id",)


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = ("external_id", "process", "attempts_used", "max_attempts", "exhausted")
    list_filter = ("exhausted",)
    list_select_related = ("process",)
    search_fields = ("external_id",)


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    list_display = ("run", "project", "state", "urgency", "created_at")
    list_filter = ("state",)
    list_select_related = ("run", "project")


@admin.register(OutboxEvent)
class OutboxEventAdmin(ReadOnlyAdmin):
    list_display = ("topic", "project", "created_at", "dispatched_at")
    list_filter = ("topic",)
    list_select_related = ("project",)
