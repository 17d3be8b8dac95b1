"""Replays of the golden corpus by HTTP: started once, waited for, read whole."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

import httpx

from loomverify.submitting.client import (
    ONE_WAIT_SECONDS,
    OVER,
    PAUSE_SECONDS,
    TRY_AGAIN_STATUSES,
    Body,
    Server,
    json_of,
)
from loomverify.submitting.errors import NoAnswer, UsageError

PATH = "/api/v1/golden/replays"
BUSY_STATUSES = frozenset({409, 429, 503})
"""Nothing was started, and another time it may be."""


@dataclass(frozen=True, slots=True)
class Reports:
    """A finished replay's documents as the server wrote them."""

    report: Body
    junit: bytes


class ReplayServer(Server):
    """Starts a replay and waits for its end. A lost answer is never asked for by a second start."""

    asked = "replay"

    def replay(self, wanted: Body, *, wait_seconds: float) -> Body:
        """Return the replay as it is when it is over, or when the time is.

        Raises:
            UsageError: the server refuses this.
            NoAnswer: nobody answers, or nothing could be started now.
        """
        deadline = self.now() + wait_seconds
        answer = self._start(wanted)
        while str(answer.get("state")) not in OVER and self.now() < deadline:
            self.on_progress(answer)
            asked_at = self.now()
            wait = min(ONE_WAIT_SECONDS, max(0.0, deadline - asked_at))
            answer = self._look(str(answer["id"]), wait, deadline)
            if str(answer.get("state")) not in OVER and self.now() - asked_at < PAUSE_SECONDS:
                self.pause(PAUSE_SECONDS)
        return answer

    def reports(self, replay: Body) -> Reports:
        """Raises `NoAnswer` where the server does not give them."""
        report = json_of(self._file(replay, "report.json"))
        if not isinstance(report, dict):
            raise NoAnswer(f"{self.url} did not give the replay's report.")
        return Reports(report, self._file(replay, "junit.xml").content)

    def unreachable(self) -> NoAnswer:
        return NoAnswer(f"No server answers at {self.url}; start it, or give --url.")

    def refusal(self, response: httpx.Response, document: object) -> UsageError | NoAnswer:
        told = super().refusal(response, document)
        return NoAnswer(str(told)) if response.status_code in BUSY_STATUSES else told

    def _start(self, wanted: Body) -> Body:
        try:
            return self.read(self.http.post(f"{self.url}{PATH}", json=wanted))
        except httpx.ConnectError as error:
            raise self.unreachable() from error
        except httpx.TransportError as error:
            raise NoAnswer(f"{self.url} was asked for a replay and gave no answer.") from error

    def _look(self, replay: str, wait_seconds: float, deadline: float) -> Body:
        while True:
            try:
                response = self.http.get(
                    f"{self.url}{PATH}/{quote(replay, safe='')}",
                    params={"wait": f"{wait_seconds:g}"},
                )
                if response.status_code not in TRY_AGAIN_STATUSES:
                    return self.read(response)
            except httpx.TransportError:
                pass
            if self.now() >= deadline:
                raise NoAnswer(f"{self.url} stopped answering; the replay goes on there.")
            self.pause(PAUSE_SECONDS * 2)

    def _file(self, replay: Body, name: str) -> httpx.Response:
        try:
            place = quote(str(replay["id"]), safe="")
            response = self.http.get(f"{self.url}{PATH}/{place}/{name}")
        except httpx.TransportError as error:
            raise NoAnswer(f"{self.url} stopped answering before its report was read.") from error
        if response.status_code != 200:
            raise self.refusal(response, json_of(response))
        return response
