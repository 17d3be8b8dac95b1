from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Field, Router, Schema

from loomverify.accounts.models import Role
from loomverify.api import access_of, errors
from verification.verifiers import services
from verification.verifiers.models import VerifierVersion

router = Router(tags=["Verifier versions"])


class VerifierOut(Schema):
    number: int
    engine: str
    flags: dict[str, Any]
    models: dict[str, Any]
    prompt_version: int
    engine_build: str
    active: bool

    @classmethod
    def of(cls, version: VerifierVersion) -> VerifierOut:
        return cls(
            number=version.number,
            engine=version.engine,
            flags=version.spec["flags"],
            models=version.spec["models"],
            prompt_version=version.spec["prompt_version"],
            engine_build=version.engine_build,
            active=version.is_active,
        )


class VerifierList(Schema):
    items: list[VerifierOut]


class Activation(Schema):
    reason: str = Field(min_length=1, max_length=1000)


@router.get("/verifiers", response={200: VerifierList} | errors(), summary="Verifier versions")
def list_verifiers(request: HttpRequest) -> VerifierList:
    versions = VerifierVersion.objects.filter(project=access_of(request).project)
    return VerifierList(items=[VerifierOut.of(version) for version in versions.order_by("-number")])


@router.post(
    "/verifiers/{int:number}/activate",
    response={200: VerifierOut} | errors(403, 404, 422),
    summary="Make a version the live one (also the way back)",
)
def activate_verifier(request: HttpRequest, number: int, body: Activation) -> VerifierOut:
    access = access_of(request)
    access.need(Role.ADMIN)
    version = services.activate(
        project=access.project, number=number, actor=access.actor, reason=body.reason
    )
    return VerifierOut.of(version)
