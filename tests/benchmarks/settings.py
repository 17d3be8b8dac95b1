"""The product's settings with an empty task beside its own."""

from loomverify.celery import app
from loomverify.settings import *  # noqa: F403


@app.task(name="tests.empty")
def empty(_number: int) -> None:
    pass
