from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from django.db import connection, transaction

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.env import environment
from loomverify.errors import Conflict, NotFound
from verification.engine.verifier import (
    ENGINE_BUILD,
    LEGACY_FLAGS,
    PROMPT_VERSION,
    Flags,
    JudgeModels,
    VerifierSpec,
)
from verification.verifiers.environment import connect_environment
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
        others = VerifierVersion.objects.filter(project=project).exclude(engine=version.engine)
        other = others.order_by("-number").first()
        if other is not None:
            same = replace(
                VerifierSpec.from_json(other.spec),
                models=spec.models,
                prompt_version=spec.prompt_version,
                engine_build=spec.engine_build,
            )
            add_version(project=project, spec=same, note=reason[:300], actor=actor)
        return activate(project=project, number=version.number, actor=actor, reason=reason)


def _first_versions(project: Project, named: JudgeModels) -> VerifierVersion:
    spec = VerifierSpec(Flags(), named)
    first = add_version(project=project, spec=spec, note="The first one.")
    first.is_active = True
    first.save(update_fields=["is_active"])
    legacy = VerifierSpec(LEGACY_FLAGS, named)
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


def activate(*, project: Project, number: int, actor: Actor, reason: str) -> VerifierVersion:
    """Make a version the live one for runs submitted from now on; also the way back.

    Raises:
        NotFound: the project has no version of this number.
        Conflict: it names a judge that was removed.
    """
    with transaction.atomic():
        lock(project)
        versions = VerifierVersion.objects.filter(project=project)
        chosen = versions.filter(number=number).first()
        if chosen is None:
            raise NotFound("verifier.unknown", f"There is no verifier version {number}.")
        before = versions.filter(is_active=True).first()
        if before is not None and before.number == number:
            return chosen
        _refuse_removed_judges(project, chosen)
        versions.filter(is_active=True).update(is_active=False)
        chosen.is_active = True
        # The next start must not take this choice for a change of the environment.
        chosen.environment_models = before.environment_models if before else {}
        chosen.save(update_fields=["is_active", "environment_models"])
        record(
            actor,
            "verifier.activated",
            chosen,
            project=project,
            diff={"active": [before.number if before else None, number]},
            reason=reason,
        )
    return chosen


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
