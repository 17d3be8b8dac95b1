from __future__ import annotations

from loomverify.accounts import services
from loomverify.celery import app


@app.task(name="accounts.request_password_reset")
def request_password_reset(email: str) -> None:
    services.request_password_reset(email=email)
