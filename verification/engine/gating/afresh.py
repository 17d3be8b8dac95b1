"""Output that came with the work: what is built would be taken for up to date by it."""

from __future__ import annotations


def afresh(marker: str, *folders: str) -> str:
    """A shell's text: once in a container, remove these folders beside each file of that pattern."""
    gone = " ".join(f'"${{1%/*}}/{folder}"' for folder in folders)
    return (
        f"[ -e /tmp/afresh ] || {{ find . -name '{marker}' -type f "
        f"-exec sh -c 'rm -rf {gone}' sh {{}} \\; && : > /tmp/afresh; }}"
    )
