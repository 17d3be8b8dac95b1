from django.contrib.staticfiles.apps import StaticFilesConfig

ACE = "django_ace/ace"


class StaticFiles(StaticFilesConfig):
    """Of the code editor's four hundred files pages load four and the pictures of its sheet."""

    ignore_patterns = [  # noqa: RUF012 - Django's own attribute is a plain list
        *StaticFilesConfig.ignore_patterns,
        "django_ace/widget.*",
        "django_ace/img",
        f"{ACE}/snippets",
        f"{ACE}/css/theme",
        f"{ACE}/css/[!am]*",
        f"{ACE}/css/ambiance*",
        f"{ACE}/css/merbivore*",
        f"{ACE}/css/mono*",
        f"{ACE}/theme-*",
        f"{ACE}/worker-*",
        f"{ACE}/keybinding-*",
        f"{ACE}/mode-[!y]*",
        f"{ACE}/ext-[!s]*",
        f"{ACE}/ext-s[!e]*",
        f"{ACE}/ext-se[!a]*",
    ]
