"""The product's settings, with two tasks that do next to nothing."""

from loomverify.celery import app
from loomverify.settings import *  # noqa: F403


@app.task(name="tests.empty")
def empty(_number: int) -> None:
    pass


@app.task(name="tests.notify")
def notify(channel: str) -> None:
    """Tell a listener of PostgreSQL that a worker ran this."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("select pg_notify(%s, '')", [channel])
