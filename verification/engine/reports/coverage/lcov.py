"""lcov's tracefiles, as c8, Jest, gcov, cargo-llvm-cov and coverage.py write them too."""

from __future__ import annotations

from verification.engine.reports.coverage.tally import MAX_TOLD_LINES, Tally, is_covered
from verification.engine.reports.model import Coverage, Unreadable, inner_path, number
from verification.engine.reports.problems.parsing import lines_of

_TEST, _FILE, _LINE, _END = "TN:", "SF:", "DA:", "end_of_record"


def read(content: bytes, folder: str = "") -> Coverage:
    """A record without its end is cut short, and so is the report.

    Where nothing was loaded, it holds nothing, or a test's name alone.
    """
    tally, path, is_any, is_odd = Tally(), None, False, False
    for line in lines_of(content, MAX_TOLD_LINES):
        if line.startswith(_FILE):
            if path is not None:
                raise Unreadable("A record of the report has no end.")
            path, is_any = inner_path(line.removeprefix(_FILE), folder), True
            tally.add(path, (), covered=True)
        elif line.startswith(_LINE):
            if path is None:
                raise Unreadable("The report tells of a line of no file.")
            _add(tally, path, line)
        elif line.strip() == _END:
            path = None
        elif path is None and line.strip() and not line.startswith(_TEST):
            is_odd = True
    if path is not None or (is_odd and not is_any):
        raise Unreadable("The report is cut short, or of another format.")
    return tally.coverage()


def _add(tally: Tally, path: str, line: str) -> None:
    """Its number, how often it ran, and perhaps a checksum."""
    place, _, rest = line.removeprefix(_LINE).partition(",")
    if (at := number(place.strip())) is not None:
        tally.add(path, (at,), covered=is_covered(rest.partition(",")[0]))
