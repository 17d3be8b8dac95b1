from __future__ import annotations

from pathlib import Path

import pytest

from tests.tables import check_rows
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
JAVA = {
    "shop/Price.java": FileCoverage(frozenset({3, 5, 8}), frozenset({6})),
    "shop/store/Store.java": FileCoverage(missed=frozenset({7, 8})),
}
JACOCO = {  # It says itself: 2 of 8.
    "shop/Price.java": FileCoverage(frozenset({5, 8}), frozenset({3, 6, 12})),
    "shop/store/Store.java": FileCoverage(missed=frozenset({3, 7, 8})),
}
PHP_CLOVER = {
    "lib/functions.php": FileCoverage(missed=frozenset({3})),
    "src/Calc.php": FileCoverage(frozenset({7, 10, 15}), frozenset({8})),
}
CLOVER = {
    "src/main/java/shop/Price.java": FileCoverage(frozenset({5, 8, 12, 13}), frozenset({6})),
}
ISTANBUL = {"src/price.js": FileCoverage(frozenset({1, 2, 5}), frozenset({3}))}
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
        ("opencover", "written/opencover/coverlet.xml", NET),
        ("jacoco", "written/jacoco/maven.xml", JAVA),
        ("jacoco", "recorded/jacoco/shop.xml", JACOCO),
        ("clover", "written/clover/phpunit.xml", PHP_CLOVER),
        ("clover", "written/clover/openclover.xml", CLOVER),
        ("clover", "written/clover/istanbul.xml", ISTANBUL),
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
        ("written/opencover/coverlet.xml", NET),
        ("written/jacoco/maven.xml", JAVA),
        ("written/clover/phpunit.xml", PHP_CLOVER),
        ("written/clover/openclover.xml", CLOVER),
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
        (("/workspace/src", "/workspace/other"), "b.py", "part/b.py"),
        (("/home/runner/work/shop/lib",), "a.py", "lib/a.py"),
        (("--ignored", "C:\\build\\lib"), "a.py", "lib/a.py"),
        (("C:\\build\\lib\\",), "a.py", "lib/a.py"),
        ((), "C:\\build\\lib\\a.py", "lib/a.py"),
        # It lies in the work, and no more: it was made there.
        ((), "/workspace/build/lib/a.py", "build/lib/a.py"),
        (("/workspace/build",), "lib/a.py", "build/lib/a.py"),
        ((), "build/lib/a.py", "part/build/lib/a.py"),
        (("/home/runner/work",), "/home/runner/work/lib/a.py", "lib/a.py"),
    ],
)
def test_a_file_is_looked_for_in_the_sources_that_the_report_names(
    sources: tuple[str, ...], filename: str, path: str
) -> None:
    content = cobertura_of(*sources, filename=filename)

    coverage = read_coverage(COBERTURA, content, "part", known={"lib/a.py"})

    assert list(coverage.files) == [path]


def jacoco_of(*counters: str, line: str = '<line nr="1" mi="0" ci="2" mb="0" cb="0"/>') -> bytes:
    """Of one source file; the last counter is the report's."""
    own = '<counter type="LINE" missed="0" covered="1"/>'
    in_file, in_report = (*counters, own, own)[:2]
    file = f'<sourcefile name="A.java">{line}{in_file}</sourcefile>'
    return f'<report name="a"><package name="p/q">{file}</package>{in_report}</report>'.encode()


@check_rows(
    ("known", "folder", "path"),
    [
        ([], "back", "back/p/q/A.java"),
        (["back/src/main/java/p/q/A.java"], "back", "back/src/main/java/p/q/A.java"),
        (["src/p/q/A.java", "src/q/A.java"], "", "src/p/q/A.java"),
        # Two modules hold a package of this name: the one in which the tests ran is meant.
        (["a/src/p/q/A.java", "b/src/p/q/A.java"], "b", "b/src/p/q/A.java"),
        (["a/src/p/q/A.java", "b/src/p/q/A.java"], "", "p/q/A.java"),
        (["src/xp/q/A.java"], "", "p/q/A.java"),
    ],
)
def test_a_file_that_is_named_by_its_package_is_the_one_that_lies_so(
    known: list[str], folder: str, path: str
) -> None:
    coverage = read_coverage(CoverageFormat.JACOCO, jacoco_of(), folder, known={*known})

    assert coverage.files == {path: FileCoverage(frozenset({1}))}


def test_a_report_of_another_machine_is_of_the_files_that_its_paths_end_in() -> None:
    content = (FOLDER / "written/opencover/opencover.xml").read_bytes()
    known = {"src/Shop/Price.cs", "Shop/Price.cs", "src/Shop/Store.cs"}

    coverage = read_coverage(CoverageFormat.OPENCOVER, content, known=known)

    assert coverage.files == {
        "src/Shop/Price.cs": FileCoverage(frozenset({5, 6, 7, 8})),
        "src/Shop/Store.cs": FileCoverage(missed=frozenset({12})),
    }
    with pytest.raises(Unreadable, match="no file of the work"):
        read_coverage(CoverageFormat.OPENCOVER, content)


def test_a_sequence_point_of_no_line_is_none() -> None:
    content = but(OPENCOVER, 'vc="0" uspid="8" ordinal="2" sl="8" sc="1" el="8"',
                  'vc="0" uspid="8" ordinal="2" sl="16707566" sc="0" el="16707566"')  # fmt: skip

    [file] = read_coverage(CoverageFormat.OPENCOVER, content).files.values()

    assert file.missed == {13}


def but(name: str, old: str, new: str) -> bytes:
    content = (FOLDER / name).read_text()
    assert content.count(old) >= 1
    return content.replace(old, new, 1).encode()


MISSED = '<line nr="1" mi="2" ci="0" mb="0" cb="0"/>'
PHPUNIT, OPENCOVER = "written/clover/phpunit.xml", "written/opencover/coverlet.xml"


@check_rows(
    ("format", "content"),
    [
        ("jacoco", jacoco_of('<counter type="LINE" missed="1" covered="0"/>')),
        ("jacoco", jacoco_of('<counter type="LINE" missed="0" covered="2"/>')),
        ("jacoco", jacoco_of("", '<counter type="LINE" missed="1" covered="1"/>')),
        ("jacoco", jacoco_of(line=MISSED)),
        ("jacoco", jacoco_of('<counter type="LINE" covered="1"/>')),
        ("jacoco", jacoco_of('<counter type="LINE" missed="many" covered="1"/>')),
        ("jacoco", jacoco_of("", "", line='<line nr="1" mi="0"/>')),
        ("jacoco", jacoco_of("", "", line='<line mi="0" ci="1"/>')),
        # Compiled without line numbers.
        ("jacoco", jacoco_of("", '<counter type="INSTRUCTION" missed="0" covered="9"/>', line="")),
        ("clover", but(PHPUNIT, 'files="2"', 'files="3"')),
        ("clover", but(PHPUNIT, 'statements="5" coveredstatements="3"',
                       'statements="5" coveredstatements="4"')),
        ("clover", but(PHPUNIT, 'num="3" type="stmt" count="0"', 'num="3" type="stmt" count="1"')),
        ("clover", but(PHPUNIT, 'coveredstatements="0" elements="1"',
                       'coveredstatements="2" elements="1"')),
        ("clover", but(PHPUNIT, 'num="7" type="stmt" count="1"', 'num="7" type="stmt"')),
        ("clover", but(PHPUNIT, 'num="7" type="stmt" count="1"', 'num="7" type="block" count="1"')),
        ("clover", but(PHPUNIT, 'num="7" type="stmt" count="1"', 'type="stmt" count="1"')),
        ("opencover", but(OPENCOVER, 'visitedSequencePoints="3"', 'visitedSequencePoints="0"')),
        ("opencover", but(OPENCOVER, 'visitedSequencePoints="3"', 'visitedSequencePoints="5"')),
        ("opencover", but(OPENCOVER, 'visitedSequencePoints="3"', 'visitedSequencePoints="6"')),
        ("opencover", but(OPENCOVER, 'sl="6" sc="1" el="6"', 'sl="6" sc="1" el="4"')),
        ("opencover", but(OPENCOVER, 'sl="6" sc="1" el="6"', 'sl="6" sc="1" el="99999999"')),
        ("opencover", but(OPENCOVER, 'fileid="1"', 'fileid="7"')),
        ("opencover", but(OPENCOVER, 'vc="2"', 'vc="often"')),
    ],
)  # fmt: skip
def test_coverage_whose_numbers_contradict_each_other_is_not_believed(
    format: str, content: bytes
) -> None:
    with pytest.raises(Unreadable):
        read_coverage(CoverageFormat(format), content)


@check_rows(
    ("format", "name", "why"),
    [
        ("cobertura", PHPUNIT, "holds `project`: it is not Cobertura's"),
        ("clover", "recorded/cobertura/phpunit.xml", "holds `sources`: it is not Clover's"),
        ("jacoco", PHPUNIT, "root is `coverage`, and not `report`"),
        ("opencover", "written/jacoco/maven.xml", "root is `report`, and not `CoverageSession`"),
    ],
)
def test_a_report_of_another_format_is_refused_by_name(format: str, name: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        read_coverage(CoverageFormat(format), (FOLDER / name).read_bytes())


@check_rows(
    "content",
    [
        b"<coverage/>",
        b"<coverage><things/></coverage>",
        b"<coverage><sources/></coverage>",
        b"<report><issues/></report>",
        b"<CoverageSession/>",
        b"<dotCover/>",
    ],
)
def test_an_unknown_shape_is_never_empty_coverage(content: bytes) -> None:
    for format in CoverageFormat:
        with pytest.raises(Unreadable):
            read_coverage(format, content)


@pytest.mark.parametrize("filename", ["../../a.py", "/etc/passwd", ""])
def test_a_file_elsewhere_is_not_kept(filename: str) -> None:
    line = '<line number="1" hits="1"/>'
    inside = cobertura_of(lines=line)
    outside = cobertura_of("/workspace", filename=filename, lines=line)

    both = cobertura.read(b"<coverage>" + inside + outside + b"</coverage>")

    assert list(both.files) == ["a.py"]
    with pytest.raises(Unreadable, match="no file of the work"):
        cobertura.read(outside)


def test_several_reports_of_jacoco_in_one_have_totals_of_their_own() -> None:
    other = jacoco_of(line=MISSED)
    good = jacoco_of()

    coverage = read_coverage(CoverageFormat.ANY, b"<report>" + good + good + b"</report>")

    assert coverage.files == {"p/q/A.java": FileCoverage(frozenset({1}))}
    with pytest.raises(Unreadable):
        read_coverage(CoverageFormat.ANY, b"<report>" + good + other + b"</report>")


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
