"""The only writers of processes, their versions and drafts."""

from processes.services.drafts import (
    Stored,
    discard_draft,
    edit_draft,
    newest_version,
    open_draft,
    publish_draft,
    rebase_draft,
    restore_draft,
    save_draft,
    undo_edit,
)
from processes.services.versions import add_version, ensure_builtin_processes, publish

__all__ = [
    "Stored",
    "add_version",
    "discard_draft",
    "edit_draft",
    "ensure_builtin_processes",
    "newest_version",
    "open_draft",
    "publish",
    "publish_draft",
    "rebase_draft",
    "restore_draft",
    "save_draft",
    "undo_edit",
]
