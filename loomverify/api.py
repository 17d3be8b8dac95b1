"""The HTTP API: keys, problem documents, and the routers of every room."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from copy import deepcopy
from http import HTTPStatus
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.decorators import sync_and_async_middleware
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError
from ninja.openapi.schema import OpenAPISchema
from ninja.security import HttpBearer

from loomverify.accounts.access import Access, Actor
from loomverify.accounts.models import ApiKey, Role
from loomverify.errors import InputError, Issue
from loomverify.openapi_links import add_links

logger = logging.getLogger(__name__)

LAST_USED_RESOLUTION_SECONDS = 60
PROBLEM_TYPE = "application/problem+json"
API_PREFIX = "/api/"
MAX_SHOWN_NAME = 200
REFUSALS = {
    400: "The request is malformed.",
    404: "Nothing is at this address.",
    500: "Something failed on our side; it has been logged.",
}


def access_of(request: HttpRequest) -> Access:
    """What `KeyAuth` found behind the key of this request."""
    access: Access = request.auth  # type: ignore[attr-defined]
    return access


class ProblemIssue(Schema):
    loc: list[str | int]
    code: str
    msg: str


class Problem(Schema):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[ProblemIssue]


def access_of_key(token: str) -> Access | None:
    digest = hashlib.sha256(token.encode()).hexdigest()
    key = ApiKey.objects.select_related("project").filter(sha256=digest).first()
    now = timezone.now()
    if key is None or key.revoked_at or (key.expires_at and key.expires_at <= now):
        return None
    seen = key.last_used_at
    if seen is None or (now - seen).total_seconds() > LAST_USED_RESOLUTION_SECONDS:
        ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return Access(key.project, Role(key.role), Actor(f"key {key.name}", api_key=key))


class KeyAuth(HttpBearer):
    """`Authorization: Bearer lv_…`; becomes an `Access` in `request.auth`."""

    def authenticate(self, request: HttpRequest, token: str) -> Access | None:
        return access_of_key(token)


class ProblemApi(NinjaAPI):
    """Its description says what the answers say: refusals are problem documents."""

    def get_openapi_schema(self, **kwargs: Any) -> OpenAPISchema:
        schema = deepcopy(super().get_openapi_schema(**kwargs))
        for path in schema["paths"].values():
            for operation in path.values():
                self._describe(operation, schema["components"]["schemas"])
        add_links(schema["paths"])
        return schema

    def _describe(self, operation: dict[str, Any], components: dict[str, Any]) -> None:
        answers = operation["responses"]
        for content in operation.get("requestBody", {}).get("content", {}).values():
            components.update(content["schema"].pop("$defs", {}))
            for status in (400, 408, 413):
                answers.setdefault(status, {"description": HTTPStatus(status).phrase})
        for status, answer in answers.items():
            if int(status) >= 400:
                reference = {"$ref": "#/components/schemas/Problem"}
                answer["content"] = {PROBLEM_TYPE: {"schema": reference}}


api = ProblemApi(
    title="LoomVerify",
    version="1",
    description="Submit the work of an agent, wait for the verdict, read why.",
    auth=KeyAuth(),
    urls_namespace="api",
)


def problem(
    status: int, title: str, detail: str, issues: list[Issue] | None = None
) -> HttpResponse:
    """An `application/problem+json` answer."""
    code = issues[0].code if issues else HTTPStatus(status).phrase.lower().replace(" ", "-")
    document = Problem(
        type=f"{settings.BASE_URL}/problems/{code}",
        title=title,
        status=status,
        detail=detail,
        errors=[_issue(issue) for issue in issues or []],
    )
    return HttpResponse(document.model_dump_json(), status=status, content_type=PROBLEM_TYPE)


def _issue(issue: Issue) -> ProblemIssue:
    """Names in a place may be the caller's, of any length, and no text that UTF-8 can hold."""
    loc = [_shown(part) if isinstance(part, str) else part for part in issue.loc]
    return ProblemIssue(loc=loc, code=issue.code, msg=issue.msg)


def _shown(name: str) -> str:
    return name[:MAX_SHOWN_NAME].encode(errors="replace").decode()


def problem_of(error: InputError) -> HttpResponse:
    return problem(error.status, error.title, str(error), list(error.issues))


@api.exception_handler(InputError)
def on_input_error(request: HttpRequest, error: InputError) -> HttpResponse:
    return problem_of(error)


@api.exception_handler(ValidationError)
def on_validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
    issues = [
        Issue(code=str(entry["type"]), msg=str(entry["msg"]), loc=tuple(entry["loc"]))
        for entry in error.errors
    ]
    return problem(422, InputError.title, issues[0].msg if issues else "", issues)


@api.exception_handler(AuthenticationError)
def on_no_key(request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
    answer = problem(
        401, "No valid key", "Send Authorization: Bearer lv_… with a key that is in force."
    )
    answer["WWW-Authenticate"] = "Bearer"
    return answer


@api.exception_handler(HttpError)
def on_http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
    return problem(error.status_code, HTTPStatus(error.status_code).phrase, str(error))


@api.exception_handler(SuspiciousOperation)
def on_suspicion(request: HttpRequest, error: SuspiciousOperation) -> HttpResponse:
    """What Django refuses while reading a request: thousands of parameters, an odd host."""
    return problem(400, HTTPStatus(400).phrase, REFUSALS[400])


@api.exception_handler(Exception)
def on_fault(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("api_failed path=%s", request.path, exc_info=error)
    return problem(500, "Our fault", "Something failed on our side; it has been logged.")


@sync_and_async_middleware
def problems_under_api(get_response: Callable[[HttpRequest], Any]) -> Callable[..., Any]:
    """What Django itself answers below `/api/` is a problem document too."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _as_problem(request, await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _as_problem(request, get_response(request))

    return answer


def _as_problem(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    status = response.status_code
    is_page = not request.path_info.startswith(API_PREFIX)
    if status < 400 or is_page or response.headers.get("Content-Type") == PROBLEM_TYPE:
        return response
    detail = f"This address takes {response['Allow']}." if status == 405 else REFUSALS.get(status)
    document = problem(status, HTTPStatus(status).phrase, detail or "This cannot be answered.")
    if "Allow" in response:
        document["Allow"] = response["Allow"]
    return document


def errors(*statuses: int) -> dict[int, Any]:
    """The problem answers of an endpoint, for its `response=`."""
    return dict.fromkeys((401, *statuses), Problem)
