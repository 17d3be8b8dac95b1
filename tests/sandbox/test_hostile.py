"""Work that means harm: it is held in, told under the right reason, and the next run is unharmed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from docker import APIClient

from tests.sandbox.engine import MEGABYTE, SETTINGS, Tried, tried
from tests.sandbox.test_languages import PYTHON
from verification.engine.gates import GateReport
from verification.engine.gating.findings import findings_of
from verification.engine.outcome import Status

pytestmark = pytest.mark.docker

SECONDS = 20


def hostile(engine: APIClient, body: str, *, seconds: int = SECONDS) -> Tried:
    """Run a test file that holds this body, at its top."""
    files = {"pytest.ini": "[pytest]\n", "test_it.py": f"{body}\n\n\ndef test_it():\n    pass\n"}
    return tried(engine, files, "test", seconds=seconds)


def reasons(report: GateReport) -> list[str]:
    return [one.reason_code for one in findings_of(report)]


@pytest.fixture(autouse=True)
def next_run_is_unharmed(engine: APIClient) -> object:
    yield
    assert tried(engine, PYTHON, "test").reports["test"].status is Status.PASSED


def test_a_fork_bomb_takes_nobody_elses_processes(engine: APIClient) -> None:
    body = (
        "import os, signal\n"
        "made = 0\n"
        "try:\n"
        "    while True:\n"
        "        if os.fork() == 0:\n"
        "            signal.pause()\n"
        "        made += 1\n"
        "except BlockingIOError:\n"
        "    assert made < 128, made\n"
        "    raise RuntimeError('no more processes') from None"
    )

    found = hostile(engine, body)

    assert reasons(found.reports["test"]) == ["tests_failed"]
    [failure] = found.reports["test"].failures
    assert "no more processes" in failure.message


def test_a_memory_bomb_is_out_of_memory(engine: APIClient) -> None:
    found = hostile(engine, "held = [b'x' * 10**8 for _ in range(50)]")

    assert reasons(found.reports["test"]) == ["gate_out_of_memory"]


def test_a_disk_filler_meets_the_end_of_its_room(engine: APIClient) -> None:
    body = "with open('/workspace/full', 'wb') as file:\n    while True:\n        file.write(b'x' * 10**6)"

    found = hostile(engine, body)

    assert found.reports["test"].status is Status.FAILED
    assert "No space left" in (found.ended["test"].out + found.ended["test"].err).decode()


def test_endless_output_is_cut_in_its_middle_and_ends_with_its_time(engine: APIClient) -> None:
    found = tried(engine, PYTHON, "test", plan={"test": ["yes noise"]}, seconds=4)

    assert reasons(found.reports["test"]) == ["gate_timed_out"]
    assert not found.ended["test"].is_whole
    assert len(found.ended["test"].out) < 1.1 * MEGABYTE


def test_what_was_written_before_time_was_over_is_kept(engine: APIClient) -> None:
    plan = {"test": ["echo the last words; sleep 100"]}

    found = tried(engine, PYTHON, "test", plan=plan, seconds=3)

    assert found.reports["test"].status is Status.TIMED_OUT
    assert "the last words" in found.ended["test"].out.decode()
    assert "the last words" in found.reports["test"].detail


@pytest.mark.parametrize(
    "probe",
    [
        pytest.param("import socket; socket.create_connection(('1.1.1.1', 53), 2)", id="network"),
        pytest.param("import socket; socket.getaddrinfo('example.com', 80)", id="names"),
        pytest.param("import os; os.setuid(0)", id="becoming root"),
        pytest.param("open('/etc/loomverify', 'w')", id="its root"),
        pytest.param("open('/opt/loomverify/run_pytest.py', 'a')", id="the tools"),
        pytest.param("open('/proc/sysrq-trigger', 'w')", id="the kernel"),
        pytest.param("open('/sys/kernel/uevent_helper', 'w')", id="the kernel's helper"),
        pytest.param("open('/var/run/docker.sock')", id="the engine's socket"),
        pytest.param("import os; os.mknod('/tmp/sda', 0o60600, os.makedev(8, 0))", id="devices"),
        pytest.param("import ctypes; raise OSError if ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, 0) else 1", id="mounts"),
        pytest.param("import ctypes; raise OSError if ctypes.CDLL(None).unshare(0x10000000) else 1", id="user namespaces"),
    ],
)  # fmt: skip
def test_what_lies_outside_cannot_be_reached(engine: APIClient, probe: str) -> None:
    files = {"pytest.ini": "[pytest]\n", "test_it.py": f"def test_it():\n    {probe}\n"}

    found = tried(engine, files, "test", seconds=SECONDS)

    [failure] = found.reports["test"].failures
    assert re.search(r"OSError|PermissionError|FileNotFoundError|gaierror", failure.message)


def test_a_setuid_file_gives_nobody_more_rights(engine: APIClient) -> None:
    body = (
        "import os, subprocess\n"
        "for name in ('/bin/su', '/usr/bin/passwd', '/bin/mount'):\n"
        "    if os.path.exists(name):\n"
        "        assert subprocess.run([name, '-c', 'id'], capture_output=True).returncode != 0\n"
        "status = open('/proc/self/status').read()\n"
        "assert 'NoNewPrivs:\\t1' in status and 'CapEff:\\t0000000000000000' in status"
    )

    assert hostile(engine, body).reports["test"].status is Status.PASSED


def test_links_made_by_the_work_lead_nowhere_outside(engine: APIClient) -> None:
    body = (
        "import atexit, os\n\n\n"
        "def link():\n"
        "    report = os.environ['LV_REPORT']\n"
        "    os.remove(report)\n"
        "    os.symlink('/etc/passwd', report)\n\n\n"
        "atexit.register(link)"
    )

    found = hostile(engine, body)

    assert found.ended["test"].exit_code == 0
    assert found.ended["test"].report is None
    assert reasons(found.reports["test"]) == ["gate_contradiction"]


def test_a_hundred_thousand_files_are_removed_with_their_container(engine: APIClient) -> None:
    body = "import os\nfor n in range(100_000):\n    open(f'/workspace/{n}.txt', 'w').close()"
    roomy = replace(SETTINGS, bounds=replace(SETTINGS.bounds, memory_bytes=1_500 * MEGABYTE))
    files = {"pytest.ini": "[pytest]\n", "test_it.py": f"{body}\n\n\ndef test_it():\n    pass\n"}

    found = tried(engine, files, "test", seconds=60, settings=roomy)

    assert found.reports["test"].tests
    assert found.reports["test"].tests.passed == 1


def test_a_suite_that_says_ten_passed_and_ends_badly_contradicts_itself(engine: APIClient) -> None:
    plan = {"test": ["echo '10 passed in 0.1s'; exit 1"]}

    found = tried(engine, PYTHON, "test", plan=plan)

    assert reasons(found.reports["test"]) == ["gate_contradiction"]


def test_a_suite_that_says_nothing_and_ends_well_counts_no_test(engine: APIClient) -> None:
    found = tried(engine, PYTHON, "test", plan={"test": ["true"]})

    assert reasons(found.reports["test"]) == ["no_tests"]


def test_a_runner_that_is_stopped_before_its_end_proves_nothing(engine: APIClient) -> None:
    forged = (
        "import os\n"
        "with open(os.environ['LV_REPORT'], 'w') as file:\n"
        '    file.write(\'<testsuite tests="1"><testcase name="a" classname="b"/></testsuite>\')\n'
        "os._exit(0)"
    )

    found = hostile(engine, forged)

    assert reasons(found.reports["test"]) == ["gate_contradiction"]


def test_a_forged_report_beside_a_bad_end_proves_nothing(engine: APIClient) -> None:
    forged = (
        "import os\n"
        "with open(os.environ['LV_REPORT'], 'w') as file:\n"
        '    file.write(\'<testsuite tests="1"><testcase name="a" classname="b"/></testsuite>\')\n'
        "os._exit(1)"
    )

    found = hostile(engine, forged)

    assert reasons(found.reports["test"]) == ["gate_contradiction"]


def test_a_report_that_lies_in_the_work_is_nobodys(engine: APIClient) -> None:
    planted = {
        **PYTHON,
        "report.xml": '<testsuite tests="1"><testcase name="a" classname="b"/></testsuite>',
    }
    wrong = {**planted, "calc.py": "def add(a, b):\n    return 0\n"}

    assert tried(engine, wrong, "test").reports["test"].tests.failed == 1  # type: ignore[union-attr]


def test_what_a_test_leaves_running_does_not_work_on_while_others_judge(engine: APIClient) -> None:
    body = "import subprocess\nsubprocess.Popen(['sleep', '1000'])"

    found = hostile(engine, body)

    assert found.reports["test"].status is Status.PASSED
    assert found.ended["test"].duration_ms < 15_000


def test_what_judges_is_not_taken_from_the_work(engine: APIClient) -> None:
    shadowing = {
        **PYTHON,
        "pytest.py": "def main(args):\n    return 0\n",
        "ruff.py": "",
        "compileall.py": "raise SystemExit(7)\n",
        "calc.py": "import os\n\n\ndef add(a, b):\n    return 0\n",
    }

    found = tried(engine, shadowing, "build", "test", "lint").reports

    assert found["build"].status is Status.PASSED
    assert found["test"].tests.failed == 1  # type: ignore[union-attr]
    assert found["lint"].problem_count


def test_an_install_that_fills_the_disk_is_stopped(engine: APIClient) -> None:
    narrow = replace(SETTINGS, bounds=replace(SETTINGS.bounds, installed_bytes=20 * MEGABYTE))
    plan = {"install": ["head -c 60000000 /dev/zero > /deps/full", "sleep 60"]}

    found = tried(engine, PYTHON, "install", "test", plan=plan, settings=narrow)

    assert reasons(found.reports["install"]) == ["install_failed"]
    assert "more than there is room for" in found.reports["install"].detail
    assert found.reports["test"].status is Status.SKIPPED


def test_work_cannot_hide_from_who_looks_for_dangers(engine: APIClient) -> None:
    danger = "import subprocess\n\nsubprocess.call(LINE, shell=True)  # noqa\n"
    hiding = {
        "pyproject.toml": "[project]\nname = 'x'\n[tool.ruff]\nexclude = ['*']\nlint.select = []\n",
        "a.py": f"# ruff: noqa\n{danger}",
        "build/b.py": danger,
        ".ignore": "*.py\n",
        ".gitignore": "*.py\n",
    }

    found = tried(engine, hiding, "security").reports["security"]

    high = [one.path for one in found.problems if one.rule == "S602"]
    assert sorted(high) == ["a.py", "build/b.py"]
