from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.runs.conftest import body_of
from tests.runs.test_archives import tar_gz, zipped
from tests.stack import Stack, running_stack

MAX_MEGABYTES = 400
MAX_SECONDS = 60.0
"""Two on an idle machine; what nobody ends would take the client's ninety."""
JSON = {"Content-Type": "application/json"}
CHUNK = b"x" * 65536


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """No worker: what is stored stays as it was submitted."""
    with running_stack(tmp_path_factory.mktemp("hostile"), "web") as stack:
        yield stack


@pytest.fixture
def client(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client() as client:
        yield client


def stored(stack: Stack) -> tuple[int, int, int, int]:
    """Runs, tasks and blobs in tables, files in the evidence folder."""
    [(runs, tasks, blobs)] = stack.query(
        "select (select count(*) from runs_run), (select count(*) from runs_task),"
        " (select count(*) from runs_blob)"
    )
    evidence = stack.folder / "evidence"
    return runs, tasks, blobs, sum(path.is_file() for path in evidence.rglob("*"))


def with_args(args: bytes) -> bytes:
    call = b'"tool_calls": [{"tool": "t", "success": true, "args": ' + args + b"}]}"
    return json.dumps(body_of()).encode()[:-1] + b", " + call


def chunked(total: int, head: bytes = b"") -> Iterator[bytes]:
    yield head
    for _ in range(total // len(CHUNK)):
        yield CHUNK


def megabytes(stack: Stack) -> int:
    """The most memory that the web process ever held."""
    status = Path(f"/proc/{stack.processes['web'].pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


def parts(*named: tuple[str, Any]) -> dict[str, Any]:
    run = ("run", ("run.json", json.dumps(body_of()), "application/json"))
    return {"files": [run, *[(name, (name, content)) for name, content in named]]}


def part(headers: bytes, content: bytes = b"") -> bytes:
    return b"--x\r\n" + headers + b"\r\n\r\n" + content + b"\r\n"


def raw_parts(content: bytes, content_type: str = "multipart/form-data; boundary=x") -> Any:
    return {"content": content, "headers": {"Content-Type": content_type}}


def form_field(name: str, content: bytes) -> bytes:
    return b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' % (
        name.encode(),
        content,
    )


RUN = form_field("run", json.dumps(body_of()).encode())
WORKSPACE = b'Content-Disposition: form-data; name="workspace"; filename="%s"'
ODDITIES: dict[str, tuple[bytes, int, str, list[Any]]] = {
    "nothing": (b"", 422, "run.missing", ["body", "run"]),
    "an end alone": (b"--x--\r\n", 422, "run.missing", ["body", "run"]),
    "no end": (RUN, 400, "body.cut_off", ["body"]),
    "a part without a name": (
        part(b"Content-Disposition: form-data", b"{}") + b"--x--", 422, "run.missing", ["body", "run"],
    ),
    "a part without headers": (part(b"", b"{}") + b"--x--", 422, "run.missing", ["body", "run"]),
    "a name with NUL": (
        form_field("run\0", b"{}") + b"--x--", 422, "part.unknown", ["body", "run\0"],
    ),
    "parts within a part": (
        part(
            b'Content-Disposition: form-data; name="run"\r\nContent-Type: multipart/mixed; boundary=y',
            b"--y\r\n\r\n{}\r\n--y--",
        ) + b"--x--", 400, "json.invalid", ["body", "run"],
    ),
    "ten thousand parts": (
        RUN + form_field("run", b"{}") * 10_000 + b"--x--", 400, "multipart.invalid", ["body"],
    ),
    "ten thousand files": (
        RUN + part(WORKSPACE % b"a") * 10_000 + b"--x--",
        422, "part.duplicate", ["body", "workspace"],
    ),
    "the run as text and as a file": (
        RUN + part(b'Content-Disposition: form-data; name="run"; filename="r"', b"{}") + b"--x--",
        422, "part.duplicate", ["body", "run"],
    ),
    "a workspace that is text": (
        RUN + form_field("workspace", b"PK") + b"--x--",
        422, "workspace.not_a_file", ["body", "workspace"],
    ),
    "a workspace without a file name": (
        RUN + part(WORKSPACE % b"", b"PK") + b"--x--",
        422, "workspace.not_a_file", ["body", "workspace"],
    ),
    "a file name that climbs": (
        RUN + part(WORKSPACE % b"../../etc/passwd", b"PK") + b"--x--",
        422, "archive.broken", ["body", "workspace"],
    ),
    "a file name in an unknown charset": (
        RUN + part(WORKSPACE % b"x" + b"; filename*=rot13''%00%ff", b"PK") + b"--x--",
        422, "archive.broken", ["body", "workspace"],
    ),
    "base64 that is none": (
        RUN + part(WORKSPACE % b"x" + b"\r\nContent-Transfer-Encoding: base64", b"abc") + b"--x--",
        400, "multipart.invalid", ["body"],
    ),
    "a huge header of a part": (
        part(b'Content-Disposition: form-data; name="run"\r\nX: ' + CHUNK * 80) + b"--x--",
        400, "multipart.invalid", ["body"],
    ),
    "a huge name": (form_field("r" * 1_000_000, b"") + b"--x--", 400, "multipart.invalid", ["body"]),
    "much before the first part": (CHUNK * 80 + b"\r\n" + RUN, 400, "multipart.invalid", ["body"]),
    "nothing but boundaries": (b"--x\r\n" * 200_000, 400, "multipart.invalid", ["body"]),
}  # fmt: skip
BODIES: dict[str, tuple[Any, int, str, list[Any]]] = {
    "levels": (
        {"content": with_args(b"[" * 200_000), "headers": JSON},
        400, "json.too_deep", ["body"],
    ),
    "large": (
        lambda: {"content": b" " * 100_000_000, "headers": JSON},
        413, "body.too_large", ["body"],
    ),
    "larger than JSON may be": (
        lambda: {"content": b" " * 17_000_000, "headers": JSON},
        413, "body.too_large", ["body"],
    ),
    "large without a length": (
        lambda: {"content": chunked(100_000_000, b"{"), "headers": JSON},
        413, "body.too_large", ["body"],
    ),
    "millions of values": (
        lambda: {"content": with_args(b"[" + b"[]," * 5_000_000 + b"1]"), "headers": JSON},
        413, "json.too_many_values", ["body"],
    ),
    "a key twice": (
        {"content": b'{"process": "general", "process": "general"}', "headers": JSON},
        400, "json.invalid", ["body"],
    ),
    "an encoded body": (
        {"content": gzip.compress(b"{}"), "headers": {**JSON, "Content-Encoding": "gzip"}},
        415, "content_encoding.unknown", ["header", "Content-Encoding"],
    ),
    "a form": (
        {"data": {"run": "{}"}},
        415, "content_type.unknown", ["header", "Content-Type"],
    ),
    "a large part": (
        lambda: parts(("workspace", CHUNK * 1100)),
        413, "archive.too_large", ["body", "workspace"],
    ),
    "two archives": (
        parts(("workspace", tar_gz(("a", b"")).getvalue()), ("workspace", b"")),
        422, "part.duplicate", ["body", "workspace"],
    ),
    "two runs": (
        raw_parts(form_field("run", b"{}") * 2 + b"--x--"),
        422, "part.duplicate", ["body", "run"],
    ),
    "a part nobody knows": (
        parts(("workspaces", b"")),
        422, "part.unknown", ["body", "workspaces"],
    ),
    "text that is not UTF-8": (
        raw_parts(form_field("run", b'{"output": "\xff"}') + b"--x--"),
        400, "json.not_utf8", ["body", "run"],
    ),
    "no boundary": (
        raw_parts(b"--x", "multipart/form-data"),
        400, "multipart.invalid", ["body"],
    ),
    "a bomb": (
        lambda: parts(("workspace", zipped(("bomb", bytes(32_000_000))).getvalue())),
        413, "archive.unpacks_too_large", ["body", "workspace"],
    ),
    "a bomb behind the end of a tar": (
        parts(("workspace", gzip.compress(bytes(32_000_000)))),
        413, "archive.unpacks_too_large", ["body", "workspace"],
    ),
    "a tar behind the end of a tar": (
        parts(("workspace", gzip.compress(gzip.decompress(tar_gz(("a", b"")).getvalue()) * 2))),
        422, "archive.broken", ["body", "workspace"],
    ),
    "a path that climbs": (
        parts(("workspace", tar_gz(("../../etc/cron.d/x", b"x")).getvalue())),
        422, "path.unsafe", ["body", "workspace", "../../etc/cron.d/x"],
    ),
}  # fmt: skip


@pytest.mark.extended
@pytest.mark.parametrize("name", BODIES)
def test_a_hostile_body_is_refused_soon_and_stores_nothing(
    stack: Stack, client: httpx.Client, name: str
) -> None:
    body, status, code, loc = BODIES[name]
    request = body() if callable(body) else body
    before = stored(stack)

    answer = client.post("/runs", **request)

    problem = answer.json()
    assert (answer.status_code, answer.headers["Content-Type"]) == (
        status,
        "application/problem+json",
    )
    assert (problem["errors"][0]["code"], problem["errors"][0]["loc"]) == (code, loc)
    assert answer.elapsed.total_seconds() < MAX_SECONDS
    assert stored(stack) == before
    assert megabytes(stack) < MAX_MEGABYTES


@pytest.mark.quick_rows(7)
@pytest.mark.parametrize("name", ODDITIES)
def test_odd_parts_are_refused_and_store_nothing(
    stack: Stack, client: httpx.Client, name: str
) -> None:
    content, status, code, loc = ODDITIES[name]
    before = stored(stack)

    answer = client.post("/runs", **raw_parts(content))

    problem = answer.json()
    assert (answer.status_code, problem["errors"][0]["code"]) == (status, code)
    assert problem["errors"][0]["loc"] == loc
    assert len(answer.content) < 2_000
    assert stored(stack) == before


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("", 415),
        ("text/json", 415),
        ("application/json, text/plain", 415),
        ("multipart/mixed; boundary=x", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=" + "b" * 5_000, 400),
        ("multipart/form-data; boundary=\xff", 400),
        ('multipart/form-data; charset="; boundary=x', 400),
        ("APPLICATION/JSON; charset=utf-16", 202),
        ("application/json;;;", 202),
    ],
)
def test_a_content_type_is_known_or_refused(
    client: httpx.Client, content_type: str, status: int
) -> None:
    is_json = "json" in content_type.lower()
    content = json.dumps(body_of()).encode() if is_json else RUN + b"--x--"

    answer = client.post(
        "/runs", content=content, headers={b"Content-Type": content_type.encode("latin-1")}
    )

    assert answer.status_code == status
    assert len(answer.content) < 3_000


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Idempotency-Key", "", 422),
        ("Idempotency-Key", "k" * 201, 422),
        ("Idempotency-Key", "k" * 200, 202),
        ("Idempotency-Key", "two words", 202),
        ("Content-Encoding", "br, gzip", 415),
        ("Content-Encoding", "IDENTITY", 202),
        ("Authorization", "Bearer " + "k" * 50_000, 401),
        ("Authorization", "Bearer \xff\xfe", 401),
        ("Authorization", "Basic eA==", 401),
    ],
)
def test_an_odd_header_is_taken_or_refused(
    client: httpx.Client, header: str, value: str, status: int
) -> None:
    answer = client.post(
        "/runs", json=body_of(), headers={header.encode(): value.encode("latin-1")}
    )

    assert answer.status_code == status


@pytest.mark.extended
@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Length: -5",
        b"Content-Length: five",
        b"Content-Length: 2\r\nContent-Length: 3",
        b"Content-Length: 2\r\nTransfer-Encoding: chunked",
        b"Content-Length: 99999999999999999999999",
        b"Content-Length: 99999999999",
        b"Transfer-Encoding: chunked\r\n\r\nzz",
        b"X: " + b"a" * 1_000_000,
        b"\r\n".join(b"X%d: a" % number for number in range(100_000)),
        b"Content-Type",
        b"X: a\0b",
    ],
)
def test_headers_that_lie_or_never_end_are_refused(stack: Stack, headers: bytes) -> None:
    start = b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "
    answer = b""
    with socket.create_connection(("127.0.0.1", stack.port), timeout=MAX_SECONDS) as connection:
        with suppress(ConnectionError):
            connection.sendall(start + stack.key.encode() + b"\r\n" + headers + b"\r\n\r\n{}")
        with suppress(ConnectionError):
            answer = connection.recv(1_000)

    assert answer.split(b"\r\n")[0] in {
        b"HTTP/1.1 400 Bad Request", b"HTTP/1.1 413 Request Entity Too Large", b"",
    }  # fmt: skip
    assert megabytes(stack) < MAX_MEGABYTES


def test_thousands_of_parameters_are_refused(client: httpx.Client) -> None:
    answer = client.get("/runs?" + "&".join(f"p{number}=1" for number in range(5_000)))

    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_body_that_breaks_off_within_the_workspace_is_not_judged_without_it(
    stack: Stack, client: httpx.Client
) -> None:
    before = stored(stack)
    whole = form_field("run", json.dumps(body_of()).encode()) + form_field(
        'workspace"; filename="w.tgz', tar_gz(("a", os.urandom(1000))).getvalue()
    )

    answer = client.post("/runs", **raw_parts(whole[:-200]))

    assert answer.json()["errors"][0]["loc"] == ["body", "workspace"]
    assert answer.json()["errors"][0]["code"] == "body.cut_off"
    assert stored(stack) == before


@pytest.mark.parametrize("change", [{"process": "unknown"}, {"process_version": 99}])
def test_what_will_not_be_verified_keeps_no_files(
    stack: Stack, client: httpx.Client, change: dict[str, Any]
) -> None:
    before = stored(stack)
    run = json.dumps(body_of(files={"inline.txt": "inline"}, **change))
    workspace = tar_gz(("packed.txt", b"packed")).getvalue()

    answer = client.post("/runs", data={"run": run}, files={"workspace": workspace})

    assert answer.status_code == 404
    assert stored(stack) == before


def test_both_bodies_may_come_without_a_length(client: httpx.Client) -> None:
    run = json.dumps(body_of()).encode()
    multipart = form_field("run", run) + b"--x--\r\n"

    plain = client.post("/runs", content=iter([run]), headers=JSON)
    in_parts = client.post("/runs", **raw_parts(iter([multipart])))  # type: ignore[arg-type]

    assert (plain.status_code, in_parts.status_code) == (202, 202)


@pytest.mark.parametrize("charset", ["rot13", "utf-16", "nonsense"])
def test_a_charset_changes_nothing(client: httpx.Client, charset: str) -> None:
    content = form_field("run", json.dumps(body_of(output="Größe")).encode()) + b"--x--\r\n"

    answer = client.post(
        "/runs", **raw_parts(content, f"multipart/form-data; boundary=x; charset={charset}")
    )

    assert answer.status_code == 202


def test_a_connection_that_is_cut_leaves_nothing(stack: Stack, client: httpx.Client) -> None:
    before = stored(stack)
    with socket.create_connection(("127.0.0.1", stack.port)) as connection:
        connection.sendall(
            b"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
            b"Content-Type: application/json\r\nAuthorization: Bearer "
            + stack.key.encode()
            + b'\r\n\r\n{"process": '
        )

    assert client.get("/runs").status_code == 200
    assert stored(stack) == before


@pytest.mark.parametrize(
    "path",
    ["%00", "..%2f..%2fsecret-key", "%2e%2e/secret-key", "%ff%fe", "a" * 5000, "%ed%a0%80", "./a"],
)
def test_no_path_leads_out_of_a_run(client: httpx.Client, path: str) -> None:
    run = client.post("/runs", json=body_of(files={"a.txt": "a"})).json()["id"]

    answer = client.get(f"/runs/{run}/files/{path}")

    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_another_method_is_refused_with_those_that_are_taken(
    client: httpx.Client, method: str
) -> None:
    answer = client.request(method, "/runs")

    assert answer.status_code == 405
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "POST"}
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.quick_rows(2)
@pytest.mark.parametrize(
    "path", ["/nothing", "/runs/", "/runs/1", "/runs/%00", "/%ff", "/../v2/runs"]
)
def test_an_address_that_is_none_answers_with_a_problem(client: httpx.Client, path: str) -> None:
    answer = client.get(path)

    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
