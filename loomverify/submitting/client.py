"""The HTTP contract's client half: submit once, whatever the network does, then wait."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Self
from urllib.parse import quote, urlsplit

import httpx

from loomverify.submitting.errors import NoAnswer, TaskExhausted, UsageError

OVER = frozenset({"finished", "errored", "cancelled"})
FIRST_WAIT_SECONDS = 2.0
ONE_WAIT_SECONDS = 2.0
PAUSE_SECONDS = 0.3
TIMEOUT_SECONDS = 30.0
SUBMIT_TRIES = 5
TRY_AGAIN_STATUSES = frozenset({429, 502, 503, 504})
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})

Body = dict[str, Any]


class Server:
    """One server, one key. `on_progress` hears of each answer while what is asked goes on."""

    asked = "request"

    def __init__(
        self,
        url: str,
        key: str,
        *,
        on_progress: Callable[[Body], None] = lambda _answer: None,
        pause: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"{url} is not an address of a server; give --url http(s)://HOST.")
        self.on_progress, self.pause, self.now = on_progress, pause, now
        self.http = httpx.Client(
            headers={"Authorization": f"Bearer {key}", "Accept": "application/json"},
            timeout=TIMEOUT_SECONDS,
            trust_env=parts.hostname not in LOCAL_HOSTS,  # no proxy to oneself
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.http.close()

    def read(self, response: httpx.Response) -> Body:
        document = json_of(response)
        if response.status_code in {200, 202} and isinstance(document, dict) and "id" in document:
            return document
        raise self.refusal(response, document)

    def refusal(self, response: httpx.Response, document: object) -> UsageError | NoAnswer:
        """What an answer means that is not the one hoped for."""
        problem = document if isinstance(document, dict) else {}
        if response.status_code == 401:
            return UsageError(f"{self.url} does not accept this key; give another with --key.")
        if response.is_redirect:
            place = response.headers.get("Location", "another address")
            return UsageError(f"{self.url} leads to {place}; give that server's address as --url.")
        if response.status_code >= 500:
            return NoAnswer(f"{self.url} failed ({response.status_code}): {_said(problem)}")
        if response.status_code == 409 and _is_about_task(problem):
            return TaskExhausted(_said(problem))
        if response.status_code >= 400 and "title" in problem:
            return UsageError(f"The {self.asked} was refused: {_said(problem)}")
        return UsageError(f"{self.url} does not answer like a LoomVerify server; check --url.")

    def unreachable(self) -> UsageError | NoAnswer:
        return UsageError(f"No server answers at {self.url}; start it, or give --url.")


class Client(Server):
    """Submits a run and waits for its verdict."""

    asked = "submission"

    def submit(
        self,
        run: Body,
        archives: Mapping[str, bytes],
        *,
        wait_seconds: float,
        for_people: bool = False,
    ) -> Body:
        """Submit, and wait up to `wait_seconds` in all for the end; return the run as it is then.

        `archives` are gzipped tars by their part's name: `workspace`, and perhaps `base`.
        `for_people`: wait for their decision too, where one is asked for.

        Raises:
            UsageError: the server cannot be reached, or refuses this.
            NoAnswer: it was reached, and then no longer.
        """
        deadline = self.now() + wait_seconds
        answer = self._submit(run, archives, min(FIRST_WAIT_SECONDS, wait_seconds))
        while not _is_over(answer, for_people) and self.now() < deadline:
            self.on_progress(answer)
            asked_at = self.now()
            answer = self._look(
                answer, min(ONE_WAIT_SECONDS, max(0.0, deadline - asked_at)), deadline
            )
            if not _is_over(answer, for_people) and self.now() - asked_at < PAUSE_SECONDS:
                self.pause(PAUSE_SECONDS)  # a server that does not wait
        return answer

    def find(self, run_id: str) -> Body | None:
        """Return a run as it is; None where it cannot be had, for whatever reason."""
        try:
            response = self.http.get(f"{self.url}/api/v1/runs/{quote(run_id, safe='')}")
        except httpx.HTTPError:
            return None
        document = json_of(response)
        return document if response.is_success and isinstance(document, dict) else None

    def find_deliverables(self, process: str, phase: str | None) -> list[str]:
        """Return the paths that the process declares for the phase; None: for any of its phases.

        Raises:
            UsageError, NoAnswer: the server cannot be asked.
        """
        for number in range(1, SUBMIT_TRIES + 1):
            try:
                response = self.http.get(f"{self.url}/api/v1/processes/{quote(process, safe='')}")
            except httpx.TransportError as error:
                raise self.unreachable() from error
            if response.status_code not in TRY_AGAIN_STATUSES or number == SUBMIT_TRIES:
                break
            self.pause(PAUSE_SECONDS * 2**number)
        document = json_of(response)
        if response.status_code == 404:
            return []  # the submission says what is wrong
        if not response.is_success or not isinstance(document, dict):
            raise self.refusal(response, document)
        return [
            str(deliverable["path"])
            for declared in _mappings(document.get("phases"))
            if phase is None or declared.get("id") == phase
            for deliverable in _mappings(declared.get("deliverables"))
            if deliverable.get("path")
        ]

    def _submit(self, run: Body, archives: Mapping[str, bytes], wait_seconds: float) -> Body:
        # Built and read once: each try sends the same bytes under the same key.
        request = self.http.build_request(
            "POST",
            f"{self.url}/api/v1/runs",
            params={"wait": f"{wait_seconds:g}"},
            headers={"Idempotency-Key": str(uuid.uuid4())},
            files={
                "run": ("run.json", json.dumps(run).encode(), "application/json"),
                **{
                    name: (f"{name}.tar.gz", content, "application/gzip")
                    for name, content in archives.items()
                },
            },
        )
        request.read()
        for number in range(1, SUBMIT_TRIES + 1):
            try:
                response = self.http.send(request)
                if response.status_code not in TRY_AGAIN_STATUSES or number == SUBMIT_TRIES:
                    return self.read(response)
            except httpx.ConnectError as error:
                if number == 1 or number == SUBMIT_TRIES:
                    raise self.unreachable() from error
            except httpx.TransportError as error:
                if number == SUBMIT_TRIES:
                    raise NoAnswer(f"{self.url} took the submission and gave no answer.") from error
            self.pause(PAUSE_SECONDS * 2**number)
        raise AssertionError("unreachable")

    def _look(self, run: Body, wait_seconds: float, deadline: float) -> Body:
        while True:
            try:
                response = self.http.get(
                    f"{self.url}/api/v1/runs/{run['id']}",
                    params={"wait": f"{wait_seconds:g}"} | _until(run),
                )
                if response.status_code not in TRY_AGAIN_STATUSES:
                    return self.read(response)
            except httpx.TransportError:
                pass
            if self.now() >= deadline:
                raise NoAnswer(f"{self.url} stopped answering; the run goes on there.")
            self.pause(PAUSE_SECONDS * 2)


def _is_about_task(problem: Body) -> bool:
    locs = [error.get("loc") for error in _mappings(problem.get("errors"))]
    return ["body", "task", "id"] in locs


def _is_over(run: Body, for_people: bool) -> bool:
    return run.get("state") in OVER and not (for_people and waits_for_people(run))


def _until(run: Body) -> dict[str, str]:
    return {"until": "decided"} if run.get("state") in OVER else {}


def waits_for_people(run: Body) -> bool:
    return (run.get("review") or {}).get("state") == "pending"


def _said(problem: Body) -> str:
    """The problem document's own sentence, with each place it names."""
    detail = str(problem.get("detail") or problem.get("title") or "no reason was given")
    lines = [detail]
    for error in _mappings(problem.get("errors")):
        loc = error.get("loc")
        parts = loc if isinstance(loc, list) else []
        place = ".".join(str(part) for part in parts if part != "body")
        message = str(error.get("msg", ""))
        if message == detail:
            lines[0] = f"{detail} ({place})" if place else detail
        else:
            lines.append(f"  {place}: {message}" if place else f"  {message}")
    return "\n".join(lines)


def json_of(response: httpx.Response) -> object:
    """None: it is no JSON."""
    try:
        return response.json()
    except (ValueError, RecursionError):
        return None


def _mappings(found: object) -> list[Body]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
