"""`make bench`: runs benchmarks and writes the tables of docs/benchmarks.md.

`make bench ROWS="latency golden"` runs those whose name contains one of the words;
`make bench ROWS=list` lists the names.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.benchmarks.registry import BENCHMARKS
from tests.benchmarks.runner import run, select

LIST = "list"
UNKNOWN_NAME = 2


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.benchmarks")
    parser.add_argument("words", nargs="*", help=f"parts of names; `{LIST}` lists all names")
    parser.add_argument("--smoke", action="store_true", help="smallest sizes, no targets")
    options = parser.parse_args(argv)
    if options.words == [LIST]:
        sys.stdout.write(_names())
        return 0
    try:
        benchmarks = select(BENCHMARKS, options.words)
    except LookupError as error:
        sys.stderr.write(f"No benchmark has {error} in its name. Names:\n{_names()}")
        return UNKNOWN_NAME
    report = run(benchmarks, is_smoke=options.smoke)
    sys.stdout.write(report.write())
    return report.exit_code


def _names() -> str:
    width = max(len(benchmark.name) for benchmark in BENCHMARKS)
    return "".join(f"{one.name:<{width}}  {one.summary}\n" for one in BENCHMARKS)


if __name__ == "__main__":
    sys.exit(main())
