"""One PostgreSQL for all test processes, in a folder that outlives them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from loomverify.embedded import start_server

FAST = """
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 400
"""


def ensure_test_database() -> None:
    """Point DATABASE_URL and LOOMVERIFY_DATA at places that only tests use.

    Each process has a data folder of its own: in one, it would find the others' messages.
    """
    root = Path(tempfile.gettempdir()) / f"loomverify-tests-{os.getuid()}"
    root.mkdir(exist_ok=True)
    os.environ["LOOMVERIFY_DATA"] = tempfile.mkdtemp(prefix="data-", dir=root)
    Path(os.environ["LOOMVERIFY_DATA"], "static").mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("LOOMVERIFY_SECRET_KEY", "only-for-tests")
    if not os.environ.get("DATABASE_URL"):
        os.environ["DATABASE_URL"] = start_server(root / "postgres", extra_settings=FAST)
