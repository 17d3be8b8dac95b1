from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.verifiers.models import Budget, JudgeConnection, Spending, VerifierVersion


@admin.register(VerifierVersion)
class VerifierVersionAdmin(ReadOnlyAdmin):
    list_display = ("project", "number", "engine", "engine_build", "is_active", "created_at")
    list_filter = ("engine", "is_active")
    list_select_related = ("project",)


@admin.register(JudgeConnection)
class JudgeConnectionAdmin(ReadOnlyAdmin):
    list_display = ("project", "name", "model", "is_environment", "is_removed", "tested_at")
    list_filter = ("is_environment", "is_removed")
    list_select_related = ("project",)


@admin.register(Budget)
class BudgetAdmin(ReadOnlyAdmin):
    list_display = ("project", "process", "usd_per_day", "changed_by", "changed_at")
    list_select_related = ("project", "process")


@admin.register(Spending)
class SpendingAdmin(ReadOnlyAdmin):
    list_display = ("project", "process", "day", "calls", "spent_usd", "reserved_usd")
    list_select_related = ("project", "process")
    date_hierarchy = "day"
