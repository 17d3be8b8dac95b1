"""Entry points and services that are started for real, and what they do beside what they should."""

from __future__ import annotations

from textwrap import dedent

import pytest
from docker import APIClient

from tests.sandbox.engine import tried
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.gating.judging import OWN_WORD
from verification.engine.outcome import Status
from verification.engine.reports.model import TestCounts

pytestmark = pytest.mark.docker

ADD = """\
import sys
a, b = map(int, sys.stdin.read().split())
print(a + b)
"""
STARTS = """\
run:
  - {command: python3 main.py, input: "3 4\\n", expected_output: "7\\n"}
  - {command: python3 main.py, input: "1 1\\n", expected_output: "3\\n"}
  - {command: "python3 main.py", input: "a b\\n"}
  - {command: python3 main.py, input: "a b\\n", expected_exit_code: 1}
"""
PY_SERVICE = """\
import http.server

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({status} if self.path == "/healthz" else 404)
        self.end_headers()

print("begins", flush=True)
http.server.HTTPServer(("127.0.0.1", 8000), Answers).serve_forever()
"""
READY = """\
Run:
```yaml
command: {command}
ready: {{port: {port}, path: /healthz, seconds: {seconds}}}
```
"""
NODE_SERVICE = """\
require('http').createServer((_, answer) => answer.end('here')).listen(3000, 'localhost');
"""


def run(
    engine: APIClient, files: dict[str, str], plan: str = "", *, seconds: int = 0
) -> GateReport:
    return tried(engine, files, "run", plan=plan, seconds=seconds).reports["run"]


def ready(command: str, *, port: int = 8000, seconds: int = 5) -> str:
    return READY.format(command=command, port=port, seconds=seconds)


def said(report: GateReport) -> list[tuple[str, str]]:
    return [(one.reason_code, one.message) for one in findings_of(report)]


def test_each_start_that_is_not_as_expected_is_told_at_its_line(engine: APIClient) -> None:
    files = {"requirements.txt": "", "main.py": ADD, "loomverify.yaml": STARTS}

    report = run(engine, files)

    assert (report.status, report.tests) == (Status.FAILED, TestCounts(passed=2, failed=2))
    wrong, crash = findings_of(report)
    assert (wrong.reason_code, wrong.path, wrong.line) == ("run_failed", "loomverify.yaml", 3)
    assert wrong.message.splitlines()[1:] == ["- 3", "+ 2"]
    assert crash.line == 4
    assert "exit code 1, not 0." in crash.message
    assert "ValueError" in crash.message


def test_what_a_plan_expects_is_not_to_be_found_by_the_work(engine: APIClient) -> None:
    plan = (
        'Run:\n```yaml\n- command: cat\n  input: "a\'b $(id)\\n"\n  expected_output: "a\'b $(id)"\n'
        + (
            "- command: grep -rlas s3cret-answe[r] /workspace /tmp /etc /proc/[0-9]*/environ || echo nowhere\n"
            "  expected_output: 's3cret-answer'\n```\n"
        )
    )

    report = run(engine, {"requirements.txt": ""}, plan, seconds=40)

    assert [one.message.splitlines()[1:] for one in report.failures] == [
        ["- s3cret-answer", "+ nowhere"]
    ]


def test_a_start_that_does_not_end_is_stopped_with_its_time(engine: APIClient) -> None:
    plan = "Run:\n```yaml\n- command: 'true'\n- command: echo the last words; sleep 100\n```\n"

    report = run(engine, {"requirements.txt": ""}, plan, seconds=3)

    [(reason, message)] = said(report)
    assert reason == "gate_timed_out"
    assert "the last words" in message


def test_a_service_that_answers_is_ready_and_ends_with_its_gate(engine: APIClient) -> None:
    files = {"requirements.txt": "", "app.py": PY_SERVICE.format(status=204)}

    report = run(engine, files, ready("python3 app.py", seconds=20))

    assert said(report) == []
    assert (report.status, report.exit_code) == (Status.PASSED, 0)


@pytest.mark.parametrize(
    ("seconds", "app", "why"),
    [
        (5, PY_SERVICE.format(status=503), "It was not ready within 5 s. It answered 503."),
        (1, PY_SERVICE.replace("8000", "8001").format(status=200),
         "It was not ready within 1 s. Nothing answered on port 8000."),
        (5, "print('no way', flush=True)\nraise SystemExit(3)",
         "It ended by itself with exit code 3. Nothing answered on port 8000.\nno way"),
        (5, dedent("""\
            import socket
            listener = socket.create_server(("127.0.0.1", 8000))
            while True:
                peer, _ = listener.accept()
                peer.sendall(b"SSH-2.0\\r\\n")
            """), "It was not ready within 5 s. What answered on port 8000 was not HTTP."),
    ],
)  # fmt: skip
def test_a_service_that_is_not_ready_says_how(
    engine: APIClient, seconds: int, app: str, why: str
) -> None:
    report = run(
        engine, {"requirements.txt": "", "app.py": app}, ready("python3 app.py", seconds=seconds)
    )

    [(reason, message)] = said(report)
    assert reason == "run_failed"
    assert why in message


def test_node_serves_on_the_name_of_the_loopback(engine: APIClient) -> None:
    files = {"package.json": "{}", "app.js": NODE_SERVICE}

    assert said(run(engine, files, ready("node app.js", port=3000, seconds=20))) == []
    [(reason, message)] = said(run(engine, files, ready("node nowhere.js", port=3000)))
    assert (reason, "MODULE_NOT_FOUND" in message) == ("run_failed", True)


def test_go_is_run_with_what_the_tools_compiled(engine: APIClient) -> None:
    main = 'package main\n\nimport "fmt"\n\nfunc main() { var a int; fmt.Scan(&a); fmt.Println(a + 1) }\n'
    files = {
        "go.mod": "module example.com/x\n\ngo 1.21\n",
        "main.go": main,
        "loomverify.yaml": "run: {command: go run ., input: 41, expected_output: 42}\n",
    }

    report = run(engine, files)

    assert (said(report), report.detail) == ([], OWN_WORD)


def test_a_command_that_is_not_in_the_image_is_in_doubt(engine: APIClient) -> None:
    for plan in (ready("nosuchcommand"), "Run:\n```yaml\ncommand: nosuchcommand\n```\n"):
        assert [reason for reason, _ in said(run(engine, {"go.mod": "module x\n"}, plan))] == [
            "gate_error"
        ]
