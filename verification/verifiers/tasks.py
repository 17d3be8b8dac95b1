from __future__ import annotations

from loomverify.celery import app
from verification.verifiers import trying


@app.task(name=trying.TASK)
def try_connection(connection_id: int, token: str) -> None:
    trying.try_connection(connection_id, token)
