from __future__ import annotations

from django.db import models


class Heartbeat(models.Model):
    """When a process of ours was last seen at work."""

    role = models.CharField(max_length=20)
    name = models.CharField(max_length=120, unique=True)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
