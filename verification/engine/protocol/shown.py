"""What the judge was shown: a verdict that stands there word for word is not the judge's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_BLANK = re.compile(r"\s+")


@dataclass(frozen=True)
class Shown:
    text: str = ""

    def holds(self, told: str) -> bool:
        """Whether these words stand in the material, however they are spaced."""
        return bool(self.text) and (plain := _plain(told)) != "" and plain in self._plain

    @cached_property
    def _plain(self) -> str:
        return _plain(self.text)


def _plain(text: str) -> str:
    return _BLANK.sub("", text)
