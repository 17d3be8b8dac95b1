"""One signed POST to a checked address."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass

import httpx

from verification.actions.targets import Target

TIMEOUT_SECONDS = 10.0
CONNECT_SECONDS = 3.0
MAX_ANSWER_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back: a status, or the error that kept it from us."""

    status: int | None
    error: str = ""

    @property
    def is_delivered(self) -> bool:
        return not self.error


def post(target: Target, *, headers: dict[str, str], body: bytes) -> Answer:
    """Send, and wait for the answer. Redirects are not followed; the whole is bounded in time."""
    return asyncio.run(_post_in_time(target, headers, body))


async def _post_in_time(target: Target, headers: dict[str, str], body: bytes) -> Answer:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            status = await _post_to_first(target, headers, body)
    except TimeoutError:
        return Answer(None, f"No answer within {TIMEOUT_SECONDS:g} s.")
    except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
        return Answer(None, _lost_by(error))
    if 200 <= status < 300:
        return Answer(status)
    if 300 <= status < 400:
        return Answer(status, f"Answered {status}; redirects are not followed.")
    return Answer(status, f"Answered {status}.")


LOST: tuple[tuple[type[Exception], str], ...] = (
    (httpx.ConnectError, "No connection could be made."),
    (httpx.TimeoutException, "No connection could be made in time."),
    (httpx.NetworkError, "The connection was cut before an answer came."),
    (httpx.RemoteProtocolError, "What came back was no answer of HTTP."),
    (httpx.LocalProtocolError, "The address or a header cannot be sent."),
    (httpx.InvalidURL, "This is not an address."),
)


def _lost_by(error: Exception) -> str:
    """In words of ours: a library's may hold what was to be sent, a token too."""
    cause: BaseException | None = error
    while cause:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"Its certificate is not trusted: {cause.verify_message}."
        if isinstance(cause, ssl.SSLError):
            return "No connection by TLS could be made."
        cause = cause.__cause__ or cause.__context__
    return next((said for kind, said in LOST if isinstance(error, kind)), "It could not be sent.")


async def _post_to_first(target: Target, headers: dict[str, str], body: bytes) -> int:
    """Send to the first address that can be connected to."""
    for address in target.addresses[:-1]:
        try:
            return await _post(target, address, headers, body)
        except (httpx.ConnectError, httpx.ConnectTimeout):
            continue
    return await _post(target, target.addresses[-1], headers, body)


async def _post(target: Target, address: str, headers: dict[str, str], body: bytes) -> int:
    url = httpx.URL(target.url)
    request = httpx.Request(
        "POST",
        url.copy_with(host=address),
        headers={**headers, "Host": url.netloc.decode("ascii")},
        content=body,
        # The certificate is checked against the name, not against the address.
        extensions={
            "sni_hostname": url.raw_host.decode("ascii"),
            "timeout": {"connect": CONNECT_SECONDS},
        },
    )
    # Without the proxies of the environment: a proxy would resolve the name anew.
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False) as client:
        response = await client.send(request, stream=True)
        received = 0
        async for part in response.aiter_raw():
            received += len(part)
            if received > MAX_ANSWER_BYTES:
                break
        await response.aclose()
        return response.status_code
