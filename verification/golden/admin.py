from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.golden.models import GoldenCase, GoldenCaseVersion, Replay


@admin.register(GoldenCase)
class GoldenCaseAdmin(ReadOnlyAdmin):
    list_display = ("name", "project", "process", "phase", "is_shipped", "owner", "retired_at")
    list_filter = ("is_shipped",)
    list_select_related = ("project",)
    search_fields = ("name",)
    raw_id_fields = ("current", "run")
    ordering = ("-id",)


@admin.register(GoldenCaseVersion)
class GoldenCaseVersionAdmin(ReadOnlyAdmin):
    list_display = ("case", "number", "created_by", "created_at", "reason")
    list_select_related = ("case",)
    search_fields = ("case__name",)
    ordering = ("-id",)


@admin.register(Replay)
class ReplayAdmin(ReadOnlyAdmin):
    list_display = ("uuid", "project", "purpose", "state", "total", "created_by", "created_at")
    list_filter = ("state", "purpose")
    list_select_related = ("project",)
    search_fields = ("uuid",)
    ordering = ("-id",)
