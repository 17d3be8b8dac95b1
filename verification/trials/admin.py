from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.trials.models import Acknowledgement, Comparison, Trial, TrialReplay


@admin.register(Trial)
class TrialAdmin(ReadOnlyAdmin):
    list_display = ("title", "project", "state", "stop_reason", "is_standing", "created_at")
    list_filter = ("state", "is_standing")
    list_select_related = ("project",)
    search_fields = ("title", "uuid")
    raw_id_fields = ("watches",)
    ordering = ("-id",)


@admin.register(TrialReplay)
class TrialReplayAdmin(ReadOnlyAdmin):
    list_display = ("trial", "origin", "total", "is_cancelled", "created_by", "finished_at")
    list_filter = ("origin",)
    list_select_related = ("trial",)
    ordering = ("-id",)


@admin.register(Comparison)
class ComparisonAdmin(ReadOnlyAdmin):
    list_display = ("trial", "title", "origin", "old", "new", "diff_class", "judged")
    list_filter = ("origin", "diff_class", "judged")
    list_select_related = ("trial",)
    search_fields = ("title", "uuid")
    raw_id_fields = ("run", "old_evaluation", "new_evaluation", "case_version")
    ordering = ("-id",)


@admin.register(Acknowledgement)
class AcknowledgementAdmin(ReadOnlyAdmin):
    list_display = ("trial", "summary", "until", "created_by", "withdrawn_at")
    list_select_related = ("trial",)
    ordering = ("-id",)
