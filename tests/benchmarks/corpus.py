"""A workspace of 1,000 .py, 200 .json and 200 .yaml files, 7 MB, the same each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

WORDS = [
    "account",
    "amount",
    "batch",
    "cursor",
    "draft",
    "entry",
    "figure",
    "grade",
    "height",
    "index",
    "joint",
    "kernel",
]
BROKEN_PYTHON = (
    "def broken(a, b)\n    return a\n",
    "total = (1 + 2\n",
    "total = 1)\n",
    "name = 'left open\n",
    "def broken():\nreturn 1\n",
    "total = 1\n   rest = 2\n",
    "print 'of another time'\n",
    "total() = 1\n",
    "class = 3\n",
    "total = 1 +\n",
)
BROKEN_JSON = ('"left open', "nothing", "1 2")
BROKEN_YAML = ("items: [1, 2\nafter: 3\n", 'name: "left open\n', "a: b: c\n")
ONE_IN = 40


def write(folder: Path) -> list[str]:
    """Write the files; one in forty is broken. Returns their paths within the folder."""
    chance = random.Random(11)  # noqa: S311 - the same files each time
    kinds = (("py", 1000, python_text), ("json", 200, json_text), ("yaml", 200, yaml_text))
    paths = []
    for suffix, count, text_of in kinds:
        for number in range(count):
            path = f"{suffix}/file_{number}.{suffix}"
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text_of(chance, number))
            paths.append(path)
    return paths


def python_text(chance: random.Random, number: int) -> str:
    parts = ['"""A module of the benchmark."""\n\nfrom __future__ import annotations\n\n']
    parts += [_function(chance, index) for index in range(14)]
    if number % ONE_IN == 0:
        parts.insert(8, BROKEN_PYTHON[number // ONE_IN % len(BROKEN_PYTHON)])
    return "\n".join(parts)


def _function(chance: random.Random, index: int) -> str:
    one, other, third = chance.sample(WORDS, 3)
    limit = chance.randrange(10, 1000)
    return (
        f"def {one}_{index}({other}: int, {third}: list[str] | None = None) -> dict[str, int]:\n"
        f'    """Say how often each {third} stands beside the {other}."""\n'
        f"    found = {{name: len(name) * {limit} for name in {third} or []}}\n"
        f"    if {other} > {limit} and not found:\n"
        f'        raise ValueError(f"no {third} for {{{other}!r}}")\n'
        f'    return {{**found, "{one}": {other} % {limit}}}\n\n'
    )


def json_text(chance: random.Random, number: int) -> str:
    rows = [
        {"id": index, "name": chance.choice(WORDS), "share": chance.random(), "tags": WORDS[:3]}
        for index in range(40)
    ]
    text = json.dumps({"rows": rows}, indent=1)
    if number % ONE_IN:
        return text
    broken = BROKEN_JSON[number // ONE_IN % len(BROKEN_JSON)]
    return text.replace('"id": 20', f'"id": {broken}', 1)


def yaml_text(chance: random.Random, number: int) -> str:
    lines = list(_yaml_lines(chance))
    if number % ONE_IN == 0:
        lines.insert(60, BROKEN_YAML[number // ONE_IN % len(BROKEN_YAML)].rstrip("\n"))
    return "\n".join(lines) + "\n"


def _yaml_lines(chance: random.Random) -> Iterator[str]:
    for index in range(30):
        yield f"{chance.choice(WORDS)}_{index}:"
        yield f"  limit: {chance.randrange(1000)}"
        yield f"  text: the {chance.choice(WORDS)} of the {chance.choice(WORDS)}"
        yield f"  among: [{', '.join(chance.sample(WORDS, 4))}]"
