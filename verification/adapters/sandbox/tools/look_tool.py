"""What is looked at, and the tools that look: each is held in, and what it wrote is read."""

import json
import os
import resource
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verification.adapters.sandbox.tools.look_languages import language_of
else:
    from look_languages import language_of

MAX_OUTPUT_BYTES = 60_000_000


class Broken(Exception):
    """A tool did not do what it is there for: says which, without what the work says."""


@dataclass(frozen=True)
class File:
    """A plain file; `language` as the rules call it, '' for none of theirs."""

    path: str
    size: int
    language: str


@dataclass(frozen=True)
class Place:
    """What is looked at, and by when."""

    folder: Path
    left_out: tuple[str, ...]
    until: float

    def has(self, path: str) -> bool:
        return not path.startswith(self.left_out) if self.left_out else True

    def files(self) -> Iterator[File]:
        """Each plain file; what the work says is to be ignored is not."""
        for folder, _, names in os.walk(self.folder, onerror=_refuse):
            for name in sorted(names):
                path = Path(folder, name)
                if self.has(str(path)) and path.is_file() and not path.is_symlink():
                    yield File(str(path), path.stat().st_size, language_of(str(path)))


def _refuse(error: OSError) -> None:
    raise error


def run(tool: Path, words: Sequence[str], place: Place, codes: Sequence[int]) -> Any:
    """What a tool wrote, as JSON; what it says of itself may quote the work, and is dropped."""

    def held_in() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_OUTPUT_BYTES, MAX_OUTPUT_BYTES))
        # Where memory ends, the tool ends, and not who notices it.
        Path("/proc/self/oom_score_adj").write_text("1000")

    with TemporaryDirectory() as folder, Path(folder, "out").open("w+b") as out:
        try:
            ended = subprocess.run(  # noqa: S603 - our own tools
                [str(tool), *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.DEVNULL,
                timeout=max(0.1, place.until - time.monotonic()),
                env={"HOME": folder, "PATH": "/usr/bin:/bin"},
                preexec_fn=held_in,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Broken(f"{tool.name} took too long.") from None
        except (OSError, subprocess.SubprocessError):
            raise Broken(f"{tool.name} could not be run.") from None
        if ended.returncode not in codes:
            raise Broken(f"{tool.name} ended with exit code {ended.returncode}.")
        out.seek(0)
        try:
            return json.loads(out.read().decode(errors="replace"))
        except (ValueError, RecursionError):
            raise Broken(f"What {tool.name} wrote could not be read.") from None


def listed(value: Any) -> list[Any]:
    """What is something else could be gone through as if it were an empty one."""
    if not isinstance(value, list):
        raise Broken("A report is not of its tool's form.")
    return value
