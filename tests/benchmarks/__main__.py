"""`make bench`: figures as ratios taken in one run, printed as the table of docs/benchmarks.md."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.benchmarks import (
    acceptance,
    agreement,
    backtest,
    bad_replies,
    beside,
    gates,
    latency,
    memory,
    queue,
    replays,
    report,
    shadow,
    startup,
    throughput,
    tier_one,
    trials,
    voting,
    waiting,
)
from tests.stack import redis_server, running_stack

Row = tuple[str, str, str, bool]


def main() -> int:
    rows: list[Row] = told(tier_one.rows())
    with tempfile.TemporaryDirectory(prefix="loomverify-bench-") as name:
        root = Path(name)
        for folder in ("redis", "one", "two", "three", "four", "five", "six", "seven"):
            (root / folder).mkdir()
        with (
            redis_server(root / "redis") as url,
            running_stack(root / "one", redis_url=url) as stack,
        ):
            rows += told(latency.rows(stack, "Redis"))
            rows += told(waiting.rows(stack))
            rows += told(throughput.rows(stack))
            rows += told(memory.rows(stack))
            rows += told(agreement.rows(stack))
            rows += told(queue.rows(stack))
            rows += told(replays.rows(stack))
            rows += told(report.rows(stack))
            rows += told(trials.rows(stack))
            rows += told(acceptance.rows(stack))
            rows += told(shadow.rows(stack))
            rows += told(beside.rows(stack))
        with running_stack(root / "six", "web") as stack:  # whose database begins anew
            rows += told(backtest.rows(stack))
        with running_stack(root / "two") as stack:
            rows += told(latency.rows(stack, "filesystem"))
        rows += told(gates.rows(root / "seven"))
        rows += told(voting.rows(root / "four"))
        rows += told(bad_replies.rows(root / "five"))
        rows += told(startup.rows(root / "three" / "data"))
    sys.stdout.write(table(rows))
    return 0 if all(met for *_, met in rows) else 1


def told(rows: list[Row]) -> list[Row]:
    """Show figures as they come."""
    for what, measured, *_ in rows:
        sys.stderr.write(f"{what}: {measured}\n")
    return rows


def table(rows: list[Row]) -> str:
    lines = ["| what | measured | target | met |", "|---|---|---|---|"]
    lines += [
        f"| {what} | {measured} | {target} | {'yes' if met else 'no'} |"
        for what, measured, target, met in rows
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
