"""Reports that are nearly right: recorded ones with something changed in them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**400, -1, 0, 2**31, 1e308, "9" * 30, "../../etc/passwd", "/etc/passwd"]),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.lists(st.none() | st.integers() | st.text(max_size=3), max_size=3),
    st.dictionaries(st.text(max_size=5), st.none() | st.integers(), max_size=3),
)
ODD_BYTES = st.binary(max_size=12) | st.sampled_from(
    [b"\n", b"\r", b"\x00", b"\xff", b"../", b"{", b"]", b'"', b":", b",", b"-1", b"9" * 30, b"<a>"]
)


@st.composite
def cut_and_filled(draw: st.DrawFn, recorded: Sequence[bytes]) -> bytes:
    """With a part gone, or something else in its place, up to three times."""
    content = draw(st.sampled_from(recorded))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.sampled_from([start, start + 1, start + 40, len(content)]))
        content = content[:start] + draw(ODD_BYTES) + content[end:]
    return content


@st.composite
def with_odd_values(draw: st.DrawFn, recorded: Sequence[bytes]) -> bytes:
    """JSON in which a value, at any depth, is one of another kind, or is not there."""
    value = json.loads(draw(st.sampled_from(recorded)))
    for _ in range(draw(st.integers(1, 3))):
        value = _changed(draw, value)
    return json.dumps(value).encode()


def _changed(draw: st.DrawFn, value: Any) -> Any:
    keys = _keys_of(value)
    if not keys or draw(st.integers(0, 9)) == 0:
        return draw(ODD_VALUES)
    key = draw(st.sampled_from(keys))
    if draw(st.integers(0, 9)) == 0:
        del value[key]
    else:
        value[key] = _changed(draw, value[key])
    return value


def _keys_of(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value)
    return list(range(len(value))) if isinstance(value, list) else []
