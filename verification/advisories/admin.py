from django.contrib import admin

from loomverify.read_only import ReadOnlyAdmin
from verification.advisories.models import Snapshot


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    list_display = ("ecosystem", "taken_at", "loaded_at", "advisories", "unreadable", "is_current")
