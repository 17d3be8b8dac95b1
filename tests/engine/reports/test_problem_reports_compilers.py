from __future__ import annotations

import pytest

from tests.engine.reports.problem_reports import HIGH, LOW, MEDIUM, Row, assert_reads, content_of
from tests.tables import check_rows
from verification.engine.reports.model import Unreadable
from verification.engine.reports.problems import ProblemFormat, read_problems

PRICE, BELOW_MAVEN, LIB = "shop/Price.java", "src/main/java/shop/Price.java", "src/lib.rs"

MAVEN = b"[INFO] Scanning for projects...\n[INFO] BUILD SUCCESS\n"


@check_rows(
    ("name", "exits", "rows"),
    [
        (
            "recorded/javac/problems.txt",
            1,
            [
                (PRICE, 8, 23, "", HIGH),
                (PRICE, 9, 16, "", HIGH),
                (PRICE, 7, 9, "rawtypes", LOW),
            ],
        ),
        ("recorded/javac/broken.txt", 1, [("shop/Broken.java", 4, 14, "", HIGH)]),
        ("recorded/javac/warnings.txt", 0, [("shop/Raw.java", 6, 5, "rawtypes", LOW)]),
        ("recorded/javac/option.txt", 2, [("", None, None, "", HIGH)]),
        (
            "written/javac/maven.txt",
            1,
            [
                (BELOW_MAVEN, 8, 23, "", HIGH),
                (BELOW_MAVEN, 9, 16, "", HIGH),
                (BELOW_MAVEN, 7, 9, "", LOW),
            ],
        ),
        (
            "written/javac/kotlin.txt",
            1,
            [
                ("src/main/kotlin/shop/Price.kt", 7, 16, "", HIGH),
                ("src/main/kotlin/shop/Cart.kt", 4, 12, "", HIGH),
                ("src/main/kotlin/shop/Price.kt", 3, 9, "", LOW),
            ],
        ),
        (
            "recorded/clippy/problems.jsonl",
            101,
            [
                (LIB, 3, 8, "clippy::eq_op", HIGH),
                (LIB, 2, 9, "unused_variables", MEDIUM),
                (LIB, 6, 5, "clippy::needless_return", MEDIUM),
            ],
        ),
        ("recorded/clippy/build.jsonl", 0, [(LIB, 2, 9, "unused_variables", MEDIUM)]),
        ("recorded/clippy/broken.jsonl", 101, [(LIB, 2, 5, "E0308", HIGH)]),
        ("recorded/clippy/clean.jsonl", 0, []),
        (
            "recorded/php/problems.txt",
            255,
            [("a.php", 3, None, "", HIGH), ("b.php", 3, None, "", HIGH)],
        ),
        (
            "recorded/php/both.txt",
            255,
            [("a.php", 3, None, "", HIGH), ("b.php", 3, None, "", HIGH)],
        ),
        (
            "written/msbuild/problems.txt",
            1,
            [
                ("src/Calc/Sum.cs", 7, 26, "CS1002", HIGH),
                ("", None, None, "CS5001", HIGH),
                ("src/Calc/Calc.csproj", None, None, "NU1101", HIGH),
                ("", None, None, "MSB1011", HIGH),
                ("src/Calc/Sum.cs", 3, 5, "CS0168", LOW),
            ],
        ),
    ],
)
def test_a_report_of_a_compiler_is_read_as_it_means_it(
    name: str, exits: int, rows: list[Row]
) -> None:
    assert_reads(name, exits, rows)


def test_what_php_and_a_compiler_of_dotnet_say_is_told_without_the_place() -> None:
    php = read_problems(ProblemFormat.PHP, content_of("recorded/php/problems.txt"))
    dotnet = read_problems(ProblemFormat.MSBUILD, content_of("written/msbuild/problems.txt"))

    assert php.problems[1].message == "Cannot redeclare g() (previously declared in ./b.php:2)"
    assert dotnet.problems[0].message == "; expected"
    assert dotnet.problems[-1].message.endswith("'a[0]' is declared but never used")


def test_what_javac_says_below_its_mark_belongs_to_the_message() -> None:
    report = read_problems(ProblemFormat.JAVAC, content_of("recorded/javac/problems.txt"))

    assert report.problems[1].message == (
        "cannot find symbol\n  symbol:   variable missing\n  location: class Price"
    )


def test_what_javac_counts_and_does_not_show_counts() -> None:
    content = (
        b"A.java:1: error: ';' expected\nclass A\n       ^\n"
        b"100 errors\nonly showing the first 100 errors, of 250 total; use -Xmaxerrs\n"
    )

    report = read_problems(ProblemFormat.JAVAC, content)

    assert (report.total, len(report.problems)) == (250, 1)


@pytest.mark.parametrize(
    "content", [b"", b"Note: A.java uses unchecked or unsafe operations.\n", b"1 warning\n", MAVEN]
)
def test_javac_says_nothing_of_what_it_compiles(content: bytes) -> None:
    assert not read_problems(ProblemFormat.JAVAC, content).problems


def test_a_build_that_failed_without_a_reason_is_a_problem() -> None:
    content = b'{"reason":"build-finished","success":false}\n'

    report = read_problems(ProblemFormat.CLIPPY, content)

    assert [one.severity for one in report.problems] == [HIGH]


def test_lines_of_a_build_that_are_not_json_are_passed_over() -> None:
    content = b"   Compiling shop\n" + content_of("recorded/clippy/broken.jsonl")

    assert read_problems(ProblemFormat.CLIPPY, content).total == 1


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("clippy", b""),
        ("clippy", b"error: no such command: `clippy`\n"),
        ("clippy", content_of("recorded/clippy/broken.jsonl").rsplit(b"\n", 2)[0]),
        ("javac", b"sh: 1: javac: not found\n"),
        ("php", b"php: command not found\n"),
        ("msbuild", b"  Determining projects to restore...\n"),
        ("javac", b"[INFO] BUILD FAILURE\n[ERROR] No compiler is provided\n"),
    ],
)
def test_a_build_that_is_cut_short_is_not_read(format: str, content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_problems(ProblemFormat(format), content)
