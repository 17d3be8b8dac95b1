"""Fill a project of a development installation with reviews, to look at its pages.

    LOOMVERIFY_DATA=var .venv/bin/python -m tests.reviews.seed default

Sixty reviews wait, and four hundred decisions were made: by mira, jonas, aiko and sam, who sign in
with `four dyed threads` (name another with `--password`). Run it against an installation that was
started once; while it runs is as good. Each call adds as many again.
"""

from __future__ import annotations

import argparse
import os
import sys

import django

from loomverify.embedded import ensure_database
from loomverify.env import environment

PASSWORD = "four dyed threads"


def main() -> None:
    parser = argparse.ArgumentParser("python -m tests.reviews.seed")
    parser.add_argument("project", nargs="?", default="default", help="its slug")
    parser.add_argument("--decisions", type=int, default=400)
    parser.add_argument("--password", default=PASSWORD)
    given = parser.parse_args()
    if environment().production:
        sys.exit("This is an installation for production: it is not filled with made-up reviews.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")
    ensure_database(environment())
    django.setup()
    _fill(given.project, given.decisions, given.password)


def _fill(slug: str, decisions: int, password: str) -> None:
    from django.db import transaction

    from loomverify.accounts.models import Project
    from tests.reviews.scene import make_scene

    with transaction.atomic():
        scene = make_scene(Project.objects.get(slug=slug), decisions=decisions)
        for user in scene.people:
            user.set_password(password)
            user.save(update_fields=["password"])
    names = ", ".join(user.username for user in scene.people)
    sys.stdout.write(
        f"{len(scene.waiting)} reviews wait, {scene.decisions} decisions were made. "
        f"Sign in as {names} / {password}\n"
    )


if __name__ == "__main__":
    main()
