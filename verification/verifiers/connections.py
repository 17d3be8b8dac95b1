"""Changes to a project's judges: its connections, and which of them judge."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import Q

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.errors import Conflict, InputError, Issue, Loc, NotFound
from verification.adapters.judge_models import PROVIDERS, provider_of
from verification.adapters.judge_wire import refusal
from verification.engine.verifier import JudgeModels, VerifierSpec
from verification.verifiers.models import JudgeConnection, VerifierVersion
from verification.verifiers.parts import MAX_PANEL
from verification.verifiers.selectors import may_be_named
from verification.verifiers.services import lock, replace_active

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,59}")
MODEL = re.compile(r"[!-~]{1,120}")


@dataclass(frozen=True, slots=True)
class Terms:
    """How a connection is called. What is in `JUDGING` can change a verdict."""

    key_reference: str = ""
    input_usd_per_million: Decimal | None = None
    output_usd_per_million: Decimal | None = None
    timeout_seconds: int = 60
    max_output_tokens: int = 4000
    max_input_chars: int = 200_000
    structured_output: bool | None = None

    def check(self) -> None:
        """Raise InputError where a value makes no sense."""
        if self.key_reference and not may_be_named(self.key_reference):
            raise _wrong(
                "key_reference",
                "The variable's name must begin with LOOMVERIFY_KEY_, followed by capitals, "
                "digits and _: other variables are the operator's.",
            )
        for name, (low, high) in BOUNDS.items():
            value = getattr(self, name)
            if value is not None and not (Decimal(value).is_finite() and low <= value <= high):
                raise _wrong(name, f"This must be from {low:,} to {high:,}.")


BOUNDS = {
    "input_usd_per_million": (0, 100_000),
    "output_usd_per_million": (0, 100_000),
    "timeout_seconds": (1, 600),
    "max_output_tokens": (16, 200_000),
    "max_input_chars": (1000, 4_000_000),
}
TERMS = ("key_reference", *BOUNDS, "structured_output")
JUDGING = ("max_output_tokens", "max_input_chars", "structured_output")
"""What stays as it is once a verifier version names the connection: that version never changes.
The others lead to doubt or to cost, never to another verdict."""


def add_connection(
    *, project: Project, actor: Actor, name: str, model: str, base_url: str = "", terms: Terms
) -> JudgeConnection:
    """Add a judge that can be asked.

    Raises:
        InputError: a value makes no sense; its place names the field.
        Conflict: the name is taken, be it by a connection that was removed.
    """
    _check_identity(name, model, base_url)
    terms.check()
    with transaction.atomic():
        lock(project)
        if JudgeConnection.objects.filter(project=project, name=name).exists():
            raise Conflict(
                "judge.name_taken",
                "This name is taken, or was: a name always says the same model.",
                loc=("body", "name"),
            )
        values = {field: getattr(terms, field) for field in TERMS}
        row = JudgeConnection.objects.create(
            project=project,
            name=name,
            model=model,
            base_url=base_url,
            created_by=actor.name[:200],
            **values,
        )
        diff = {"model": [None, model], "base_url": [None, base_url]}
        record(actor, "judge.added", row, project=project, diff=diff)
    return row


def change_connection(
    *, project: Project, actor: Actor, name: str, terms: Terms
) -> JudgeConnection:
    """Change a connection's terms. The environment's keeps its key.

    Raises:
        InputError: a value makes no sense; its place names the field.
        NotFound: there is none.
        Conflict: what can change a verdict, and a verifier version names the connection.
    """
    with transaction.atomic():
        lock(project)
        row = _in_use(project, name)
        if row.is_environment:
            terms = replace(terms, key_reference="")
        terms.check()
        if row.is_environment:
            terms = replace(terms, key_reference=row.key_reference)
        diff = _differences(row, terms)
        _refuse_named(row, diff)
        if diff:
            JudgeConnection.objects.filter(pk=row.pk).update(
                **{field: getattr(terms, field) for field in TERMS}
            )
            record(actor, "judge.changed", row, project=project, diff=diff)
    row.refresh_from_db()
    return row


def is_named(row: JudgeConnection) -> bool:
    """Whether any verifier version names it, be it one that judges nothing."""
    seats = (
        Q(spec__models__primary=row.name)
        | Q(spec__models__alternate=row.name)
        | Q(spec__models__panel__contains=[row.name])
    )
    return VerifierVersion.objects.filter(seats, project=row.project_id).exists()


def remove_connection(*, project: Project, actor: Actor, name: str) -> None:
    """Take a connection out of use. Its name stays taken: past evaluations name it.

    Raises:
        NotFound, Conflict: it is the environment's, or the live verifier version names it.
    """
    with transaction.atomic():
        lock(project)
        row = _in_use(project, name)
        if row.is_environment:
            raise Conflict("judge.environment", "The environment names it; take it away there.")
        if name in live_models(project).names:
            raise Conflict("judge.in_use", "It judges now: choose another judge first.")
        JudgeConnection.objects.filter(pk=row.pk).update(is_removed=True)
        record(actor, "judge.removed", row, project=project)


def choose_judges(
    *,
    project: Project,
    actor: Actor,
    primary: str,
    alternate: str = "",
    panel: tuple[str, ...] = (),
    reason: str,
) -> VerifierVersion:
    """Make a verifier version with these judges, and make it the live one.

    Raises:
        InputError: a name is not one of a connection in use; its place names the field.
    """
    models = JudgeModels(primary, alternate, tuple(dict.fromkeys(panel)))
    if not reason.strip():
        raise _wrong("reason", "Say why.")
    with transaction.atomic():
        lock(project)
        check_seats(project, models)
        active = VerifierVersion.objects.get(project=project, is_active=True)
        spec = replace(VerifierSpec.from_json(active.spec), models=models)
        return replace_active(project=project, spec=spec, actor=actor, reason=reason.strip())


def live_models(project: Project) -> JudgeModels:
    active = VerifierVersion.objects.filter(project=project, is_active=True).first()
    return VerifierSpec.from_json(active.spec).models if active else JudgeModels()


def check_seats(project: Project, models: JudgeModels, *, place: Loc = ("body",)) -> None:
    """Raise InputError unless each name is one of a connection in use, and the seats make sense."""
    issues = list(_seat_issues(project, models, place))
    if issues:
        raise InputError.of(issues)


def _seat_issues(project: Project, models: JudgeModels, place: Loc) -> Iterator[Issue]:
    def wrong(seat: str, sentence: str) -> Issue:
        return Issue(f"judge.{seat}", sentence, (*place, seat))

    if len(models.panel) > MAX_PANEL:
        yield wrong("panel", f"A panel has at most {MAX_PANEL} judges.")
        return
    rows = JudgeConnection.objects.filter(project=project, is_removed=False)
    known = set(rows.values_list("name", flat=True))
    seats: Mapping[str, tuple[str, ...]] = {
        "primary": (models.primary,) if models.primary else (),
        "alternate": (models.alternate,) if models.alternate else (),
        "panel": models.panel,
    }
    for seat, names in seats.items():
        for name in names:
            if name not in known:
                yield wrong(seat, f"There is no connection named {name[:120]}.")
    if not models.primary and (models.alternate or models.panel):
        yield wrong("primary", "Without a first judge, no other is asked.")
    if models.alternate and models.alternate == models.primary:
        yield wrong("alternate", "The alternate must be another connection than the first.")


def _in_use(project: Project, name: str) -> JudgeConnection:
    rows = JudgeConnection.objects.select_for_update()
    row = rows.filter(project=project, name=name, is_removed=False).first()
    if row is None:
        raise NotFound("judge.unknown", f"There is no judge connection named {name[:120]}.")
    return row


def _differences(row: JudgeConnection, terms: Terms) -> dict[str, list[Any]]:
    changes = {field: [getattr(row, field), getattr(terms, field)] for field in TERMS}
    return {
        field: [_shown(old), _shown(new)] for field, (old, new) in changes.items() if old != new
    }


def _refuse_named(row: JudgeConnection, changed: Mapping[str, Any]) -> None:
    fields = [field for field in JUDGING if field in changed]
    if fields and is_named(row):
        raise Conflict(
            "judge.named",
            "A verifier version names this connection, and this can change a verdict: "
            "add a connection of another name, and choose it.",
            loc=("body", fields[0]),
        )


def _shown(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else value


def _check_identity(name: str, model: str, base_url: str) -> None:
    if not NAME.fullmatch(name):
        raise _wrong("name", "Use small letters, digits and hyphens, at most 60.")
    if not MODEL.fullmatch(model) or provider_of(model) not in PROVIDERS:
        raise _wrong(
            "model",
            "Write provider/model, with one of these providers: "
            f"{', '.join(sorted(PROVIDERS))}. Others are for the environment's judges.",
        )
    if base_url:
        _check_address(base_url)


def _check_address(url: str) -> None:
    """What can be told without asking anybody; the rest is told where it is connected to."""
    if len(url) > 500 or not url.isprintable() or any(mark.isspace() for mark in url):
        raise _wrong("base_url", "This is not an address: it is too long, or holds odd characters.")
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise _wrong("base_url", "The address must begin with https:// or http:// and name a host.")
    if parts.username is not None or parts.query or parts.fragment:
        raise _wrong("base_url", "The address must hold no user name, no ? and no #.")
    why = _refused_literal(parts.hostname or "")
    if why:
        raise _wrong("base_url", why)


def _refused_literal(host: str) -> str:
    try:
        address = str(ipaddress.ip_address(host))
    except ValueError:
        return ""
    return refusal(address, is_private_allowed=True)


def _wrong(field: str, sentence: str) -> InputError:
    return InputError(f"judge.{field}", sentence, loc=("body", field))
