"""Files that look like secrets: by their names, and by content where that is certain.

A name alone counts where files of that name hold secrets and little else. A file that is left out
is missed by whoever verifies the work, so that all else is told by its content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LOOKED_BYTES = 256 * 1024

# Every repetition is bounded, or anchored: whoever wrote these files chose what to put in them.
_BODY = rb"(?:\s|\\r|\\n|[A-Za-z-]+:[^\r\n]*[\r\n])+[A-Za-z0-9+/]{40}"
_PRIVATE_KEY = rb"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----" + _BODY
_BLANKS = rb"[ \t]{0,40}"
_VALUE = _BLANKS + rb"[\"']?[^\s\"'${<%]{8}"
_NAMES_A_SECRET = rb"(?:secret|token|passw(?:or)?d|private_?key|api_?key|access_?key)"


@dataclass(frozen=True, slots=True)
class SecretKind:
    """`path` matches the lower-case path from the start of a name; `content`, None: any."""

    words: str
    path: re.Pattern[str]
    content: re.Pattern[bytes] | None = None


def _kind(words: str, path: str, content: bytes | None = None) -> SecretKind:
    return SecretKind(
        words,
        re.compile(rf"(?:^|.*/)(?:{path})", re.DOTALL),
        None if content is None else re.compile(content, re.IGNORECASE | re.MULTILINE),
    )


KINDS = (
    _kind(
        "environment file",
        r"\.env(?:\.(?!(?:[\w-]+\.)*(?:example|sample|template|tmpl|tpl|dist|defaults?|schema)$)"
        r"[^/]+)?",
    ),
    _kind("private key", r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[^/]*\.ppk"),
    _kind("key store", r"[^/]*\.(?:p12|pfx|jks|keystore|kdbx?)"),
    _kind("passwords", r"[._]netrc|\.pgpass|\.git-credentials|\.vault-token"),
    _kind("LoomVerify key", r"api-key", rb"\Alv_[\w-]{20}"),
    _kind("credentials", r"\.aws/credentials|application_default_credentials\.json"),
    _kind("private key", r"[^/]*\.(?:pem|key|p8|pk8|crt|cer|asc|gpg)", _PRIVATE_KEY),
    _kind("private key", r"[^/]*", rb"\A(?:\xef\xbb\xbf)?\s*" + _PRIVATE_KEY),
    _kind(
        "registry token",
        r"\.npmrc|\.yarnrc(?:\.yml)?",
        rb"^[^#;\n]{0,500}(?:_auth|_authToken|_password|npmAuthToken|npmAuthIdent)[\"']?"
        + _BLANKS + rb"[:=]" + _VALUE,
    ),
    _kind(
        "registry password",
        r"\.pypirc|pip\.conf|pip\.ini",
        rb"^[ \t]{0,40}password[ \t]{0,40}[:=][ \t]{0,40}[^\s${]{3}"
        rb"|://[^/\s:@${]{1,200}:[^/\s@${]{1,200}@",
    ),
    _kind("registry login", r"\.docker/config\.json|\.dockercfg", rb"\"auth\"\s{0,40}:\s{0,40}\"[\w+/=]{8}"),
    _kind(
        "cluster access",
        r"\.kube/config|kubeconfig",
        rb"^[ \t-]{0,200}(?:client-key-data|token|password):" + _VALUE,
    ),
    _kind("login", r"(?:gh|hub)/hosts\.yml|\.config/hub", rb"^[ \t-]{0,200}oauth_token:" + _VALUE),
    _kind(
        "service account",
        r"[^/]*\.json",
        rb"\A(?=[\s\S]*\"type\"\s{0,40}:\s{0,40}\"service_account\")"
        rb"[\s\S]*\"private_key\"\s{0,40}:\s{0,40}\""
        + _PRIVATE_KEY,
    ),
    _kind(
        "environment file",
        r"[^/]+\.env|\.envrc",
        rb"^[ \t]{0,40}(?:export[ \t]{1,40})?\w{0,60}" + _NAMES_A_SECRET + rb"\w{0,60}"
        + _BLANKS + rb"=" + _VALUE,
    ),
    _kind(
        "credentials",
        r"(?:credentials?|secrets?)(?:\.(?:json|ya?ml|ini|toml|cfg|conf|properties|txt|tfvars))?",
        # The key of a line or of an object, not what a template reckons with.
        rb"(?:^[ \t\"'-]{0,200}|[{,]\s{0,40}[\"'])\w{0,60}" + _NAMES_A_SECRET
        + rb"\w{0,60}[\"']?" + _BLANKS + rb"[:=]" + _VALUE,
    ),
)  # fmt: skip


def find_secret(path: str, head: bytes) -> str:
    """Return what secret a file looks like, by its path and its first bytes; '': none."""
    lowered = path.lower()
    for kind in KINDS:
        if kind.path.fullmatch(lowered) and (kind.content is None or kind.content.search(head)):
            return kind.words
    return ""
