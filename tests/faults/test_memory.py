"""What web and worker processes hold at most, while the largest that may be sent comes in."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.runs.conftest import body_of
from tests.stack import Stack, running_stack, wait_for

pytestmark = pytest.mark.faults

MAX_MEGABYTES = 400
PROCESS = """\
name: searching
phases: [{id: work, description: Work.}]
verification:
  rules:
    - {name: no-todo, type: regex, check: TODO, target: deliverables, applies_to_phases: '*'}
    - {name: no-mail, type: regex, check: '\\w+@\\w+', target: deliverables, applies_to_phases: '*'}
    - {name: heading, type: regex, check: '(?m)^# ', target: deliverables, applies_to_phases: '*'}
"""
WIDE = "All is well 😀 here.\n".encode()


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with running_stack(tmp_path_factory.mktemp("memory"), "web", "worker", "relay") as stack:
        with stack.client() as client:
            assert client.post("/processes", content=PROCESS.encode()).status_code == 201
        yield stack


def workspace(*sizes: int, suffix: str = "txt") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number, size in enumerate(sizes):
            # Not so alike that it would be a bomb.
            text = os.urandom(size // 40).hex().encode() + WIDE * (size // len(WIDE))
            archive.writestr(f"{number}.{suffix}", text[:size])
    return packed.getvalue()


def submit(stack: Stack, archive: bytes, **fields: Any) -> str:
    run = json.dumps(body_of(process="searching", **fields))
    with stack.client() as client:
        answer = client.post("/runs", data={"run": run}, files={"workspace": ("w.zip", archive)})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def wait_for_the_end(stack: Stack, run: str) -> None:
    with stack.client() as client:

        def is_over() -> bool:
            return bool(client.get(f"/runs/{run}?wait=60").json()["state"] == "finished")

        wait_for(is_over, "the end of the run")


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(workspace(*[30_000_000] * 4), id="four large files"),
        pytest.param(workspace(49_000_000, 49_000_000), id="two of the largest that are searched"),
        pytest.param(workspace(64_000_000), id="one that is too large to be searched"),
        pytest.param(workspace(*[12_000] * 9_999), id="as many as may be"),
        pytest.param(workspace(49_000_000, suffix="json"), id="one that is too large to be JSON"),
    ],
)
def test_the_largest_workspaces_fit(stack: Stack, archive: bytes) -> None:
    wait_for_the_end(stack, submit(stack, archive))

    assert_small(stack)


def test_several_large_submissions_at_once_fit(stack: Stack) -> None:
    archive = workspace(30_000_000, 30_000_000)

    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: submit(stack, archive), range(4)))

    for run in runs:
        wait_for_the_end(stack, run)
    assert_small(stack)


def test_the_largest_json_fits(stack: Stack) -> None:
    values = [[number] for number in range(70_000)]
    call = {"tool": "t", "success": True, "args": values, "result": "x" * 4_900_000}
    with stack.client() as client:
        answer = client.post("/runs", json=body_of(tool_calls=[call, call]))

    assert answer.status_code == 202, answer.text[:500]
    wait_for_the_end(stack, answer.json()["id"])
    assert_small(stack)


def assert_small(stack: Stack) -> None:
    for name in ("web", "worker"):
        peaks = stack.peak_megabytes(name)
        assert max(peaks.values()) < MAX_MEGABYTES, (name, peaks)
