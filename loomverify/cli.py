"""`loomverify`: one command for people, agents and operators."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from loomverify.children import end_with_parent
from loomverify.env import environment
from loomverify.variables import ConfigurationError

EXIT_CONFIGURATION = 3
LIVE, SHADOW = "live", "shadow"  # as in loomverify.celery, which most commands need not load
QUEUES = f"{LIVE},{SHADOW},bulk"

Command = Callable[[list[str]], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")
    name = arguments[0] if arguments else "--help"
    command = COMMANDS.get(name)
    if command is None:
        sys.stdout.write(_usage())
        return 0 if name in {"-h", "--help"} else EXIT_CONFIGURATION
    end_with_parent()
    try:
        return command[0](arguments[1:])
    except ConfigurationError as error:
        sys.stderr.write(f"loomverify: {error}\n")
        return EXIT_CONFIGURATION
    except KeyboardInterrupt:
        return 130


def _usage() -> str:
    width = max(len(name) for name in COMMANDS)
    lines = [f"  {name:<{width}}  {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join(["usage: loomverify COMMAND …", "", *lines, ""])


def _run(_argv: list[str]) -> int:
    from loomverify.supervisor import run_everything

    return run_everything()


def _submit(argv: list[str]) -> int:
    from loomverify.submit_command import main as submit

    return submit(argv)


def _processes(argv: list[str]) -> int:
    if argv[:1] != ["lint"] or len(argv) < 2:
        sys.stderr.write("usage: loomverify processes lint PATH…\n")
        return EXIT_CONFIGURATION
    from processes.lint_command import lint

    return lint(argv[1:])


def _golden(argv: list[str]) -> int:
    from verification.golden.command import main as golden

    return golden(argv)


def _web(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("loomverify web")
    parser.add_argument("--host", default="0.0.0.0")  # noqa: S104 - behind the operator's proxy
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args(argv)
    _prepare()
    import uvicorn

    from loomverify.bounded_headers import BoundedHeaders

    uvicorn.run(
        "loomverify.asgi:application",
        http=BoundedHeaders,
        host=options.host,
        port=environment().port,
        workers=options.workers,
        lifespan="off",
        log_level="warning",
        access_log=False,
        proxy_headers=True,
        timeout_graceful_shutdown=5,
    )
    return 0


def _worker(argv: list[str]) -> int:
    parser = argparse.ArgumentParser("loomverify worker")
    parser.add_argument("--queues", default=QUEUES)
    parser.add_argument("--concurrency", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--name", default="worker")
    options = parser.parse_args(argv)
    os.environ["LOOMVERIFY_PROCESS"] = "worker"
    _prepare()
    pools = _pools(options.queues.split(","), options.concurrency, options.name)
    if pools:
        from loomverify.supervisor import run_pools

        return run_pools(pools)
    from loomverify.celery import run_worker

    run_worker(options.queues, options.concurrency, options.name)
    return 0


def _pools(queues: list[str], concurrency: int, name: str) -> dict[str, list[str]]:
    """Beside live runs, trials have a pool of their own: what they wait for holds up nothing else.

    Empty: one pool is enough.
    """
    if not {LIVE, SHADOW} <= {*queues}:
        return {}
    others = ",".join(one for one in queues if one != SHADOW)
    half = max(1, concurrency // 2)
    return {
        name: _worker_command(others, concurrency, name),
        f"{name}-{SHADOW}": _worker_command(SHADOW, half, f"{name}-{SHADOW}"),
    }


def _worker_command(queues: str, concurrency: int, name: str) -> list[str]:
    return ["worker", f"--queues={queues}", f"--concurrency={concurrency}", f"--name={name}"]


def _relay(_argv: list[str]) -> int:
    os.environ["LOOMVERIFY_PROCESS"] = "worker"
    _prepare()
    _set_up_django()
    from verification.runs.relay import relay_forever

    relay_forever()
    return 0


def _scheduler(_argv: list[str]) -> int:
    os.environ["LOOMVERIFY_PROCESS"] = "worker"
    _prepare()
    from loomverify.celery import run_scheduler

    run_scheduler()
    return 0


def _migrate(_argv: list[str]) -> int:
    _prepare()
    _set_up_django()
    from loomverify.setup import check_database, prepare_database

    check_database(environment())
    for line in prepare_database(environment()):
        sys.stdout.write(f"{line}\n")
    return 0


def _backup(argv: list[str]) -> int:
    from loomverify.backup.command import backup

    return backup(argv, prepare=_prepare_and_set_up)


def _restore(argv: list[str]) -> int:
    from loomverify.backup.command import restore

    return restore(argv, prepare=_prepare_and_set_up)


def _advisories(argv: list[str]) -> int:
    from verification.advisories.command import main as advisories

    return advisories(argv, prepare=_prepare_and_set_up)


def _prepare_and_set_up() -> None:
    _prepare()
    _set_up_django()


def _prepare() -> None:
    """Point DATABASE_URL at the embedded server where no other is configured."""
    from loomverify.embedded import ensure_database

    ensure_database(environment())


def _set_up_django() -> None:
    import django

    django.setup()


COMMANDS: dict[str, tuple[Command, str]] = {
    "run": (_run, "everything in one terminal: database, web, workers, relay"),
    "submit": (_submit, "pack a folder, submit it, wait, say why"),
    "processes": (_processes, "lint PATH…: errors with path and line, of files and folders"),
    "golden": (_golden, "run: replay the golden corpus, say which cases fail; check: here"),
    "web": (_web, "the web server alone"),
    "worker": (_worker, "a Celery worker alone"),
    "relay": (_relay, "the relay alone: sweeps due runs, hands on events"),
    "scheduler": (_scheduler, "the scheduler alone: what happens by the clock"),
    "migrate": (_migrate, "prepare the database and the first project"),
    "advisories": (_advisories, "load FILE…, status: known vulnerabilities of packages"),
    "backup": (_backup, "FILE: one file of everything, while everything runs"),
    "restore": (_restore, "FILE: everything back, into an empty installation"),
}

if __name__ == "__main__":
    sys.exit(main())
