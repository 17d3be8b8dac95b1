"""Why a reply is left unread."""

from __future__ import annotations


class Doubt(Exception):
    """The reply speaks of a verdict, and which one is not certain. No weaker stage may read it."""


DISAGREE = "The reply holds verdicts that disagree."
UNCLEAR = "The reply's verdict is neither pass nor fail."
BROKEN_OFF = "The reply breaks off."
DAMAGED = "The reply is damaged where its verdicts stand."
REFUSED = "The judge refused to answer."
NOTHING = "The reply holds no verdict."
TOO_LONG = "The reply is too long to be read."
TOO_DEEP = "The reply is nested too deeply to be read."
TOO_MANY = "The reply holds too many verdicts to be read."
