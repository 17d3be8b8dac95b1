"""An install that failed: the work's fault, or the network's."""

from __future__ import annotations

import pytest

from tests.tables import check_rows
from verification.engine.gating.components import Component, Language
from verification.engine.gating.judging import judged
from verification.engine.gating.outside import tells_of_network
from verification.engine.gating.stages import Ended, Install, Part, Stage
from verification.engine.outcome import Status

PART = Part(Component("", Language.PYTHON), Install("pip install x"), ())


@check_rows(
    "written",
    [
        # pip
        b"WARNING: Retrying ... after connection broken by 'NewConnectionError(...)'",
        b"Could not fetch URL https://index.example/simple/: connection error: HTTPSConnectionPool: Max retries exceeded",
        b"ERROR: HTTP error 503 Service Unavailable while getting https://index.example/a.whl",
        b"ERROR: HTTP error 429 while getting https://index.example/a.whl",
        b"ERROR: Could not install requirement a because of error 502 Server Error: Bad Gateway for url: https://index.example/a.whl",
        b"pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool: Read timed out.",
        b"('Connection broken: IncompleteRead(1024 bytes read, 2048 more expected)', IncompleteRead(1024))",
        b"[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)",
        b"NameResolutionError(\"Failed to resolve 'index.example' ([Errno -3] Temporary failure in name resolution)\")",
        b"error: incomplete-download\n\n\xc3\x97 Download failed because not enough bytes were received",
        # npm, Yarn, pnpm
        b"npm error code ENOTFOUND\nnpm error network request to https://registry.example failed",
        b"npm ERR! code ERR_SOCKET_TIMEOUT\nnpm ERR! network Socket timeout",
        b"npm ERR! code ERR_SOCKET_CONNECTION_TIMEOUT",
        b"npm error code E429",
        b"npm error code E502",
        b"npm error code E503",
        b"npm error code EAI_AGAIN",
        b"npm error code ENETUNREACH",
        b"npm error code CERT_HAS_EXPIRED",
        b"npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error self-signed certificate in certificate chain",
        b"npm error network timeout at: https://registry.example/a",
        b'error An unexpected error occurred: "https://registry.example/a.tgz: ESOCKETTIMEDOUT".',
        b"info There appears to be trouble with your network connection. Retrying...",
        b'error An unexpected error occurred: "https://registry.example/a: Request failed \\"502 Bad Gateway\\"".',
        b"ERR_PNPM_META_FETCH_FAIL  GET https://registry.example/a: request failed",
        b"ERR_PNPM_FETCH_503  GET https://registry.example/a: Service Unavailable - 503",
        # Go
        b"go: example.com/x@v1.0.0: Get \"https://proxy.example\": dial tcp: lookup proxy.example: no such host",
        b"go: a@v1: reading https://proxy.example/a/@v/v1.mod: 502 Bad Gateway",
        b'go: a@v1: Get "https://proxy.example/a": net/http: TLS handshake timeout',
        b'go: a@v1: Get "https://proxy.example/a": read tcp 1.2.3.4:5: i/o timeout',
        b'go: a@v1: Get "https://proxy.example/a": unexpected EOF',
        b'go: a@v1: Get "https://proxy.example/a": EOF\n',
        b"go: a@v1: stream error: stream ID 5; INTERNAL_ERROR; received from peer",
        # cargo
        b"Caused by:\n  network failure seems to have happened",
        b"warning: spurious network error (2 tries remaining): [6] Couldn't resolve host name",
        b"  [6] Could not resolve hostname (Could not resolve host: index.example)",
        b"  [7] Couldn't connect to server (Failed to connect to index.example port 443)",
        b"  [28] Timeout was reached (download of `a v1.0.0` failed to transfer more than 10 bytes in 30s)",
        b"  [35] SSL connect error",
        b"  [56] Failure when receiving data from the peer",
        b"  failed to get successful HTTP response from `https://index.example`, got 503",
        # Bundler
        b"Net::OpenTimeout: Failed to open TCP connection to index.example:443 (execution expired)",
        b"Could not fetch specs from https://index.example/ due to underlying error <timed out>",
        b"Gem::RemoteFetcher::FetchError: bad response Too Many Requests 429 (https://index.example)",
        b"Gem::RemoteFetcher::FetchError: Errno::ECONNRESET: Connection reset by peer",
        b"Network error while fetching https://index.example/a.gem",
        b"Bundler::HTTPError Net::HTTPServiceUnavailable: ",
        b"Could not reach host index.example. Check your network connection and try\nagain.",
        # Composer
        b"  failed: Temp  \n  orary failure: php_network_getaddresses: getaddrinfo for index.example",
        b"curl error 6 while downloading https://index.example/packages.json: x",
        b"curl error 28 while downloading https://index.example/packages.json: x",
        b"curl error 56 while downloading https://index.example/packages.json: x",
        b'The "https://index.example/p2/a.json" file could not be downloaded (HTTP/2 502 )',
        # Maven, Gradle
        b"[ERROR] Could not transfer artifact junit:junit:pom:4.13 from/to central: index.example",
        b"Connect to index.example:443 [index.example/1.2.3.4] failed: Connect timed out",
        b"status code: 429, reason phrase: Too Many Requests (429)",
        b"> Could not GET 'https://index.example/a.pom'. Received status code 502 from server: Bad Gateway",
        b"> Connect to index.example:443 failed: Read timed out",
        b"> Could not GET 'https://index.example/a.pom'.\n > Connection reset",
        b"> Remote host terminated the handshake",
        # NuGet
        b"error NU1301: Unable to load the service index for source https://index.example/v3.json.",
        b"error NU1301:   Resource temporarily unavailable (index.example:443)",
        b"The HTTP request to 'GET https://index.example/a' has timed out after 100000ms.",
        b"The SSL connection could not be established, see inner exception.",
        b"Response status code does not indicate success: 503 (Service Unavailable).",
        # the machine
        b"OSError: [Errno 28] No space left on device",
    ],
)  # fmt: skip
def test_a_network_that_is_not_there_is_told_from_what_was_written(written: bytes) -> None:
    assert tells_of_network(written)


@check_rows(
    "written",
    [
        b"ERROR: No matching distribution found for no-such-package==1.0",
        b"ERROR: HTTP error 404 while getting https://index.example/a-1.0.whl",
        b"ERROR: Cannot install a==1 and a==2 because these package versions have conflicting dependencies.",
        b"ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
        b"    SyntaxError: unexpected EOF while parsing",
        b"sh: 3: Syntax error: unexpected end of file",
        b"error: subprocess-exited-with-error\n  gcc: fatal error: no input files",
        b"Downloading a-4.29.0-py3-none-any.whl (502 kB)\nERROR: exit code 1",
        b"npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
        b"npm error code E404\nnpm error 404 Not Found - GET https://registry.example/no-such",
        b"npm error code ETARGET\nnpm error notarget No matching version found for a@99.",
        b"npm error code EUSAGE\nnpm error `npm ci` can only install packages when they are in sync.",
        b'error Couldn\'t find package "no-such" on the "npm" registry.',
        b'error An unexpected error occurred: "https://registry.example/a: Request failed \\"404 Not Found\\"".',
        b"ERR_PNPM_FETCH_404  GET https://registry.example/no-such: Not Found - 404",
        b"ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with \"frozen-lockfile\"",
        b"go: updates to go.mod needed",
        b"go: a@v1.0.0: reading https://proxy.example/a/@v/v1.0.0.mod: 404 Not Found\n\tserver response: not found",
        b"error: the lock file Cargo.lock needs to be updated but --locked was passed",
        b"error: no matching package named `no-such` found\nlocation searched: registry `crates-io`",
        b"Could not find gem 'no-such-gem' in rubygems repository https://index.example/",
        b"Your lock file does not contain a compatible set of packages. Please run composer update.",
        b"  - Root composer.json requires a/no-such, it could not be found in any version",
        b"[ERROR] Could not find artifact a:b:jar:1 in central (https://index.example)",
        b"> Could not find a:b:1.\n  Searched in the following locations:",
        b"error NU1101: Unable to find package Missing.",
        b"error NU1102: Unable to find package Missing with version (>= 503.0.0)",
        b"",
    ],
)  # fmt: skip
def test_what_the_work_names_wrongly_is_its_own_fault(written: bytes) -> None:
    assert not tells_of_network(written)


@pytest.mark.parametrize(
    ("gate", "status", "is_lost"),
    [
        ("install", Status.ERROR, True),
        *((gate, Status.FAILED, False) for gate in ("build", "types", "test", "run")),
    ],
)
def test_nothing_but_an_install_is_excused_by_the_network(
    gate: str, status: Status, is_lost: bool
) -> None:
    ended = Ended(exit_code=1, err=b"dial tcp: i/o timeout")

    report = judged(PART, Stage(gate, "x"), ended).report

    assert (report.status, report.is_lost) == (status, is_lost)


def test_a_slow_install_blames_nobody() -> None:
    report = judged(PART, Stage("install", "pip install x"), Ended(is_timed_out=True)).report

    assert (report.status, report.is_lost) == (Status.ERROR, True)


def test_what_no_database_can_hold_is_not_in_a_report() -> None:
    report = judged(PART, Stage("build", "x"), Ended(exit_code=1, err=b"bad\0\xff")).report

    assert "bad\ufffd" in report.detail
