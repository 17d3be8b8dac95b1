"""How bad it is what was found, and how sure: by its form alone, nobody is asked."""

import base64
import binascii
import re
import zlib

ERROR, WARNING, NOTE = "error", "warning", "note"
CERTAIN_CODES = frozenset(
    ("S102", "S202", "S307", "S323", "S501", "S502", "S504", "S506", "S507",
     "S602", "S604", "S605", "S609")
)  # fmt: skip
"""The rules of ruff that do not guess: S105 and its like look at names alone, and whether a template
of S701 and S702 makes a page, or a prompt, nobody knows."""
CERTAIN_SECRETS = (
    "private-key", "aws-access-token", "gcp-service-account", "azure-storage-account-key",
    "github-", "gitlab-pat", "slack-bot-token", "slack-user-token", "slack-app-token",
    "stripe-access-token", "openai-api-key", "anthropic-", "npm", "pypi-upload-token",
    "rubygems-api-token", "digitalocean-pat", "sendgrid", "shopify-", "huggingface-",
    "hashicorp-tf-api-token", "vault-service-token", "dockerhub-",
)  # fmt: skip
"""Their form alone says what they are."""
_CHECKED = re.compile(r"(?:gh[oprsu]|npm)_([A-Za-z0-9]{30})([A-Za-z0-9]{6})")
_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END|$)", re.DOTALL
)
_KEY_STARTS = (b"0", b"openssh-key-v1", b"\x95", b"\x94", b"\xc5")
_KEY_BYTES = 40


def is_danger(code: str) -> bool:
    """Else ruff says that it cannot read a file."""
    return bool(re.fullmatch(r"S[1-7]\d\d", code))


def danger_level(code: str, message: str) -> str:
    if not is_danger(code):
        return ERROR  # Python that cannot be read hides what it does
    if "seems safe" in message:
        return NOTE
    return ERROR if code in CERTAIN_CODES else WARNING


def secret_level(name: str, value: str) -> str:
    if not name.startswith(CERTAIN_SECRETS):
        return NOTE if name.startswith(("generic", "jwt")) else WARNING
    if name == "private-key":
        return ERROR if is_key(value) else NOTE
    checked = _CHECKED.fullmatch(value)
    is_odd = checked and checksum(checked[1]) != checked[2]
    is_test = "EXAMPLE" in value.upper() or value.startswith(("sk_test_", "rk_test_"))
    return NOTE if is_odd or is_test else ERROR


def checksum(body: str) -> str:
    left, said = zlib.crc32(body.encode()), ""
    while left:
        left, digit = divmod(left, 62)
        said = _DIGITS[digit] + said
    return said.rjust(6, "0")


def is_key(value: str) -> bool:
    """Whether a key follows, and not just the line that keys begin with."""
    match = _KEY.search(value)
    lines = match[1].replace("\\n", "\n").split("\n") if match else []
    body = re.sub(r"[^A-Za-z0-9+/]", "", "".join(one for one in lines if ":" not in one))
    with_start = body[: _KEY_BYTES * 4 // 3 // 4 * 4]
    try:
        start = base64.b64decode(with_start)
    except binascii.Error:
        return False
    return len(body) * 3 // 4 >= _KEY_BYTES and start.startswith(_KEY_STARTS)
