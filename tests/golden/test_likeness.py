from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from loomverify.accounts.models import Project
from tests.builders import make_project
from tests.golden.builders import as_another, document, editor_of, make_case
from verification.golden.cases import selectors, services
from verification.golden.cases.likeness import (
    ALIKE,
    SKETCH_SIZE,
    Alike,
    Sketched,
    likeness,
    sketch,
    submitted_texts,
)
from verification.golden.models import GoldenCase

WORDS = [f"word{n}" for n in range(400)]
TASK = {"id": "t", "description": "Sum it up."}
"""Of each case alike: a sketch only estimates, and other words are another estimate."""


def changed(text: str, share: float) -> str:
    """The text with this share of its words exchanged, in one stretch."""
    words = text.split()
    count = round(len(words) * share)
    return " ".join([*(f"other{n}" for n in range(count)), *words[count:]])


@pytest.mark.parametrize(
    ("share", "is_alike"), [(0.0, True), (0.05, True), (0.6, False), (1.0, False)]
)
def test_texts_are_alike_as_far_as_they_have_words_in_common(share: float, is_alike: bool) -> None:
    text = " ".join(WORDS)

    found = likeness(sketch([text]), sketch([changed(text, share)]))

    assert (found >= ALIKE) is is_alike


def test_the_numbers_fit_the_column_and_are_the_same_everywhere() -> None:
    found = sketch(["Revenue rose by four per cent."])

    assert len(found) == SKETCH_SIZE
    assert all(-(2**63) <= number < 2**63 for number in found)
    assert found[:2] == [5358003332311885240, 3491648887090406368]


def test_what_holds_no_word_is_like_nothing() -> None:
    assert sketch(["", " ... "]) == []
    assert likeness([], sketch(["a b c"])) == likeness([], []) == 0.0


@given(st.lists(st.text(), max_size=5))
def test_every_text_is_like_itself(texts: list[str]) -> None:
    found = sketch(texts)

    assert likeness(found, sketch(texts)) == (1.0 if found else 0.0)


def test_ids_play_no_part_and_all_that_was_written_does() -> None:
    run = document()["run"] | {
        "claims": [{"text": "It grew.", "label": "inferred", "section": "other"}],
        "tool_calls": [{"tool": "write_file", "success": False, "error": "disk full"}],
    }

    texts = list(submitted_texts(run, {"a.md": b"# Title", "b.png": b"\x89PNG"}))

    assert run["task"]["id"] not in " ".join(texts)
    assert {"It grew.", "write_file disk full", "# Title", "a.md"} <= set(texts)


def test_many_are_compared_without_comparing_all_with_all() -> None:
    same = [Sketched(f"same-{n}", "x" * 64, sketch([" ".join(WORDS)])) for n in range(300)]
    others = [Sketched(f"n{n}", f"{n}", sketch([f"{n} {n + 1} {n + 2}"])) for n in range(300)]
    known = Alike([*same, *others])

    assert len(known.near(same[0])) == 5
    assert known.near(others[7]) == []


@pytest.mark.django_db
class TestInACorpus:
    @pytest.fixture
    def project(self) -> Project:
        return make_project("ours")

    def near(self, case: GoldenCase) -> list[tuple[str, float]]:
        assert case.current is not None
        found = selectors.near_duplicates(case.current)
        return [(one.case.name, round(one.likeness, 1)) for one in found]

    def test_the_very_same_work_is_found_whatever_its_task_is_called(
        self, project: Project
    ) -> None:
        first = document("first")
        make_case(project, **as_another(first, "first"))
        run = {**first["run"], "task": {**first["run"]["task"], "id": "another"}}

        again = make_case(project, **{**as_another(first, "second"), "run": run})

        assert self.near(again) == [("first", 1.0)]

    def test_much_the_same_is_found_and_the_most_alike_comes_first(self, project: Project) -> None:
        text = " ".join(WORDS)
        for name, share in (("far", 0.7), ("near", 0.1), ("nearest", 0.02)):
            make_case(project, name, run={"task": TASK, "output": changed(text, share)})

        case = make_case(project, "case", run={"task": TASK, "output": text})

        assert [name for name, _ in self.near(case)] == ["nearest", "near"]

    def test_what_is_retired_or_anothers_is_not_looked_at(self, project: Project) -> None:
        first = document("first")
        case = make_case(project, **as_another(first, "first"))
        make_case(make_project("theirs"), **as_another(first, "theirs"))
        services.retire(access=editor_of(project), case=case.uuid)

        again = make_case(project, **as_another(first, "again"))

        assert self.near(again) == []

    @pytest.mark.extended
    def test_ten_thousand_cases_are_looked_through_in_one_query(
        self, project: Project, django_assert_num_queries: Any
    ) -> None:
        text = " ".join(WORDS)
        make_case(project, "alike", run={"task": TASK, "output": changed(text, 0.05)})
        case = make_case(project, "case", run={"task": TASK, "output": text})
        fill(project, 10_000)
        version = case.current
        assert version is not None

        with django_assert_num_queries(1):
            found = selectors.near_duplicates(version)

        assert [one.case.name for one in found] == ["alike"]


def fill(project: Project, count: int) -> None:
    """So many cases more, none like another."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            with made as (
                insert into golden_goldencase (
                    uuid, project_id, name, process, phase, tags, owner, is_shipped, created_by,
                    created_at
                )
                select gen_random_uuid(), %(project)s, 'filled-' || n, 'small-work', 'build',
                       array['filled'], '', false, 'ed', now()
                from generate_series(1, %(count)s) n
                returning id, name
            ), versions as (
                insert into golden_goldencaseversion (
                    case_id, number, spec, spec_sha256, input_sha256, likeness, reason, created_by,
                    created_at
                )
                select id, 1, jsonb_build_object('id', name, 'guards', 'Plain work passes.'),
                       md5(name), md5(name),
                       (select array_agg((random() * 9e18)::bigint)
                        from generate_series(1, 64) place where place > made.id * 0),
                       '', 'ed', now()
                from made
                returning id, case_id
            )
            select count(*) from versions
            """,
            {"project": project.pk, "count": count},
        )
        cursor.execute(
            """
            update golden_goldencase set current_id = version.id
            from golden_goldencaseversion version
            where version.case_id = golden_goldencase.id and current_id is null
            """
        )
        cursor.execute("analyze golden_goldencase, golden_goldencaseversion")


@pytest.mark.django_db
def test_shipped_cases_are_held_against_a_projects_own_alone() -> None:
    project = make_project()
    given = document("first")
    cases = [make_case(project, **as_another(given, name)) for name in ("first", "second")]
    mine = make_case(project, **as_another(given, "mine"))
    GoldenCase.objects.filter(pk__in=[one.pk for one in cases]).update(is_shipped=True)
    versions = [
        GoldenCase.objects.select_related("current").get(pk=one.pk).current
        for one in (cases[0], mine)
    ]

    shipped, own = [
        [near.case.name for near in selectors.near_duplicates(version)]
        for version in versions
        if version
    ]

    assert shipped == ["mine"]
    assert own == ["first", "second"]
