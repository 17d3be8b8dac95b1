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
from processes.services.edits import Edited, edit_newest
from processes.services.importing import import_version
from processes.services.versions import add_version, ensure_builtin_processes, publish

__all__ = [
    "Edited",
    "Stored",
    "add_version",
    "discard_draft",
    "edit_draft",
    "edit_newest",
    "ensure_builtin_processes",
    "import_version",
    "newest_version",
    "open_draft",
    "publish",
    "publish_draft",
    "rebase_draft",
    "restore_draft",
    "save_draft",
    "undo_edit",
]
