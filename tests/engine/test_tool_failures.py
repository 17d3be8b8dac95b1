from __future__ import annotations

from typing import Any

import pytest

from processes.definition.model import ToolSuccessPolicy
from tests.engine.cases import evaluate, failed_call, told
from tests.tables import check_rows
from verification.engine.evidence import ToolCall

ALL, BALANCED = ToolSuccessPolicy.ALL_TOOLS_HARD, ToolSuccessPolicy.DEVELOPMENT_BALANCED
RESILIENT, SAFETY = ToolSuccessPolicy.METHOD_RESILIENT, ToolSuccessPolicy.SAFETY_INTEGRITY_ONLY
LOG = "\n".join(f"test_{number} PASSED" for number in range(200))

# Under the strictest policy: what the web does is weather, everything else counts.
UNDER_ALL_TOOLS_HARD = [
    ("web_fetch", "HTTP 404", "advisory"),
    ("web_fetch", "HTTP Error 503: Service Unavailable", "advisory"),
    ("web_fetch", "Request failed with status code 429", "advisory"),
    ("web_fetch", "403 Client Error: Forbidden for url: https://example.org/a", "advisory"),
    ("web_fetch", "401 Unauthorized", "advisory"),
    ("web_fetch", "response too large", "advisory"),
    ("web_fetch", "content exceeds the maximum size of 5 MB", "advisory"),
    ("web_fetch", "", "advisory"),
    ("WebFetch", "Request timed out after 30s", "advisory"),
    ("WebSearch", "Rate limit reached, try again in 20 s", "advisory"),
    ("fetch_url", "Timed out after 30 s", "advisory"),
    ("fetch", "getaddrinfo ENOTFOUND example.invalid", "advisory"),
    ("mcp__fetch__fetch", "connect ECONNREFUSED 93.184.216.34:443", "advisory"),
    ("mcp__brave-search__brave_web_search", "429 Too Many Requests", "advisory"),
    ("web_search", "no results", "advisory"),
    ("tavily_search", "Quota exceeded for this month", "advisory"),
    ("duckduckgo", "202 Ratelimit", "advisory"),
    ("google_search", "The service is currently unavailable.", "advisory"),
    ("browser_navigate", "net::ERR_NAME_NOT_RESOLVED at https://shop.example", "advisory"),
    ("browser_click", "Timeout 30000ms exceeded waiting for locator('#buy')", "advisory"),
    ("http_get", "SSL: CERTIFICATE_VERIFY_FAILED", "advisory"),
    ("read_url", "Remote end closed connection without response", "advisory"),
    ("scrape_page", "blocked by captcha", "advisory"),
    ("firecrawl_scrape", "Page not found", "advisory"),
    ("wikipedia", "Page 'Zorblax' does not exist", "advisory"),
    ("curl", "curl: (6) Could not resolve host: api.example.org", "advisory"),
    ("visit_page", "too many redirects", "advisory"),
    # The tool was used wrongly: that is no weather.
    ("web_fetch", "argument url is not a string", "hard"),
    ("web_search", "query must hold at most 500 characters", "hard"),
    ("web_search", "the tool refused: the query is empty", "hard"),
    ("web_fetch", "KeyError: 'url'", "hard"),
    ("fetch_url", "Class 'Fetcher' is abstract", "hard"),
    # The page that does not answer is the work's own.
    ("browser_navigate", "net::ERR_CONNECTION_REFUSED at http://localhost:3000/", "hard"),
    ("http_get", "connect ECONNREFUSED 127.0.0.1:8080", "hard"),
    # Names that only sound as if they went to the web.
    ("get_url_config", "setting not found", "hard"),
    ("fetch_website_config", "file not found", "hard"),
    ("webhook_get", "404", "hard"),
    ("webpack_read_stats", "stats.json not found", "hard"),
    ("site_packages_search", "timeout", "hard"),
    ("search_files", "pattern not found", "hard"),
    ("code_search", "no results", "hard"),
    ("search_replace", "old text not found", "hard"),
    ("read_file", "HTTP 404", "hard"),
    ("edit_file", "old text appears twice", "hard"),
    ("bash", "exit code 1", "hard"),
    ("write_file", "disk quota exceeded", "hard"),
    ("edit_file", "", "hard"),
    # A guard that stopped the tool is not bad weather either.
    ("web_fetch", "403: private address blocked (SSRF)", "hard"),
    ("web_fetch", "Refused to fetch internal address 10.0.0.7", "hard"),
    ("web_fetch", "The domain evil.example is not in the allowlist", "hard"),
    ("web_fetch", "denied by the network policy (403)", "hard"),
]

# A service that did not answer is known by what it says, whatever the tool is called.
OF_A_SERVICE = [
    ("microsoft_docs_search", "HTTP 429", None),
    ("microsoft_docs_search", "HTTP 408", None),
    ("lookup_order", "HTTP 425 Too Early", None),
    ("lookup_order", "HTTP/1.1 503", None),
    ("lookup_order", "503 Service Unavailable", None),
    ("lookup_order", "HTTPError: HTTP Error 500: Internal Server Error", None),
    ("lookup_order", "Server error '502 Bad Gateway' for url 'https://a.example/x'", None),
    ("lookup_order", "Request failed with status code 504", None),
    ("lookup_order", '{"status":429,"message":"slow down"}', None),
    ("lookup_order", "529 overloaded_error", None),
    ("lookup_order", "rate limit", None),
    ("slack_post_message", "ratelimited", None),
    ("lookup_order", "Too Many Requests", None),
    ("lookup_order", "getaddrinfo EAI_AGAIN api.example.org", None),
    ("lookup_order", "[Errno -3] Temporary failure in name resolution", None),
    ("lookup_order", "DNS lookup failed", None),
    ("lookup_order", "read ECONNRESET", None),
    ("lookup_order", "Connection reset by peer", None),
    ("lookup_order", "Timed out after 30 s", None),
    ("lookup_order", "context deadline exceeded", None),
    ("lookup_order", "connect ECONNREFUSED 93.184.216.34:443", None),
    ("mcp__linear__list_issues", "MCP error -32001: Request timed out", None),
    ("mcp__filesystem__read_file", "MCP error -32001: Request timed out", None),
    ("mcp__github__search_code", "API rate limit exceeded for user ID 1.", None),
    ("mcp__bigquery__run_query", "HTTP 503", {"sql": "select 1"}),
    ("run_query", "HTTP 503", {"sql": "select 1"}),
    # The name speaks of the work's own things, and the failure begins as a service's does.
    ("code_search", "HTTP 429", None),
    ("get_database_schema", "Error: 503 Service Unavailable", None),
    # It was asked about the own machine, and did not ask it.
    ("web_search", "HTTP 429", {"query": "why does http://localhost:3000 refuse"}),
]
NOT_OF_A_SERVICE = [
    ("lookup_order", "HTTP 400 Bad Request", None),
    ("lookup_order", "HTTP 404", None),
    ("lookup_order", "no such order", None),
    ("lookup_order", "timeout must be a positive number", None),
    ("lookup_order", "KeyError: 'timeout'", None),
    ("lookup_order", "expected 500 rows", None),
    ("lookup_order", "code must have 500 to 599 characters", None),
    ("set_limits", "rate limit must be at least 1", None),
    # The failure quotes the work.
    ("edit_file", "text not found: if status == 429: raise RateLimit", None),
    ("edit_file", "old text not found: 'HTTP 503'", None),
    ("search_files", "timed out", None),
    ("list_dir", "Error: timeout", None),
    # Programs, whose own server may be at fault.
    ("bash", "HTTP 429", {"command": "curl https://a.example"}),
    ("run_tests", "HTTP 503", None),
    ("run", "connection reset", None),
    ("npm", "503 Service Unavailable", None),
    ("mcp__shell__exec", "HTTP 503", {"command": "npm start"}),
    ("mcp__ide__run", "HTTP 503", {"code": "serve()"}),
    # The own machine.
    ("lookup_order", "connect ETIMEDOUT ::1:3000", None),
    ("lookup_order", "dial tcp [::1]:5432: connection reset by peer", None),
    ("lookup_order", "127.0.0.1: connection reset", None),
    ("lookup_order", "HTTP 500", "http://0.0.0.0:80/a"),
    ("lookup_order", "HTTP 500", {"host": "localhost"}),
    ("lookup_order", "HTTP 500", {"url": "http://127.1/"}),
    ("lookup_order", "HTTP 500", {"url": "http://[::1]:80/a"}),
    ("lookup_order", "HTTP 500", {"url": "http://app.localhost/a"}),
    ("lookup_order", "HTTP 500", {"request": {"urls": ["http://user@127.0.0.1:80/"]}}),
    ("mcp__http__send", "HTTP 500", {"url": "http://localhost:3000/x"}),
]

# What is hard wherever it stands: the words of guards, and of broken seals.
OF_SAFETY = [
    ("write_file", "path is outside the workspace"),
    ("write_file", "Path /etc/cron.d/x is outside of the allowed directories"),
    ("write_file", "ValueError: ../../x escapes the workspace"),
    ("read_file", "Access denied: path not in the workspace"),
    ("write_file", "Error: path traversal detected"),
    ("bash", "sandbox violation: write to /usr/bin"),
    ("bash", "Operation blocked by sandbox"),
    ("bash", f"{LOG}\nsandbox violation: connect to 10.0.0.1"),
    ("send_mail", "called without the required approval"),
    ("deploy", "approval required"),
    ("deploy", "This action requires human approval"),
    ("transfer", "blocked by security policy"),
    ("write_file", "checksum mismatch of a sealed artefact"),
    ("download_model", "sha256 does not match the expected digest"),
    ("read_evidence", "The record has been tampered with"),
    ("install", "npm ERR! code EINTEGRITY"),
    ("verify", "integrity check failed for evidence/3.json"),
    ("bash", "WARNING: 1 computed checksum did NOT match"),
]

# The same words in another sense: nothing here speaks of safety.
IN_PASSING = [
    ("bash", "could not write the checksum file: disk full"),
    ("bash", "upload of release notes failed after the checksum was made"),
    ("sql", "IntegrityError: UNIQUE constraint failed: user.email"),
    ("sql", "referential integrity constraint violation on table orders"),
    ("build", "error: Circle is not allowed to extend sealed class Shape"),
    ("run_tests", "Access to fetch at 'https://a.example' has been blocked by CORS policy"),
    ("run_tests", "Refused to load the script: it violates the Content Security Policy"),
    ("run_tests", "AssertionError: value outside the allowed range 0..1"),
    ("run_tests", "500 internal network error"),
    ("run_tests", f"{LOG}\npath traversal detected: PASSED\n{LOG}"),
    ("mypy", 'Signature of "save" incompatible with supertype "Model"'),
    ("run_tests", "expected hash 'a1', got 'b2'"),
    ("edit_file", "connection to private registry timed out"),
    ("edit_file", "PermissionError: [Errno 13] Permission denied: 'a.md'"),
    ("edit_file", "the edit was refused: old text appears twice"),
    ("git_push", "! [rejected] main -> main (non-fast-forward)"),
    ("bash", "ImportError: cannot import name 'tampering' from 'audit'"),
]


def enforcement_of(policy: ToolSuccessPolicy, *calls: ToolCall) -> str:
    conclusion = evaluate(tool_calls=calls, tool_policy=policy)

    [(rule, enforcement, reason)] = told(conclusion)
    assert (rule, reason) == ("tool-calls", "tool_failed")
    return enforcement


@check_rows(("tool", "error", "expected"), UNDER_ALL_TOOLS_HARD)
def test_what_the_web_does_is_no_fault_of_the_work(tool: str, error: str, expected: str) -> None:
    assert enforcement_of(ALL, failed_call(tool, error)) == expected


@check_rows(("tool", "error", "args"), OF_A_SERVICE)
def test_a_service_that_did_not_answer_is_known_by_what_it_says(
    tool: str, error: str, args: Any
) -> None:
    assert enforcement_of(ALL, failed_call(tool, error, args=args)) == "advisory"


@check_rows(("tool", "error", "args"), NOT_OF_A_SERVICE)
def test_a_failure_that_may_be_the_works_is_no_service_s(tool: str, error: str, args: Any) -> None:
    assert enforcement_of(ALL, failed_call(tool, error, args=args)) == "hard"


def test_a_service_speaks_in_the_result_where_the_error_is_silent() -> None:
    call = failed_call("lookup_order", result={"isError": True, "content": "HTTP 503"})

    assert enforcement_of(ALL, call) == "advisory"


@check_rows(("tool", "error"), OF_SAFETY)
@check_rows("policy", ToolSuccessPolicy)
def test_no_policy_forgives_what_a_guard_stopped(
    policy: ToolSuccessPolicy, tool: str, error: str
) -> None:
    assert enforcement_of(policy, failed_call(tool, error), ToolCall(tool, True)) == "hard"


@check_rows(("tool", "error"), IN_PASSING)
def test_a_word_in_passing_is_no_matter_of_safety(tool: str, error: str) -> None:
    assert enforcement_of(SAFETY, failed_call(tool, error)) == "advisory"


@check_rows(
    ("policy", "tool", "later", "expected"),
    [
        (ALL, "bash", ["bash"], "hard"),
        (ALL, "edit_file", ["edit_file"], "hard"),
        (BALANCED, "bash", [], "advisory"),
        (BALANCED, "run_tests", [], "advisory"),
        (BALANCED, "runTests", [], "advisory"),
        (BALANCED, "npm", [], "advisory"),
        (BALANCED, "make", [], "advisory"),
        (BALANCED, "execute_code", [], "advisory"),
        (BALANCED, "mcp__shell__exec", [], "advisory"),
        (BALANCED, "edit_file", [], "hard"),
        (BALANCED, "edit_file", ["edit_file"], "advisory"),
        (BALANCED, "edit_file", ["write_file"], "hard"),
        # The names of programs stand in other words too.
        (BALANCED, "get_latest_price", [], "hard"),
        (BALANCED, "contest_submit", [], "hard"),
        (BALANCED, "make_payment", [], "hard"),
        (BALANCED, "execute_trade", [], "hard"),
        (BALANCED, "query_builder", [], "hard"),
        # And are what a tool writes or reads.
        (BALANCED, "write_test_file", [], "hard"),
        (BALANCED, "get_build_config", [], "hard"),
        (RESILIENT, "edit_file", [], "hard"),
        (RESILIENT, "edit_file", ["write_file"], "advisory"),
        (SAFETY, "edit_file", [], "advisory"),
    ],
)
def test_what_else_a_policy_forgives(
    policy: ToolSuccessPolicy, tool: str, later: list[str], expected: str
) -> None:
    calls = (failed_call(tool, "it failed"), *(ToolCall(one, True) for one in later))

    assert enforcement_of(policy, *calls) == expected


def test_a_success_before_the_failure_forgives_nothing() -> None:
    assert enforcement_of(RESILIENT, ToolCall("edit", True), failed_call("edit", "no")) == "hard"


@pytest.mark.parametrize("args", ["http://localhost:3000", {"url": "http://127.0.0.1:8000/"}])
def test_the_address_of_the_own_machine_is_looked_for_in_the_arguments(args: Any) -> None:
    call = failed_call("web_fetch", "Timed out", args=args)

    assert enforcement_of(ALL, call) == "hard"


def test_a_failure_is_told_whole_with_the_number_of_its_call() -> None:
    calls = (ToolCall("read", True), failed_call("bash", f"  {LOG}\n"))

    [found] = evaluate(tool_calls=calls).findings

    assert (found.message, found.place) == (f"bash: {LOG}", {"tool_call": 1})


def test_a_failure_without_a_word_is_said_to_be_one() -> None:
    [found] = evaluate(tool_calls=(failed_call("edit_file"),)).findings

    assert found.message == "edit_file: failed without saying why"


@pytest.mark.parametrize("args", [3, 0.5, True])
def test_arguments_that_are_a_bare_value_are_odd_and_no_fault(args: Any) -> None:
    conclusion = evaluate(tool_calls=(ToolCall("edit", True, args=args),))

    assert told(conclusion) == [("tool-calls", "advisory", "odd_payload")]
