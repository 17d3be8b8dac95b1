from __future__ import annotations

import uuid
from typing import ClassVar
from urllib.parse import urlsplit

from django.contrib.postgres.fields import ArrayField
from django.db import models

from loomverify.accounts.models import Project


class WebhookFormat(models.TextChoices):
    EVENT = "event", "The event, as JSON"
    CHAT = "chat", "A message for a chat room"
    STATUS = "status", "A commit's status, for a code host"
    MAIL = "mail", "A mail to a member: mailto:ada@example.com"


class Webhook(models.Model):
    """Where a project's events are sent, signed with `secret`.

    `processes`: slugs; of runs of others it does not hear. None: of all. `template` is the JSON of
    the format status; `credential_reference` names the variable that holds the token it is sent with.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    topics = ArrayField(models.CharField(max_length=60))
    processes = ArrayField(models.CharField(max_length=80), default=list, blank=True)
    format = models.CharField(max_length=10, choices=WebhookFormat, default=WebhookFormat.EVENT)
    template = models.TextField(blank=True)
    credential_reference = models.CharField(max_length=120, blank=True)
    secret = models.CharField(max_length=100)
    is_enabled = models.BooleanField(default=True)
    busy_until = models.DateTimeField(
        null=True, blank=True, help_text="Until then one worker alone sends to it, or none does."
    )
    created_by = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.shown_url

    @property
    def shown_url(self) -> str:
        """The address of a chat room is all that a sender needs to have: it is not shown whole."""
        if self.format != WebhookFormat.CHAT:
            return self.url
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}/…{self.url[-4:]}"


class DeliveryState(models.TextChoices):
    PENDING = "pending", "Pending"
    DELIVERED = "delivered", "Delivered"
    DEAD = "dead", "Given up"


class Delivery(models.Model):
    """One event on its way to one webhook. `event_id` is what a receiver tells repeats by."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField()
    topic = models.CharField(max_length=60)
    payload = models.JSONField()
    state = models.CharField(max_length=10, choices=DeliveryState, default=DeliveryState.PENDING)
    attempts = models.PositiveIntegerField(default=0)
    next_at = models.DateTimeField()
    lease_until = models.DateTimeField(null=True, blank=True)
    last_status = models.PositiveIntegerField(null=True, blank=True)
    last_error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["webhook", "event_id"], name="delivery_unique"),
        ]
        indexes: ClassVar = [
            models.Index(
                fields=["next_at"], condition=models.Q(state="pending"), name="delivery_due"
            ),
            models.Index(
                fields=["webhook", "next_at"],
                condition=models.Q(state="pending"),
                name="delivery_due_to",
            ),
            models.Index(fields=["project", "-created_at", "-id"], name="delivery_newest"),
            models.Index(
                fields=["project", "state", "-created_at", "-id"],
                condition=~models.Q(state="delivered"),
                name="delivery_troubled",
            ),
        ]
        verbose_name_plural = "deliveries"

    def __str__(self) -> str:
        return f"{self.topic} to {self.webhook}"
