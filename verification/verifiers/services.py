from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any

from django.db import connection, transaction

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.env import environment
from loomverify.errors import Conflict, NotFound
from processes.services.versions import lock_versions
from verification.engine.verifier import (
    ENGINE_BUILD,
    PRESETS,
    PROMPT_VERSION,
    Engine,
    JudgeModels,
    VerifierSpec,
)
from verification.verifiers.activations import before_active, numbers_before
from verification.verifiers.environment import connect_environment
from verification.verifiers.guards import ACTIVATING
from verification.verifiers.models import JudgeConnection, VerifierVersion

ENVIRONMENT_CHANGED = "The environment's judges changed."


def ensure_verifiers(*, project: Project) -> VerifierVersion:
    """Give a project its policy version (active) and its legacy one; return the active one.

    Where the environment's judges changed since the active version was made or chosen, or this
    program's engine did, a new version is activated, and the audit log says so. What was chosen
    on the pages stays as long as the environment says the same.
    """
    with transaction.atomic():
        lock(project)
        named = connect_environment(project, environment())
        active = VerifierVersion.objects.filter(project=project, is_active=True).first()
        if active is None:
            return _first_versions(project, named)
        spec = VerifierSpec.from_json(active.spec)
        models = _models_after(project, active, spec.models, named)
        current = replace(
            spec, models=models, prompt_version=PROMPT_VERSION, engine_build=ENGINE_BUILD
        )
        if current != spec:
            note = ENVIRONMENT_CHANGED if models != spec.models else "New engine build."
            active = replace_active(project=project, spec=current, actor=SYSTEM, reason=note)
        return _remember(active, named)


def replace_active(
    *, project: Project, spec: VerifierSpec, actor: Actor, reason: str
) -> VerifierVersion:
    """Add a version and make it the live one; the other engine gets one with the same judges.

    So the way back to it stays one activation.
    """
    with transaction.atomic():
        version = add_version(project=project, spec=spec, note=reason[:300], actor=actor)
        other = _of_other_engine(project, version)
        if other is not None:
            same = replace(
                VerifierSpec.from_json(other.spec),
                models=spec.models,
                prompt_version=spec.prompt_version,
                engine_build=spec.engine_build,
            )
            add_version(project=project, spec=same, note=reason[:300], actor=actor)
        if version.is_active:
            return version
        _refuse_removed_judges(project, version)
        return _activate(project, version, actor=actor, reason=reason)


def _of_other_engine(project: Project, version: VerifierVersion) -> VerifierVersion | None:
    """The one that judged runs last, else that engine as it came: not what is only tried."""
    rows = VerifierVersion.objects.filter(project=project).exclude(engine=version.engine)
    others = {one.number: one for one in rows.order_by("-number")}
    judged = [others[number] for number in numbers_before(project) if number in others]
    came = [one for one in others.values() if VerifierSpec.from_json(one.spec).is_as_it_came]
    return next(iter([*judged, *came, *others.values()]), None)


def _first_versions(project: Project, named: JudgeModels) -> VerifierVersion:
    spec = VerifierSpec(PRESETS[Engine.POLICY], named)
    first = add_version(project=project, spec=spec, note="The first one.")
    first.is_active = True
    first.save(update_fields=["is_active"])
    legacy = VerifierSpec(PRESETS[Engine.LEGACY], named)
    add_version(project=project, spec=legacy, note="The old engine, to compare with.")
    return _remember(first, named)


def _models_after(
    project: Project, active: VerifierVersion, chosen: JudgeModels, named: JudgeModels
) -> JudgeModels:
    """The environment's judges where it changed, else those chosen before.

    An environment that names no judge any more takes away its own alone.
    """
    if _as_json(named) == (active.environment_models or _as_json(chosen)):
        return chosen
    gone = JudgeConnection.objects.filter(
        project=project, name__in=chosen.names, is_environment=True, is_removed=True
    )
    return named if named.is_configured or gone.exists() else chosen


def _remember(version: VerifierVersion, named: JudgeModels) -> VerifierVersion:
    """Keep what the environment named, beside the version: it is no part of the content."""
    version.environment_models = _as_json(named)
    VerifierVersion.objects.filter(pk=version.pk).update(
        environment_models=version.environment_models
    )
    return version


def _as_json(models: JudgeModels) -> dict[str, Any]:
    return {**asdict(models), "panel": list(models.panel)}


def add_version(
    *, project: Project, spec: VerifierSpec, note: str = "", actor: Actor = SYSTEM
) -> VerifierVersion:
    """Add an immutable version; one with the same content is returned instead of a twin."""
    with transaction.atomic():
        lock(project)
        versions = VerifierVersion.objects.filter(project=project)
        twin = versions.filter(spec_sha256=spec.sha256).first()
        if twin is not None:
            return twin
        last = versions.order_by("-number").values_list("number", flat=True).first() or 0
        version = VerifierVersion.objects.create(
            project=project,
            number=last + 1,
            engine=spec.engine,
            spec=spec.to_json(),
            spec_sha256=spec.sha256,
            engine_build=spec.engine_build,
            note=note,
            created_by=actor.name,
        )
        record(actor, "verifier.added", version, project=project, reason=note)
    return version


def activate(
    *,
    project: Project,
    number: int,
    actor: Actor,
    reason: str,
    corpus_reason: str = "",
    replaces: int | None = None,
) -> VerifierVersion:
    """Make a version the live one for runs submitted from now on; also the way back.

    `corpus_reason` says why, where a guard objects. `replaces` is the version that is the live
    one as far as the caller knows; None: whichever it is.

    Raises:
        NotFound: the project has no version of this number.
        Conflict: it names a judge that was removed, or another than `replaces` judges runs.
        Objected: a guard objects, and no `corpus_reason` is given.
    """
    with transaction.atomic():
        lock_versions(project)  # before the verifiers' lock, as publishing takes them
        lock(project)
        chosen = VerifierVersion.objects.filter(project=project, number=number).first()
        if chosen is None:
            raise NotFound("verifier.unknown", f"There is no verifier version {number}.")
        if chosen.is_active:
            return chosen
        _refuse_unless_active(project, replaces)
        _refuse_removed_judges(project, chosen)
        kept = ACTIVATING.need(chosen, reason=corpus_reason)
        return _activate(project, chosen, actor=actor, reason=reason, kept=kept)


def roll_back(*, project: Project, actor: Actor, active: int, reason: str) -> VerifierVersion:
    """Let the version judge again that did before the active one, `active` by its number.

    The reason counts where a guard objects as well: a way back that has to wait is none.

    Raises:
        Conflict: another version was activated meanwhile, or none judged before, or it names a
            judge that was removed.
    """
    with transaction.atomic():
        lock_versions(project)  # before the verifiers' lock, as publishing takes them
        lock(project)
        current = VerifierVersion.objects.filter(project=project, is_active=True).first()
        before = before_active(project, current)
        if before is None:
            raise Conflict("verifier.nothing_before", "No other version judged runs before.")
        return activate(
            project=project,
            number=before.number,
            actor=actor,
            reason=reason,
            corpus_reason=reason,
            replaces=active,
        )


def _activate(
    project: Project,
    chosen: VerifierVersion,
    *,
    actor: Actor,
    reason: str,
    kept: Mapping[str, list[Any]] = MappingProxyType({}),
) -> VerifierVersion:
    """Inside the lock. `kept` stands in the audit log beside the change."""
    versions = VerifierVersion.objects.filter(project=project)
    before = versions.filter(is_active=True).first()
    versions.filter(is_active=True).update(is_active=False)
    chosen.is_active = True
    # The next start must not take this choice for a change of the environment.
    chosen.environment_models = before.environment_models if before else {}
    chosen.save(update_fields=["is_active", "environment_models"])
    active = [before.number if before else None, chosen.number]
    diff = {"active": active, **kept}
    record(actor, "verifier.activated", chosen, project=project, diff=diff, reason=reason)
    return chosen


def _refuse_unless_active(project: Project, number: int | None) -> None:
    if number is None:
        return
    active = VerifierVersion.objects.filter(project=project, is_active=True).first()
    if active is None or active.number != number:
        now = f"v{active.number}" if active else "none"
        raise Conflict(
            "verifier.active_changed",
            f"v{number} does not judge runs any more: {now} does.",
            loc=("body", "replaces"),
        )


def _refuse_removed_judges(project: Project, version: VerifierVersion) -> None:
    names = VerifierSpec.from_json(version.spec).models.names
    removed = JudgeConnection.objects.filter(project=project, name__in=names, is_removed=True)
    name = removed.values_list("name", flat=True).first()
    if name is not None:
        raise Conflict(
            "verifier.judge_removed",
            f"Version {version.number} names the judge {name}, which was removed.",
        )


def lock(project: Project) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('verifiers'), %s)", [project.pk])
