"""The only writers of processes, their versions and drafts."""

from processes.services.versions import add_version, ensure_builtin_processes, publish

__all__ = ["add_version", "ensure_builtin_processes", "publish"]
