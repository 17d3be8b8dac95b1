"""What must be true before anything starts: tables, static files, a project, a way in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.loader import MigrationLoader

from loomverify.accounts.models import Project
from loomverify.accounts.services import ensure_first_start
from loomverify.env import Environment
from loomverify.first_tables import make_first_tables
from loomverify.static_files import UNUSED
from loomverify.variables import ConfigurationError
from processes.services import ensure_builtin_processes
from verification.golden.cases.services import ensure_shipped
from verification.verifiers.services import ensure_verifiers

CONNECT_SECONDS = 5
STATIC_PACKAGES = ("django", "django-ninja", "django-htmx", "django-ace")


def prepare_database(env: Environment) -> Iterator[str]:
    """Migrate, collect static files, make what the first start needs; yield what to say once.

    Raises:
        ConfigurationError: the data folder was written by a newer LoomVerify.
    """
    migrate()
    _collect_static(env)
    first = ensure_first_start(admin_password=env.admin_password, api_key=env.api_key)
    # Said before anything else can go wrong: nobody can read them again.
    if first.admin_password:
        yield f"Sign in as   admin / {first.admin_password}"
    if first.api_key:
        _keep_key(env.data / "api-key", first.api_key)
        yield f"API key      {first.api_key}"
    for project in Project.objects.all():
        ensure_builtin_processes(project=project)
        ensure_verifiers(project=project)
        ensure_shipped(project=project)


def check_database(env: Environment) -> None:
    """Ask a database server that is not ours whether it is there.

    Raises:
        ConfigurationError: it is not.
    """
    import psycopg

    try:
        psycopg.connect(env.database_url, connect_timeout=CONNECT_SECONDS).close()
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[-1].strip().rstrip(".")
        raise ConfigurationError(f"DATABASE_URL cannot be reached: {reason}.") from error


def migrate() -> None:
    """Bring the tables to this version.

    Raises:
        ConfigurationError: they were written by a newer LoomVerify.
    """
    loader = MigrationLoader(connection)
    unknown = set(loader.applied_migrations) - set(loader.disk_migrations)
    ours = {app for app, _ in loader.disk_migrations}
    if newer := sorted(f"{app}.{name}" for app, name in unknown if app in ours):
        raise ConfigurationError(
            f"The database was written by another LoomVerify ({newer[0]} is unknown here): "
            "use the newer version, or another data folder."
        )
    if set(loader.disk_migrations) - set(loader.applied_migrations):
        make_first_tables(loader.disk_migrations)
        call_command("migrate", verbosity=0, interactive=False)


def _collect_static(env: Environment) -> None:
    """Collect only when a file or a package changed: it takes a second."""
    digest = hashlib.sha256(" ".join(version(name) for name in STATIC_PACKAGES).encode())
    for path in sorted(_own_static_files()):
        status = path.stat()
        digest.update(f"{path}{status.st_size}{status.st_mtime_ns}".encode())
    stamp = env.data / "static.stamp"
    complete = (Path(settings.STATIC_ROOT) / "staticfiles.json").exists()
    if complete and stamp.exists() and stamp.read_text() == digest.hexdigest():
        return
    call_command(
        "collectstatic", verbosity=0, interactive=False, clear=True, ignore_patterns=list(UNUSED)
    )
    stamp.write_text(digest.hexdigest())


def _own_static_files() -> Iterator[Path]:
    for folder in settings.STATICFILES_DIRS:
        yield from (path for path in Path(folder).rglob("*") if path.is_file())


def _keep_key(path: Path, key: str) -> None:
    """For `loomverify submit` on the same machine; readable by the owner only."""
    path.touch(mode=0o600)
    path.write_text(f"{key}\n")
