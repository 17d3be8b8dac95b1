from __future__ import annotations

from verification.engine.evidence import Workspace

MAX_KEPT_BYTES = 32_000_000


class ReadOnce:
    """A workspace whose files are fetched once, though several checks read them."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._kept: dict[str, bytes] = {}
        self._kept_bytes = 0

    def read(self, path: str) -> bytes:
        if path in self._kept:
            return self._kept[path]
        content = self._workspace.read(path)
        if self._kept_bytes + len(content) <= MAX_KEPT_BYTES:
            self._kept[path] = content
            self._kept_bytes += len(content)
        return content
