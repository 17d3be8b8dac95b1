"""A process with golden cases, and changes of it that the cases mind or do not mind."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from loomverify.accounts.access import SYSTEM, Access, Actor, person
from loomverify.accounts.models import AuditEntry, Project, Role, User
from processes.models import Draft, Process, ProcessVersion
from processes.services import add_version, open_draft, publish, publish_draft, save_draft
from tests.builders import SOURCE_TEXT
from tests.golden.builders import make_case
from tests.golden.replayed import FILES, replayed
from verification.engine.verifier import Flags, VerifierSpec
from verification.golden.models import GoldenCase
from verification.verifiers.models import VerifierVersion
from verification.verifiers.services import activate
from verification.verifiers.services import add_version as add_verifier

HARMLESS = SOURCE_TEXT.replace("Small pieces of work", "Pieces of work, all small")
BREAKING = SOURCE_TEXT.replace(
    '      check: "TODO|TBD"\n', '      check: "Revenue"\n      enforcement: hard\n'
)
ASKING = SOURCE_TEXT.replace(
    "    description: Build what was asked for\n",
    "    description: Build what was asked for\n    verification_tier: 2\n",
)
"""A judge is asked of whom nothing was recorded."""
JUDGED = VerifierSpec(replace(Flags(), tier3_vote_count=5))
HOLDS: dict[str, Any] = {"files": FILES, "expected": {"outcome": "pass"}}


def process_of(project: Project) -> Process:
    return project.processes.select_related("published", "project").get(slug="small-work")


def case_that_held(project: Project, name: str = "held") -> GoldenCase:
    """A case that the live line has seen holding."""
    case = make_case(project, name, **HOLDS)
    replayed(project)
    return case


def version_of(project: Project, source_text: str) -> ProcessVersion:
    """The next version, not published."""
    version, _ = add_version(
        project=project, source_text=source_text, actor=SYSTEM, role=Role.EDITOR
    )
    return version


def draft_of(project: Project, user: User, source_text: str) -> Draft:
    process = process_of(project)
    draft = open_draft(process=process, editor=user, actor=person(user))
    return save_draft(draft=draft, lock_version=draft.lock_version, source_text=source_text)


def put_live(version: ProcessVersion, corpus_reason: str = "") -> ProcessVersion:
    return publish(
        process=process_of(version.process.project),
        number=version.number,
        actor=SYSTEM,
        reason="Try",
        corpus_reason=corpus_reason,
    )


def put_draft_live(draft: Draft, corpus_reason: str = "", role: Role = Role.ADMIN) -> Any:
    return publish_draft(
        draft=draft,
        lock_version=draft.lock_version,
        actor=SYSTEM,
        role=role,
        reason="Try",
        corpus_reason=corpus_reason,
    )


def other_verifier(project: Project, spec: VerifierSpec = JUDGED) -> VerifierVersion:
    return add_verifier(project=project, spec=spec)


def put_verifier_live(version: VerifierVersion, corpus_reason: str = "") -> VerifierVersion:
    return activate(
        project=version.project,
        number=version.number,
        actor=SYSTEM,
        reason="Try",
        corpus_reason=corpus_reason,
    )


def admin_of(project: Project, name: str = "ann") -> Access:
    return Access(project, Role.ADMIN, Actor(name))


def audited(project: Project, verb: str) -> dict[str, Any]:
    """What the audit log keeps of the last change of this kind."""
    entry = AuditEntry.objects.filter(project=project, verb=verb).order_by("-pk").first()
    assert entry is not None
    return dict(entry.diff)
