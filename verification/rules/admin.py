from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.rules.models import Backtest, Pin, RuleUse, Sample, SampledRun


@admin.register(Pin)
class PinAdmin(ReadOnlyAdmin):
    list_display = ("rule", "expected", "note", "created_by", "created_at", "removed_at")
    list_filter = ("expected",)
    list_select_related = ("rule",)
    search_fields = ("rule__name", "note")
    raw_id_fields = ("run",)
    ordering = ("-id",)


@admin.register(Backtest)
class BacktestAdmin(ReadOnlyAdmin):
    list_display = ("rule", "process", "seconds", "tried_by", "tried_at")
    list_select_related = ("process",)
    search_fields = ("rule", "process__slug")
    ordering = ("-id",)


@admin.register(RuleUse)
class RuleUseAdmin(ReadOnlyAdmin):
    list_display = ("rule", "process", "hour", "applied", "violated", "overturned", "cost_usd")
    list_select_related = ("process",)
    search_fields = ("rule", "process__slug")
    ordering = ("-id",)


@admin.register(Sample)
class SampleAdmin(ReadOnlyAdmin):
    list_display = ("rule", "process", "total", "state", "stopped", "cost_usd", "asked_by")
    list_filter = ("state", "stopped")
    list_select_related = ("process",)
    search_fields = ("rule", "process__slug")
    ordering = ("-id",)


@admin.register(SampledRun)
class SampledRunAdmin(ReadOnlyAdmin):
    list_display = ("sample", "run", "answered_at", "lost", "calls")
    list_select_related = ("sample", "run")
    raw_id_fields = ("sample", "run")
    ordering = ("-id",)
