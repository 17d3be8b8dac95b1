from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest

from tests.model_server import ModelServer, Said, model_server, together
from tests.tables import check_rows
from verification.adapters.judge import Again, Completion, Connection, complete
from verification.adapters.judge_models import PROVIDERS

KEY = "a-key-that-nobody-may-see"
SCHEMA = {
    "type": "object",
    "properties": {"passed": {"type": "boolean"}},
    "required": ["passed"],
    "additionalProperties": False,
}


def connection(server: ModelServer, **changes: Any) -> Connection:
    fields: dict[str, Any] = {"name": "j", "model": "openai/m", "base_url": server.url}
    return Connection(**{**fields, "api_key": KEY, **changes})


def ask(judge: Connection, *, timeout: float | None = 10.0, **question: Any) -> Completion:
    asked = {"system": "You judge.", "prompt": "Is it done? Answer as JSON.", **question}
    return complete(judge, timeout=timeout, **asked)


def test_what_is_asked_and_what_comes_back() -> None:
    with model_server('{"passed": true}') as server:
        answer = ask(connection(server), temperature=0.5)

        [asked] = server.asked
        assert asked["messages"] == [
            {"role": "system", "content": "You judge."},
            {"role": "user", "content": "Is it done? Answer as JSON."},
        ]
        assert (asked["model"], asked["temperature"], asked["max_tokens"]) == ("m", 0.5, 4000)
        assert server.keys == [f"Bearer {KEY}"]
    assert (answer.text, answer.lost, answer.detail) == ('{"passed": true}', "", "")
    assert (answer.prompt_tokens, answer.completion_tokens, answer.calls) == (100, 20, 1)
    assert answer.model == "openai/m"


@pytest.mark.parametrize(
    ("said", "lost", "again", "detail"),
    [
        (Said(status=500), "infra_verifier_error", Again.LATER, "It failed (HTTP 500)."),
        (Said(status=503), "infra_verifier_error", Again.LATER, "It failed (HTTP 503)."),
        (Said(status=529), "infra_verifier_error", Again.LATER, "It failed (HTTP 529)."),
        (Said(status=408), "infra_verifier_error", Again.LATER, "It failed (HTTP 408)."),
        (Said(status=429), "rate_limited", Again.LATER, "It is asked too often (HTTP 429)."),
        (
            Said("You exceeded your current quota", 429),
            "rate_limited",
            Again.NEVER,
            "The account has no quota left (HTTP 429).",
        ),
        (Said(status=402), "rate_limited", Again.NEVER, "The account has no quota left"),
        (Said(status=401), "infra_verifier_error", Again.NEVER, "The key was refused (HTTP 401)."),
        (Said(status=403), "infra_verifier_error", Again.NEVER, "The key was refused (HTTP 403)."),
        (Said(status=404), "infra_verifier_error", Again.NEVER, "There is no such model, or no "),
        (Said(status=400), "infra_verifier_error", Again.NEVER, "It refuses the request"),
        (Said(status=413), "infra_verifier_error", Again.NEVER, "The prompt is longer than"),
        (
            Said("This model's maximum context length is 8192 tokens", 400),
            "infra_verifier_error",
            Again.NEVER,
            "The prompt is longer than the model takes (HTTP 400).",
        ),
        (Said(hang_up=True), "infra_verifier_error", Again.LATER, "The connection could not be"),
        (
            Said(status=302, headers={"Location": "/v2/chat/completions"}),
            "infra_verifier_error",
            Again.NEVER,
            "It answers 302; redirects are not followed.",
        ),
        (
            Said("x", headers={"Content-Encoding": "gzip"}),
            "infra_verifier_error",
            Again.NEVER,
            "The answer is compressed, though plain was asked for.",
        ),
    ],
)
def test_a_lost_answer_says_why_and_whether_to_ask_again(
    said: Said, lost: str, again: Again, detail: str
) -> None:
    with model_server(said) as server:
        answer = ask(connection(server))

        assert len(server.asked) == 1
    assert (answer.lost, answer.again, answer.text) == (lost, again, "")
    assert answer.detail.startswith(detail)
    assert answer.calls == 1


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"<html>Welcome</html>",
        b"null",
        b"[]",
        b"true",
        b'{"choices": null}',
        b'{"choices": {}}',
        b'{"choices": [null]}',
        b'{"choices": [{}]}',
        b'{"choices": [{"message": []}]}',
        b'{"choices": [{"message": {"content": {"passed": true}}}]}',
        b"[" * 100_000,
        b'{"choices": ' * 20_000,
        b"\xff\xfe\x00" * 1000,
    ],
)
def test_an_answer_of_no_known_shape_is_lost_or_empty_and_never_a_text(raw: bytes) -> None:
    with model_server(Said(raw=raw)) as server:
        answer = ask(connection(server))

    assert answer.text == ""
    assert answer.lost == "infra_verifier_error"
    assert answer.detail


@pytest.mark.parametrize(
    ("choice", "text", "detail"),
    [
        ({"message": {"content": None}}, "", "The answer is empty."),
        ({"message": {"content": ""}}, "", "The answer is empty."),
        (
            {"message": {"content": None, "reasoning_content": '{"passed": true}'}},
            "",
            "The model reasoned, and did not come to an answer.",
        ),
        (
            {"message": {"content": None, "refusal": "I will not."}},
            "I will not.",
            "The model refused to answer.",
        ),
        (
            {"message": {"content": '{"passed": tr'}, "finish_reason": "length"},
            '{"passed": tr',
            "The answer was cut off; the connection may allow it more tokens.",
        ),
    ],
)
def test_odd_answers_are_told_and_reasoning_is_not_an_answer(
    choice: dict[str, Any], text: str, detail: str
) -> None:
    with model_server(Said(raw=_body(choice))) as server:
        answer = ask(connection(server))

    assert (answer.text, answer.lost, answer.detail) == (text, "", detail)
    assert answer.is_cut is (choice.get("finish_reason") == "length")


def _body(choice: dict[str, Any]) -> bytes:
    whole = {"index": 0, "finish_reason": "stop", **choice}
    whole["message"] = {"role": "assistant", **choice["message"]}
    document = {"id": "1", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**document, "choices": [whole]}).encode()


def test_uncounted_tokens_are_estimated_so_that_no_call_is_free() -> None:
    choice = {"message": {"content": "x" * 40}}
    with model_server(Said(raw=_body(choice))) as server:
        priced = connection(server, input_usd_per_million=Decimal(1))

        answer = ask(priced, system="s" * 400, prompt="p" * 400)

    assert answer.prompt_tokens >= 200
    assert answer.completion_tokens >= 10


@pytest.mark.parametrize("counted", [-5, "many", 1e300, True, None, 10**12])
def test_tokens_that_cannot_be_are_not_believed(counted: Any) -> None:
    with model_server(Said("x", prompt_tokens=counted, completion_tokens=counted)) as server:
        priced = connection(server, output_usd_per_million=Decimal(5))

        answer = ask(priced)

    assert 0 <= answer.prompt_tokens <= 10_000_000
    assert 0 <= answer.cost_usd <= Decimal(60)


def test_a_silent_model_is_waited_for_so_long_and_no_longer() -> None:
    with model_server(Said("late", seconds=30)) as server:
        answer = ask(connection(server), timeout=0.3)

    assert (answer.lost, answer.again) == ("infra_verifier_error", Again.LATER)
    assert answer.detail == "It did not answer in time."


@pytest.mark.extended
@pytest.mark.parametrize("dripped", [b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\n\r\n["])
def test_a_dripping_answer_ends_with_the_time_of_the_whole_call(dripped: bytes) -> None:
    with dripping_server(dripped) as url:
        answer = ask(Connection("j", "openai/m", url, KEY), timeout=0.5)

    assert (answer.lost, answer.detail) == ("infra_verifier_error", "It did not answer in time.")
    assert answer.duration_ms < 60_000  # and it would drip for ever


@contextmanager
def dripping_server(start: bytes) -> Iterator[str]:
    """One byte every 50 ms, for ever: no single wait is long."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def serve() -> None:
        peer, _ = listener.accept()
        with peer:
            peer.recv(65536)
            peer.sendall(start)
            while not stopped.wait(0.05):
                try:
                    peer.sendall(b"1")
                except OSError:
                    return

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        stopped.set()
        listener.close()


def test_an_enormous_answer_is_not_taken_in() -> None:
    with model_server(Said("x" * 9_000_000)) as server:
        answer = ask(connection(server))

    assert (answer.text, answer.again) == ("", Again.NEVER)
    assert answer.detail == "Its answer is larger than 8 MB."


def test_a_long_answer_is_taken_in_whole() -> None:
    with model_server("y" * 1_000_000) as server:
        answer = ask(connection(server))

    assert len(answer.text) == 1_000_000


def test_a_prompt_longer_than_the_connection_takes_is_not_sent() -> None:
    with model_server() as server:
        answer = ask(connection(server, max_input_chars=10))

        assert server.asked == []
    assert (answer.lost, answer.calls, answer.again) == ("infra_verifier_error", 0, Again.NEVER)
    assert "this connection takes 10" in answer.detail


@pytest.mark.parametrize("port", [1, 9])
def test_where_nobody_listens_the_answer_is_lost(port: int) -> None:
    answer = ask(Connection("j", "openai/m", f"http://127.0.0.1:{port}/v1", KEY))

    assert (answer.lost, answer.again) == ("infra_verifier_error", Again.LATER)


@pytest.mark.parametrize(
    "model", ["nonsense/m", "no-provider-at-all", "azure/m", "openai/", "/", "huggingface/x/y"]
)
def test_a_model_that_litellm_cannot_ask_is_a_sentence(model: str) -> None:
    with model_server(Said(status=404)) as server:
        answer = ask(connection(server, model=model), timeout=2)

    assert answer.lost == "infra_verifier_error"
    assert answer.detail


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("999999999", 3600.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("-1", None),
        ("soon", None),
        ("nan", None),
        ("1e9", None),
        ("", None),
    ],
)
def test_how_long_the_provider_asks_to_wait(header: str, seconds: float | None) -> None:
    with model_server(Said(status=429, headers={"Retry-After": header})) as server:
        answer = ask(connection(server))

    assert answer.retry_after == seconds


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"structured_output": True}, "json_schema"),
        ({"structured_output": False}, None),
        ({"model": "openai/gpt-4o"}, "json_schema"),
        ({"model": "hosted_vllm/anything"}, "json_schema"),
        ({"model": "openai/of-our-own"}, "json_object"),
    ],
)
def test_a_schema_goes_along_where_the_provider_takes_it(
    changes: dict[str, Any], expected: str | None
) -> None:
    with model_server() as server:
        ask(connection(server, **changes), schema=SCHEMA)

        asked = server.asked[0].get("response_format", {})
    assert asked.get("type") == expected
    if expected == "json_schema":
        assert asked["json_schema"]["schema"] == SCHEMA
        assert asked["json_schema"]["strict"] is True


def test_a_schema_with_optional_fields_is_not_asked_for_strictly() -> None:
    loose = {**SCHEMA, "required": []}
    with model_server() as server:
        ask(connection(server, structured_output=True), schema=loose)

        assert server.asked[0]["response_format"]["json_schema"]["strict"] is False


@pytest.mark.parametrize(
    ("refused", "complaint"),
    [
        ("response_format", "'response_format' of type 'json_schema' is not supported"),
        ("temperature", "Unsupported value: 'temperature' does not support 0 with this model."),
        ("max_tokens", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'."),
    ],
)
def test_a_parameter_that_was_refused_is_not_sent_again(refused: str, complaint: str) -> None:
    with model_server(Said(complaint, 400), '{"passed": true}') as server:
        judge = connection(server, structured_output=True)

        first = ask(judge, schema=SCHEMA)
        second = ask(judge, schema=SCHEMA)
        third = ask(judge, schema=SCHEMA)

        sent = [refused in asked for asked in server.asked]
    assert (first.lost, first.again) == ("infra_verifier_error", Again.AT_ONCE)
    assert (second.text, third.text) == ('{"passed": true}', '{"passed": true}')
    assert sent == [True, False, False]


def test_what_is_refused_by_one_address_is_sent_to_another() -> None:
    with model_server(Said("response_format?", 400)) as one, model_server() as other:
        ask(connection(one, structured_output=True), schema=SCHEMA)

        ask(connection(other, structured_output=True), schema=SCHEMA)

        assert "response_format" in other.asked[0]


@pytest.mark.parametrize(
    ("changes", "cost"),
    [
        (
            {"input_usd_per_million": Decimal("2.5"), "output_usd_per_million": Decimal(10)},
            Decimal("0.00045"),
        ),
        ({"model": "openai/gpt-4o"}, Decimal("0.00045")),
        ({"model": "openai/gpt-4o", "output_usd_per_million": Decimal(0)}, Decimal("0.00025")),
        ({"model": "openai/of-our-own"}, Decimal(0)),
        ({"model": "openai/of-our-own", "input_usd_per_million": Decimal(1)}, Decimal(0)),
    ],
)
def test_a_call_costs_what_the_connection_says_else_the_list(
    changes: dict[str, Any], cost: Decimal
) -> None:
    with model_server() as server:
        first = ask(connection(server, **changes))
        second = ask(connection(server, **changes))

    assert (first.cost_usd, second.cost_usd) == (cost, cost)  # what each cost, not their sum


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_a_key_that_is_answered_back_is_masked(status: int) -> None:
    complaint = f"Incorrect key {KEY}, and sk-proj-0123456789abcdef"
    with model_server(Said(complaint, status)) as server:
        answer = ask(connection(server))

    assert "Incorrect key ***" in answer.detail
    assert KEY not in repr(answer)
    assert "0123456789" not in repr(answer)


def test_half_a_key_at_the_end_of_a_cut_message_is_masked_too() -> None:
    complaint = "x" * 290 + KEY
    with model_server(Said(complaint, 401)) as server:
        answer = ask(connection(server))

    assert "a-key" not in answer.detail


def test_keys_and_prompts_are_never_logged(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level("DEBUG"), model_server(Said(status=500), "fine") as server:
        judge = connection(server)
        ask(judge, prompt="the secret work")
        ask(judge, prompt="the secret work")

    output = "".join(capfd.readouterr()) + caplog.text
    assert KEY not in repr(judge)
    assert KEY not in output
    assert "secret work" not in output


def test_an_error_page_of_somebody_else_is_not_repeated() -> None:
    page = b"<title>internal</title> password=hunter2"
    with model_server(Said(status=500, raw=page)) as server:
        answer = ask(connection(server))

    assert answer.detail == "It failed (HTTP 500)."


@check_rows("provider", sorted(PROVIDERS))
def test_keys_of_the_machine_go_to_nobody(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*(part.upper() for part in PROVIDERS), "TOGETHERAI", "GOOGLE", "CO", "AZURE"):
        monkeypatch.setenv(f"{name}_API_KEY", "the-operators-own")
    with recording_server() as (url, received):
        ask(Connection("j", f"{provider}/m", url))

    assert received
    assert b"the-operators-own" not in b"".join(received)


@contextmanager
def recording_server() -> Iterator[tuple[str, list[bytes]]]:
    """Everything that is sent, heads included; the answer is an error."""
    listener = socket.create_server(("127.0.0.1", 0))
    received: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                received.append(peer.recv(65536))
                peer.sendall(b"HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n")

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", received
    finally:
        listener.close()


@pytest.mark.parametrize(
    ("url", "allowed", "why"),
    [
        ("http://169.254.169.254/v1", True, "clouds hand out credentials"),
        ("http://[::ffff:169.254.169.254]/v1", True, "clouds hand out credentials"),
        ("http://[64:ff9b::a9fe:a9fe]/v1", True, "clouds hand out credentials"),
        ("http://[fe80::5efe:808:808]/v1", True, "clouds hand out credentials"),
        ("http://[2a00:1450::5efe:a9fe:a9fe]/v1", True, "clouds hand out credentials"),
        ("http://[fd00::5efe:808:808]/v1", False, "private one"),
        ("http://[fd00:ec2::254]/v1", True, "clouds hand out credentials"),
        ("http://[fe80::1]/v1", True, "clouds hand out credentials"),
        ("http://2852039166/v1", True, "clouds hand out credentials"),
        ("http://0.0.0.0/v1", True, "not one of a machine"),
        ("http://127.0.0.1:1/v1", False, "a private one"),
        ("http://localhost:1/v1", False, "a private one"),
        ("http://10.0.0.1/v1", False, "a private one"),
        ("http://[::1]/v1", False, "a private one"),
        ("http://[::ffff:10.0.0.1]/v1", False, "a private one"),
        ("http://100.64.0.1/v1", False, "a private one"),
    ],
)
def test_some_addresses_are_never_connected_to(url: str, allowed: bool, why: str) -> None:
    answer = ask(Connection("j", "openai/m", url, KEY, is_private_allowed=allowed), timeout=60)

    assert why in answer.detail
    assert (answer.lost, answer.again) == ("infra_verifier_error", Again.NEVER)


def test_a_name_that_leads_to_a_refused_address_is_refused_when_it_is_connected_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def leads_inside(*_args: Any, **_options: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 443))]

    ask(Connection("j", "openai/m", "http://127.0.0.1:1/v1", KEY))  # litellm is loaded
    monkeypatch.setattr(socket, "getaddrinfo", leads_inside)

    answer = ask(Connection("j", "openai/m", "https://judge.example.com/v1", KEY))

    assert "clouds hand out credentials" in answer.detail


def test_another_provider_goes_the_same_way() -> None:
    with model_server('{"passed": true}') as server:
        judge = connection(
            server, model="anthropic/claude-sonnet-4-5", base_url=server.url.removesuffix("/v1")
        )

        answer = ask(judge)

        assert server.asked[0]["system"] == [{"type": "text", "text": "You judge."}]
    assert answer.lost == "infra_verifier_error"  # the server does not speak its language


def test_five_are_asked_side_by_side() -> None:
    with model_server(together(5, "yes")) as server:
        judge = connection(server)
        answers: list[Completion] = []
        threads = [threading.Thread(target=lambda: answers.append(ask(judge))) for _ in range(5)]

        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert server.most_at_once == 5
    assert [answer.text for answer in answers] == ["yes"] * 5
