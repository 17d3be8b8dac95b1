from __future__ import annotations

import os
import re

from loomverify.env import environment
from verification.adapters.judge import Connection
from verification.verifiers.models import JudgeConnection

KEY_VARIABLE = re.compile(r"LOOMVERIFY_KEY_[A-Z0-9_]{1,80}")
"""What a project may name as a key; everything else in the environment is the operator's."""
PROJECTS_SUFFIX = "_PROJECTS"
FIRST_PROJECT = "default"


class ConnectionUnusable(Exception):
    """One sentence that says why a judge cannot be asked, for whoever set it up."""


def resolve(*, project_id: int, name: str) -> Connection:
    """The connection of this name with its key, for workers: they have the keys.

    Raises:
        ConnectionUnusable: there is none, it was removed, or its key is not there.
    """
    rows = JudgeConnection.objects.select_related("project")
    row = rows.filter(project_id=project_id, name=name).first()
    if row is None:
        raise ConnectionUnusable(f"There is no judge connection named {name}.")
    if row.is_removed:
        raise ConnectionUnusable(f"The judge connection {name} was removed.")
    return connection_of(row)


def connection_of(row: JudgeConnection) -> Connection:
    """A stored connection with its key.

    Raises:
        ConnectionUnusable: its key is not there.
    """
    return _connection(row, _key(row))


def without_key(*, project_id: int, name: str) -> Connection | None:
    """The connection of this name, to tell what asking costs: who asks needs its key as well."""
    rows = JudgeConnection.objects.filter(project_id=project_id, name=name, is_removed=False)
    row = rows.first()
    return _connection(row, "") if row else None


def _connection(row: JudgeConnection, key: str) -> Connection:
    return Connection(
        name=row.name,
        model=row.model,
        base_url=row.base_url,
        api_key=key,
        input_usd_per_million=row.input_usd_per_million,
        output_usd_per_million=row.output_usd_per_million,
        timeout_seconds=row.timeout_seconds,
        max_output_tokens=row.max_output_tokens,
        max_input_chars=row.max_input_chars,
        structured_output=row.structured_output,
        is_private_allowed=row.is_environment or environment().judge_private_hosts,
    )


def _key(row: JudgeConnection) -> str:
    """The environment's connections may go without one: local models ask for none."""
    if row.is_environment or not row.key_reference:
        return os.environ.get(row.key_reference, "") if row.key_reference else ""
    return token_in(row.key_reference, project=row.project.slug)


def token_in(variable: str, *, project: str) -> str:
    """A secret that a header can carry; see `key_in`."""
    token = key_in(variable, project=project)
    if not token.isprintable():
        raise ConnectionUnusable(f"The variable {variable} is not one line of text.")
    if not token.isascii():
        raise ConnectionUnusable(f"The variable {variable} holds letters that cannot be sent.")
    return token


def key_in(variable: str, *, project: str) -> str:
    """The secret in a variable that the operator has given to the project of this slug.

    Blanks around it are no part of it: a file of variables may end its lines otherwise.

    Raises:
        ConnectionUnusable: it is not given, or not there.
    """
    if not may_be_named(variable):
        raise ConnectionUnusable("Its key's variable is not one that projects may name.")
    if not _is_given(variable, project):
        raise ConnectionUnusable(
            f"The operator has not given {variable} to this project: "
            f"{variable}{PROJECTS_SUFFIX} does not name it."
        )
    key = os.environ.get(variable, "").strip()
    if not key:
        raise ConnectionUnusable(f"Workers do not see the variable {variable}.")
    return key


def may_be_named(variable: str) -> bool:
    """Whether a project may name this variable as its key's."""
    return bool(KEY_VARIABLE.fullmatch(variable)) and not variable.endswith(PROJECTS_SUFFIX)


def _is_given(variable: str, project: str) -> bool:
    """Who may name a key's variable could send the key to an address of their own."""
    given = os.environ.get(variable + PROJECTS_SUFFIX) or FIRST_PROJECT
    return not {"*", project}.isdisjoint(part.strip() for part in given.split(","))


def connections_of(project_id: int) -> list[JudgeConnection]:
    """Those in use: the environment's first, then by name."""
    rows = JudgeConnection.objects.filter(project_id=project_id, is_removed=False)
    return list(rows.order_by("-is_environment", "name"))
