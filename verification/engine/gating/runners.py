"""Test runners that somebody names as the table does: run as the table does, with their arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from verification.engine.gating.components import Language
from verification.engine.gating.recipe_node import reporting
from verification.engine.gating.stages import REPORT, TEST, Stage

# What a shell would make something else of is left to a shell; a comment is none of it.
_REST = r"(?=\s|$)(?P<rest>[^;&|<>`$\n#*?~\[]*)(?:\s#.*)?"


@dataclass(frozen=True, slots=True)
class _Runner:
    """`called` so, it is run by the table's command, with its arguments behind `anchor`.

    What is `dropped` is left out then. Every argument must be `fine`: none moves the report, lets
    nothing run, or brings in another judge.
    """

    called: re.Pattern[str]
    anchor: str
    fine: re.Pattern[str]
    dropped: str = ""


def _runner(called: str, anchor: str, fine: str, dropped: str = "") -> _Runner:
    return _Runner(
        re.compile(rf"(?:{called}){_REST}"), anchor, re.compile(fine, re.DOTALL), dropped
    )


_RUNNERS: Mapping[Language, Sequence[_Runner]] = {
    Language.PYTHON: (
        _runner(
            r"(?:python3?\s+-m\s+)?pytest",
            "run_pytest.py",
            # Short options can be joined (-xp), and others be read from a file (@).
            r"(?!@|--$|-(?!-)\w*[pco]|--(?:(?:junit|cache|lf|ff|nf|sw|stepwise)[\w-]*|rootdir|co|"
            r"last-failed|failed-first|new-first|override-ini|collect-only|config-file|confcutdir|"
            r"setup-only|setup-plan)(?:=|$)).*",
        ),
    ),
    Language.GO: (
        _runner(
            r"go\s+test",
            "go test -json",
            r"(?!--?(?:c|o|C|n|json|exec|toolexec|list)(?:=|$)).*",
            dropped=" ./...",
        ),
    ),
    Language.RUST: (
        _runner(
            r"cargo\s+(?:test|t)",
            "cargo test",
            r"-[pFv]|--(?:package|features|exclude|all|all-features|no-default-features|workspace|"
            r"lib|bins|tests|test|bin|release|verbose|no-fail-fast|locked|offline)(?:=[\w./,-]+)?|"
            r"(?!-)[\w:./,-]+",
            dropped=" --workspace",
        ),
    ),
    Language.RUBY: (
        _runner(
            r"(?:bundle\s+exec\s+)?(?:\./)?(?:bin/)?rspec",
            "rspec",
            r"-[bc]|--(?:tag|seed|order|example|color|backtrace)(?:=.*)?|(?!-)[\w./:-]+",
        ),
    ),
    Language.JAVA: (
        _runner(
            r"(?:\./mvnw|mvn)(?:\s+(?:-B|-q|-o|--batch-mode))*\s+test",
            ' -Dsurefire.reportNameSuffix="$run"',
            r"-Dtest=[\w.#*,+!-]+|-pl|-am|-[Bqo]|-P[\w.,-]+|(?!-)[\w:.,/-]+",
        ),
        _runner(
            r"(?:\./gradlew|gradle)(?:\s+(?:-q|--no-daemon|--offline))*\s+test",
            " --continue test",
            r"--tests|--no-daemon|--offline|-q|(?!-)[\w.:]+",
        ),
    ),
    Language.PHP: tuple(
        _runner(
            rf"(?:\./)?(?:vendor/bin/)?{one}", f'{one} --log-junit "{REPORT}"', r"--colors(=\w+)?"
        )
        for one in ("phpunit", "pest")
    ),
}
# Of any of Node's runners. Settings, and what is loaded before the tests, are the work's anyway.
_NODE_FINE = re.compile(
    r"(?!--$|PATH=|-(?!-)\w*[ehnorv]|--(?:no-)?(?:(?:test-?)?reporters?[\w-]*|dry-?run|output-?file|"
    r"json|list[\w-]*|show-?config|init|version|help|clear-?cache|eval|print|check|(?:test-?)?runner|"
    r"test-?results-?processor|collect-?only|only-?changed|changed[\w-]*|last-?commit|"
    r"pass-?(?:with|on)[\w-]*)(?:[=.]|$)).*",
    re.DOTALL | re.IGNORECASE,
)
_NPM_TEST = re.compile(r"(?:npm|yarn|pnpm)(?: run)? (?:test|t)(?: --silent)?")


def with_report(stage: Stage, language: Language, command: str) -> Stage | None:
    """The table's tests as somebody's one command would run them; None where it is another runner."""
    if language is Language.NODE:
        said = " ".join(command.split())
        return stage if stage.command and _NPM_TEST.fullmatch(said) else _told(stage, said)
    for runner in _RUNNERS.get(language, ()):
        match = runner.called.fullmatch(command.strip())
        if match and runner.anchor in stage.command:
            return _with_arguments(stage, runner, match["rest"])
    return None


def _told(stage: Stage, command: str) -> Stage | None:
    found = reporting(command)
    if found is None or not _is_fine(command):
        return None
    told, expected, cover = found
    return Stage(TEST, told, expected, seconds=stage.seconds, cover=cover, is_given=True)


def _is_fine(command: str) -> bool:
    try:
        return all(map(_NODE_FINE.fullmatch, shlex.split(command)))
    except ValueError:
        return False


def _with_arguments(stage: Stage, runner: _Runner, rest: str) -> Stage | None:
    """Some runners end where an option is there twice."""
    try:
        said = shlex.split(rest)
    except ValueError:
        return None
    if not all(map(runner.fine.fullmatch, said)):
        return None
    arguments = [one for one in said if not (one.startswith("--") and one in stage.command.split())]
    if not arguments:
        return stage
    command = stage.command.replace(runner.dropped, "") if runner.dropped else stage.command
    given = f"{runner.anchor} {shlex.join(arguments)}"
    return replace(stage, command=command.replace(runner.anchor, given, 1), is_given=True)
