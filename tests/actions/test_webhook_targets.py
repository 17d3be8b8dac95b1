from __future__ import annotations

import socket
from ipaddress import ip_network

import pytest

from tests.actions.receiver import Receiver
from tests.tables import check_rows
from verification.actions.sending import post
from verification.actions.targets import Target, TargetRefused, find_target


def resolve_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    def answer(host: str, port: int, **_options: object) -> list[tuple[object, ...]]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (text, port)) for text in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", answer)


@check_rows(
    "url",
    [
        "http://10.0.0.8/hook",
        "http://192.168.1.1/hook",
        "http://172.16.0.1/hook",
        "http://169.254.169.254/latest/meta-data",  # link-local: cloud credentials live there
        "http://100.64.0.1/",  # shared address space
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://[::ffff:10.0.0.8]/",  # a private IPv4 address in an IPv6 dress
        "http://[64:ff9b::a00:8]/",
        "http://[2002:0a00:0008::1]/",
        "http://[fec0::1]/",  # site-local
        "http://[3fff::1]/",  # for documents
        "http://192.88.99.1/",  # a relay that is out of use
        "http://[2a00:1450::5efe:a00:8]/",  # a tunnel to a private IPv4 address
        "http://[2a00:1450::200:5efe:a00:8]/",
        # The same tunnels to a public one, in a network that is none itself.
        "http://[fd00::5efe:808:808]/",
        "http://[fd12:3456::200:5efe:808:808]/",
        "http://[fe80::5efe:808:808]/",
        "http://[fec0::5efe:808:808]/",
        "http://[3fff::5efe:808:808]/",
        "http://[ff02::5efe:808:808]/",
    ],
)
def test_an_address_that_is_not_public_is_refused_everywhere(url: str) -> None:
    with pytest.raises(TargetRefused, match="not a public address"):
        find_target(url, loopback_allowed=True)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://[::ffff:127.0.0.1]/"],
)
def test_loopback_is_for_development_only(url: str) -> None:
    assert find_target(url, loopback_allowed=True).url == url

    with pytest.raises(TargetRefused, match="not a public address"):
        find_target(url, loopback_allowed=False)


@pytest.mark.parametrize(
    "url", ["http://10.1.0.8/hook", "http://[::ffff:10.1.0.8]/", "http://[fd00::1]/"]
)
def test_a_private_address_is_reached_where_the_operator_names_its_network(url: str) -> None:
    own = [ip_network("10.1.0.0/16"), ip_network("fd00::/64")]

    assert find_target(url, loopback_allowed=False, networks=own).url == url
    for others in ([], [ip_network("10.2.0.0/16"), ip_network("fd00:1::/64")]):
        with pytest.raises(TargetRefused, match="not a public address"):
            find_target(url, loopback_allowed=True, networks=others)


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("ftp://example.com/", "must start with"),
        ("example.com/hook", "must start with"),
        ("http:///hook", "must start with"),
        ("http://example.com:99999/", "not a URL"),
        ("http://[::1/", "not a URL"),
        ("http://user:word@example.com/", "user name or password"),
        ("http://example.com/a b", "characters"),
        ("http://example.com/\r\nX: 1", "characters"),
        ("http://example.com/" + "a" * 500, "longer than 500"),
    ],
)
def test_what_is_not_a_plain_web_address_is_refused(url: str, reason: str) -> None:
    with pytest.raises(TargetRefused, match=reason):
        find_target(url, loopback_allowed=True)


def test_a_public_address_is_kept_as_the_one_to_connect_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve_to(monkeypatch, "93.184.215.14")

    target = find_target("https://hooks.example.com/in", loopback_allowed=False)

    assert target == Target("https://hooks.example.com/in", ("93.184.215.14",))


def test_one_private_address_among_public_ones_refuses_the_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    resolve_to(monkeypatch, "93.184.215.14", "10.1.2.3")

    with pytest.raises(TargetRefused, match=r"leads to 10\.1\.2\.3"):
        find_target("https://hooks.example.com/in", loopback_allowed=False)


def test_a_name_without_an_address_is_refused() -> None:
    with pytest.raises(TargetRefused, match="has no address"):
        find_target("http://no-such-host.invalid/", loopback_allowed=True)


def test_the_checked_address_is_connected_to_and_the_name_is_not_resolved_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target(f"http://rebinding.invalid:{receiver.port}/hook", ("127.0.0.1",))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # a proxy would resolve it anew

    answer = post(target, headers={}, body=b"{}")

    assert answer.status == 200
    assert receiver.received[0].headers["Host"] == f"rebinding.invalid:{receiver.port}"


def test_the_next_address_is_tried_where_the_first_cannot_be_connected_to(
    receiver: Receiver,
) -> None:
    target = Target(f"http://two.invalid:{receiver.port}/hook", ("127.0.0.2", "127.0.0.1"))

    answer = post(target, headers={}, body=b"{}")

    assert answer.status == 200


def test_a_host_that_cannot_be_connected_to_is_an_error_in_words(receiver: Receiver) -> None:
    target = Target(f"http://one.invalid:{receiver.port}/hook", ("127.0.0.2",))

    answer = post(target, headers={}, body=b"{}")

    assert answer.status is None
    assert answer.error == "No connection could be made."
