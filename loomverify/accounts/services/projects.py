from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from zoneinfo import available_timezones

import re2
from django.core.exceptions import ValidationError
from django.core.validators import validate_slug
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from loomverify.accounts import hooks
from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Member, Project, Role, User
from loomverify.errors import Conflict, Forbidden, InputError, Issue

MAX_NAME_CHARS = 120
MAX_SLUG_CHARS = 60
MAX_REDACTION_PATTERNS = 50
MAX_PATTERN_CHARS = 500
MAX_PATTERN_BYTES = 1 << 20
"""Of the compiled pattern: a large one is slow on every file that comes in."""
SAMPLE = "a 0_-.\n"
RETENTION_DAYS = range(1, 3651)


def may_create_project(user: User) -> bool:
    """Operators may, and whoever is an admin somewhere."""
    return user.is_active and (
        user.is_staff or Member.objects.filter(user=user, role=Role.ADMIN).exists()
    )


def create_project(
    *, name: str, actor: Actor, slug: str = "", owner: User | None = None
) -> Project:
    """Create a project with all that rooms above give it; `owner` becomes its admin.

    Without a slug, one is made of the name.

    Raises:
        InputError: `project.name.invalid`, `project.slug.invalid`.
        Conflict: `project.slug.taken`.
        Forbidden: the person may not create projects.
    """
    if actor.user is not None and not may_create_project(actor.user):
        raise Forbidden("project.create", "Only an admin of some project may create another.")
    name = _checked_name(name)
    with transaction.atomic():
        project = _insert(name, slug)
        record(actor, "project.created", project, project=project)
        if owner is not None:
            member = Member.objects.create(project=project, user=owner, role=Role.ADMIN)
            diff = {"role": [None, Role.ADMIN.value]}
            record(actor, "member.added", member, project=project, diff=diff)
        hooks.project_created(project)
    return project


def change_project(
    *,
    project: Project,
    actor: Actor,
    name: str,
    time_zone: str,
    redaction_patterns: Sequence[str],
    retention_days: int,
) -> Project:
    """Change a project's settings; the slug never changes, since addresses hold it.

    Raises:
        InputError: every setting that makes no sense, `loc` naming it.
    """
    patterns = [pattern for pattern in redaction_patterns if pattern.strip()]
    issues = _setting_issues(time_zone, patterns, retention_days)
    if issues:
        raise InputError.of(issues)
    new: dict[str, Any] = {
        "name": _checked_name(name),
        "time_zone": time_zone,
        "redaction_patterns": patterns,
        "retention_days": retention_days,
    }
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        diff = {
            field: [getattr(locked, field), value]
            for field, value in new.items()
            if getattr(locked, field) != value
        }
        if diff:
            for field in diff:
                setattr(locked, field, new[field])
            locked.save(update_fields=list(diff))
            record(actor, "project.changed", locked, project=locked, diff=diff)
    return locked


def pattern_problem(pattern: str) -> str:
    """Say why a redaction pattern cannot be used; empty when it can."""
    if len(pattern) > MAX_PATTERN_CHARS:
        return f"longer than {MAX_PATTERN_CHARS} characters"
    if "\x00" in pattern:
        return "it holds a NUL character"
    options = re2.Options()
    options.max_mem = MAX_PATTERN_BYTES
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "it does not compile"
        return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
    matches_nothing = any(not found[0] for found in compiled.finditer(SAMPLE))
    return "it matches where no text is" if matches_nothing else ""


def _setting_issues(time_zone: str, patterns: Sequence[str], retention_days: int) -> list[Issue]:
    issues = []
    if time_zone not in available_timezones():
        issues.append(Issue("project.time_zone.unknown", "No such time zone.", ("time_zone",)))
    if retention_days not in RETENTION_DAYS:
        message = f"From {RETENTION_DAYS.start} to {RETENTION_DAYS.stop - 1} days."
        issues.append(Issue("project.retention.out_of_range", message, ("retention_days",)))
    if len(patterns) > MAX_REDACTION_PATTERNS:
        message = f"At most {MAX_REDACTION_PATTERNS} patterns."
        issues.append(Issue("project.redaction.too_many", message, ("redaction_patterns",)))
        return issues
    for number, pattern in enumerate(patterns, start=1):
        if problem := pattern_problem(pattern):
            message = f"Pattern {number} cannot be used: {problem}"
            issues.append(Issue("project.redaction.invalid", message, ("redaction_patterns",)))
    return issues


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_CHARS or "\x00" in name:
        raise InputError(
            "project.name.invalid", f"A name of 1 to {MAX_NAME_CHARS} characters.", loc=("name",)
        )
    return name


def _insert(name: str, slug: str) -> Project:
    if slug:
        _check_slug(slug)
    base = slug or slugify(name)[: MAX_SLUG_CHARS - 4].strip("-_") or "project"
    for number in range(1, 1000):
        candidate = base if number == 1 else f"{base}-{number}"
        try:
            with transaction.atomic():
                return Project.objects.create(slug=candidate, name=name)
        except IntegrityError:
            if slug:
                break
    raise Conflict("project.slug.taken", f"The short name {base} is taken.", loc=("slug",))


def _check_slug(slug: str) -> None:
    try:
        validate_slug(slug)
    except ValidationError:
        slug = ""
    if not slug or len(slug) > MAX_SLUG_CHARS:
        raise InputError(
            "project.slug.invalid",
            f"1 to {MAX_SLUG_CHARS} letters, digits, - or _.",
            loc=("slug",),
        )
