"""What operators see beside the pages: read-only, but for switching accounts off and on."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

from loomverify.accounts import services
from loomverify.accounts.access import Actor, person
from loomverify.accounts.models import ApiKey, AuditEntry, Invitation, Member, Project, User
from loomverify.read_only import ReadOnlyAdmin


def sign_in_of_operators(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """One way in for everybody: the admin's own form would count failures of its own."""
    if request.user.is_authenticated:
        raise PermissionDenied("This is for operators.")
    target = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(target, allowed_hosts={request.get_host()}):
        target = reverse("admin:index")
    return redirect_to_login(target, reverse("sign_in"))


def password_of_operators(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """Django's own page would leave no audit entry."""
    return redirect("password_change")


admin.site.login = sign_in_of_operators  # type: ignore[method-assign]
admin.site.password_change = password_of_operators  # type: ignore[assignment, method-assign]
admin.site.site_header = admin.site.site_title = "LoomVerify operations"
admin.site.unregister(Group)


@admin.register(User)
class UserAdmin(ReadOnlyAdmin):
    list_display = ("username", "email", "is_active", "is_staff", "last_login")
    list_filter = ("is_active", "is_staff")
    search_fields = ("username", "email", "first_name", "last_name")
    exclude = ("password", "groups", "user_permissions")
    actions = ("switch_off", "switch_on")

    @admin.action(description="Let them sign in no longer", permissions=["view"])
    def switch_off(self, request: HttpRequest, users: QuerySet[User]) -> None:
        self._switch(request, users, is_active=False)

    @admin.action(description="Let them sign in again", permissions=["view"])
    def switch_on(self, request: HttpRequest, users: QuerySet[User]) -> None:
        self._switch(request, users, is_active=True)

    def _switch(self, request: HttpRequest, users: QuerySet[User], *, is_active: bool) -> None:
        operator = _operator(request)
        chosen = [user for user in users if user.pk != request.user.pk]
        changed = sum(
            services.set_active(user=user, is_active=is_active, actor=operator) for user in chosen
        )
        self.message_user(request, f"{changed} changed. Your own account stays as it is.")


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    list_display = ("name", "slug", "created_at", "retention_days")
    search_fields = ("name", "slug")


@admin.register(Member)
class MemberAdmin(ReadOnlyAdmin):
    list_display = ("user", "project", "role", "created_at")
    list_filter = ("role",)
    list_select_related = ("user", "project")
    search_fields = ("user__username", "project__slug")


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ("name", "prefix", "project", "role", "state", "last_used_at")
    list_filter = ("role",)
    list_select_related = ("project",)
    exclude = ("sha256",)


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    list_display = ("email", "project", "role", "created_at", "accepted_at", "revoked_at")
    list_select_related = ("project",)
    exclude = ("sha256",)


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ("at", "actor", "verb", "object_name", "project")
    list_filter = ("verb",)
    list_select_related = ("project",)
    search_fields = ("actor", "object_name")
    show_full_result_count = False


def _operator(request: HttpRequest) -> Actor:
    if not isinstance(request.user, User) or not request.user.is_superuser:
        raise PermissionDenied
    return person(request.user)
