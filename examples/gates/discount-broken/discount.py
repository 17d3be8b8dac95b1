"""Prices in cents, less what a customer is granted."""

import os
from decimal import Decimal


def discounted(price: int, percent: Decimal) -> int:
    """The price less a share of it, in cents, halves rounded up; `percent` lies in 0 to 100."""
    return round(price * (100 - percent) / 100)
