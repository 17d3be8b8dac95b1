from __future__ import annotations

from dataclasses import replace

from django.db import connection, transaction

from loomverify.accounts.access import SYSTEM, Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import Project
from loomverify.env import Environment, environment
from loomverify.errors import NotFound
from verification.engine.verifier import (
    ENGINE_BUILD,
    LEGACY_FLAGS,
    Flags,
    JudgeModels,
    VerifierSpec,
)
from verification.verifiers.models import VerifierVersion


def ensure_verifiers(*, project: Project) -> VerifierVersion:
    """Give a project its policy version (active) and its legacy one; return the active one.

    Where the environment's judges, or this program's engine, differ from the active
    version's, a new version is made from it and activated, and the audit log says so.
    """
    models = judge_models(environment())
    with transaction.atomic():
        _lock(project)
        active = VerifierVersion.objects.filter(project=project, is_active=True).first()
        if active is None:
            active = add_version(
                project=project, spec=VerifierSpec(Flags(), models), note="The first one."
            )
            active.is_active = True
            active.save(update_fields=["is_active"])
            legacy = VerifierSpec(LEGACY_FLAGS, models)
            add_version(project=project, spec=legacy, note="The old engine, to compare with.")
            return active
        spec = VerifierSpec.from_json(active.spec)
        current = replace(spec, models=models, engine_build=ENGINE_BUILD)
        if current == spec:
            return active
        note = "The environment's judges changed." if models != spec.models else "New engine build."
        version = add_version(project=project, spec=current, note=note)
        return activate(project=project, number=version.number, actor=SYSTEM, reason=note)


def judge_models(env: Environment) -> JudgeModels:
    return JudgeModels(
        primary=env.judge.model if env.judge else "",
        alternate=env.alternate_judge.model if env.alternate_judge else "",
        panel=env.panel_models,
    )


def add_version(
    *, project: Project, spec: VerifierSpec, note: str = "", actor: Actor = SYSTEM
) -> VerifierVersion:
    """Add an immutable version; one with the same content is returned instead of a twin."""
    with transaction.atomic():
        _lock(project)
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
    """
    with transaction.atomic():
        _lock(project)
        versions = VerifierVersion.objects.filter(project=project)
        chosen = versions.filter(number=number).first()
        if chosen is None:
            raise NotFound("verifier.unknown", f"There is no verifier version {number}.")
        before = versions.filter(is_active=True).values_list("number", flat=True).first()
        if before == number:
            return chosen
        versions.filter(is_active=True).update(is_active=False)
        versions.filter(pk=chosen.pk).update(is_active=True)
        chosen.is_active = True
        record(
            actor,
            "verifier.activated",
            chosen,
            project=project,
            diff={"active": [before, number]},
            reason=reason,
        )
    return chosen


def _lock(project: Project) -> None:
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_xact_lock(hashtext('verifiers'), %s)", [project.pk])
