from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.model_server import model_server
from tests.stack import Stack, running_stack, wait_for

pytestmark = pytest.mark.faults

JUDGES = "/p/default/settings/judges/"
KEY = "a-key-that-nobody-may-see"
PASSING = '{"passed": true, "issues": [], "confidence": 1, "suggestion": ""}'


def test_a_connection_added_on_the_page_is_tested_by_a_worker_with_the_key_it_names(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("stack")
    variables = {"LOOMVERIFY_KEY_OURS": KEY}
    with (
        model_server(PASSING) as judge,
        running_stack(folder, "web", "worker", variables=variables) as stack,
    ):
        browser = stack.browser()
        _post(
            browser,
            f"{JUDGES}add/",
            name="own",
            model="openai/of-our-own",
            base_url=judge.url,
            key_reference="LOOMVERIFY_KEY_OURS",
            timeout_seconds="30",
            max_output_tokens="4000",
            max_input_chars="200000",
        )
        assert _asked(stack).status_code == 202

        wait_for(lambda: _test(stack)["state"] == "answered", "the worker's answer")
        page = browser.get(JUDGES).text

        assert (_test(stack)["recovery"], judge.keys) == ("strict_json", [f"Bearer {KEY}"])
        assert "read as the JSON that was asked for" in page
        assert "workers see it" in page
        logs = "".join(path.read_text() for path in folder.glob("*.log"))
        assert KEY not in page + logs


def _post(browser: httpx.Client, path: str, **form: str) -> None:
    headers = {"X-CSRFToken": browser.cookies["csrftoken"], "Referer": str(browser.base_url)}
    assert browser.post(path, data=form, headers=headers).status_code == 200


def _asked(stack: Stack) -> httpx.Response:
    with stack.client() as client:
        return client.post("/judges/own/test")


def _test(stack: Stack) -> dict[str, Any]:
    with stack.client() as client:
        [judge] = client.get("/judges").json()["items"]
    found: dict[str, Any] = judge["test"]
    return found
