from __future__ import annotations

from dataclasses import asdict

from django import forms

from verification.actions.models import Mode, Repository
from verification.actions.repositories.terms import Terms

MONO = {"class": "mono", "autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}


def _mode(label: str) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=Mode.choices, initial=Mode.PROPOSE)


def _variable(label: str, placeholder: str, help_text: str) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=120,
        widget=forms.TextInput({**MONO, "placeholder": placeholder}),
        help_text=help_text,
    )


class TermsForm(forms.Form):
    location = forms.CharField(
        label="Where it is",
        max_length=500,
        widget=forms.TextInput({**MONO, "placeholder": "https://git.example.com/team/app.git"}),
        help_text="A URL of https or ssh, or an absolute path on the workers' machine.",
    )
    target_branch = forms.CharField(
        label="Target branch", max_length=200, initial="main", widget=forms.TextInput(MONO)
    )
    commit_mode = _mode("Sure work: commit to the target branch")
    branch_mode = _mode("Doubtful work: make a review branch")
    revert_mode = _mode("Failed work that was committed: take it back")
    author_name = forms.CharField(label="Commits are by", max_length=120, initial="LoomVerify")
    author_email = forms.CharField(
        label="Their e-mail address", max_length=200, initial="loomverify@localhost"
    )
    credential_reference = _variable(
        "Variable of the token or SSH key",
        "LOOMVERIFY_KEY_GIT",
        "Of https: it holds the token. Of ssh: it names the file of a private key. Neither is ever "
        "stored.",
    )
    signing_reference = _variable(
        "Variable that names the signing key's file",
        "LOOMVERIFY_KEY_SIGNING",
        "An SSH key, such as Ed25519. Empty: commits are not signed.",
    )
    takes_binary = forms.BooleanField(
        label="Take binary files", required=False, help_text="Else they are refused at once."
    )
    lands_checked_out = forms.BooleanField(
        label="Land on a checked-out branch",
        required=False,
        help_text="Of a repository with a work tree. Its files stay as they are, so that git then "
        "shows the landed change undone.",
    )

    @classmethod
    def of(cls, row: Repository) -> TermsForm:
        return cls(initial=asdict(Terms.of(row)))

    def terms(self) -> Terms:
        given = {name: self.cleaned_data[name] for name in TermsForm.base_fields}
        return Terms(**{**given, "location": given["location"].strip()})


class RepositoryForm(TermsForm):
    name = forms.CharField(
        label="Name",
        max_length=60,
        widget=forms.TextInput({**MONO, "placeholder": "app"}),
        help_text="Runs name it so.",
    )
    field_order = ("name", "location")
