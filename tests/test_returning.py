from __future__ import annotations

import pytest
from django.test import RequestFactory

from loomverify.returning import back

HOME = "/p/ours/review/"


@pytest.mark.parametrize(
    ("asked", "goes_to"),
    [
        (f"{HOME}?phase=build", f"{HOME}?phase=build"),
        ("", HOME),
        ("https://elsewhere.example/", HOME),
        ("//elsewhere.example/", HOME),
        ("javascript:alert(1)", HOME),
        ("-1", "-1"),  # names no view, and is not looked up as one
        ("login", "login"),
    ],
)
def test_a_form_leads_back_to_an_address_of_ours_alone(asked: str, goes_to: str) -> None:
    answer = back(RequestFactory().post("/", {"next": asked}), HOME)

    assert (answer.status_code, answer["Location"]) == (302, goes_to)
