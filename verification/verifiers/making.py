"""New verifier versions, made from others. None judges runs before it is activated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import transaction

from loomverify.accounts.access import Actor
from loomverify.accounts.models import Project
from loomverify.errors import InputError, Issue
from verification.engine.verifier import (
    ENGINE_BUILD,
    PRESETS,
    PROMPT_VERSION,
    Engine,
    JudgeModels,
    VerifierSpec,
)
from verification.verifiers.connections import check_seats
from verification.verifiers.models import VerifierVersion
from verification.verifiers.parts import FLAGS, LIMITS, read_parts
from verification.verifiers.services import add_version, lock

MAX_NOTE_CHARS = 300


@dataclass(frozen=True, slots=True)
class Wish:
    """A version that somebody wants. What is left out is as in `base`, else as in the active one.

    `engine` takes the flags of that engine as it came, '' those of the base; `flags`, `models`
    and `limits` change single ones of them.
    """

    base: int | None = None
    engine: str = ""
    flags: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""


def create_version(*, project: Project, actor: Actor, wish: Wish) -> tuple[VerifierVersion, bool]:
    """Make a version of this program's engine build. False: there was one that says the same.

    Raises:
        InputError: something of it makes no sense; every such thing is told with its place.
    """
    with transaction.atomic():
        lock(project)
        spec = _spec(project, wish)
        twin = VerifierVersion.objects.filter(project=project, spec_sha256=spec.sha256).first()
        if twin is not None:
            return twin, False
        note = " ".join(wish.note.replace("\x00", "\ufffd").split())[:MAX_NOTE_CHARS]
        return add_version(project=project, spec=spec, note=note, actor=actor), True


def preset_of(base: VerifierVersion, engine: str) -> VerifierSpec:
    """What a new version starts from."""
    spec = VerifierSpec.from_json(base.spec)
    return replace(spec, flags=PRESETS[Engine(engine)]) if engine else spec


def _spec(project: Project, wish: Wish) -> VerifierSpec:
    start = preset_of(_base(project, wish.base), wish.engine)
    issues: list[Issue] = []
    flags = read_parts(FLAGS, wish.flags, ("body", "flags"), issues)
    limits = read_parts(LIMITS, wish.limits, ("body", "limits"), issues)
    spec = replace(
        start,
        flags=replace(start.flags, **flags),
        limits=replace(start.limits, **limits),
        models=_models(project, start.models, wish.models, issues),
        prompt_version=PROMPT_VERSION,
        engine_build=ENGINE_BUILD,
    )
    if wish.engine and spec.engine != wish.engine:
        message = f"The {wish.engine} engine is asked for, and this flag says the other one."
        place = ("body", "flags", "policy_engine_enabled")
        issues.append(Issue("verifier.engine.contradicted", message, place))
    if issues:
        raise InputError.of(issues)
    return spec


def _base(project: Project, number: int | None) -> VerifierVersion:
    versions = VerifierVersion.objects.filter(project=project)
    which = {"is_active": True} if number is None else {"number": number}
    base = versions.filter(**which).first()
    if base is None:
        message = f"There is no verifier version {number}."
        raise InputError("verifier.unknown", message, loc=("body", "base"))
    return base


def _models(
    project: Project, start: JudgeModels, given: Mapping[str, Any], issues: list[Issue]
) -> JudgeModels:
    models = replace(start, **given)
    models = replace(models, panel=tuple(dict.fromkeys(models.panel)))
    try:
        check_seats(project, models, place=("body", "models"))
    except InputError as error:
        issues.extend(error.issues)
    return models
