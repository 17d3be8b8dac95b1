from decimal import Decimal

import pytest

from discount import discounted


@pytest.mark.parametrize(
    ("price", "percent", "expected"),
    [(1000, "0", 1000), (1000, "10", 900), (999, "50", 500), (1000, "100", 0)],
)
def test_a_price_is_less_its_discount(price: int, percent: str, expected: int) -> None:
    assert discounted(price, Decimal(percent)) == expected


def test_nobody_is_paid_for_buying() -> None:
    with pytest.raises(ValueError, match="120 %"):
        discounted(1000, Decimal(120))
