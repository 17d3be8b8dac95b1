"""What judges answered in a live replay becomes the recordings of a case."""

from __future__ import annotations

from typing import Any

from loomverify.accounts.access import Access
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError
from verification.engine.golden.standing import Standing
from verification.engine.verifier import VerifierSpec
from verification.golden.cases.selectors import document_of
from verification.golden.cases.services import change_case
from verification.golden.models import GoldenCaseVersion, ReplayResult
from verification.verifiers.models import JudgeConnection

KEPT = ("tier", "ask", "number", "text", "lost", "is_cut", "prompt")


def record_anew(*, access: Access, result: ReplayResult, reason: str) -> GoldenCaseVersion:
    """Make a new case version with the answers of a live replay in the place of its own.

    Raises:
        InputError: `replay.not_live`: no judge was asked there, or not all of them answered.
        Conflict: `golden.changed`: the case has another version now.
    """
    access.need(Role.EDITOR)
    row = ReplayResult.objects.select_related(
        "replay__verifier_version", "case", "case_version__case__project"
    ).get(pk=result.pk, replay__project=access.project)
    if not row.replay.is_live or not row.played or row.standing == Standing.NOT_JUDGED:
        raise InputError(
            "replay.not_live", "Only answers that a live replay got whole can be recorded."
        )
    if row.case.current_id != row.case_version_id:
        raise Conflict("golden.changed", "The case was changed since this replay.")
    document = {
        **document_of(row.case_version),
        "judges": _seats(row),
        "replies": [{name: one[name] for name in KEPT} for one in row.played],
        "fence": row.played[0]["fence"],
    }
    return change_case(
        access=access,
        case=row.case.uuid,
        document=document,
        reason=reason,
        instead_of=row.case_version.number,
    )


def _seats(row: ReplayResult) -> dict[str, Any]:
    """The models behind the judges that were asked."""
    models = VerifierSpec.from_json(row.replay.verifier_version.spec).models
    rows = JudgeConnection.objects.filter(project=row.replay.project_id, name__in=models.names)
    known = dict(rows.values_list("name", "model"))
    return {
        "primary": known.get(models.primary, models.primary),
        "alternate": known.get(models.alternate, models.alternate),
        "panel": [known.get(name, name) for name in models.panel],
    }
