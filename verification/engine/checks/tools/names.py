"""What a tool does, by the words of its name."""

from __future__ import annotations

import re


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_WEB = _words(
    "web webpage website webpages websites internet online url urls uri http https page pages site"
    " link links browser google bing brave news"
)
_ENGINES = _words(
    "tavily serper serpapi duckduckgo ddg firecrawl searxng perplexity exa wikipedia arxiv curl"
    " wget websearch webfetch browse"
)
_REACHES = _words(
    "fetch search browse browsing crawl scrape visit navigate goto open read reader get download"
    " lookup request load extract view query click snapshot screenshot"
)
_ALONE = frozenset({"fetch", "search", "google", "bing", "crawl", "scrape"})
_MCP = frozenset({"mcp"})
_SAYS_NOTHING = _MCP | {"tool", "api"}
_AT_HOME = _words(
    "config configuration settings setting hook hooks webhook webhooks pack webpack server test"
    " tests build component components package packages file files code repo symbol symbols"
    " replace local cache database db sql index template templates title"
)
"""With such a word it is about the work's own things, whatever else the name says."""
_ON_FILES = _words(
    "write edit multiedit insert append patch glob grep ls dir directory folder path notebook"
    " filesystem fs workspace todo memory str"
)

_SHELLS = _words(
    "bash sh zsh shell powershell pwsh cmd terminal console python ipython jupyter node repl"
)
_RUNNERS = _words(
    "test tests testing pytest unittest jest vitest mocha tox nox lint linter eslint ruff flake mypy"
    " tsc typecheck build compile compiler npm npx yarn pnpm cargo gradle maven mvn pip ci benchmark"
)
_RUNS = _SHELLS | _RUNNERS | _words("exec run runner command commands")
_WRITES = frozenset(
    {"write", "create", "edit", "update", "insert", "delete", "read", "get", "list"}
)
"""With such a word programs and tests are only what it is about."""
_EXECUTES = frozenset({"execute", "executes", "executor", "evaluate", "eval"})
_EXECUTED = _words("code script scripts program cell cells js javascript")


def words_of(tool: str) -> frozenset[str]:
    """The words of a name, in whatever way it joins them."""
    return frozenset(word.lower() for word in _WORDS.findall(tool))


def reaches_into_the_web(tool: str) -> bool:
    words = words_of(tool)
    if words & _AT_HOME:
        return False
    alone = words - _SAYS_NOTHING
    reaches = words & _ENGINES or (words & _WEB and words & _REACHES)
    return bool(reaches or (alone and alone <= _ALONE))


def is_about_own_things(tool: str) -> bool:
    """Return whether a name speaks of files and other things of the work itself."""
    return bool(words_of(tool) & (_AT_HOME | _ON_FILES))


def is_of_mcp(tool: str) -> bool:
    """Return whether a tool is an MCP server's by its name, such as `mcp__github__search_code`."""
    return bool(words_of(tool) & _MCP)


def runs_programs(tool: str) -> bool:
    """Return whether a tool runs programs: a shell, tests, a build."""
    words = words_of(tool)
    if words & _WRITES:
        return False
    return bool(words & _RUNS or words == {"make"} or (words & _EXECUTES and words & _EXECUTED))


def names_what_it_runs(tool: str) -> bool:
    """Return whether the name says what is run, as `run_tests` does and `bash` does not."""
    words = words_of(tool)
    return runs_programs(tool) and bool(words & _RUNNERS) and not words & _SHELLS


def starts_a_shell(tool: str) -> bool:
    """Return whether a tool runs whatever it is given: commands, or code."""
    words = words_of(tool)
    return runs_programs(tool) and bool(words & _SHELLS or words & _EXECUTES)
