from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.globs import compile_glob
from tests.engine.cases import case, evaluate, failed_call, told
from tests.tables import check_rows
from verification.engine.checks.deliverables import declared, declared_files
from verification.engine.evidence import SubmittedFile, ToolCall
from verification.engine.paths import anchored, relative
from verification.engine.tree import Meant, Tree, meant_by

DECOMPOSED = unicodedata.normalize("NFD", "résumé.md")
COMPOSED = unicodedata.normalize("NFC", DECOMPOSED)
HARD = [("hard", "path_outside_workspace")]
MILD = [("advisory", "path_outside_workspace")]
GONE = [("advisory", "changed_file_missing")]


def edits(*changed: str, tool: str = "edit") -> ToolCall:
    return ToolCall(tool, True, files_changed=list(changed))


def found(*calls: ToolCall, **about: Any) -> list[tuple[str, str]]:
    conclusion = evaluate(**{"files": {"a.md": "x", "src/b.py": "x"}, "tool_calls": calls, **about})
    return [(enforcement, reason) for _, enforcement, reason in told(conclusion)]


@check_rows(
    "path",
    [
        "./src//b.py",
        "src\\b.py",
        " src/b.py ",
        "src/./x/../b.py",
        "/workspace/src/b.py",
        "/workspace/x/../src/b.py",
        "/src/b.py",
        "/usr/src/app/src/b.py",
        "/tmp/checkout-7/src/b.py",  # noqa: S108 - no file is made
        "C:\\work\\src\\b.py",
        "\\\\server\\share\\src\\b.py",
        "file:///workspace/src/b.py",
        "file:///C:/work/src/b.py",
        "file://localhost/workspace/src/b.py",
        "FILE:///workspace/src%2Fb.py",
        "~/project/src/b.py",
        "$HOME/project/src/b.py",
        "${GITHUB_WORKSPACE}/src/b.py",
        "%USERPROFILE%\\project\\src\\b.py",
        "SRC/B.py",
        "src",
        "src/",
        ".",
        "old/b.py -> src/b.py",
        "new-and-empty-folder/",
    ],
)
def test_a_file_is_known_by_any_spelling_of_its_path(path: str) -> None:
    assert found(edits(path)) == []


@check_rows(
    ("path", "expected"),
    [
        ("../a.md", HARD),
        ("src/../../a.md", HARD),
        ("..\\a.md", HARD),
        ("file:///etc/hosts", HARD),
        ("/etc/passwd", HARD),
        ("/workspace/../etc/passwd", HARD),
        ("//etc//passwd", HARD),
        ("/usr/local/bin/tool", HARD),
        ("C:\\Windows\\System32\\b.dll", HARD),
        ("c:/Program Files (x86)/b.dll", HARD),
        ("~/.ssh/authorized_keys", HARD),
        ("$HOME/.bashrc", HARD),
        ("/home/agent/.aws/credentials", HARD),
        ("/root/.ssh/id", HARD),
        ("~/../other", HARD),
        # Scratch files lie outside, and do no harm there.
        ("/tmp/scratch.py", MILD),  # noqa: S108 - no file is made
        ("$TMPDIR/scratch.py", MILD),
        ("/var/folders/x1/T/scratch.py", MILD),
        ("C:\\Users\\ann\\AppData\\Local\\Temp\\scratch.py", MILD),
        # Nothing says where the workspace lay: it may well be there.
        ("/home/agent/project/gone.md", GONE),
        ("$OUT/gone.md", GONE),
        ("~/project/gone.md", GONE),
        ("gone.md", GONE),
        ("a: the title", GONE),
        ("https://example.org/a", GONE),
        ("/dev/null", []),
        ("a.md -> gone.md", GONE),
        ("a.md -> /etc/passwd", HARD),
        ("a -> b -> ../c", HARD),
    ],
)
def test_only_what_is_certainly_outside_is_held_against_the_work(
    path: str, expected: list[tuple[str, str]]
) -> None:
    assert found(edits(path)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/agent/project/gone.md", GONE),
        ("/home/agent/project/.cache/gone.md", GONE),
        ("/home/agent/other/gone.md", HARD),
        ("/opt/elsewhere.md", HARD),
        ("/tmp/scratch.py", MILD),  # noqa: S108 - no file is made
    ],
)
def test_one_absolute_path_tells_where_the_workspace_lies(
    path: str, expected: list[tuple[str, str]]
) -> None:
    assert found(edits("/home/agent/project/src/b.py", path)) == expected


def test_a_home_is_no_workspace_because_a_file_of_that_name_lies_there() -> None:
    assert found(edits("/home/ann/a.md", "/home/ann/.ssh/id")) == HARD


def test_a_file_of_the_system_is_not_taken_for_a_submitted_one() -> None:
    files = {"passwd": "x", "a.md": "x"}

    assert found(edits("/etc/passwd"), files=files) == HARD


@pytest.mark.parametrize("path", [COMPOSED, DECOMPOSED])
@pytest.mark.parametrize("name", [COMPOSED, DECOMPOSED])
def test_one_name_in_two_forms_of_unicode_is_one_file(path: str, name: str) -> None:
    conclusion = evaluate(files={name: "x"}, deliverables=[path], tool_calls=(edits(path),))

    assert conclusion.findings == ()


@check_rows(
    "calls",
    [
        (edits("gone.md", tool="delete_file"),),
        (edits("gone.md", tool="rm"),),
        (edits("gone.md", tool="git_mv"),),
        (edits("gone.md", "a.md", tool="rename"),),
        # Written, and taken away by another call later.
        (edits("gone.md"), edits("gone.md", tool="delete_file")),
        (edits("gone.md"), ToolCall("delete_file", True, args={"path": "/work/gone.md"})),
        (edits("gone.md"), ToolCall("move", True, args={"from": "gone.md", "to": "a.md"})),
        (edits("gone.md"), ToolCall("bash", True, args={"command": "cd x && rm -f gone.md"})),
        (edits("x/gone.md"), ToolCall("bash", True, args={"command": "git mv x src"})),
        (edits("build/x/gone.md"), ToolCall("bash", True, args="rm -rf ./build/")),
        (edits("gone.md"), ToolCall("python", True, args="os.remove('gone.md')")),
        (edits("x/gone.md"), ToolCall("python", True, args="shutil.rmtree('x')")),
        (edits("gone.md"), ToolCall("node", True, args="await fs.unlinkSync('gone.md')")),
        (edits("gone.md"), ToolCall("pwsh", True, args=["Remove-Item gone.md"])),
    ],
)
def test_nobody_misses_what_was_taken_away_on_purpose(calls: tuple[ToolCall, ...]) -> None:
    assert found(*calls) == []


@pytest.mark.parametrize(
    "calls",
    [
        (edits("gone.md", tool="format"),),
        (edits("gone.md"), ToolCall("bash", True, args="cat gone.md")),
        (edits("gone.md"), ToolCall("bash", True, args="rm other.md")),
        # A name so long that a matcher which tries it in every way would never end.
        (edits("gone.md"), ToolCall("bash", True, args="os." + "rm" * 400_000 + "-")),
        (edits("gone.md"), failed_call("web_fetch", "404", args="rm gone.md")),
    ],
)
def test_what_nothing_took_away_is_missed(calls: tuple[ToolCall, ...]) -> None:
    assert ("advisory", "changed_file_missing") in found(*calls)


def test_a_failed_edit_is_one_problem_and_not_two() -> None:
    assert found(failed_call("edit", "no such file", files_changed=["gone.md"])) == [
        ("hard", "tool_failed")
    ]
    assert found(failed_call("edit", "path is outside the workspace", files_changed=["../x"])) == [
        ("hard", "tool_failed")
    ]


def test_a_failed_call_that_reached_outside_all_the_same_is_told() -> None:
    call = failed_call("edit", "half done", files_changed=["/etc/passwd"])

    assert ("hard", "path_outside_workspace") in found(call)


@pytest.mark.parametrize(
    ("declared", "changed"),
    [
        ("gone.md", "gone.md"),
        ("gone.md", "/work/./gone.md"),
        ("empty.md", "./empty.md"),
        ("out/", "out/x.md"),
    ],
)
def test_a_missing_file_is_one_problem_however_many_speak_of_it(
    declared: str, changed: str
) -> None:
    files = {"empty.md": "", "a.md": "x"}
    calls = (edits("/work/a.md"), edits(changed), edits(changed))

    findings = found(*calls, files=files, deliverables=[declared], expected_outputs=[declared])

    assert [enforcement for enforcement, _ in findings] == ["hard"]


@check_rows(
    ("declaration", "files"),
    [
        ("a.md", ["a.md"]),
        ("./x//../a.md", ["a.md"]),
        ("/workspace/a.md", ["a.md"]),
        ("/workspace/reports", ["reports/b.csv", "reports/deep/c.csv"]),
        ("file:///workspace/reports/b.csv", ["reports/b.csv"]),
        ("$OUT/a.md", ["a.md"]),
        ("a.md — the text that is published", ["a.md"]),
        ("reports", ["reports/b.csv", "reports/deep/c.csv"]),
        ("reports/", ["reports/b.csv", "reports/deep/c.csv"]),
        ("reports/*.csv", ["reports/b.csv", "reports/deep/c.csv"]),
        ("**/*.md", ["a.md"]),
        ("reports/**", ["reports/b.csv", "reports/deep/c.csv"]),
        ("*.{md,txt}", ["a.md"]),
        ("reports/[bc].csv", ["reports/b.csv"]),
        ("app/[id]/page.tsx", ["app/[id]/page.tsx"]),
        ("nothing/*.csv", []),
        ("reports/b", []),
        ("../a.md", []),
        ("A.MD", ["a.md"]),
        ("Reports", ["reports/b.csv", "reports/deep/c.csv"]),
    ],
)
def test_which_files_a_declaration_means(declaration: str, files: list[str]) -> None:
    submitted = ["a.md", "reports/b.csv", "reports/deep/c.csv", "app/[id]/page.tsx"]

    asked = case(files=dict.fromkeys(submitted, "x"), expected_outputs=[declaration])

    assert sorted(declared_files(asked)) == files


@pytest.mark.parametrize(
    ("paths", "once"),
    [
        (["a.md", "./a.md", "x/../a.md"], ("a.md",)),
        (["a.md", "/workspace/a.md"], ("a.md",)),
        (["a.md — text", "a.md"], ("a.md",)),
        (["a.md", "b.md"], ("a.md", "b.md")),
        (["../a.md"], ("../a.md",)),
    ],
)
def test_what_is_declared_in_several_spellings_is_declared_once(
    paths: list[str], once: tuple[str, ...]
) -> None:
    assert declared(case(expected_outputs=paths)) == once


@pytest.mark.parametrize(
    ("name", "content", "enforcement"),
    [
        ("a.md", "text", None),
        ("a.md", "", "hard"),
        # Blank is not certainly empty: a person may have meant it.
        ("a.md", " \n\t\r\n", "advisory"),
        ("a.md", "\ufeff\n", "advisory"),
        ("a.md", "\n" * 1_000, None),
        ("__init__.py", "\n", None),
        ("pkg/py.typed", "", None),
        (".dockerignore", "", None),
        ("errors.log", "", None),
        ("out/_SUCCESS", "", None),
    ],
)
def test_a_declared_file_holds_something(name: str, content: str, enforcement: str | None) -> None:
    findings = evaluate(files={name: content}, deliverables=[name]).findings

    assert [(one.enforcement, one.reason_code) for one in findings] == (
        [(enforcement, "deliverable_empty")] if enforcement else []
    )


def test_a_file_of_the_same_name_in_other_case_is_a_warning() -> None:
    conclusion = evaluate(files={"readme.md": "x"}, deliverables=["README.md"])

    assert told(conclusion) == [("deliverables-exist", "advisory", "deliverable_missing")]
    assert "there as readme.md" in conclusion.findings[0].message


def test_a_missing_file_that_lies_elsewhere_is_pointed_to() -> None:
    [found] = evaluate(files={"project-1/report.md": "x"}, deliverables=["report.md"]).findings

    assert (found.reason_code, found.enforcement) == ("deliverable_missing", "hard")
    assert "There is project-1/report.md" in found.suggestion


@pytest.mark.parametrize(
    ("files", "declared", "told"),
    [
        (["my-app/package.json", "my-app/src/main.js"], "src/main.js", "advisory"),
        (["my-app/package.json", "my-app/src/main.js"], "src/", "advisory"),
        (["my-app/package.json", "my-app/src/main.js"], "my-app/src/main.js", ""),
        (["my-app/package.json", "my-app/src/main.js"], "main.js", "hard"),
        (["my-app/src/main.js", "README.md"], "src/main.js", "hard"),
        (["src/main.js", "src/other.js"], "main.js", "hard"),
        (["calc/__init__.py", "calc/main.py"], "main.py", "hard"),
        (["my-app/main.js"], "main.js", "hard"),
    ],
)
def test_a_folder_before_every_path_hides_no_deliverable(
    files: list[str], declared: str, told: str
) -> None:
    expected = [(told, "deliverable_missing")] if told else []

    assert found(files=dict.fromkeys(files, "1"), deliverables=[declared]) == expected


def test_a_folder_is_empty_when_all_its_files_are() -> None:
    assert found(files={"out/a": "", "out/b": "x"}, deliverables=["out/"]) == []
    assert found(files={"out/a": "", "out/b": ""}, deliverables=["out/"]) == [
        ("hard", "deliverable_empty")
    ]


@pytest.mark.parametrize("name", [".gitkeep", "__init__.py", "errors.log"])
def test_a_folder_of_files_that_hold_nothing_is_a_warning(name: str) -> None:
    assert found(files={f"out/{name}": ""}, deliverables=["out/"]) == [
        ("advisory", "deliverable_empty")
    ]
    assert found(files={f"out/{name}": ""}, deliverables=[f"out/{name}"]) == []


@pytest.mark.parametrize("declaration", ["*", "**", "?*", "[!a]*"])
def test_a_wildcard_means_nothing_where_nothing_was_submitted(declaration: str) -> None:
    conclusion = evaluate(expected_outputs=[declaration])

    assert told(conclusion) == [("deliverables-exist", "hard", "deliverable_missing")]


def test_a_class_does_not_reach_from_one_path_into_the_next() -> None:
    tree = Tree([SubmittedFile("a", "", 1), SubmittedFile("b", "", 1)])

    meant = tree.meant("a[\x01-\x20]b")

    assert not meant.files


def test_more_wildcards_than_can_be_tried_are_doubt_and_no_blame() -> None:
    files = tuple(SubmittedFile(f"{number}.md", "", 1) for number in range(1_000))
    wildcards = tuple(f"*{number}.md" for number in range(501))

    meanings = meant_by((*wildcards, "1.md"), files)

    assert [path for path, meant in meanings.items() if meant is None] == ["*500.md"]
    assert meanings["1.md"] == Meant((files[1],))


def test_a_run_with_too_many_wildcards_is_left_undecided() -> None:
    files = {f"{number}.md": "x" for number in range(1_000)}

    conclusion = evaluate(files=files, expected_outputs=[f"*{one}.md" for one in range(501)])

    assert told(conclusion) == [("deliverables-exist", "hard", "infra_verifier_error")]
    assert conclusion.verdict == "undecided"


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_text_is_too_odd_to_be_read_as_a_path(one: str, other: str) -> None:
    tree = Tree([SubmittedFile(one, "", 1)])

    inside, start = relative(other), anchored(other)

    assert inside is None or start is None
    assert inside is None or ".." not in inside.split("/")
    assert tree.meant(one).files
    tree.meant(other)
    compile_glob(other)
