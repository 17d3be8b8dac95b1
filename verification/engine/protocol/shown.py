"""What the judge was shown: a verdict that stands there word for word is not the judge's own."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_BLANK = re.compile(r"\s+")


@dataclass(frozen=True)
class Shown:
    text: str = ""

    def holds(self, told: str) -> bool:
        """Whether these words stand in the material, however they are spaced."""
        return bool(self.text) and (plain := _plain(told)) != "" and plain in self._plain

    def holds_object(self, document: Mapping[str, Any]) -> bool:
        """Whether an object stands in the material, whatever envelope it was put in since."""
        if not self.text:
            return False
        return self.holds(json.dumps(document, default=str)) or self.holds(
            json.dumps(document, default=str, ensure_ascii=False)
        )

    @cached_property
    def _plain(self) -> str:
        return _plain(self.text)


def _plain(text: str) -> str:
    return _BLANK.sub("", text)
