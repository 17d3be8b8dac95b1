"""Work in every language is looked at for dangers, secrets and bad patterns; none can say no."""

from __future__ import annotations

import base64
import random
import string
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from docker import APIClient

from tests.sandbox.engine import IMAGE, SETTINGS, tried
from tests.sandbox.test_languages import GO, NODE, PYTHON
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.outcome import Status
from verification.engine.reports.model import ProblemReport, ProblemSeverity
from verification.engine.reports.problems import ProblemFormat, read_problems

pytestmark = pytest.mark.docker

HIGH, LOW = ProblemSeverity.HIGH, ProblemSeverity.LOW
LETTERS = string.ascii_letters + string.digits
DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase


def token(seed: int = 1) -> str:
    """As GitHub makes them, checksum and all; put together here, so that none lies in a file."""
    body = "".join(random.Random(seed).choices(LETTERS, k=30))  # noqa: S311
    left, checksum = zlib.crc32(body.encode()), ""
    while left:
        left, digit = divmod(left, 62)
        checksum = DIGITS[digit] + checksum
    return "gh" + f"p_{body}{checksum:0>6}"


def private_key() -> str:
    """As long as an RSA key, and as such keys begin."""
    body = base64.b64encode(b"0\x82\x04\xa4\x02\x01\x00" + random.Random(2).randbytes(1185))  # noqa: S311
    lines = [body[start : start + 64].decode() for start in range(0, len(body), 64)]
    return "\n".join(["-----BEGIN RSA " + "PRIVATE KEY-----", *lines, "-----END RSA PRIVATE KEY-----\n"])  # fmt: skip


def problems(report: GateReport | ProblemReport) -> set[tuple[str, int | None, str]]:
    return {(one.path, one.line, one.rule) for one in report.problems}


def looked_at(engine: APIClient, files: Mapping[str, str]) -> GateReport:
    return tried(engine, files, "security").reports["security"]


def test_clean_work_of_several_languages_has_no_problem(engine: APIClient) -> None:
    calm = {"README.md": "A key begins with -----BEGIN PRIVATE KEY-----, a token with ghp_.\n"}

    others = {"calc.js": NODE["calc.js"], "go/calc.go": GO["calc.go"]}

    report = looked_at(engine, {**PYTHON, **calm, **others})

    assert (report.status, report.problem_count) == (Status.PASSED, 0)


def test_a_look_that_is_not_done_in_its_time_blames_nobody(engine: APIClient) -> None:
    much = {f"pkg/part{n}.py": "def f(a, b):\n    return a + b\n\n\n" * 400 for n in range(500)}

    report = tried(engine, {**PYTHON, **much}, "security", seconds=1).reports["security"]

    assert [one.reason_code for one in findings_of(report)] == ["gate_error"]


def test_dangers_reject_in_a_language_whose_own_image_is_not_there(engine: APIClient) -> None:
    planted = {
        **NODE,
        "run.js": "import { exec } from 'node:child_process';\nexport const f = (a) => exec(`ls ${a}`);\n",
        "go/run.go": 'package calc\n\nfunc f(a string) { exec.Command("sh", "-c", a) }\n',
        "run.py": "import os\n\n\ndef f(a):\n    os.system('ls ' + a)\n",
        "config/.env": f"A=1\nTOKEN={token()}\n",
    }
    alone = replace(SETTINGS, images={"python": IMAGE})

    report = tried(engine, planted, "security", settings=alone).reports["security"]

    assert report.status is Status.FAILED
    high = {(one.path, one.line, one.rule) for one in report.problems if one.severity is HIGH}
    assert high == {
        ("run.js", 2, "javascript.command-from-text"),
        ("go/run.go", 3, "go.command-from-text"),
        ("run.py", 5, "S605"),
        ("config/.env", 2, "secret:github-pat"),
    }
    assert {one.reason_code for one in findings_of(report)} == {"security_failed"}


def test_a_secret_is_never_told_whole(engine: APIClient) -> None:
    secrets = [token(1), token(2), private_key()]
    work = {**PYTHON, "a.py": f"A = '{secrets[0]}'\n", "b.txt": secrets[1], "c.pem": secrets[2]}

    found = tried(engine, work, "security")

    report, ended = found.reports["security"], found.ended["security"]
    high = {(one.path, one.rule) for one in report.problems if one.severity is HIGH}
    assert high == {
        ("a.py", "secret:github-pat"),
        ("b.txt", "secret:github-pat"),
        ("c.pem", "secret:private-key"),
    }
    written = b"".join([ended.out, ended.err, ended.report or b""]).decode() + str(report)
    assert "It begins with ghp_…" in written
    for secret in (*secrets[:2], *secrets[2].split("\n")[1:-2]):
        assert secret[5:] not in written


def test_work_cannot_switch_off_who_looks_at_it(engine: APIClient) -> None:
    danger = (
        "import subprocess\n\nsubprocess.call(LINE, shell=True)  # noqa: S602 # nosec # nosemgrep\n"
    )
    script = f"eval(text); // nosemgrep // kingfisher:ignore {token()} gitleaks:allow\n"
    hiding = {
        "pyproject.toml": "[project]\nname = 'x'\n[tool.ruff]\nexclude = ['*']\nlint.select = []\n",
        ".semgrepignore": "*\n",
        ".gitignore": "*\n",
        ".ignore": "*\n",
        ".gitattributes": "* linguist-generated\n",
        ".secrets.baseline": "{}",
        "kingfisher.yaml": "scan: {exclude: ['*']}\n",
        "tests/fixtures/a.py": danger,
        "node_modules/b/index.js": script,
        "vendor/.hidden/c.min.js": script,
        "package-lock.json": f'{{"a": "{token()}"}}\n',
        "look.py": "raise SystemExit(0)\n",
        "json.py": "raise SystemExit(0)\n",
    }

    report = looked_at(engine, hiding)

    high = {(one.path, one.rule) for one in report.problems if one.severity is HIGH}
    assert high >= {
        ("tests/fixtures/a.py", "S602"),
        ("node_modules/b/index.js", "javascript.code-from-text"),
        ("node_modules/b/index.js", "secret:github-pat"),
        ("vendor/.hidden/c.min.js", "javascript.code-from-text"),
        ("package-lock.json", "secret:github-pat"),
    }


def test_scripts_without_a_suffix_are_searched_by_their_first_line(engine: APIClient) -> None:
    scripts = {
        "bin/one": "#!/usr/bin/env python3\nimport subprocess\n\n"
        "def run(x):\n    subprocess.run(x, shell=True)\n",
        "bin/two": "#!/usr/bin/env node\neval(process.argv[2]);\n",
        "bin/three": "#!/bin/sh\neval $1\n",
        "src/App.vue": "<script>\neval(location.hash)\n</script>\n",
    }

    found = problems(looked_at(engine, {**NODE, **scripts}))

    assert {(path, rule) for path, _, rule in found} >= {
        ("bin/one", "S602"),
        ("bin/two", "javascript.code-from-text"),
        ("bin/three", "look:not-searched"),
        ("src/App.vue", "look:not-searched"),
    }


def test_what_is_not_looked_at_is_said_and_blames_nobody(engine: APIClient) -> None:
    packed = {"a.js": "let a = 1;" * 30_000, "b.js": "let a = 1;\n" * 100_000, "c.js": "eval( {\n"}
    others = {"{{name}}/d.py": "import {{ name }}\n", "e.ipynb": ""}

    report = looked_at(engine, {**NODE, **packed, **others})

    assert report.status is Status.PASSED
    assert problems(report) == {
        ("a.js", None, "look:too-large"),
        ("b.js", None, "look:too-large"),
        ("c.js", None, "look:not-read"),
        ("{{name}}/d.py", None, "look:not-read"),
        ("e.ipynb", None, "look:not-read"),
    }
    assert {one.severity for one in report.problems} == {LOW}
    assert {str(one.enforcement) for one in findings_of(report)} == {"advisory"}


def dangers() -> Iterator[tuple[str, str, set[tuple[str, int | None, str]]]]:
    """The path and the content of a file in each language, and what is to be seen in it."""
    languages = yaml.safe_load(Path(__file__).with_name("dangers.yaml").read_text())
    for name, language in languages.items():
        path, lines, wanted = f"{name}{language['suffix']}", language["begin"], set()
        for rule, told in language["rules"].items():
            for line in told["bad"]:
                lines += f"{language['indent']}{line}\n"
                wanted |= {(path, lines.count("\n"), one) for one in (rule, *told.get("also", ()))}
            lines += "".join(f"{language['indent']}{line}\n" for line in told["good"])
        yield path, lines + language.get("end", ""), wanted


def test_each_of_our_own_rules_sees_what_it_is_for_and_nothing_else(engine: APIClient) -> None:
    told = list(dangers())

    files = {"Makefile": "", **{path: content for path, content, _ in told}}
    report = tried(engine, files, "security").ended["security"].report

    found = read_problems(ProblemFormat.SARIF, report or b"")
    own = {one for one in problems(found) if "." in one[2]}
    assert own == set().union(*(wanted for _, _, wanted in told))
    assert {rule for _, _, rule in own} == set(_own_rules())


def _own_rules() -> Iterator[str]:
    folder = Path("verification/adapters/sandbox/tools/rules")
    for path in folder.glob("*.yaml"):
        yield from (one["id"] for one in yaml.safe_load(path.read_text())["rules"])
