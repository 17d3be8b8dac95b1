"""A folder that stands before every path of the work, and that nobody means."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, takewhile

USUAL_FOLDERS = frozenset(
    {"app", "bin", "cmd", "docs", "lib", "pkg", "scripts", "source", "spec", "src", "test", "tests"}
)


def shared_folder(paths: Sequence[str]) -> str:
    """Some agents put folders of the project's name before every path.

    What lies at the root contradicts it, and so does a name that is usual within a project, or a
    package: whoever imports it names it. '' is none.
    """
    folders = [path.split("/")[:-1] for path in paths]
    levels = map(_alone, zip(*folders, strict=False))
    shared = takewhile(lambda one: one and one not in USUAL_FOLDERS, levels)
    packages = {
        path.removesuffix("/__init__.py") for path in paths if path.endswith("/__init__.py")
    }
    steps = accumulate(shared, lambda folder, name: f"{folder}/{name}")
    return max(takewhile(lambda folder: folder not in packages, steps), key=len, default="")


def _alone(names: Sequence[str]) -> str:
    return names[0] if len(set(names)) == 1 else ""
