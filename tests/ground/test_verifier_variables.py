from __future__ import annotations

from pathlib import Path

import pytest

from loomverify.env import Environment, read_environment
from loomverify.variables import ConfigurationError
from tests.tables import check_rows


def read(tmp_path: Path, **variables: str) -> Environment:
    return read_environment({"LOOMVERIFY_DATA": str(tmp_path), **variables})


def test_without_a_word_there_are_no_verifiers_and_a_minute_for_each(tmp_path: Path) -> None:
    env = read(tmp_path)

    assert (env.verifiers, env.verifier_seconds) == ((), 60)


def test_verifiers_are_named_with_what_is_called(tmp_path: Path) -> None:
    env = read(
        tmp_path,
        LOOMVERIFY_VERIFIERS=" totals = shop.checks:totals ,prices=shop:Prices.check,",
        LOOMVERIFY_VERIFIER_SECONDS="5",
    )

    assert env.verifiers == (("totals", "shop.checks:totals"), ("prices", "shop:Prices.check"))
    assert env.verifier_seconds == 5


@check_rows(
    "value",
    [
        "totals",
        "totals=",
        "totals=shop",
        "totals=shop.totals",
        "totals=:totals",
        "totals=shop:",
        "=shop:totals",
        "totals=shop..checks:totals",
        "totals=shop-checks:totals",
        "totals=shop:totals()",
        "totals=../shop:totals",
        "totals=shop:1st",
        "a=b:c=d:e",
        f"{'x' * 201}=shop:totals",
    ],
)
def test_a_malformed_entry_is_told_at_the_start(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"comma list of name=package\.module:callable"):
        read(tmp_path, LOOMVERIFY_VERIFIERS=value)


def test_a_name_stands_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="names 'totals' twice"):
        read(tmp_path, LOOMVERIFY_VERIFIERS="totals=shop:a,totals=shop:b")


@pytest.mark.parametrize("value", ["0", "601", "-1", "1.5", "long"])
def test_a_verifier_has_from_one_second_to_ten_minutes(tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigurationError, match="LOOMVERIFY_VERIFIER_SECONDS"):
        read(tmp_path, LOOMVERIFY_VERIFIER_SECONDS=value)
