"""What operators ask: is it up, is it ready, how much is waiting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.models import Count, Min
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from kombu.exceptions import OperationalError
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

from loomverify.celery import app
from verification.runs import heartbeats, prometheus
from verification.runs.models import OPEN_STATES, OutboxEvent, Run

BEAT_TOLERANCE = timedelta(seconds=30)


def healthz(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


def readyz(_request: HttpRequest) -> JsonResponse:
    """200 when everything a run needs is there; else 503. Each part is named."""
    parts = {name: _state(check) for name, check in CHECKS.items()}
    ready = all(state == "ok" for state in parts.values())
    return JsonResponse({"ready": ready, **parts}, status=200 if ready else 503)


def metrics(_request: HttpRequest) -> HttpResponse:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector())
    return HttpResponse(generate_latest(registry), content_type="text/plain; version=0.0.4")


def _state(check: Callable[[], str]) -> str:
    try:
        return check()
    except (DatabaseError, OperationalError, OSError) as error:
        return f"failed: {type(error).__name__}"


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("select 1")
    return "ok"


def _broker() -> str:
    with app.connection_for_write(connect_timeout=1) as broker:
        broker.ensure_connection(max_retries=1, timeout=2)
    return "ok"


def _beating(role: str) -> Callable[[], str]:
    def check() -> str:
        seen = heartbeats.last_seen(role)
        if seen is None:
            return "never seen"
        age = timezone.now() - seen
        return "ok" if age < BEAT_TOLERANCE else f"last seen {age.total_seconds():.0f} s ago"

    return check


CHECKS: dict[str, Callable[[], str]] = {
    "database": _database,
    "broker": _broker,
    "worker": _beating("worker"),
    "relay": _beating("relay"),
}


class _Collector:
    def collect(self) -> Iterator[Metric]:
        runs = GaugeMetricFamily(
            "loomverify_runs_open", "Runs that are not over, by state.", labels=["state"]
        )
        counted = Run.objects.filter(state__in=OPEN_STATES).values("state").annotate(n=Count("id"))
        by_state = {row["state"]: row["n"] for row in counted}
        for state in OPEN_STATES:
            runs.add_metric([state], by_state.get(state, 0))
        yield runs
        yield GaugeMetricFamily(
            "loomverify_oldest_open_run_seconds",
            "Age of the oldest run that is not over.",
            value=_age_of_oldest(),
        )
        yield GaugeMetricFamily(
            "loomverify_outbox_pending",
            "Events not handed on yet.",
            value=OutboxEvent.objects.filter(dispatched_at__isnull=True).count(),
        )
        yield GaugeMetricFamily(
            "loomverify_outbox_failing",
            "Events that could not be handed on, and are tried again.",
            value=OutboxEvent.objects.filter(dispatched_at__isnull=True, failures__gt=0).count(),
        )
        yield from prometheus.gauges()


def _age_of_oldest() -> float:
    oldest = Run.objects.filter(state__in=OPEN_STATES).aggregate(at=Min("created_at"))["at"]
    return (timezone.now() - oldest).total_seconds() if oldest else 0.0
