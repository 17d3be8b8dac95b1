# In processes of their own: an import cannot be taken back.
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.model_server import Said, model_server

NO_NETWORK = """
import socket

def refuse(*arguments, **options):
    raise SystemExit(f"somebody wants the network: {arguments}")

socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse
"""
ASK = """
from verification.adapters.judge import Connection, complete

answer = complete(Connection("j", "nonsense/m"), system="", prompt="?")
assert answer.lost == "infra_verifier_error", answer
import litellm
assert len(litellm.model_cost) > 1000
"""
ASK_THRICE = """
import logging, os
logging.basicConfig(level=logging.INFO)
from verification.adapters.judge import Connection, complete

judge = Connection("j", "openai/m", os.environ["ADDRESS"], "key")
for _ in range(3):
    complete(judge, system="", prompt="the secret work")
"""
WEB = """
import django, os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "loomverify.settings"
import loomverify.asgi
from django.urls import get_resolver
assert get_resolver().url_patterns
import loomverify.api
loomverify.api.api.get_openapi_schema()
heavy = {"litellm", "openai", "tiktoken", "numpy", "openpyxl", "PIL", "pypdfium2", "nh3", "markdown_it"}
print(",".join(sorted(heavy & set(sys.modules))))
"""


def run(code: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "LOOMVERIFY_DATA": str(folder), **variables}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=110
    )


@pytest.mark.extended
def test_litellm_is_loaded_without_the_network_a_word_or_a_file_of_variables(
    tmp_path: Path,
) -> None:
    (tmp_path / ".env").write_text("FROM_A_FILE=1\n")
    code = f"import os; os.chdir({str(tmp_path)!r})\n{NO_NETWORK}{ASK}"
    code += "assert 'FROM_A_FILE' not in os.environ"

    ended = run(code, tmp_path, PYTHONPATH=str(Path(__file__).parents[2]))

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.extended
def test_a_worker_says_nothing_of_what_a_model_has_said(tmp_path: Path) -> None:
    said = b'{"choices": [{"message": {"content": {"secret": "work"}}}], "usage": {"a": "secret"}}'
    with model_server(Said(raw=said), Said("secret", 500), "the secret work") as server:
        ended = run(ASK_THRICE, tmp_path, ADDRESS=server.url)

        assert len(server.asked) == 3
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


@pytest.mark.extended
def test_the_web_starts_without_what_its_children_or_few_pages_need(tmp_path: Path) -> None:
    ended = run(WEB, tmp_path)

    assert (ended.returncode, ended.stdout.strip()) == (0, ""), ended.stderr
