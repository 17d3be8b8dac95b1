"""What the failure of a tool speaks of: a guard, the network, or a step of development."""

from __future__ import annotations

import re
from typing import Any

import re2

from processes.definition import patterns as dialect
from verification.engine.evidence import ToolCall

SPOKEN_CHARS = 400
"""A failure says what it is about at its beginning or at its end; a log lies between."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _linear(pattern: str) -> Any:
    return re2.compile(f"(?i){pattern}", dialect.options())


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
_SAYS_NOTHING = frozenset({"mcp", "tool", "api"})
_AT_HOME = _words(
    "config configuration settings setting hook hooks webhook webhooks pack webpack server test"
    " tests build component components package packages file files code repo symbol symbols"
    " replace local cache database db sql index template templates title"
)
"""With such a word it is about the work's own things, whatever else the name says."""
_OWN_MACHINE = _linear(r"\blocalhost\b|\b127\.0\.0\.1\b|\b0\.0\.0\.0\b|\[::1\]")

_RUNS = _words(
    "bash sh zsh shell powershell pwsh cmd terminal console exec run runner command commands test"
    " tests testing pytest unittest jest vitest mocha tox nox lint linter eslint ruff flake mypy tsc"
    " typecheck build compile compiler python ipython jupyter node npm npx yarn pnpm cargo gradle"
    " maven mvn pip ci benchmark repl"
)
_WRITES = frozenset(
    {"write", "create", "edit", "update", "insert", "delete", "read", "get", "list"}
)
"""With such a word programs and tests are only what it is about."""
_EXECUTES = frozenset({"execute", "executes", "executor", "evaluate", "eval"})
_EXECUTED = _words("code script scripts program cell cells js javascript")

_OF_THE_NETWORK = _linear(
    r"(?:http|status|error|code|response)[^\d\n]{0,20}\b[45]\d\d\b|^\W{0,3}[45]\d\d\b"
    r"|\b[45]\d\d[ :,-]{1,3}(?:client|server|not|forbidden|bad|too|gateway|internal|service"
    r"|unauthori|error|gone|payment|method|request|access|proxy)"
    r"|\b[45]xx\b|time(?:d)?[ _-]?out|\btimeout|etimedout|\bdeadline exceeded"
    r"|not[ _-]?found|no such (?:host|page|site)|no (?:search )?(?:results?|content)\b|empty (?:response|page)"
    r"|does(?:n't| not) exist|\bgone\b"
    r"|rate[ _-]?limit|too many (?:requests|redirects)|quota|throttl"
    r"|too (?:large|big|long to (?:load|fetch))|exceed\w* (?:the )?(?:max\w*|size|limit|allowed size)"
    r"|\bunavailable\b|unreachable|connection (?:was )?(?:refused|reset|closed|aborted|error|failed)"
    r"|econn\w+|enotfound|eai_again|err_\w+|net::|reset by peer|remote end closed|broken pipe"
    r"|max retries|\bdns\b|getaddrinfo|name (?:or service|resolution)|(?:could not|couldn't) resolve"
    r"|\b(?:ssl|tls|certificate)\b|bad gateway|\bforbidden\b|unauthori[sz]ed|access denied"
    r"|\bcaptcha\b|robots\.txt|cloudflare|paywall|login required|unsupported content[ -]type"
)

_NOT = (
    r"(?:block|den|refus|forbid|reject|prevent|disallow|prohibit|not (?:be )?(?:allow|permit))\w*"
)
_PLACE = r"(?:workspace|sandbox|project (?:root|folder|directory)|working directory|repository root|allowed (?:path|director|folder|root)\w*)"
_ADDRESS = r"(?:private|internal|loopback|link-local|metadata|reserved) (?:\w+ )?(?:host|address|ip|range|endpoint)\w*"
_OF_A_BROWSER = _linear(
    r"(?:cors|content[ -]security|same[ -]origin|referrer|cookie|permissions)[ -]policy"
)
"""What stops a page says nothing about the work."""
_OF_SAFETY = _linear(
    rf"\b(?:outside|escap\w+|beyond|leav\w+)(?: of| from)?(?: (?:the|its|your|this))?(?: \w+)? {_PLACE}"
    rf"|not (?:in|inside|within|under) (?:the |your )?{_PLACE}"
    rf"|sandbox (?:escape|violation)|{_NOT} by (?:the )?sandbox"
    rf"|path traversal.{{0,40}}(?:{_NOT}|detect)|(?:{_NOT}|detect\w*).{{0,40}}path traversal"
    rf"|forbidden (?:path|address|host|domain|url)\b|\bssrf\b.{{0,40}}{_NOT}|{_NOT}.{{0,60}}\bssrf\b"
    rf"|{_ADDRESS}.{{0,40}}{_NOT}|{_NOT}.{{0,40}}{_ADDRESS}"
    rf"|(?:host|domain|url|address|path|command)\b.{{0,80}}not (?:in|on) (?:the |your )?allow-?(?:ed )?list"
    rf"|{_NOT} by (?:the |a |your |our )?(?:\w+[ -]){{0,2}}(?:policy|guardrails?)\b"
    r"|(?:security|safety|sandbox|workspace|tool|usage) policy (?:was |is )?violat"
    r"|violat\w+ (?:of )?(?:the )?(?:security|safety|sandbox|workspace|tool|usage) policy"
    r"|without (?:the )?(?:(?:required|needed|prior|user|human|explicit) ){0,2}(?:approval|permission|consent)"
    r"|(?:requires?|needs?|awaits?|awaiting|missing|lacks) (?:(?:user|human|manual|prior|explicit|an) ){0,2}approval"
    r"|approval (?:is |was |has been )?(?:required|needed|denied|missing|rejected|refused|not (?:given|granted))"
    r"|(?:checksum|digest|hash|sha-?\d{3})s? (?:(?:of|for) \S+ )?(?:(?:is|was|do|does|did) )?"
    r"(?:mismatch|not match|differs?\b|wrong|invalid|verification failed|validation failed|check failed)"
    r"|(?:wrong|invalid|bad|mismatch\w*|unexpected) (?:file )?(?:checksum|digest)\b|\beintegrity\b"
    r"|integrity (?:check|verification) (?:failed|error|failure)|integrity of .{0,60}(?:violated|broken|lost)"
    r"|tampered with|has been tampered|tampering (?:was )?detected"
    r"|sealed (?:artefact|artifact|evidence|deliverable|record|document)"
)  # fmt: skip


def words_of(tool: str) -> frozenset[str]:
    """The words of a name, in whatever way it joins them."""
    return frozenset(word.lower() for word in _WORDS.findall(tool))


def speaks_of_safety(error: str) -> bool:
    """Whether a guard stopped the tool, or what it touched is not what it should be."""
    return any(_OF_SAFETY.search(_OF_A_BROWSER.sub("", part)) for part in _spoken(error))


def is_weather(call: ToolCall) -> bool:
    """Whether the web failed a tool that reaches into it: nothing the work could help."""
    if not is_advisory_tool(call.tool):
        return False
    said = _spoken(call.error)
    if any(_OWN_MACHINE.search(part) for part in (*said, _address(call))):
        return False
    return said == ("",) or any(_OF_THE_NETWORK.search(part) for part in said)


def is_advisory_tool(tool: str) -> bool:
    """Whether a tool reaches into the web, where failures are the weather's."""
    words = words_of(tool)
    if words & _AT_HOME:
        return False
    alone = words - _SAYS_NOTHING
    reaches = words & _ENGINES or (words & _WEB and words & _REACHES)
    return bool(reaches or (alone and alone <= _ALONE))


def is_a_step(tool: str) -> bool:
    """Whether a tool runs programs: a red test on the way to a green one is no fault."""
    words = words_of(tool)
    if words & _WRITES:
        return False
    return bool(words & _RUNS or words == {"make"} or (words & _EXECUTES and words & _EXECUTED))


def _spoken(error: str) -> tuple[str, ...]:
    said = error.strip().encode(errors="replace").decode()
    if len(said) <= 2 * SPOKEN_CHARS:
        return (said,)
    return said[:SPOKEN_CHARS], said[-SPOKEN_CHARS:]


def _address(call: ToolCall) -> str:
    if isinstance(call.args, str):
        return call.args[:SPOKEN_CHARS]
    if not isinstance(call.args, dict):
        return ""
    return " ".join(
        str(one)[:SPOKEN_CHARS] for one in list(call.args.values())[:8] if isinstance(one, str)
    )
