from __future__ import annotations

import pytest
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from loomverify.accounts.models import User
from tests.builders import make_project, make_run

MODELS = sorted(
    (model for model in admin.site._registry if model._meta.app_label != "axes"),
    key=lambda model: model._meta.label,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
@pytest.mark.django_db
def test_operators_may_look_at_everything_and_change_nothing(model: type[Model]) -> None:
    make_run(make_project("ours"), findings=[])
    client = Client()
    client.force_login(
        User.objects.create_superuser("root", password="a long password"),
        backend="loomverify.accounts.backends.NameOrEmailBackend",
    )
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"

    assert client.get(reverse(f"{name}_changelist")).status_code == 200
    assert client.get(reverse(f"{name}_add")).status_code == 403
    row = model._default_manager.first()
    if row is not None:
        page = client.get(reverse(f"{name}_change", args=[row.pk]))
        assert page.status_code == 200
        assert b'name="_save"' not in page.content
