from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from loomverify.accounts.models import Project
from loomverify.errors import Loc
from verification.runs.intake.reading import refuse_unkeepable
from verification.runs.intake.redaction import Redaction
from verification.runs.intake.renaming import names_of

NAMES = ("id", "process", "phase")
FILES = "files"


def redacted(
    project: Project, document: Mapping[str, Any], *, loc: Loc = ("body",)
) -> dict[str, Any]:
    """A case as it is stored: redacted as submissions are. What it is named by stays.

    Raises:
        InputError: 422, it holds what nobody can keep.
    """
    refuse_unkeepable(document, loc)
    redaction = Redaction(project.redaction_patterns)
    told = {name: value for name, value in document.items() if name not in (*NAMES, FILES)}
    kept: dict[str, Any] = redaction.json(told)
    if isinstance(run := kept.get("run"), dict):
        redaction.name_keys(run.get("tool_calls"))
    kept |= {name: document[name] for name in NAMES if name in document}
    if FILES in document:
        kept[FILES] = _files(document[FILES], redaction)
    return kept


def _files(files: Any, redaction: Redaction) -> Any:
    """What is no file is kept by nobody: it is refused where the case is read."""
    if not isinstance(files, Mapping) or not all(isinstance(path, str) for path in files):
        return redaction.json(files)
    texts = redaction.json({path: file for path, file in files.items() if isinstance(file, str)})
    names = names_of(files, redaction)
    return {
        names[path]: texts[path] if path in texts else _file(path, file, redaction)
        for path, file in files.items()
    }


def _file(path: str, file: Any, redaction: Redaction) -> Any:
    """What stands in base64 is redacted as what it is."""
    try:
        content = base64.b64decode(file["base64"], validate=True)
    except (TypeError, KeyError, ValueError):
        return redaction.json(file)
    return {**file, "base64": base64.b64encode(redaction.content(content, path)).decode()}
