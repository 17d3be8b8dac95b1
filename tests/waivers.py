"""Findings of the security gate for tests, and waivers of them, as the services would have made them."""

from __future__ import annotations

import hashlib
import itertools
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.utils import timezone

from loomverify.accounts.models import Project
from tests.builders import make_run
from verification.engine.outcome import Outcome
from verification.runs.models import Finding, Run, Waiver

REASON = "The command is made of constants alone."
SHELL = "S602: `subprocess` call with `shell=True` identified"
_numbers = itertools.count(1)


def problem(**fields: Any) -> dict[str, Any]:
    """A finding of its own name, as the security gate makes them."""
    name = hashlib.sha256(f"finding {next(_numbers)}".encode()).hexdigest()
    usual = {
        "rule": "security",
        "source": "gate",
        "reason_code": "security_failed",
        "message": SHELL,
        "path": "tools/release.py",
        "line": 12,
        "target": "",
        "severity": "",
        "fingerprint": name,
    }
    return {**usual, **fields}


def rejected(project: Project, *problems: dict[str, Any], **fields: Any) -> Run:
    """A run that the security gate rejected."""
    return make_run(
        project,
        outcome=Outcome.FAIL,
        reason_code="security_failed",
        findings=problems or [problem()],
        **fields,
    )


def finding_of(run: Run) -> Finding:
    found = Finding.objects.filter(evaluation__run=run).order_by("pk").first()
    assert found is not None
    return found


def in_days(days: int) -> date:
    return timezone.now().astimezone(UTC).date() + timedelta(days=days)


def make_waiver(run: Run, **columns: Any) -> Waiver:
    """One of the run's first finding, made by Ann for 30 days."""
    found, now = finding_of(run), timezone.now()
    last = datetime.combine(in_days(31), datetime.min.time(), UTC)
    return Waiver.objects.create(
        project=run.project,
        process=run.process,
        run=run,
        **{
            "fingerprint": found.fingerprint,
            "rule": found.rule,
            "path": found.path,
            "message": found.message,
            "reason": REASON,
            "created_name": "Ann (ann)",
            "created_at": now,
            "expires_at": last,
            **columns,
        },
    )
