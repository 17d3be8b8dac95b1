from __future__ import annotations

from pathlib import Path

import pytest

from verification.engine.reports.coverage import CoverageFormat, cobertura, gocover, read_coverage
from verification.engine.reports.model import Coverage, FileCoverage, Unreadable

COBERTURA = CoverageFormat.COBERTURA
FOLDER = Path(__file__).parent
PYTHON = {
    "shop/__init__.py": FileCoverage(),
    "shop/price.py": FileCoverage(frozenset({1, 2, 4, 5}), frozenset({3, 6})),
}
NODE = {
    "cov/price.mjs": FileCoverage(frozenset({1, 2, 5, 6}), frozenset({3, 4})),
    "cov/run.mjs": FileCoverage(frozenset({1, 2})),
}
PHP = {
    "lib/Unused.php": FileCoverage(missed=frozenset({4})),
    "lib/functions.php": FileCoverage(missed=frozenset({3})),
    "src/Calc.php": FileCoverage(frozenset({6, 9}), frozenset({7})),
}
NET = {"src/Shop/Calc.cs": FileCoverage(frozenset({6, 7, 9}), frozenset({8, 13}))}
GO = {
    "example.com/shop/pkg/double.go": FileCoverage(
        frozenset({3, 4, 7}), frozenset({5, 6, 10, 11, 12})
    ),
}


@pytest.mark.parametrize(
    ("format", "name", "files"),
    [
        ("cobertura", "recorded/cobertura/coveragepy.xml", PYTHON),
        ("cobertura", "recorded/cobertura/c8.xml", NODE),
        ("cobertura", "recorded/cobertura/phpunit.xml", PHP),
        ("cobertura", "written/cobertura/coverlet.xml", NET),
        ("lcov", "recorded/lcov/coveragepy.info", PYTHON),
        ("lcov", "recorded/lcov/c8.info", NODE),
        ("coveragepy", "recorded/coveragepy/report.json", PYTHON),
        ("gocover", "recorded/gocover/profile.out", GO),
    ],
)
def test_a_report_tells_which_lines_ran(
    format: str, name: str, files: dict[str, FileCoverage]
) -> None:
    coverage = read_coverage(CoverageFormat(format), (FOLDER / name).read_bytes())

    assert coverage.files == files


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("recorded/cobertura/coveragepy.xml", PYTHON),
        ("recorded/lcov/c8.info", NODE),
        ("recorded/coveragepy/report.json", PYTHON),
        ("recorded/gocover/profile.out", {"pkg/double.go": GO["example.com/shop/pkg/double.go"]}),
    ],
)
def test_a_report_that_nobody_names_says_itself_what_it_is(
    name: str, files: dict[str, FileCoverage]
) -> None:
    content = (FOLDER / name).read_bytes()

    assert read_coverage(CoverageFormat.ANY, content, module="example.com/shop").files == files


@pytest.mark.parametrize(
    "content", [b"", b"TN:\n", b"mode: set\n", b"{}", b"[]", b"<testsuites/>", b"10 of 10 lines"]
)
def test_of_what_is_in_no_format_nothing_is_known(content: bytes) -> None:
    with pytest.raises(Unreadable):
        read_coverage(CoverageFormat.ANY, content)


def cobertura_of(*sources: str, filename: str = "a.py", lines: str = "") -> bytes:
    places = "".join(f"<source>{one}</source>" for one in sources)
    return (
        f"<coverage><sources>{places}</sources><packages><package><classes>"
        f'<class filename="{filename}"><lines>{lines}</lines></class>'
        "</classes></package></packages></coverage>"
    ).encode()


@pytest.mark.parametrize(
    ("sources", "filename", "path"),
    [
        ((), "a.py", "part/a.py"),
        (("/workspace/src",), "a.py", "src/a.py"),
        (("src",), "a.py", "part/src/a.py"),
        (("/workspace/src",), "/workspace/other/a.py", "other/a.py"),
        (("/home/runner/work",), "a.py", "part/a.py"),
        (("/workspace/src", "/workspace/lib"), "a.py", "lib/a.py"),
    ],
)
def test_a_file_is_looked_for_in_the_sources_that_the_report_names(
    sources: tuple[str, ...], filename: str, path: str
) -> None:
    content = cobertura_of(*sources, filename=filename)

    coverage = read_coverage(COBERTURA, content, "part", known={"lib/a.py"})

    assert list(coverage.files) == [path]


@pytest.mark.parametrize("filename", ["../../a.py", "/etc/passwd", ""])
def test_a_file_elsewhere_is_not_kept(filename: str) -> None:
    line = '<line number="1" hits="1"/>'
    content = cobertura_of("/workspace", filename=filename, lines=line)

    assert cobertura.read(content) == Coverage({})


def test_several_reports_in_one_have_sources_of_their_own() -> None:
    line = '<line number="1" hits="1"/>'
    both = b"".join(cobertura_of(f"/workspace/{one}", lines=line) for one in ("a", "b"))

    coverage = cobertura.read(b"<coverage>" + both + b"</coverage>")

    assert list(coverage.files) == ["a/a.py", "b/a.py"]


def test_a_line_that_ran_once_has_run() -> None:
    lines = '<line number="1" hits="0"/><line number="1" hits="2"/><line number="1" hits="0"/>'

    coverage = cobertura.read(cobertura_of(lines=lines))

    assert coverage.files == {"a.py": FileCoverage(frozenset({1}))}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<coverage>",
        b"<testsuites/>",
        b'<!DOCTYPE a [<!ENTITY b "c">]><coverage>&b;</coverage>',
        cobertura_of(lines='<line number="1" hits="many"/>'),
        cobertura_of(lines='<line number="1"/>'),
        b'<?xml version="1.0" encoding="nonsense"?><coverage/>',
        b"<!DOCTYPE coverage [<!ATTLIST coverage a CDATA 'b'>]><coverage/>",
    ],
)
def test_what_is_no_cobertura_is_not_read(content: bytes) -> None:
    with pytest.raises(Unreadable):
        cobertura.read(content)


@pytest.mark.parametrize(
    ("module", "paths"),
    [
        ("example.com/shop", ["part/pkg/double.go"]),
        ("example.com/shop/pkg", ["part/double.go"]),
        ("example.com/sho", []),
        ("", ["part/example.com/shop/pkg/double.go"]),
    ],
)
def test_a_file_of_go_is_found_by_its_module(module: str, paths: list[str]) -> None:
    content = (FOLDER / "recorded/gocover/profile.out").read_bytes()

    coverage = read_coverage(CoverageFormat.GO_COVER, content, "part", module=module)

    assert list(coverage.files) == paths


def test_a_block_of_go_that_one_package_ran_has_run() -> None:
    content = b"mode: set\na.go:1.1,2.2 1 0\nmode: set\na.go:1.1,2.2 1 1\na.go:1.1,2.2 1 0\n"

    assert gocover.read(content).files == {"a.go": FileCoverage(frozenset({1, 2}))}


@pytest.mark.parametrize("content", [b"", b"TN:\n"])  # of Jest, of Node
def test_a_report_of_no_file_says_that_nothing_was_loaded(content: bytes) -> None:
    assert read_coverage(CoverageFormat.LCOV, content) == Coverage({})


def test_counts_of_a_record_that_is_told_twice_are_summed() -> None:
    record = b"SF:a.c\nDA:1,%d,checksum\nDA:2,0\nDA:3,-1\nend_of_record\n"

    coverage = read_coverage(CoverageFormat.LCOV, record % 0 + record % 3)

    assert coverage.files == {"a.c": FileCoverage(frozenset({1}), frozenset({2, 3}))}
    assert coverage.lines == (1, 3)
