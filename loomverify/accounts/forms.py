from __future__ import annotations

from datetime import timedelta
from typing import Any
from zoneinfo import available_timezones

from django import forms
from django.contrib.auth import password_validation
from django.utils import timezone

from loomverify.accounts.models import Project, Role, User
from loomverify.errors import InputError

EXPIRY_DAYS = (("", "never"), ("7", "in 7 days"), ("30", "in 30 days"), ("90", "in 90 days"))
ROLES = list(reversed(Role.choices))


def show_errors(form: forms.BaseForm, error: InputError) -> None:
    """Put a service's complaints beside the fields they are about."""
    for issue in error.issues:
        field = str(issue.loc[-1]) if issue.loc else None
        form.add_error(field if field in form.fields else None, issue.msg)


class SignInForm(forms.Form):
    username = forms.CharField(
        label="User name or e-mail",
        max_length=254,
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        ),
    )
    password = forms.CharField(
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class EmailForm(forms.Form):
    email = forms.EmailField(
        label="E-mail", max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )


class DetailsForm(forms.Form):
    full_name = forms.CharField(
        label="Name",
        max_length=150,
        required=False,
        help_text="What others see. Empty: your user name.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )


class RegisterForm(forms.Form):
    """An invited person's account; the address is the invitation's."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autocapitalize": "none"}),
    )
    full_name = forms.CharField(
        label="Name",
        max_length=150,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    password = forms.CharField(
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="At least eight characters, and not a common word.",
    )

    def __init__(self, *args: Any, email: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.email = email

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if "password" in cleaned:
            user = User(username=cleaned.get("username", ""), email=self.email)
            try:
                password_validation.validate_password(cleaned["password"], user)
            except forms.ValidationError as error:
                self.add_error("password", error)
        return cleaned


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=ROLES, initial=Role.VIEWER.value)


class InvitationForm(EmailForm, RoleForm):
    pass


class KeyForm(forms.Form):
    name = forms.CharField(
        max_length=80, help_text="Who or what uses it, such as a machine or an agent."
    )
    role = forms.ChoiceField(
        choices=ROLES,
        initial=Role.AGENT.value,
        help_text="Agents submit runs; viewers only read.",
    )
    expires_in = forms.ChoiceField(label="Expires", choices=EXPIRY_DAYS, required=False)

    def expires_at(self) -> Any:
        days = self.cleaned_data["expires_in"]
        return timezone.now() + timedelta(days=int(days)) if days else None


class ProjectForm(forms.Form):
    name = forms.CharField(max_length=120)
    slug = forms.SlugField(
        label="Short name",
        max_length=60,
        required=False,
        help_text="Stands in every address and never changes. Empty: made of the name.",
    )


class ProjectSettingsForm(forms.Form):
    name = forms.CharField(max_length=120)
    time_zone = forms.CharField(
        max_length=60,
        help_text="Such as Europe/Berlin; days in reports begin at its midnight.",
        widget=forms.TextInput(attrs={"list": "time-zones"}),
    )
    retention_days = forms.IntegerField(
        label="Keep submitted material for (days)", min_value=1, max_value=3650
    )
    redaction_patterns = forms.CharField(
        required=False,
        max_length=50 * 501,
        strip=False,
        help_text=(
            "One regular expression (RE2) a line. What matches is replaced by [redacted] before anything "
            "is stored; what is stored already stays as it is."
        ),
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
    )

    @classmethod
    def of(cls, project: Project) -> ProjectSettingsForm:
        return cls(
            initial={
                "name": project.name,
                "time_zone": project.time_zone,
                "retention_days": project.retention_days,
                "redaction_patterns": "\n".join(project.redaction_patterns),
            }
        )

    def clean_redaction_patterns(self) -> list[str]:
        return str(self.cleaned_data["redaction_patterns"]).splitlines()

    @property
    def time_zones(self) -> list[str]:
        return sorted(available_timezones())


class AuditFilterForm(forms.Form):
    verb = forms.CharField(max_length=60, required=False)
    actor = forms.CharField(max_length=200, required=False)
    cursor = forms.CharField(max_length=200, required=False)
