"""The Celery application: queues, broker and delivery."""

from __future__ import annotations

import os
import sys
import warnings
from typing import Any

from billiard.process import current_process
from celery import Celery, platforms
from celery.exceptions import SecurityWarning
from celery.schedules import crontab
from celery.signals import task_prerun, worker_process_init

from loomverify import filesystem_broker
from loomverify.children import die_with
from loomverify.env import environment

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")

LIVE, SHADOW, BULK, SANDBOX = "live", "shadow", "bulk", "sandbox"
BROKER_TIMEOUT_SECONDS = 1.0
NICENESS = 10
"""Of a worker that works on trials, and on no live run: processors serve the others first."""


def _broker() -> dict[str, object]:
    env = environment()
    if env.redis_url:
        return {
            "broker_url": env.redis_url,
            "broker_transport_options": {
                "socket_timeout": 5.0,
                "socket_connect_timeout": BROKER_TIMEOUT_SECONDS,
                "visibility_timeout": 3600,
            },
        }
    filesystem_broker.register()
    folder = env.data / "broker"
    for name in ("queue", "control", "processed"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return {
        "broker_url": "filesystem://localhost/",
        "broker_transport_options": {
            "data_folder_in": str(folder / "queue"),
            "data_folder_out": str(folder / "queue"),
            "control_folder": str(folder / "control"),
            "polling_interval": 0.01,
        },
    }


# Whatever is installed beside us: processes are found by their command line and environment.
platforms._setproctitle = None  # type: ignore[attr-defined]

app = Celery("loomverify")
app.conf.update(
    **_broker(),
    task_ignore_result=True,
    task_acks_late=True,
    task_default_queue=LIVE,
    worker_prefetch_multiplier=4,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_pool_limit=10,
    task_publish_retry=False,
    timezone="UTC",
    beat_schedule={
        "keep house": {
            "task": "verification.runs.keep_house",
            "schedule": crontab(minute=17),
            "options": {"queue": BULK, "expires": 1800},
        },
        "removed projects": {
            "task": "verification.owned.remove",
            "schedule": crontab(),
            "options": {"queue": BULK, "expires": 50},
        },
        "golden nightly": {
            "task": "verification.golden.start_nightly",
            "schedule": crontab(minute=5),
            "options": {"queue": BULK, "expires": 1800},
        },
    },
)
# Celery closes the database connection around every task; a new one costs more than the task.
app.conf["CELERY_DB_REUSE_MAX"] = sys.maxsize
app.autodiscover_tasks()


@task_prerun.connect
def _check_connection(sender: Any, **_signal: object) -> None:
    """What the database closed meanwhile is opened anew, as at the start of a web request."""
    from django.db import close_old_connections

    if not sender.request.is_eager:
        close_old_connections()


@worker_process_init.connect
def _end_with_worker(**_signal: object) -> None:
    """A killed worker's processes would wait for tasks forever, and hold their connections."""
    die_with(current_process()._parent_pid)  # type: ignore[attr-defined]


def run_worker(queues: str, concurrency: int, name: str) -> None:
    from celery.apps import worker

    served = queues.split(",")
    if SHADOW in served and LIVE not in served:
        os.nice(NICENESS)
    # They load every page and the whole API, which hardly a task needs: half of a worker's start.
    os.environ["CELERY_SKIP_CHECKS"] = "1"
    # Its start-up and shutdown lines, not the log.
    worker.safe_say = _say_nothing  # type: ignore[attr-defined]
    # In a container the superuser is nobody; what is submitted never runs in this process.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    app.worker_main(
        [
            "--quiet",
            "worker",
            f"--queues={queues}",
            f"--concurrency={concurrency}",
            f"--hostname={name}@%h",
            "--pool=prefork",
            "--loglevel=WARNING",
            "--without-gossip",
            "--without-mingle",
            "--without-heartbeat",
        ]
    )


def _say_nothing(*_arguments: object) -> None:
    pass


def run_scheduler() -> None:
    schedule = environment().data / "scheduler"
    app.start(["--quiet", "beat", f"--schedule={schedule}", "--loglevel=WARNING", "--pidfile="])
