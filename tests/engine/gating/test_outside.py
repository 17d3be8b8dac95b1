"""An install that failed: the work's fault, or the network's."""

from __future__ import annotations

import pytest

from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import judged
from verification.engine.gating.outside import tells_of_network
from verification.engine.gating.stages import Ended, Install, Part, Stage
from verification.engine.outcome import Status

PART = Part(Component("", Language.PYTHON), Install("pip install x"), ())


@pytest.mark.parametrize(
    "written",
    [
        b"WARNING: Retrying ... after connection broken by 'NewConnectionError(...)'",
        b"Could not fetch URL https://index.example/simple/: connection error: HTTPSConnectionPool: Max retries exceeded",
        b"npm error code ENOTFOUND\nnpm error network request to https://registry.example failed",
        b"go: example.com/x@v1.0.0: Get \"https://proxy.example\": dial tcp: lookup proxy.example: no such host",
        b"ERROR: HTTP error 503 Service Unavailable while getting https://index.example/a.whl",
        b"  failed: Temp  \n  orary failure: php_network_getaddresses: getaddrinfo for index.example",
        b"Could not reach host index.example. Check your network connection and try\nagain.",
        b"[ERROR] Could not transfer artifact junit:junit:pom:4.13 from/to central: index.example",
        b"Caused by:\n  network failure seems to have happened",
        b"error NU1301: Unable to load the service index for source https://index.example/v3.json.",
        b"pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.",
    ],
)  # fmt: skip
def test_a_network_that_is_not_there_is_told_from_what_was_written(written: bytes) -> None:
    assert tells_of_network(written)


@pytest.mark.parametrize(
    "written",
    [
        b"ERROR: No matching distribution found for no-such-package==1.0",
        b"ERROR: Cannot install a==1 and a==2 because these package versions have conflicting dependencies.",
        b"npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
        b"go: updates to go.mod needed",
        b"error: the lock file Cargo.lock needs to be updated but --locked was passed",
        b"Could not find gem 'no-such-gem' in rubygems repository https://index.example/",
        b"Your lock file does not contain a compatible set of packages. Please run composer update.",
        b"[ERROR] Could not find artifact a:b:jar:1 in central (https://index.example)",
        b"error NU1101: Unable to find package Missing.",
        b"error: subprocess-exited-with-error\n  gcc: fatal error: no input files",
        b"",
    ],
)  # fmt: skip
def test_what_the_work_names_wrongly_is_its_own_fault(written: bytes) -> None:
    assert not tells_of_network(written)


def test_a_slow_install_blames_nobody() -> None:
    report = judged(PART, Stage("install", "pip install x"), Ended(is_timed_out=True)).report

    assert (report.status, report.is_lost) == (Status.ERROR, True)


def test_what_no_database_can_hold_is_not_in_a_report() -> None:
    report = judged(PART, Stage("build", "x"), Ended(exit_code=1, err=b"bad\0\xff")).report

    assert "bad\ufffd" in report.detail
