"""A patch upon a base: what the tree is then. Without a work tree, by an index of its own."""

from __future__ import annotations

import re
import zlib
from base64 import b85decode
from collections.abc import Mapping
from typing import Final

from verification.adapters.git.calling import Ended, Git, lost, lost_on_submitted
from verification.adapters.git.errors import ChangeRefused
from verification.adapters.git.faults import OURS, reason_of
from verification.adapters.git.making import scratch
from verification.adapters.git.naming import sha
from verification.adapters.git.trees import (
    MAX_CHANGED_FILE_BYTES,
    MAX_TREE_BYTES,
    SUBMODULE,
    entries,
    read,
)
from verification.engine.patches import LineEnds, Patch, PatchSection, read_patch

MAX_PATCH_BYTES: Final = 20 * 1024**2
MAX_FITTED_FILES: Final = 100
"""Of so many files the line ends are looked for one by one; each takes up to three calls."""

_BINARY: Final = re.compile(rb"^(literal|delta) (\d{1,30})\n((?:.{2,70}\n){0,4})", re.MULTILINE)
_FAILED: Final = re.compile(r"^error: patch failed: (?P<path>.+):(?P<line>\d+)$", re.MULTILINE)
_CORRUPT: Final = re.compile(
    r"^error: .*(?:corrupt (?:binary )?patch|git diff header|fragment|patch with only|invalid mode)"
    r".*\bline (\d+)",
    re.MULTILINE,
)
_ABOUT: Final = (
    ("change.path_unsafe", r"^error: invalid path '(?P<path>.*)'$"),
    ("change.path_unsafe", r"^fatal: .*invalid path '(?P<path>.*)'$"),
    ("change.link", r"^error: affected file '(?P<path>.*)' is beyond a symbolic link$"),
    ("change.does_not_apply", r"^error: (?P<path>.+): (?:does not exist in index|already exists in"
     r" index|patch does not apply|wrong type|has type \d+, expected \d+)$"),
    ("change.does_not_apply", r"^error: .*'(?P<path>[^']+)'"),
)  # fmt: skip
_SEND_UNCHANGED: Final = (
    "Send what `git diff --binary` writes, with its line ends unchanged, or a bundle."
)
_NAMING: Final = re.compile(rb"^(?:diff --git|---|\+\+\+|rename|copy|Index).*\"", re.MULTILINE)
_HEADER: Final = re.compile(rb"^diff --git (.{3,9000})$", re.MULTILINE)
_NOTHING: Final = re.compile(r"[Nn]o valid patches in input|unrecognized input")


def with_patch(git: Git, base: str, patch: bytes) -> str:
    """Return the tree of `base` with the patch applied, exactly: no fuzz, whitespace as it is.

    Only line ends may differ: where a program converted those of the patch, each file of it is
    read with the line ends that the base has.

    Raises:
        ChangeRefused: `change.does_not_apply`, `change.empty`, `change.too_large`,
            `change.path_unsafe`, `change.link`.
    """
    parsed = check_patch(patch)
    with scratch(git) as folder:
        index = {"GIT_INDEX_FILE": str(folder / "index")}
        _read_base(git, base, index)
        refused = _apply(git, base, parsed.text, index)
        if refused is not None and refused.code == "change.does_not_apply":
            fitted = _fit_line_ends(git, base, parsed, index)
            if fitted is None or _apply(git, base, fitted, index) is not None:
                raise _explain(git, base, parsed, index, refused)
        elif refused is not None:
            raise refused
        _refuse_other_content(git, base, parsed, index)
        return git.run("write-tree", variables=index).line


def with_files(git: Git, base: str, files: Mapping[str, tuple[str, bytes] | None]) -> str:
    """Return the tree of `base` with these files, each its mode and content; None: it is gone."""
    lines = [f"0 {'0' * 40}\t{path}\0" for path, file in files.items() if file is None]
    for path, file in files.items():
        if file is not None:
            written = git.run("hash-object", "-w", "--stdin", given=file[1]).line
            lines.append(f"{file[0]} {written}\t{path}\0")
    with scratch(git) as folder:
        index = {"GIT_INDEX_FILE": str(folder / "index")}
        _read_base(git, base, index)
        given = "".join(lines).encode()
        git.run("update-index", "-z", "--index-info", given=given, variables=index)
        return git.run("write-tree", variables=index).line


def _apply(
    git: Git, base: str, patch: bytes, index: dict[str, str], *options: str
) -> ChangeRefused | None:
    """Apply a patch to the index. Return why it does not apply; the index is as it was then.

    Raises:
        GitLost: it is nobody's fault.
    """
    applied = git.run(
        "apply", "--cached", "--whitespace=nowarn", f"-p{_prefixed(patch)}", *options, "-",
        given=patch, codes=(0, 1, 128), variables=index,
    )  # fmt: skip
    if not applied.code:
        return None
    if reason_of(applied.code, applied.said) in ("mirror_broken", "missing"):
        _read_all(git, base)
    refused = _refused(applied, _breaks_lines(patch))
    if isinstance(refused, ChangeRefused):
        return refused
    raise refused


def _fit_line_ends(git: Git, base: str, patch: Patch, index: dict[str, str]) -> bytes | None:
    """Return the patch with the line ends that each of its files has in the base.

    None: no file of it has others than those that were tried already, or it has too many files.
    """
    if len(patch.sections) > MAX_FITTED_FILES:
        return None
    ends = [_find_line_ends(git, base, section, index) for section in patch.sections]
    if all(
        end is None or end is section.readings()[0]
        for section, end in zip(patch.sections, ends, strict=True)
    ):
        return None
    return b"".join(
        section.text(end or section.readings()[0])
        for section, end in zip(patch.sections, ends, strict=True)
    )


def _find_line_ends(
    git: Git, base: str, section: PatchSection, index: dict[str, str]
) -> LineEnds | None:
    """Return the first reading by which this file's part applies alone; None: by none."""
    for ends in section.readings():
        if _apply(git, base, section.text(ends), index, "--check") is None:
            return ends
    return None


def _explain(
    git: Git, base: str, patch: Patch, index: dict[str, str], refused: ChangeRefused
) -> ChangeRefused:
    """Name the cause that the submitter can mend, where it is known."""
    if patch.cut_at is not None:
        message = "The patch ends before its last hunk does: send all of it, with its line ends unchanged."
        return ChangeRefused(refused.code, message, line=patch.cut_at)
    plain = b"".join(section.text(LineEnds.LF) for section in patch.sections)
    if _apply(git, base, plain, index, "--check", "--ignore-whitespace") is None:
        cause = "but for blanks or line ends it would."
    elif patch.has_cr:
        cause = "nor does it with other line ends than its own, which are CR LF."
    else:
        return refused
    message = f"{refused.message.removesuffix('.')}; {cause} {_SEND_UNCHANGED}"
    return ChangeRefused(refused.code, message, refused.path, refused.line)


def _refuse_other_content(git: Git, base: str, patch: Patch, index: dict[str, str]) -> None:
    """Refuse a patch whose line ends were converted to other content than it names itself.

    Where a file mixes line ends, nobody can tell from its context what a new line had.
    """
    stated = [section.blob_names() for section in patch.sections if section.is_converted]
    stated = [names for names in stated if names[1].strip("0")]
    if not stated:
        return
    listed = git.run(
        "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev", sha(base),
        variables=index,
    ).out.split(b"\0")  # fmt: skip
    changed = [
        (*head.decode().split()[2:4], path.decode(errors="replace"))
        for head, path in zip(listed[0::2], listed[1::2], strict=False)
    ]
    for before, after in stated:
        results = [row for row in changed if row[0].startswith(before) and row[1].strip("0")]
        if results and not any(result.startswith(after) for _, result, _ in results):
            message = "Its line ends were converted, and the patch names other content than it has."
            path = results[0][2] if len(results) == 1 else ""
            raise ChangeRefused("change.does_not_apply", f"{message} {_SEND_UNCHANGED}", path)


def _read_base(git: Git, base: str, index: dict[str, str]) -> None:
    there = git.run("read-tree", f"{sha(base)}^{{tree}}", codes=(0, 128), variables=index)
    unsafe = re.search(r"^error: invalid path '(.*)'$", there.said, re.MULTILINE)
    if there.code and unsafe:
        message = "The base holds a path that is not safe."
        raise ChangeRefused("change.path_unsafe", message, unsafe[1])
    if there.code:
        raise lost(there)


def _read_all(git: Git, base: str) -> None:
    """Whether the mirror is spoilt is asked of a git that reads nothing of a submitter's.

    Raises:
        GitLost: it is.
    """
    tree = git.run("rev-parse", "--verify", f"{sha(base)}^{{tree}}").line
    for _ in read(git, [entry.sha for entry in entries(git, tree) if entry.mode != SUBMODULE]):
        pass


def _prefixed(patch: bytes) -> int:
    """How many folders are put before each name: none by `diff.noprefix`, so that a name comes twice."""
    for header in _HEADER.finditer(patch):
        both = header[1]
        half = len(both) // 2
        if both[:half] == both[half + 1 :] and both[half : half + 1] == b" ":
            return 0
    return 1


def _breaks_lines(patch: bytes) -> bool:
    """Whether a name in it may hold a line break, and with it any line that git could say."""
    return any(b"\\n" in line or b"\\012" in line for line in _NAMING.findall(patch))


def check_patch(patch: bytes) -> Patch:
    """Read a patch. Refuse what is too large by what it says of itself, before it is unpacked."""
    if not patch.strip():
        raise ChangeRefused("change.empty", "The patch is empty.")
    if len(patch) > MAX_PATCH_BYTES:
        raise ChangeRefused("change.too_large", f"The patch has more than {MAX_PATCH_BYTES} bytes.")
    parsed = read_patch(patch)
    text = parsed.text
    total = 0
    for found in _BINARY.finditer(text):
        size = int(found[2])
        if size <= MAX_CHANGED_FILE_BYTES and found[1] == b"delta":
            size = _result_size(found[3])
        total += size
        if size > MAX_CHANGED_FILE_BYTES or total > MAX_TREE_BYTES:
            line = text.count(b"\n", 0, found.start()) + 1
            raise ChangeRefused("change.too_large", "A binary content is too large.", line=line)
    return parsed


def _result_size(lines: bytes) -> int:
    """Read how large a delta's result says that it is; git would allocate as much."""
    packed = b""
    try:
        for line in lines.splitlines():
            length = line[0] - 64 if line[:1].isupper() else line[0] - 70
            packed += b85decode(line[1:])[:length]
        head = zlib.decompressobj().decompress(packed, 20)
    except (ValueError, zlib.error):
        return 0  # git will say what is wrong with it
    sizes, at = [0, 0], 0
    for number in (0, 1):
        shift = 0
        while at < len(head):
            byte, at = head[at], at + 1
            sizes[number] |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
    return sizes[1]


def _refused(ended: Ended, breaks_lines: bool) -> Exception:
    said, ours = ended.said, lost_on_submitted(ended, words=not breaks_lines)
    if ours.reason in OURS:
        return ours
    failed = _FAILED.search(said)
    if failed:
        line = int(failed["line"])
        message = f"The patch does not apply at line {line} of this file."
        return ChangeRefused("change.does_not_apply", message, failed["path"], line)
    corrupt = _CORRUPT.search(said)
    if corrupt:
        message = f"The patch cannot be read at its line {corrupt[1]}."
        return ChangeRefused("change.does_not_apply", message, line=int(corrupt[1]))
    if _NOTHING.search(said):
        return ChangeRefused("change.empty", "No change was recognized in the patch.")
    for code, told in _ABOUT:
        found = re.search(told, said, re.MULTILINE)
        if found:
            return ChangeRefused(code, found[0].partition(": ")[2], found["path"])
    if re.search(r"^error: ", said, re.MULTILINE):
        first = re.search(r"^error: (.{1,200})", said, re.MULTILINE)
        return ChangeRefused("change.does_not_apply", first[1] if first else "")
    return ours
