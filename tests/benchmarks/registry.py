"""All benchmarks, in the order in which they run; each works alone."""

from __future__ import annotations

from typing import Any

from tests.benchmarks import (
    agreement,
    backtest,
    gates,
    golden_replays,
    judge_faults,
    judge_panel,
    latency,
    live_during_trial,
    memory,
    morning_report,
    review_queue,
    rollout_targets,
    shadow_replay,
    startup,
    throughput,
    tier_one,
    trial_pages,
    waiting_agents,
)
from tests.benchmarks.framework import Benchmark

BENCHMARKS: tuple[Benchmark[Any, Any], ...] = (
    tier_one.BENCHMARK,
    latency.REDIS,
    latency.FILESYSTEM,
    waiting_agents.BENCHMARK,
    throughput.BENCHMARK,
    memory.BENCHMARK,
    rollout_targets.BENCHMARK,
    agreement.BENCHMARK,
    review_queue.BENCHMARK,
    golden_replays.BENCHMARK,
    morning_report.BENCHMARK,
    trial_pages.BENCHMARK,
    shadow_replay.BENCHMARK,
    live_during_trial.BENCHMARK,
    backtest.BENCHMARK,
    gates.BENCHMARK,
    judge_panel.BENCHMARK,
    judge_faults.BENCHMARK,
    startup.BENCHMARK,
)
