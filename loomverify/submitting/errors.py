from __future__ import annotations


class UsageError(Exception):
    """One clear sentence: nothing was verified, and trying the same again will not help."""


class TaskExhausted(UsageError):
    """The task takes no more submissions."""


class NoAnswer(Exception):
    """One clear sentence: the submission may stand, its verdict is not known."""
