"""What the failure of a tool speaks of: a guard, or a service that did not answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import re2

from processes.definition import patterns as dialect
from verification.engine.checks.tools.names import (
    is_about_own_things,
    is_of_mcp,
    names_what_it_runs,
    reaches_into_the_web,
    runs_programs,
    starts_a_shell,
    words_of,
)
from verification.engine.checks.tools.result_errors import error_in_result
from verification.engine.evidence import Json, ToolCall

READ_CHARS = 400
"""A failure says what it is about at its beginning or at its end; a log lies between."""
MAX_ARGUMENTS = 50
"""Of a call, in which an address is looked for."""


def _linear(pattern: str) -> Any:
    return re2.compile(f"(?i){pattern}", dialect.options())


_LOOPBACK = (
    r"(?:localhost(?:\.localdomain)?|[\w.-]+\.localhost|127(?:\.\d{1,3}){1,3}|0\.0\.0\.0|2130706433"
    r"|0x7f0{0,5}1|host\.docker\.internal|\[?(?:::ffff:127(?:\.\d{1,3}){3}|(?:0{0,4}:){2,7}0{0,3}1)\]?)"
)
_SPEAKS_OF_LOOPBACK = _linear(rf"(?:^|[^\w.:-]){_LOOPBACK}(?:[^\w.-]|[.:-](?:\W|\d|$)|$)")
_ASKS_LOOPBACK = _linear(
    rf"(?:[a-z][a-z\d+.-]*:)?//(?:[^/\s@]*@)?{_LOOPBACK}(?:[:/?#\s\"']|$)"
    rf"|^\s*(?:[^/\s@]*@)?{_LOOPBACK}(?:[:/?#]\S*)?\s*$"
)
_ASKED_FOR = frozenset(
    {"q", "query", "queries", "question", "search", "keywords", "prompt", "text", "pattern"}
)
"""Arguments that hold words, not addresses."""

_COMMANDS = frozenset({"command", "cmd", "commands", "code", "script", "shell_command"})

_RUN_BY_SERVICES = frozenset({"query", "sql", "workflow", "search", "actor"})
_STATUS = r"(?:408|425|429|5\d\d)\b"
_MISUSED = _linear(
    r"(?:rate[ _-]?limit|time[ _-]?out)\w*[\"'`]?(?: \w+){0,2}? (?:must|should|needs? to|has to|cannot"
    r"|can't|is (?:not (?:a|an|of)|required|missing|invalid)|required|field)\b"
    r"|(?:invalid|unknown|unexpected|missing|bad|unrecognized|keyerror:?|argument) "
    r"(?:\w+ ){0,2}[\"'`-]{0,3}(?:rate[ _-]?limit|time[ _-]?out)\w*"
)
"""A setting of that name was used wrongly."""
_OF_A_SERVICE = (
    # A status: `HTTP 429`, `status code: 503`, `503 Service Unavailable`, `(429)`.
    r"(?:https?|status|error|code|response|responded|returned|received|failed)(?:/\d(?:\.\d)?)?"
    rf"(?: (?:with|a|an|of|is|was|http|status|code|error))*\W{{1,6}}{_STATUS}"
    rf"|status(?:_?code)?\W{{1,6}}{_STATUS}|^\W{{0,3}}{_STATUS}|\({_STATUS}"
    rf"|\b{_STATUS}[ :,-]{{1,3}}(?:client|server|too|bad|gateway|internal|service|error|request|proxy"
    r"|site|web)"
    r"|\b5xx\b|rate[ _-]?limit|too many requests|throttl|overloaded"
    r"|quota (?:has been |was |is )?(?:exceeded|exhausted|reached)|exceeded (?:your|the) (?:\w+ )?quota"
    r"|(?:service|server|upstream|temporarily|currently) (?:is |was )?(?:\w+ )?unavailable"
    r"|bad gateway|gateway time-?out|internal server error"
    # The network on the way to it.
    r"|etimedout|econnrefused \d|econnreset|econnaborted|enotfound|eai_again|enetunreach|ehostunreach|epipe"
    r"|(?:connection|socket|stream|session) (?:was |has been |got )?(?:forcibly )?(?:reset|closed|aborted"
    r"|lost|hang|hung)|socket hang up|reset by peer|remote end closed|broken pipe"
    r"|connect(?:ion)? (?:\w+ ){0,3}time(?:d)?[ _-]?out|(?:request|read|response|api|mcp)\b[^\n]{0,40}"
    r"time(?:d)?[ _-]?out|(?:host|network) (?:is )?unreachable|no route to host|no such host"
    r"|\bdns\b|getaddrinfo|name[ _-]?(?:or service|resolution)|max retries exceeded|(?:could not|couldn't|cannot|failed to) "
    r"resolve (?:the )?(?:host|name|address|dns)|err_(?:name|connection|timed|internet|network|address)_\w+"
)
_SERVICE_FAILED = _linear(_OF_A_SERVICE)
_PREFIX = (
    r"^\W{0,4}(?:(?:(?:mcp|api|tool|http|https|request|network|fetch|client|server|unexpected|fatal)?"
    r"[ _-]?(?:error|exception|failure|failed)|request|error calling tool)\b\W{0,4}"
    r"(?:-?\d{5}\W{1,3})?(?:with )?)?"
)
_STARTS_WITH_SERVICE_FAILED = _linear(f"{_PREFIX}(?:{_OF_A_SERVICE})")
_TIMED_OUT = _linear(r"time(?:d)?[ _-]?out|\bdeadline exceeded")

_WEB_FAILED = _linear(
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


def speaks_of_safety(error: str) -> bool:
    """Whether a guard stopped the tool, or what it touched is not what it should be."""
    return any(_OF_SAFETY.search(_OF_A_BROWSER.sub("", part)) for part in _ends(error))


def is_weather(call: ToolCall) -> bool:
    """Return whether a service that a tool asked failed it: nothing the work could help.

    What failed decides. The name of the tool decides only where the failure says too little.
    """
    if runs_programs(call.tool) and not _only_sounds_like_programs(call):
        return False
    ends = _ends(call.error or error_in_result(call.result))
    if any(map(_SPEAKS_OF_LOOPBACK.search, ends)) or any(
        map(_ASKS_LOOPBACK.search, _addresses(call.args))
    ):
        return False
    if reaches_into_the_web(call.tool):
        return ends == ("",) or any(map(_WEB_FAILED.search, ends))
    ends = tuple(_MISUSED.sub("", part) for part in ends)
    if is_about_own_things(call.tool) and not is_of_mcp(call.tool):
        # What it says may be quoted from the work: only how it begins is its own.
        return bool(_STARTS_WITH_SERVICE_FAILED.search(ends[0]))
    return any(_SERVICE_FAILED.search(part) or _TIMED_OUT.search(part) for part in ends)


def _only_sounds_like_programs(call: ToolCall) -> bool:
    """Return whether a tool such as `run_query` is given no command and no code."""
    if names_what_it_runs(call.tool) or starts_a_shell(call.tool):
        return False
    is_service = is_of_mcp(call.tool) or bool(words_of(call.tool) & _RUN_BY_SERVICES)
    return is_service and isinstance(call.args, dict) and not _COMMANDS.intersection(call.args)


def _ends(error: str) -> tuple[str, ...]:
    """The first and the last characters of a failure; the whole of a short one."""
    text = error.strip().encode(errors="replace").decode()
    if len(text) <= 2 * READ_CHARS:
        return (text,)
    return text[:READ_CHARS], text[-READ_CHARS:]


def _addresses(args: Json) -> Iterator[str]:
    """The texts among the arguments that may hold an address, at any depth."""
    pending: list[tuple[str, Json]] = [("", args)]
    for _ in range(MAX_ARGUMENTS):
        if not pending:
            return
        key, value = pending.pop()
        if isinstance(value, str) and key.lower() not in _ASKED_FOR:
            yield value[:READ_CHARS].encode(errors="replace").decode()
        elif isinstance(value, dict):
            pending += [(str(name), inner) for name, inner in list(value.items())[:MAX_ARGUMENTS]]
        elif isinstance(value, list):
            pending += [(key, inner) for inner in value[:MAX_ARGUMENTS]]
