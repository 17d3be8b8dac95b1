"""The judges that the environment names, as connections of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from loomverify.accounts.access import SYSTEM
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.env import Environment
from verification.engine.verifier import JudgeModels
from verification.verifiers.models import JudgeConnection

PRIMARY_KEY = "LOOMVERIFY_JUDGE_API_KEY"
ALTERNATE_KEY = "LOOMVERIFY_ALTERNATE_JUDGE_API_KEY"


@dataclass(frozen=True, slots=True)
class Named:
    model: str
    base_url: str
    key_reference: str


def connect_environment(project: Project, env: Environment) -> JudgeModels:
    """Write the environment's judges as rows, and return what they are called.

    Those that it does not name any more are removed from use. Inside the transaction that
    locks the project's verifiers.
    """
    alternate = env.alternate_judge
    primary = _names(project, [_primary(env, env.judge.model)] if env.judge else [])
    second = _names(
        project,
        [Named(alternate.model, alternate.api_base, ALTERNATE_KEY)] if alternate else [],
    )
    panel = _names(project, [_primary(env, model) for model in dict.fromkeys(env.panel_models)])
    _remove_others(project, keep=[*primary, *second, *panel])
    return JudgeModels(
        primary=primary[0] if primary else "",
        alternate=second[0] if second else "",
        panel=tuple(panel),
    )


def _primary(env: Environment, model: str) -> Named:
    """The panel's models are behind the primary judge's address and key."""
    return Named(model, env.judge.api_base if env.judge else "", PRIMARY_KEY)


def _names(project: Project, judges: list[Named]) -> list[str]:
    return [_connected(project, judge) for judge in judges]


def _connected(project: Project, judge: Named) -> str:
    """The name of the row that stands for a judge of the environment; made where there is none."""
    for name in _candidates(judge):
        row = JudgeConnection.objects.filter(project=project, name=name).first()
        if row is None:
            return _add(project, judge, name).name
        if row.is_environment and (row.model, row.base_url) == (judge.model, judge.base_url):
            _keep(row, judge)
            return name
    raise AssertionError("names do not end")


def _candidates(judge: Named) -> Iterator[str]:
    """A name says which model is asked, and where: another address needs another name."""
    host = urlsplit(judge.base_url).netloc or "its provider"
    place = f"{judge.model[:60]} at {host[:40]}"
    yield judge.model[:120]
    yield place
    number = 2
    while True:
        yield f"{place} ({number})"
        number += 1


def _add(project: Project, judge: Named, name: str) -> JudgeConnection:
    row = JudgeConnection.objects.create(
        project=project,
        name=name,
        model=judge.model,
        base_url=judge.base_url,
        key_reference=judge.key_reference,
        is_environment=True,
        created_by=SYSTEM.name,
    )
    reason = "The environment names it."
    record(SYSTEM, "judge.added", row, project=project, reason=reason)
    return row


def _keep(row: JudgeConnection, judge: Named) -> None:
    if row.is_removed:
        record(
            SYSTEM, "judge.restored", row, project=row.project, reason="The environment names it."
        )
    if row.is_removed or row.key_reference != judge.key_reference:
        row.is_removed, row.key_reference = False, judge.key_reference
        row.save(update_fields=["is_removed", "key_reference"])


def _remove_others(project: Project, keep: list[str]) -> None:
    rows = JudgeConnection.objects.filter(project=project, is_environment=True, is_removed=False)
    for row in rows.exclude(name__in=keep):
        JudgeConnection.objects.filter(pk=row.pk).update(is_removed=True)
        record(
            SYSTEM,
            "judge.removed",
            row,
            project=project,
            reason="The environment does not name it any more.",
        )
