"""A bundle: commits upon a base, taken into the mirror only when they are whole and sound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from verification.adapters.git.calling import Ended, Git, lost_on_submitted
from verification.adapters.git.errors import ChangeRefused, GitLost
from verification.adapters.git.faults import OURS
from verification.adapters.git.making import scratch
from verification.adapters.git.naming import is_sha

MAX_BUNDLE_BYTES: Final = 64 * 1024**2
MAX_HEAD_LINES: Final = 1_000

_SIGNATURES: Final = (b"# v2 git bundle\n", b"# v3 git bundle\n")
_HARMLESS: Final = "zeroPaddedFilemode=ignore,badTimezone=ignore,missingSpaceBeforeDate=ignore"
"""Old tools wrote these into many histories; nothing can be done with them."""


@dataclass(frozen=True, slots=True)
class _Head:
    needed: tuple[str, ...]
    tip: str
    pack: memoryview


def with_bundle(git: Git, base: str, bundle: bytes, has: Callable[[str], bool]) -> tuple[str, str]:
    """Return tree and tip. Its objects stay in the mirror; no ref does.

    `has` says whether the remote has a commit.

    Raises:
        ChangeRefused: `change.bundle_invalid`, `change.too_large`, `change.base_unknown`,
            `change.not_on_base`.
    """
    head = _read(bundle)
    for needed in head.needed:
        if not has(needed):
            message = f"The bundle builds on {needed}, which the repository does not have."
            raise ChangeRefused("change.base_unknown", message)
    with scratch(git) as folder:
        (folder / "pack").mkdir()
        apart = {
            "GIT_OBJECT_DIRECTORY": str(folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(git.repository / "objects"),
        }
        _unpack(git, head.pack, apart)
        tree = _checked(git, base, head.tip, apart)
        _take_in(folder / "pack", git.repository / "objects" / "pack")
    return tree, head.tip


def _read(bundle: bytes) -> _Head:
    if len(bundle) > MAX_BUNDLE_BYTES:
        message = f"The bundle has more than {MAX_BUNDLE_BYTES} bytes."
        raise ChangeRefused("change.too_large", message)
    if not bundle.startswith(_SIGNATURES):
        raise _invalid("It does not begin as a bundle does.")
    end = bundle.find(b"\n\n", 0, 1024 * MAX_HEAD_LINES)
    if end < 0:
        raise _invalid("Its head has no end.")
    lines = bundle[:end].decode(errors="replace").split("\n")[1:]
    if len(lines) > MAX_HEAD_LINES:
        raise _invalid("Its head is too long.")
    if any(line.startswith("@") and line != "@object-format=sha1" for line in lines):
        raise _invalid("It needs what is not taken: a filter, or other object names than SHA-1.")
    needed = tuple(line[1:].split(" ")[0] for line in lines if line.startswith("-"))
    tips = {line.split(" ")[0] for line in lines if line and line[0] not in "-@"}
    if not all(is_sha(name) for name in (*needed, *tips)):
        raise _invalid("Its head names no objects.")
    if len(tips) != 1:
        raise _invalid(f"It has {len(tips)} tips; exactly one is taken.")
    return _Head(needed, tips.pop(), memoryview(bundle)[end + 2 :])


def _unpack(git: Git, pack: memoryview, apart: dict[str, str]) -> None:
    """Every object is checked as it comes in, and every one that it names must be there."""
    ended = git.run(
        "index-pack", "--stdin", "--fix-thin", f"--strict={_HARMLESS}", "--threads=1",
        f"--max-input-size={MAX_BUNDLE_BYTES}",
        given=bytes(pack), codes=(0, 1, 128), variables=apart,
    )  # fmt: skip
    if ended.code:
        raise _refused(ended, ended.said.strip().rpartition("\n")[2][:200])


def _checked(git: Git, base: str, tip: str, apart: dict[str, str]) -> str:
    found = git.run(
        "rev-parse", "--verify", "--quiet", "--end-of-options", f"{tip}^{{commit}}",
        codes=(0, 1, 128), variables=apart,
    )  # fmt: skip
    if found.code or found.line != tip:
        raise _invalid("Its tip is no commit.")
    whole = git.run(
        "rev-list", "--objects", "--quiet", tip, f"^{base}",
        codes=(0, 128), variables=apart,
    )  # fmt: skip
    if whole.code:
        raise _refused(whole, "It lacks objects that it names.")
    asked = ("merge-base", "--is-ancestor", base, tip)
    on_base = git.run(*asked, codes=(0, 1, 128), variables=apart)
    if on_base.code == 128:
        raise _refused(on_base, "Its history cannot be read.")
    if on_base.code:
        raise ChangeRefused(
            "change.not_on_base", "The bundle's tip does not descend from the base."
        )
    return git.run("rev-parse", "--verify", f"{tip}^{{tree}}", variables=apart).line


def _take_in(made: Path, packs: Path) -> None:
    """An index makes its pack count, so it comes last. The name is of the content: twice is once."""
    try:
        for name in _ordered([path.name for path in made.iterdir()]):
            (made / name).replace(packs / name)
    except OSError as error:
        raise GitLost("disk", f"the mirror's packs: {error.strerror}") from None


def _ordered(names: Sequence[str]) -> list[str]:
    return sorted(names, key=lambda name: name.endswith(".idx"))


def _refused(ended: Ended, why: str) -> Exception:
    """Return what it is: ours where the disk, the memory or the time ran out, else the bundle's."""
    ours = lost_on_submitted(ended)
    return ours if ours.reason in OURS else _invalid(why)


def _invalid(why: str) -> ChangeRefused:
    return ChangeRefused("change.bundle_invalid", f"The bundle cannot be taken. {why}")
