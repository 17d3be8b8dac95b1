from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from processes.models import Draft, PhaseRule, Process, ProcessVersion, Rule, RuleVersion


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


@admin.register(PhaseRule)
class PhaseRuleAdmin(ReadOnlyAdmin):
    list_display = ("process_version", "phase_id", "position", "rule_version")
    list_select_related = ("process_version__process", "rule_version__rule")
    search_fields = ("phase_id", "rule_version__rule__name", "process_version__process__slug")


@admin.register(Draft)
class DraftAdmin(ReadOnlyAdmin):
    """Written by its editor alone: only its pages keep two texts from overwriting each other."""

    list_display = ("process", "editor", "base", "lock_version", "updated_at", "discarded_at")
    list_select_related = ("process", "editor", "base__process")
    search_fields = ("process__slug", "editor__username")
