"""The browser of the tests: one without windows where there is one, which takes half the time."""

from __future__ import annotations

import shutil

CANDIDATES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    return next((path for name in CANDIDATES if (path := shutil.which(name))), None)
