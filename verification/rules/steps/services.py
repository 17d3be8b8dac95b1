"""How hard a rule counts: one step is one version, stored and published at once."""

from __future__ import annotations

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Role
from loomverify.errors import Conflict, InputError, NotFound
from processes import rule_edits, services
from processes.definition.model import Enforcement, Rule
from processes.models import Draft, Process, ProcessVersion
from processes.services.drafts import Stored
from processes.services.versions import ANY_VERSION, lock_versions

MAX_NOTE_CHARS = 300


def set_enforcement(
    *,
    process: Process,
    name: str,
    to: Enforcement,
    actor: Actor,
    reason: str,
    instead_of: int | None = ANY_VERSION,
    corpus_reason: str = "",
) -> ProcessVersion:
    """Publish a version that differs from the published one by a rule's enforcement alone.

    With `instead_of` only where that version is the published one.

    Raises:
        NotFound: nothing is published, or that has no such rule.
        Conflict: `process.published`, `version.unpublished`, `rule.ambiguous`, `rule.unchanged`.
        InputError: `rule.unscoped`, or its text cannot be changed alone.
        Objected: a guard objects, and no `corpus_reason` is given.
    """
    with transaction.atomic():
        lock_versions(process.project)
        process.refresh_from_db()
        published = _published(process, instead_of)
        rule = _rule(rule_edits.text_of(published.source_text), name)
        version, _ = services.add_version(
            project=process.project,
            source_text=stepped_text(published.source_text, name, to),
            actor=actor,
            role=Role.EDITOR,
            note=_note(rule, to, reason),
        )
        return services.publish(
            process=process,
            number=version.number,
            actor=actor,
            reason=reason,
            instead_of=published.number,
            corpus_reason=corpus_reason,
        )


def observe_draft(
    *,
    draft: Draft,
    lock_version: int,
    name: str,
    actor: Actor,
    reason: str,
    corpus_reason: str = "",
) -> Stored:
    """Publish a draft with one of its rules observed: the first step of a new rule.

    Raises:
        NotFound, Conflict, InputError, Objected: as `set_enforcement` and `publish_draft` do;
            the draft is left as it was.
    """
    with transaction.atomic():
        draft = services.edit_draft(
            draft=draft,
            lock_version=lock_version,
            change=lambda text: observed_text(text, name),
        )
        return services.publish_draft(
            draft=draft,
            lock_version=draft.lock_version,
            actor=actor,
            role=Role.ADMIN,
            reason=reason,
            corpus_reason=corpus_reason,
        )


def observed_text(source: str, name: str) -> str:
    """The text with a rule observed, which it may be already."""
    text = rule_edits.text_of(source)
    if _rule(text, name).usual_enforcement is Enforcement.OBSERVE:
        return source
    return stepped_text(source, name, Enforcement.OBSERVE)


def stepped_text(source: str, name: str, to: Enforcement) -> str:
    """The text with a rule's enforcement set; every other byte stays.

    Raises:
        NotFound, Conflict, InputError: as `set_enforcement` does.
    """
    text = rule_edits.text_of(source)
    rule = _rule(text, name)
    _need_step(rule, to)
    return text.patched(rule_edits.rule_edits(text, rule, {"enforcement": to.value}))


def _published(process: Process, instead_of: int | None) -> ProcessVersion:
    published = process.published
    if instead_of not in (ANY_VERSION, published.number if published else None):
        raise Conflict("process.published", "Another version was published in the meantime.")
    if published is None:
        raise NotFound("process.unpublished", f"{process} has no published version yet.")
    newest = services.newest_version(process)
    if newest.pk != published.pk:
        raise Conflict(
            "version.unpublished",
            f"v{newest.number} is newer than the published v{published.number}, and is not "
            f"published. Publish v{newest.number} first, or change the rule in a draft of it.",
        )
    return published


def _rule(text: rule_edits.Text, name: str) -> Rule:
    found = [rule for rule in text.definition.rules if rule.name == name]
    if not found:
        raise NotFound("rule.unknown", f"There is no rule {name[:80]!r}.")
    if len(found) > 1:
        raise Conflict(
            "rule.ambiguous", "Several rules have this name. Give them names of their own first."
        )
    return found[0]


def _need_step(rule: Rule, to: Enforcement) -> None:
    if rule.usual_enforcement is to:
        raise Conflict("rule.unchanged", f"The rule is {to.value} already.")
    if to is Enforcement.HARD and not rule.is_scoped:
        raise InputError(
            "rule.unscoped",
            "A rule that names no phase may apply nowhere. Name its phases first.",
            loc=("body", "enforcement"),
        )


def _note(rule: Rule, to: Enforcement, reason: str) -> str:
    said = f"{rule.name[:120]}: {rule.usual_enforcement.value} → {to.value}. {reason}"
    return said[:MAX_NOTE_CHARS]
