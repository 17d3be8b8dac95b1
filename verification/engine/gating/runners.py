"""Tools that somebody names as the table does: run as the table does, with their arguments."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from verification.engine.gating.components import Language
from verification.engine.gating.recipe_make import made_anew
from verification.engine.gating.recipe_node_tests import reporting, with_more
from verification.engine.gating.stages import BUILD, LINT, REPORT, TEST, TYPES, Stage

# What a shell would make something else of is left to a shell; a comment is none of it.
REST = r"""(?=\s|$)(?P<rest>(?:[^;&|<>`$\n\\#*?~\[{('"]|'[^'\n]*'|"[^"`$\\\n]*")*)(?:\s#.*)?"""


@dataclass(frozen=True, slots=True)
class _Runner:
    """`called` so, it is run by the table's command, with its arguments behind `anchor`.

    What is `dropped` is left out then. Every argument must be `fine`: none moves the report, lets
    nothing run, or brings in another judge. Those behind a `--` must be `fine_last`, and stay
    behind one, which stands after `last`.
    """

    called: re.Pattern[str]
    anchor: str
    fine: re.Pattern[str]
    dropped: str = ""
    last: str = ""
    fine_last: re.Pattern[str] | None = None


def _runner(
    called: str, anchor: str, fine: str, dropped: str = "", *, last: str = "", fine_last: str = ""
) -> _Runner:
    return _Runner(
        re.compile(rf"(?:{called}){REST}"),
        anchor,
        re.compile(fine, re.DOTALL),
        dropped,
        last,
        re.compile(fine_last) if fine_last else None,
    )


_CARGO = (
    r"-[pFv]|--(?:verbose|package|features|exclude|all|all-features|no-default-features|workspace|lib|bins|"
    r"tests|test|bin|examples|benches|all-targets|release|locked|offline)(?:=[\w./,-]+)?"
)
_TESTS: Mapping[Language, Sequence[_Runner]] = {
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
            rf"{_CARGO}|--no-fail-fast|(?!-)[\w:./,-]+",
            dropped=" --workspace",
            last="--no-fail-fast",
            fine_last=r"--(?:nocapture|exact|ignored|include-ignored|test-threads(?:=\d+)?)|(?!-)[\w:]+",
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
        # Surefire runs tests once, however many goals ask for them; so does Gradle.
        _runner(
            r"(?:\./mvnw|mvn)(?:\s+(?:-B|-q|-o|--batch-mode|clean))*"
            r"(?:\s+test|(?=\s+(?:package|verify)\b))",
            ' -Dsurefire.reportNameSuffix="$run"',
            r"-Dtest=[\w.#*,+!-]+|-pl|-am|-[Bqo]|-P[\w.,-]+|(?!-)[\w:.,/-]+",
        ),
        _runner(
            r"(?:\./gradlew|gradle)(?:\s+(?:-q|--no-daemon|--offline|clean))*"
            r"(?:\s+test|(?=\s+(?:check|build|[\w:]*:test)\b))",
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
_MAVEN_FINE = r"-Dskip(?:Tests|ITs)(?:=true)?|-pl|-am|-[Bqo]|-P[\w.,-]+|(?!-)[\w:.,/-]+"
_DOTNET_FINE = (
    r"--no-(?:restore|build|incremental)|-c|--configuration|-f|--framework|--filter|--nologo|"
    r"Debug|Release|net[\d.]+|[\w.]+!?[=~][\w.]+"
)
_OTHERS: Mapping[tuple[Language, str], Sequence[_Runner]] = {
    (Language.PYTHON, LINT): (
        _runner(
            r"(?:python3?\s+-m\s+)?ruff\s+check",
            f'ruff check --no-cache --output-format json -o "{REPORT}"',
            r"--(?:extend-)?(?:select|ignore|exclude)(?:=.*)?|--(?:line-length|target-version|config)"
            r"(?:=.*)?|--(?:preview|no-fix|no-cache|isolated|force-exclude|exit-zero|quiet)|-q|(?![-@]).+",
            dropped=" .",
        ),
    ),
    (Language.NODE, LINT): (
        _runner(
            r"(?:npx\s+)?eslint",
            f'eslint --format json --output-file "{REPORT}"',
            r"--(?:ext|max-warnings|config|ignore-pattern|rule)(?:=.*)?|--(?:quiet|no-cache|"
            r"report-unused-disable-directives|no-error-on-unmatched-pattern)|-c|(?!-).+",
            dropped=" .",
        ),
    ),
    (Language.NODE, TYPES): (
        _runner(
            r"(?:npx\s+)?tsc",
            "tsc --noEmit --pretty false",
            r"--(?:noEmit|project|strict|skipLibCheck)|-p|\.|(?!-)[\w./-]+\.json|[\w./-]+/",
        ),
    ),
    (Language.GO, BUILD): (
        _runner(r"go\s+build", "go build", r"--?(?:tags|race|o)(?:=.*)?|(?!-).+", dropped=" ./..."),
    ),
    (Language.GO, LINT): (
        _runner(r"go\s+vet", "go vet", r"--?tags(?:=.*)?|(?!-).+", dropped=" ./..."),
    ),
    (Language.RUST, BUILD): (
        _runner(r"cargo\s+(?:build|b)", "cargo build", _CARGO + r"|(?!-)[\w./,-]+", " --workspace"),
    ),
    (Language.RUST, LINT): (
        _runner(
            r"cargo\s+clippy",
            "cargo-clippy clippy --all-targets",
            _CARGO + r"|(?!-)[\w./,-]+",
            " --workspace",
            last="--message-format json",
            fine_last=r"-[DWAF]|--(?:deny|warn|allow|forbid)|-[DWAF][\w:-]+|(?!-)[\w:]+",
        ),
    ),
    (Language.JAVA, BUILD): (
        _runner(
            r"(?:\./mvnw|mvn)(?:\s+(?:-B|-q|-o|--batch-mode|clean))*",
            " -o -q test-compile",
            _MAVEN_FINE,
        ),
        _runner(
            r"(?:\./gradlew|gradle)(?:\s+(?:-q|--no-daemon|--offline|clean))*",
            " --offline testClasses",
            r"--no-daemon|--offline|-[qx]|(?:[\w:]*:)?(?:assemble|build|check|test|jar|\w*[cC]lasses|"
            r"compile\w+)",
        ),
    ),
    (Language.DOTNET, BUILD): (_runner(r"dotnet\s+build", "dotnet build", _DOTNET_FINE),),
    (Language.DOTNET, TEST): (_runner(r"dotnet\s+test", "dotnet test", _DOTNET_FINE),),
}
# Of any of Node's runners. Settings, and what is loaded before the tests, are the work's anyway.
_NODE_FINE = re.compile(
    r"(?!--$|PATH=|-(?!-)\w*[ehnorv]|--(?:no-)?(?:(?:test-?)?reporters?[\w-]*|dry-?run|output-?file|"
    r"json|list[\w-]*|show-?config|init|version|help|clear-?cache|eval|print|check|(?:test-?)?runner|"
    r"test-?results-?processor|collect-?only|only-?changed|changed[\w-]*|last-?commit|"
    r"pass-?(?:with|on)[\w-]*)(?:[=.]|$)).*",
    re.DOTALL | re.IGNORECASE,
)
_MAKE = re.compile(r"make(?:\s+([A-Za-z][\w.-]{0,99}))?")
_NPM_TEST = re.compile(rf"(?:npm|yarn|pnpm)(?: run)? (?:test|t)(?: --silent)?(?: --{REST})?")


def with_report(stage: Stage, language: Language, command: str) -> Stage | None:
    """The table's tool as somebody's one command would run it; None where it is another one."""
    if language is Language.NODE and stage.gate == TEST:
        return _by_node(stage, " ".join(command.split()))
    if language is Language.MAKE and stage.gate in (BUILD, TEST):
        return _by_make(stage, command)
    tests = _TESTS.get(language, ()) if stage.gate == TEST else ()
    for runner in (*tests, *_OTHERS.get((language, stage.gate), ())):
        match = runner.called.fullmatch(command.strip())
        if match and runner.anchor in stage.command:
            return _with_arguments(stage, runner, match["rest"])
    return None


def _by_make(stage: Stage, command: str) -> Stage | None:
    match = _MAKE.fullmatch(command.strip())
    if match is None:
        return None
    return replace(stage, command=made_anew(match[1] or ""), skipped="", is_given=True)


def _by_node(stage: Stage, command: str) -> Stage | None:
    match = _NPM_TEST.fullmatch(command) if stage.command else None
    if match is None:
        return _told(stage, command)
    rest = match["rest"] or ""
    if not rest.strip():
        return stage
    told = with_more(stage.command, rest) if _is_fine(rest) and stage.expected else ""
    return replace(stage, command=told, is_given=True) if told else None


def _told(stage: Stage, command: str) -> Stage | None:
    """What is said stands before a `--`: behind it are names of files alone."""
    first, _, last = command.partition(" -- ") if "--" in command.split() else (command, "", "")
    found = reporting(first)
    if found is None or not _is_fine(first) or not _are_names(last):
        return None
    told, expected, cover = found
    told = f"{told} -- {last}" if last else told
    return Stage(TEST, told, expected, seconds=stage.seconds, cover=cover, is_given=True)


def _is_fine(command: str) -> bool:
    try:
        return all(map(_NODE_FINE.fullmatch, shlex.split(command)))
    except ValueError:
        return False


def _are_names(words: str) -> bool:
    return all(re.fullmatch(r"(?!-)[\w./*'-]+", one) for one in words.split())


def _with_arguments(stage: Stage, runner: _Runner, rest: str) -> Stage | None:
    """Some runners end where an option is there twice."""
    try:
        said = shlex.split(rest)
    except ValueError:
        return None
    first = list(takewhile(lambda one: one != "--", said))
    last = said[len(first) + 1 :] if runner.fine_last else said[len(first) :]
    if not all(map(runner.fine.fullmatch, first)) or not _may_be_last(runner, last):
        return None
    arguments = [
        one for one in first if not (one.startswith("--") and one in stage.command.split())
    ]
    command = stage.command
    if arguments:
        command = command.replace(runner.dropped, "", 1) if runner.dropped else command
        given = f"{runner.anchor} {shlex.join(arguments)}"
        command = command.replace(runner.anchor, given, 1)
    if last:
        command = command.replace(runner.last, f"{runner.last} -- {shlex.join(last)}", 1)
    return stage if command == stage.command else replace(stage, command=command, is_given=True)


def _may_be_last(runner: _Runner, words: Sequence[str]) -> bool:
    fine = runner.fine_last
    return not words or (fine is not None and all(map(fine.fullmatch, words)))
