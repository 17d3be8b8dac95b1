"""Verifier versions over the API: listed, made, compared, activated."""

from __future__ import annotations

from django.http import HttpRequest
from ninja import Router, Status

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from loomverify.errors import NotFound
from verification.verifiers import services
from verification.verifiers.making import create_version
from verification.verifiers.models import VerifierVersion
from verification.verifiers.version_list import version_by_number
from verification.verifiers.version_schemas import (
    Activation,
    VerifierComparison,
    VerifierIn,
    VerifierList,
    VerifierOut,
)

router = Router(tags=["Verifier versions"])


@router.get("/verifiers", response={200: VerifierList} | errors(), summary="Verifier versions")
def list_verifiers(request: HttpRequest) -> VerifierList:
    versions = VerifierVersion.objects.filter(project=access_of(request).project)
    return VerifierList(items=[VerifierOut.of(version) for version in versions.order_by("-number")])


@router.post(
    "/verifiers",
    response={200: VerifierOut, 201: VerifierOut} | errors(400, 403, 422),
    summary="Make a version from another one",
)
def make_verifier(request: HttpRequest, body: VerifierIn) -> Status[VerifierOut]:
    """It judges nothing until it is activated. 200: there was one that says exactly the same."""
    access = access_of(request)
    access.need(Role.ADMIN)
    version, is_new = create_version(project=access.project, actor=access.actor, wish=body.wish())
    return Status(201 if is_new else 200, VerifierOut.of(version))


@router.get(
    "/verifiers/{int:number}", response={200: VerifierOut} | errors(404), summary="One version"
)
def get_verifier(request: HttpRequest, number: int) -> VerifierOut:
    return VerifierOut.of(_version(request, number))


@router.get(
    "/verifiers/{int:old}...{int:new}",
    response={200: VerifierComparison} | errors(404),
    summary="What one version has otherwise than another",
)
def compare_verifiers(request: HttpRequest, old: int, new: int) -> VerifierComparison:
    return VerifierComparison.of(_version(request, old), _version(request, new))


@router.post(
    "/verifiers/{int:number}/activate",
    response={200: VerifierOut} | errors(403, 404, 409, 422),
    summary="Make a version the live one (also the way back)",
)
def activate_verifier(request: HttpRequest, number: int, body: Activation) -> VerifierOut:
    """409 `golden.regressed` or `golden.not_replayed`: give `corpus_reason`, or replay first."""
    access = access_of(request)
    access.need(Role.ADMIN)
    version = services.activate(
        project=access.project,
        number=number,
        actor=access.actor,
        reason=body.reason,
        corpus_reason=body.corpus_reason,
        replaces=body.replaces,
    )
    return VerifierOut.of(version)


def _version(request: HttpRequest, number: int) -> VerifierVersion:
    found = version_by_number(access_of(request).project, number)
    if found is None:
        raise NotFound("verifier.unknown", "There is no such verifier version.")
    return found
