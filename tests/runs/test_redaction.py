from __future__ import annotations

import json

import psutil
import pytest

from loomverify.accounts.models import Project
from tests.runs.conftest import Caller, body_of, problem
from tests.tables import check_rows
from verification.runs.intake import redaction
from verification.runs.intake.redaction import Redaction
from verification.runs.intake.renaming import names_of
from verification.runs.models import Blob, Run

TOKEN = [r"sk-[a-z0-9]+"]


def test_every_string_is_redacted_and_nothing_else() -> None:
    body = {"output": "key sk-abc1.", "n": 3, "calls": [{"args": ["sk-zz9", None, True]}]}

    redacted = Redaction(TOKEN).json(body)

    assert redacted == {
        "output": "key [redacted].",
        "n": 3,
        "calls": [{"args": ["[redacted]", None, True]}],
    }


@check_rows(
    ("encoding", "mark", "word"),
    [
        *(("utf-8", mark, word) for mark in ("", "\ufeff") for word in ("ключ", "naïve")),
        *(
            (f"utf-16-{order}", mark, word)
            for order in ("le", "be")
            for mark in ("", "\ufeff")
            for word in ("ключ", "naïve")
        ),
        *((f"utf-32-{order}", "\ufeff", "ключ") for order in ("le", "be")),
        ("latin-1", "", "naïve"),
    ],
)
def test_text_files_are_redacted_whatever_they_are_written_in(
    encoding: str, mark: str, word: str
) -> None:
    before, after = (f"{mark}{word} {token}. " * 9 for token in ("sk-abc", "[redacted]"))

    kept = Redaction(TOKEN).content(before.encode(encoding), "notes.txt")

    assert kept == after.encode(encoding)


def test_one_byte_that_is_no_text_hides_nothing() -> None:
    assert Redaction(TOKEN).content(b"\xffsk-abc\xfe", "notes.txt") == b"\xff[redacted]\xfe"


def test_what_is_no_text_stays_as_it_is() -> None:
    picture = b"\x89PNG\r\n\x1a\n\x00\x00sk-abc"

    assert Redaction(TOKEN).content(picture, "picture.png") == picture


def test_without_patterns_nothing_is_touched() -> None:
    body = {"a": object()}

    assert Redaction([]).json(body) is body


def test_a_name_that_grows_by_redaction_is_still_taken_in(agent: Caller, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=["[0-9]"])

    run = agent.submit(executor={"model": "7" * 120})

    assert run["verdict"] == "accept"


def test_one_pattern_after_another_replaces_what_is_left() -> None:
    assert Redaction([r"a+", r"\[redacted\]b"]).content(b"xaab") == b"x[redacted]"


def test_names_and_keys_are_redacted_where_they_are_stored(agent: Caller, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=TOKEN)
    call = {"tool": "fetch", "success": True, "args": {"sk-aa": 1, "sk-bb": {"sk-cc": "x"}}}
    files = {"sk-abc.txt": "One.", "sk-abd.txt": "Two.", "plain.txt": "Three."}

    run = agent.submit(
        task={"id": "T-sk-abc", "description": "Do it."}, files=files, tool_calls=[call]
    )
    again = agent.submit(task={"id": "T-sk-abc", "description": "Do it."})
    other = agent.submit(task={"id": "T-sk-abd", "description": "Do it."})

    ids = [Run.objects.get(uuid=one["id"]).task.external_id for one in (run, again, other)]
    stored = Run.objects.get(uuid=run["id"])
    names = sorted(stored.files.values_list("path", flat=True))
    assert ids[0] == ids[1] != ids[2]
    assert ids[0].startswith("T-[redacted]")
    assert "[redacted].txt" not in names  # it would say that it was met first
    assert len(set(names)) == 3
    assert all(name.endswith(".txt") for name in names)
    [kept] = stored.submission.body["tool_calls"]
    assert sorted(kept["args"].values(), key=str) == [1, {"[redacted]": "x"}]
    told = [*ids, *names, json.dumps(stored.submission.body), json.dumps(run)]
    assert not [one for one in told if "sk-" in one]


ONE, OTHER = "sk-aa", "sk-bb"


@pytest.mark.parametrize(
    "paths",
    [
        [f"{ONE}.txt", f"{OTHER}.txt"],
        [ONE, f"{OTHER}/app.py"],  # a file, and a folder that would have its name
        [f"{ONE}/app.py", f"{OTHER}/app.py", f"{OTHER}/only_there.py"],
        [f"src/{ONE}/{ONE}.py", f"src/{ONE}/{OTHER}.py", f"src/{OTHER}/{ONE}.py"],
        ["[redacted].txt", f"{ONE}.txt"],
        [f"{number}/{ONE}.txt" for number in range(3)],
    ],
)
def test_names_stay_apart_in_whatever_order_they_come(paths: list[str]) -> None:
    redaction = Redaction(TOKEN)

    names = names_of(paths, redaction)

    assert names == names_of(paths[::-1], redaction)
    assert not [name for name in names.values() if "sk-" in name]
    folders = {path.rpartition("/")[0]: name.rpartition("/")[0] for path, name in names.items()}
    assert {names[path].rpartition("/")[0] for path in paths} == set(folders.values())
    assert all(folders[path.rpartition("/")[0]] == names[path].rpartition("/")[0] for path in paths)
    assert len(set(folders.values())) == len(folders)
    assert len(set(names.values())) == len(paths)
    assert not set(names.values()) & set(folders.values())


def test_a_name_that_nothing_else_comes_to_is_as_texts_mention_it() -> None:
    names = names_of(["sk-aa/app.py", "sk-aa/util.py", "plain.py"], Redaction(TOKEN))

    assert sorted(names.values()) == ["[redacted]/app.py", "[redacted]/util.py", "plain.py"]


def test_what_a_match_took_over_several_folders_is_one_folder() -> None:
    paths = ["src/home/ada/x.py", "src/home/ada/y.py", "src/home/bob/x.py", "src/home/bob/n/x.py"]

    names = names_of(paths, Redaction(["home/[a-z]+"]))

    folders = [names[path].split("/")[1] for path in paths]
    assert folders[0] == folders[1] != folders[2] == folders[3]
    assert [names[path].split("/", 2)[2] for path in paths] == ["x.py", "y.py", "x.py", "n/x.py"]


def test_a_file_has_the_same_name_in_its_base(agent: Caller, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=TOKEN)

    run = agent.submit(
        files={"sk-bb.txt": "New.", "sk-aa.txt": "Same."}, base={"sk-aa.txt": "Same."}
    )

    stored = Run.objects.get(uuid=run["id"])
    [before] = stored.base_files.select_related("blob")
    [after] = stored.files.filter(path=before.path).select_related("blob")
    assert before.blob == after.blob


def test_no_file_takes_the_place_of_another_whose_name_grows_alike(
    agent: Caller, project: Project
) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=["/k."])
    long = "/".join(["k1"] * 120)

    run = agent.submit(files={f"a/{long}/one.py": "1\n", f"a/{long}/two.py": "2\n"})

    assert Run.objects.get(uuid=run["id"]).files.count() == 2


@pytest.mark.extended
def test_what_a_tool_gave_may_be_large(agent: Caller, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=TOKEN)
    rows = [{"id": number, "near": [0.5] * 8} for number in range(20_000)]
    call = {"tool": "search", "success": True, "args": {}, "result": {"rows": rows, "sk-aa": 1}}

    run = agent.submit(tool_calls=[call])

    [kept] = Run.objects.get(uuid=run["id"]).submission.body["tool_calls"]
    assert kept["result"] == {"rows": rows, "[redacted]": 1}


@pytest.mark.extended
@pytest.mark.parametrize("where", ["output", "files"])
def test_patterns_that_take_too_long_refuse_the_run_and_store_nothing(
    agent: Caller, project: Project, where: str
) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=["(a?){1000}b"])
    text = "a" * 4_000_000
    fields = {"output": text} if where == "output" else {"files": {"a.txt": text}}

    answer = agent.post("/runs", body_of(**fields))

    assert problem(answer)[:2] == (422, "redaction.too_slow")
    assert not Run.objects.exists()
    assert not Blob.objects.exists()


def test_a_lost_child_is_asked_again(agent: Caller, project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(redaction_patterns=TOKEN)
    agent.submit(output="key sk-abc")
    child = redaction._probe()._child
    assert child is not None
    psutil.Process(child._process.pid).kill()

    run = agent.submit(output="key sk-abd")

    assert "sk-abd" not in json.dumps(Run.objects.get(uuid=run["id"]).submission.body)
