"""Who is asked before a process version judges runs: rooms above register here."""

from __future__ import annotations

from dataclasses import dataclass

from loomverify.guarding import Guards
from processes.models import Process, ProcessVersion


@dataclass(frozen=True, slots=True)
class Publication:
    """A text that is to judge a process's runs. `version` None: it is stored as none yet."""

    process: Process
    source_text: str
    version: ProcessVersion | None = None


PUBLISHING: Guards[Publication] = Guards()
