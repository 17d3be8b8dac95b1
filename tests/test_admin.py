from __future__ import annotations

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from loomverify.accounts.models import User
from tests.builders import make_project, make_run
from tests.tables import check_rows
from verification.rules.models import Backtest, Pin

MODELS = sorted(
    (model for model in admin.site._registry if model._meta.app_label != "axes"),
    key=lambda model: model._meta.label,
)


@pytest.fixture
def client(db: None) -> Client:
    """The browser of an operator, over a project with one row of many models."""
    run = make_run(make_project("ours"), findings=[])
    process = run.process_version.process
    rule, _ = process.rules.get_or_create(name="no-placeholders")
    Pin.objects.create(rule=rule, run=run, expected="caught", text="TODO")
    kept = {"project": run.project, "process": process, "rule": rule.name}
    Backtest.objects.create(**kept, figures={}, seconds=1, tried_at=timezone.now())
    client = Client()
    root = User.objects.create_superuser("root", password="a long password")
    client.force_login(root, backend="loomverify.accounts.backends.NameOrEmailBackend")
    return client


each_model = check_rows("model", MODELS, ids=lambda model: model._meta.label)


@each_model
def test_operators_may_look_at_everything_and_change_nothing(
    client: Client, model: type[Model]
) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"

    assert client.get(reverse(f"{name}_changelist")).status_code == 200
    assert client.get(reverse(f"{name}_add")).status_code == 403
    row = model._default_manager.first()
    if row is not None:
        page = client.get(reverse(f"{name}_change", args=[row.pk]))
        assert page.status_code == 200
        assert b'name="_save"' not in page.content


@each_model
def test_what_operators_send_to_the_admin_changes_nothing(
    client: Client, model: type[Model]
) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    before = sorted(str(row) for row in model._default_manager.values_list())
    row = model._default_manager.first()
    pk = row.pk if row else 1

    sent = {"post": "yes", "_save": "Save", "name": "other", "source_text": "other", "note": "x"}
    answers = [
        client.post(reverse(f"{name}_add"), sent),
        client.post(reverse(f"{name}_change", args=[pk]), sent),
        client.post(reverse(f"{name}_delete", args=[pk]), sent),
    ]
    many = {"action": "delete_selected", "_selected_action": [pk], "post": "yes"}
    client.post(reverse(f"{name}_changelist"), many)

    assert [answer.status_code for answer in answers] == [403, 403, 403]
    assert sorted(str(row) for row in model._default_manager.values_list()) == before
