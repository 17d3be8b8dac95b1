"""Which rows belong to a project: every table that leads to one by its keys."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from django.apps import apps
from django.db.models import ForeignKey, Model, QuerySet

from loomverify.accounts.models import Project
from verification.runs.models import TargetMark
from verification.trials.models import Tally, Trial

Path = str


@cache
def paths() -> Mapping[type[Model], Path]:
    """By model, how a filter gets from its rows to their project: a short way, and never an empty one.

    Only where there is no other way, by a key that some of its rows do not have.
    """
    found: dict[type[Model], Path] = {Project: "pk"}
    while near := _nearest(found, may_be_empty=False) or _nearest(found, may_be_empty=True):
        found |= near
    del found[Project]
    return found


def _nearest(known: Mapping[type[Model], Path], *, may_be_empty: bool) -> dict[type[Model], Path]:
    return {
        model: min(ways, key=len)
        for model in apps.get_models(include_auto_created=True)
        if model not in known and (ways := _ways(model, known, may_be_empty=may_be_empty))
    }


def _ways(
    model: type[Model], known: Mapping[type[Model], Path], *, may_be_empty: bool
) -> list[Path]:
    keys = [
        field
        for field in model._meta.concrete_fields
        if isinstance(field, ForeignKey) and field.related_model in known
    ]
    return [
        key.name if key.related_model is Project else f"{key.name}__{known[key.related_model]}"
        for key in keys
        if may_be_empty or not key.null
    ]


def rows_of(model: type[Model], project: Project) -> QuerySet[Model]:
    return model._base_manager.filter(**{paths()[model]: project.pk})


def deepest_first(project: Project) -> list[QuerySet[Model]]:
    """A project's rows, table by table, each before those that lead it to the project."""
    models = sorted(paths(), key=lambda model: -paths()[model].count("__"))
    return [rows_of(model, project) for model in models]


def keyless(project: Project) -> list[QuerySet[Model]]:
    """What PostgreSQL writes by itself and no key holds."""
    trials = list(Trial.objects.filter(project=project).values_list("pk", flat=True))
    return [
        TargetMark._base_manager.filter(project_id=project.pk),
        Tally._base_manager.filter(trial_id__in=trials),
    ]
