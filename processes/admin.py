from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from processes.models import Process, ProcessVersion, Rule, RuleVersion


@admin.register(Process)
class ProcessAdmin(ReadOnlyAdmin):
    list_display = ("slug", "project", "title", "published", "is_builtin")
    list_filter = ("is_builtin",)
    list_select_related = ("project", "published__process")
    search_fields = ("slug", "title")


@admin.register(ProcessVersion)
class ProcessVersionAdmin(ReadOnlyAdmin):
    list_display = ("process", "number", "created_by", "created_at", "published_at", "note")
    list_filter = ("is_shipped",)
    list_select_related = ("process",)
    search_fields = ("process__slug", "note")


@admin.register(Rule)
class RuleAdmin(ReadOnlyAdmin):
    list_display = ("name", "process")
    list_select_related = ("process",)
    search_fields = ("name", "process__slug")


@admin.register(RuleVersion)
class RuleVersionAdmin(ReadOnlyAdmin):
    list_display = ("rule", "content_sha256")
    list_select_related = ("rule",)
    search_fields = ("rule__name", "content_sha256")
