from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from loomverify.env import SANDBOXED

ROOT = Path(__file__).resolve().parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text())
SERVICES: dict[str, Any] = COMPOSE["services"]
OURS = ("setup", "web", "worker", "sandbox", "relay", "scheduler")
SOCKET = "/var/run/docker.sock"
PREFIXES = ("LOOMVERIFY_JUDGE", "LOOMVERIFY_ALTERNATE_JUDGE")
LASTING = tuple(name for name in SERVICES if name != "setup")


def test_every_process_has_its_service() -> None:
    commands = {name: SERVICES[name].get("command") for name in OURS}

    assert set(SERVICES) == {*OURS, "postgres", "redis"}
    assert commands == {
        "setup": ["loomverify", "migrate"],
        "web": ["loomverify", "web"],
        "worker": ["loomverify", "worker"],
        "sandbox": [
            "loomverify",
            "worker",
            "--queues=sandbox",
            "--concurrency=1",
            "--name=sandbox",
        ],
        "relay": ["loomverify", "relay"],
        "scheduler": ["loomverify", "scheduler"],
    }


@pytest.mark.parametrize("name", LASTING)
def test_every_lasting_service_has_a_health_check(name: str) -> None:
    check = SERVICES[name]["healthcheck"]

    assert check["test"][0] == "CMD"
    assert {"interval", "timeout", "retries", "start_period"} <= set(check)


@pytest.mark.parametrize("name", ["web", "worker", "sandbox", "relay", "scheduler"])
def test_our_services_start_after_the_database_is_prepared(name: str) -> None:
    after = SERVICES[name]["depends_on"]

    assert after["setup"]["condition"] == "service_completed_successfully"
    assert after["postgres"]["condition"] == "service_healthy"
    assert after["redis"]["condition"] == "service_healthy"


def test_no_secret_has_a_value_of_its_own() -> None:
    secret = re.compile(r"SECRET|PASSWORD|KEY|DATABASE_URL|EMAIL_URL")
    secrets = {
        (name, variable): value
        for name, service in SERVICES.items()
        for variable, value in service.get("environment", {}).items()
        if secret.search(variable)
    }

    fixed = [
        place for place, value in secrets.items() if not re.search(r"\$\{\w+:(\?[^}]+|-)\}", value)
    ]

    assert ("postgres", "POSTGRES_PASSWORD") in secrets
    assert fixed == []


@pytest.mark.parametrize("variable", ["LOOMVERIFY_SECRET_KEY", "POSTGRES_PASSWORD", "BASE_URL"])
def test_what_must_be_set_stops_the_start_with_a_reason(variable: str) -> None:
    text = (ROOT / "compose.yaml").read_text()

    assert re.search(rf"\$\{{{variable}:\?[^}}]+\}}", text)


@pytest.mark.parametrize("name", OURS)
def test_whatever_an_operator_may_set_comes_through(name: str) -> None:
    source = (ROOT / "loomverify" / "env.py").read_text()
    images = {f"LOOMVERIFY_SANDBOX_IMAGE_{one.upper()}" for one in SANDBOXED}

    read = {one for one in re.findall(r'"(LOOMVERIFY_[A-Z_]+)"', source) if one not in PREFIXES}

    assert len(read) > 10
    assert images | read <= set(SERVICES[name]["environment"])


@pytest.mark.parametrize("name", OURS)
def test_our_services_can_change_nothing_but_the_evidence_volume(name: str) -> None:
    service = SERVICES[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    own = [one for one in service["volumes"] if not one.startswith(SOCKET)]
    assert own == ["evidence:/data"]


def test_only_who_runs_submitted_code_reaches_the_docker_engine_and_only_when_asked_for() -> None:
    reaching = [name for name in SERVICES if SOCKET in str(SERVICES[name].get("volumes"))]

    assert reaching == ["sandbox"]
    assert SERVICES["sandbox"]["profiles"] == ["sandbox"]
    assert "--queues=sandbox" in SERVICES["sandbox"]["command"]


def test_only_the_web_is_published_and_only_to_this_machine() -> None:
    published = {name: service["ports"] for name, service in SERVICES.items() if "ports" in service}

    assert published == {"web": ["127.0.0.1:${PORT:-8000}:8000"]}


def test_evidence_and_database_outlive_their_containers() -> None:
    assert set(COMPOSE["volumes"]) == {"evidence", "database"}
    assert SERVICES["postgres"]["volumes"] == ["database:/var/lib/postgresql"]


def test_the_image_installs_by_hash_and_runs_as_nobody_in_particular() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()

    stages = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    last_stage = dockerfile.rpartition("\nFROM ")[2]
    assert stages == ["python:3.12-slim", "python:3.12-slim"]
    assert "pip install --require-hashes -r" in dockerfile
    assert re.search(r"^USER loomverify$", last_stage, re.MULTILINE)


def test_everything_the_image_copies_is_let_through_to_the_builder() -> None:
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    let_through = {
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    }

    assert {name for line in copied for name in line.split()} == let_through
