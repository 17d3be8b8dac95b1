from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from loomverify.accounts.models import Project
from loomverify.errors import Loc
from verification.runs.intake.reading import refuse_unkeepable
from verification.runs.intake.redaction import Redaction

NAMES = ("id", "process", "phase")
BY_PATH = ("files", "base")


def redacted(
    project: Project, document: Mapping[str, Any], *, loc: Loc = ("body",)
) -> dict[str, Any]:
    """A case as it is stored: redacted as submissions are. What it is named by stays.

    Raises:
        InputError: 422, it holds what nobody can keep.
    """
    refuse_unkeepable(document, loc)
    redaction = Redaction(project.redaction_patterns)
    kept: dict[str, Any] = redaction.json(dict(document))
    kept |= {
        name: redaction.keyed(kept[name]) for name in BY_PATH if isinstance(kept.get(name), dict)
    }
    return kept | {name: document[name] for name in NAMES if name in document}
