from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.reviews.models import CaseDraft, Decision, NoticePreference, Skip


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    list_display = ("review", "project", "reviewer", "api_key", "round", "outcome", "created_at")
    list_filter = ("outcome", "is_adjudication")
    list_select_related = ("review__run", "project", "reviewer", "api_key")
    search_fields = ("uuid",)
    ordering = ("-id",)


@admin.register(Skip)
class SkipAdmin(ReadOnlyAdmin):
    list_display = ("review", "reviewer", "api_key", "at")
    list_select_related = ("review__run", "reviewer", "api_key")
    ordering = ("-id",)


@admin.register(CaseDraft)
class CaseDraftAdmin(ReadOnlyAdmin):
    list_display = ("run", "project", "outcome", "made_by", "created_at")
    list_filter = ("outcome",)
    list_select_related = ("run", "project")
    ordering = ("-id",)


@admin.register(NoticePreference)
class NoticePreferenceAdmin(ReadOnlyAdmin):
    list_display = ("member", "notice", "min_urgency", "sent_at")
    list_filter = ("notice",)
    list_select_related = ("member__user", "member__project")
    ordering = ("-id",)
