"""Commands that only ask: their exit code is an answer, and they change nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verification.engine.checks.tools.commands import Command, split_words

_NEUTRAL = split_words(
    "cd pushd popd export set unset echo printf true : pwd sleep wait exit mkdir ulimit"
    " umask clear date"
) | {""}
"""Programs beside the ones that a line is about."""
_SETTINGS = re.compile(r"(?:^|/)(?:activate|\.?env(?:rc)?|\.?(?:bash|zsh)rc|\.?(?:bash_)?profile)$")

_ASKING = split_words(
    "grep egrep fgrep zgrep rg ag ack diff colordiff cmp comm test [ which whereis type hash ls dir"
    " cat head tail less more stat file wc find fd readlink realpath basename dirname ps pgrep"
    " pidof env printenv id whoami groups getent lsof df du free uname hostname history locate tree"
    " cut sort uniq tr jq yq awk gawk sed nl od xxd hexdump strings column join expr command"
    " findstr where select-string get-content get-childitem test-path apt-cache"
) | {
    "git diff", "git grep", "git log", "git show", "git status", "git rev-parse", "git ls-files",
    "git ls-tree", "git ls-remote", "git merge-base", "git check-ignore", "git show-ref",
    "git for-each-ref", "git cat-file", "git blame", "git describe",
    "pip show", "pip list", "pip freeze", "npm ls", "npm list", "npm view", "npm outdated",
    "yarn list", "yarn why", "pnpm ls", "pnpm list", "docker ps", "docker images",
    "docker inspect", "kubectl get", "kubectl describe", "systemctl status",
    "systemctl is-active", "systemctl is-enabled", "go list", "go env", "go version",
    "conda list", "brew list", "gem list",
}  # fmt: skip
_CHANGING_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "find": ("-delete", "-exec", "-ok", "-fprint", "-fls"),
    "fd": ("-x", "-X", "--exec"),
    "sed": ("-i", "--in-place"),
    "awk": ("-i", "system("),
    "gawk": ("-i", "system("),
    "yq": ("-i", "--inplace"),
    "sort": ("-o", "--output"),
    "tree": ("-o",),
    "rg": ("--pre",),
    "git diff": ("--output",),
    "git grep": ("-O", "--open-files-in-pager"),
}
"""Options, and parts of programs, with which an asking program changes things or runs others."""
_VERSION = frozenset({"--version", "-V", "-version", "--help"})
_SHORT_VERSION = frozenset({"node", "npm", "yarn", "pnpm", "ruby", "php", "nginx"})
"""Programs to which `-v` is no wish for more words."""


def is_neutral(command: Command) -> bool:
    """Return whether a command only prepares the ones that a line is about."""
    if command.program in ("source", "."):
        return len(command.arguments) == 1 and bool(_SETTINGS.search(command.arguments[0]))
    return command.program in _NEUTRAL and not command.writes


def only_asks(command: Command) -> bool:
    """Return whether a command reads, compares or searches, and does nothing else."""
    if command.writes:
        return False
    if command.program in _ASKING:
        changing = _CHANGING_OPTIONS.get(command.program, ())
        return not any(
            argument.startswith(option) or ("(" in option and option in argument)
            for argument in command.arguments
            for option in changing
        )
    if command.program in _SHORT_VERSION and command.arguments == ("-v",):
        return True
    return len(command.arguments) == 1 and command.arguments[0] in _VERSION
