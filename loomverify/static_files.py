"""Which files of others pages never load: they are not collected."""

ACE = "django_ace/ace"
"""The code editor: of its four hundred files pages load five, and the pictures of its sheet."""

UNUSED = (
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
    f"{ACE}/ext-[!ls]*",
    f"{ACE}/ext-l[!a]*",
    f"{ACE}/ext-s[!e]*",
    f"{ACE}/ext-se[!a]*",
)
