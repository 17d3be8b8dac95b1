from __future__ import annotations

import csv
import io
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from loomverify.accounts.access import Actor
from loomverify.accounts.audit import record
from loomverify.accounts.models import AuditEntry, Project, User
from tests.accounts.conftest import signed_in
from tests.tables import check_rows


def note(project: Project, actor: str, verb: str, times: int = 1, reason: str = "") -> None:
    for _ in range(times):
        record(Actor(actor), verb, project, project=project, reason=reason)


def shown(page: str) -> list[str]:
    return re.findall(r'<td class="a-verb mono">([\w.]+)</td>', page)


@pytest.mark.extended
def test_the_log_shows_the_newest_first(project: Project, ada: User) -> None:
    note(project, "ada", "rule.changed")

    page = signed_in(ada).get(reverse("settings_audit", args=[project.slug])).content.decode()

    assert shown(page)[0] == "rule.changed"
    assert shown(page)[-1] == "project.created"


def test_the_log_is_the_projects_own(project: Project, ada: User, other_project: Project) -> None:
    note(other_project, "olga", "dye.mixed")

    page = signed_in(ada).get(reverse("settings_audit", args=[project.slug])).content.decode()

    assert "dye.mixed" not in page


@pytest.mark.parametrize(
    ("filters", "verbs"),
    [
        ({"verb": "rule.changed"}, {"rule.changed"}),
        ({"actor": "KEY"}, {"run.cancelled"}),
        ({"actor": "bert", "verb": "rule.changed"}, {"rule.changed"}),
        ({"actor": "nobody"}, set()),
    ],
)
def test_the_log_is_filtered(
    filters: dict[str, str], verbs: set[str], project: Project, ada: User
) -> None:
    note(project, "bert", "rule.changed")
    note(project, "key ci", "run.cancelled")
    address = reverse("settings_audit", args=[project.slug])

    page = signed_in(ada).get(address, filters).content.decode()

    assert set(shown(page)) == verbs


def test_pages_hold_every_entry_once_with_the_filter_kept(project: Project, ada: User) -> None:
    note(project, "bert", "rule.changed", times=120)
    note(project, "ada", "run.cancelled", times=5)
    client, address = signed_in(ada), reverse("settings_audit", args=[project.slug])

    sizes, query = [], "actor=bert"
    while query:
        page = client.get(f"{address}?{query}").content.decode()
        sizes.append(len(shown(page)))
        older = re.search(r'href="\?([^"]+)" rel="next"', page)
        query = older[1].replace("&amp;", "&") if older else ""

    assert sizes == [50, 50, 20]


@pytest.mark.parametrize("query", ["cursor=junk", "cursor=%00", "actor=%00", f"verb={'v' * 99}"])
def test_a_query_that_makes_no_sense_is_a_bad_request(
    query: str, project: Project, ada: User
) -> None:
    address = reverse("settings_audit", args=[project.slug])

    assert signed_in(ada).get(f"{address}?{query}").status_code == 400


def test_a_longer_log_takes_no_more_queries(project: Project, ada: User) -> None:
    client, address = signed_in(ada), reverse("settings_audit", args=[project.slug])
    client.get(address)
    counts = []

    for _ in range(2):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(address)
        counts.append(len(queries))
        note(project, "bert", "rule.changed", times=20)

    assert counts[0] == counts[1]


def test_the_export_holds_what_the_filter_leaves(project: Project, ada: User) -> None:
    note(project, "bert", "rule.changed", times=60)
    address = reverse("settings_audit_export", args=[project.slug])

    answer = signed_in(ada).get(address, {"actor": "bert"})

    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert answer["Content-Disposition"] == 'attachment; filename="audit-looms.csv"'
    assert len(rows) == 60
    assert {row["verb"] for row in rows} == {"rule.changed"}


@check_rows(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1", '=HYPERLINK("x")'],
    rollback=True,
)
def test_exported_text_is_no_formula(text: str, project: Project, ada: User) -> None:
    note(project, text, "rule.changed", reason=text)
    address = reverse("settings_audit_export", args=[project.slug])

    answer = signed_in(ada).get(address, {"verb": "rule.changed"})

    (row,) = csv.DictReader(io.StringIO(answer.content.decode(), newline=""))
    shown = re.sub("[\t\r\n]", " ", text)
    assert (row["actor"], row["reason"]) == (f"'{shown}", f"'{shown}")


def test_a_reason_that_postgresql_would_refuse_is_kept_readable(project: Project) -> None:
    note(project, "ada", "rule.changed", reason="a\x00b")

    assert AuditEntry.objects.get(verb="rule.changed").reason == "a\ufffdb"
