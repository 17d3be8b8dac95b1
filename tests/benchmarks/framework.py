"""Declarations of benchmarks, and the comparison of their figures with the targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EnvironmentT = TypeVar("EnvironmentT")
EnvironmentT_co = TypeVar("EnvironmentT_co", covariant=True)
SizeT = TypeVar("SizeT", bound="DataclassInstance")

Figures = Mapping[str, float]
"""Measured values by the key of their metric; seconds, megabytes, shares from 0 to 1."""


class Unit(Enum):
    """How a value is written, and whether it depends on the speed of the machine."""

    RATIO = "ratio"
    SHARE = "share"
    COUNT = "count"
    SECONDS = "seconds"
    RATE = "rate"
    MEGABYTES = "megabytes"

    @property
    def is_absolute(self) -> bool:
        return self in (Unit.SECONDS, Unit.RATE, Unit.MEGABYTES)

    def format(self, value: float) -> str:
        match self:
            case Unit.SHARE:
                return f"{value * 100:.3g}%"
            case Unit.COUNT:
                return f"{value:,.0f}"
            case Unit.SECONDS if abs(value) < 0.9995:
                return f"{value * 1000:.3g} ms"
            case Unit.SECONDS:
                return f"{_three_digits(value)} s"
            case Unit.RATE:
                return f"{value:,.0f} a second"
            case Unit.MEGABYTES:
                return f"{value:,.0f} MB"
            case _:
                return _three_digits(value)

    def format_limit(self, limit: float) -> str:
        """Write a target, which is a round number."""
        if self is Unit.RATIO:
            return f"{limit:g}"
        if self is Unit.SECONDS and limit >= 1:
            return f"{limit:g} s"
        return self.format(limit)


def _three_digits(value: float) -> str:
    """Write at least three digits, without an exponent."""
    decimals = 2 - math.floor(math.log10(abs(value))) if value else 0
    return f"{value:,.{min(2, max(0, decimals))}f}"


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a benchmark.

    `label` may name fields of the benchmark's size: `"{runs:,} runs"`. A metric has at most one
    of `at_most` and `at_least`. `is_signed`: a difference, which may be negative.
    """

    key: str
    label: str
    unit: Unit
    at_most: float | None = None
    at_least: float | None = None
    is_signed: bool = False

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"at most {self.unit.format_limit(self.at_most)}"
        if self.at_least is not None:
            return f"at least {self.unit.format_limit(self.at_least)}"
        return ""

    def status_of(self, value: float) -> Status:
        if self.at_most is None and self.at_least is None:
            return Status.NO_TARGET
        is_met = (self.at_most is None or value <= self.at_most) and (
            self.at_least is None or value >= self.at_least
        )
        if is_met:
            return Status.MET
        return Status.MISSED_ABSOLUTE if self.unit.is_absolute else Status.MISSED

    def is_plausible(self, value: float) -> bool:
        """Whether the value is a finite number that this metric can have."""
        if not math.isfinite(value):
            return False
        return self.is_signed or value > 0 or (self.unit is Unit.COUNT and value == 0)


class Status(StrEnum):
    """The last column of the table."""

    MET = "yes"
    MISSED = "no"
    MISSED_ABSOLUTE = "no (absolute)"
    NO_TARGET = ""
    FAILED = "failed"
    SKIPPED = "skipped"

    @property
    def fails_run(self) -> bool:
        """Absolute targets depend on the machine: the table shows them, and nothing fails."""
        return self in (Status.MISSED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class BenchmarkRow:
    """A line of the table."""

    benchmark: str
    label: str
    value: str
    target: str
    status: Status


class Environment(Protocol[EnvironmentT_co]):
    """Where a benchmark runs. Smoke runs share equal environments that are shareable."""

    @property
    def is_shareable(self) -> bool: ...

    @property
    def requirements(self) -> tuple[Requirement, ...]: ...

    def open(self, folder: Path) -> AbstractContextManager[EnvironmentT_co]:
        """Start it in an empty folder; stop everything in the end."""


class Requirement(StrEnum):
    """What a machine may lack; the values are the suite's markers."""

    REDIS = "redis"
    DOCKER = "docker"


@dataclass(frozen=True, slots=True)
class Benchmark(Generic[EnvironmentT, SizeT]):
    """`measure` gets a fresh environment and a size; it returns the figure of each metric."""

    name: str
    summary: str
    environment: Environment[EnvironmentT]
    measure: Callable[[EnvironmentT, SizeT], Figures]
    full: SizeT
    smoke: SizeT
    metrics: tuple[Metric, ...]

    def rows(self, size: SizeT, figures: Figures, *, is_judged: bool = True) -> list[BenchmarkRow]:
        """Return one row for each metric.

        Raises:
            ValueError: the figures are not those of the metrics, or no plausible numbers.
        """
        if figures.keys() != {metric.key for metric in self.metrics}:
            raise ValueError(f"Figures of other metrics: {', '.join(sorted(figures))}")
        rows = []
        for metric in self.metrics:
            value = figures[metric.key]
            if not metric.is_plausible(value):
                raise ValueError(f"{metric.key} cannot be {value}")
            rows.append(
                BenchmarkRow(
                    benchmark=self.name,
                    label=metric.label.format(**asdict(size)),
                    value=metric.unit.format(value),
                    target=metric.target if is_judged else "",
                    status=metric.status_of(value) if is_judged else Status.NO_TARGET,
                )
            )
        return rows
