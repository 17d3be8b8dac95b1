"""Prices in cents, less what a customer is granted."""

from decimal import ROUND_HALF_UP, Decimal


def discounted(price: int, percent: Decimal) -> int:
    """The price less a share of it, in cents, halves rounded up; `percent` lies in 0 to 100."""
    if not 0 <= percent <= 100:
        raise ValueError(f"A discount of {percent} % is none.")
    left = price * (100 - percent) / 100
    return int(left.quantize(Decimal(1), rounding=ROUND_HALF_UP))
