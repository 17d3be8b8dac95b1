from verification.actions.models.landing import Action, ActionKind, ActionState, Change, ChangeKind
from verification.actions.models.reporting import (
    BudgetWarning,
    Mail,
    NightReport,
    ReportSettings,
)
from verification.actions.models.repositories import Mode, Repository
from verification.actions.models.webhooks import Delivery, DeliveryState, Webhook, WebhookFormat

__all__ = [
    "Action",
    "ActionKind",
    "ActionState",
    "BudgetWarning",
    "Change",
    "ChangeKind",
    "Delivery",
    "DeliveryState",
    "Mail",
    "Mode",
    "NightReport",
    "ReportSettings",
    "Repository",
    "Webhook",
    "WebhookFormat",
]
