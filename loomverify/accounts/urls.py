from django.urls import path

from loomverify.accounts.views import audit, people, settings, sign_in

SETTINGS = "p/<slug:project>/settings/"
MEMBERS = f"{SETTINGS}members/"

urlpatterns = [
    path("", people.home, name="home"),
    path("sign-in/", sign_in.sign_in, name="sign_in"),
    path("sign-out/", sign_in.sign_out, name="sign_out"),
    path("password/change/", sign_in.password_change, name="password_change"),
    path("password/reset/", sign_in.password_reset, name="password_reset"),
    path("password/reset/sent/", sign_in.password_reset_done, name="password_reset_done"),
    path(
        "password/reset/<uidb64>/<token>/",
        sign_in.PasswordResetConfirm.as_view(),
        name="password_reset_confirm",
    ),
    path("invitations/<str:token>/", people.invitation, name="invitation"),
    path("projects/", people.project_list, name="project_list"),
    path("account/", people.account, name="account"),
    path("account/email/", people.account_email, name="account_email"),
    path("account/email/<str:token>/", people.email_change, name="email_change"),
    path(SETTINGS, settings.project_settings, name="project_settings"),
    path(MEMBERS, settings.members, name="settings_members"),
    path(f"{MEMBERS}invite/", settings.invite, name="member_invite"),
    path(f"{MEMBERS}<uuid:member_id>/role/", settings.member_role, name="member_role"),
    path(f"{MEMBERS}<uuid:member_id>/remove/", settings.member_remove, name="member_remove"),
    path(
        f"{MEMBERS}invitations/<uuid:invitation_id>/revoke/",
        settings.invitation_revoke,
        name="invitation_revoke",
    ),
    path(f"{SETTINGS}keys/", settings.keys, name="settings_keys"),
    path(f"{SETTINGS}keys/<uuid:key_id>/revoke/", settings.key_revoke, name="key_revoke"),
    path(f"{SETTINGS}audit/", audit.audit, name="settings_audit"),
    path(f"{SETTINGS}audit/audit.csv", audit.audit_export, name="settings_audit_export"),
    path(f"{SETTINGS}project/", settings.project, name="settings_project"),
]
