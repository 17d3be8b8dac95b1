from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.verifiers.models import VerifierVersion


@admin.register(VerifierVersion)
class VerifierVersionAdmin(ReadOnlyAdmin):
    list_display = ("project", "number", "engine", "engine_build", "is_active", "created_at")
    list_filter = ("engine", "is_active")
    list_select_related = ("project",)
