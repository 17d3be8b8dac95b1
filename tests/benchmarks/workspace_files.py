"""A workspace of Python, JSON and YAML files, the same each time; some of them are broken."""

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
BROKEN_EVERY = 40


def write_files(folder: Path, *, python_count: int, json_count: int, yaml_count: int) -> list[str]:
    """Write so many files of each kind, the first and every 40th broken; return their paths."""
    random_numbers = random.Random(11)  # noqa: S311 - the same files each time
    kinds = (
        ("py", python_count, python_text),
        ("json", json_count, json_text),
        ("yaml", yaml_count, yaml_text),
    )
    paths = []
    for suffix, count, make_text in kinds:
        (folder / suffix).mkdir()
        for number in range(count):
            path = f"{suffix}/file_{number}.{suffix}"
            (folder / path).write_text(make_text(random_numbers, number))
            paths.append(path)
    return paths


def python_text(random_numbers: random.Random, number: int) -> str:
    parts = ['"""A module of the benchmark."""\n\nfrom __future__ import annotations\n\n']
    parts += [_function(random_numbers, index) for index in range(14)]
    if number % BROKEN_EVERY == 0:
        parts.insert(8, BROKEN_PYTHON[number // BROKEN_EVERY % len(BROKEN_PYTHON)])
    return "\n".join(parts)


def _function(random_numbers: random.Random, index: int) -> str:
    first, second, third = random_numbers.sample(WORDS, 3)
    limit = random_numbers.randrange(10, 1000)
    return (
        f"def {first}_{index}({second}: int, {third}: list[str] | None = None) -> dict[str, int]:\n"
        f'    """Count how often each {third} occurs with the {second}."""\n'
        f"    counts = {{name: len(name) * {limit} for name in {third} or []}}\n"
        f"    if {second} > {limit} and not counts:\n"
        f'        raise ValueError(f"no {third} for {{{second}!r}}")\n'
        f'    return {{**counts, "{first}": {second} % {limit}}}\n\n'
    )


def json_text(random_numbers: random.Random, number: int) -> str:
    rows = [
        {
            "id": index,
            "name": random_numbers.choice(WORDS),
            "share": random_numbers.random(),
            "tags": WORDS[:3],
        }
        for index in range(40)
    ]
    text = json.dumps({"rows": rows}, indent=1)
    if number % BROKEN_EVERY:
        return text
    broken = BROKEN_JSON[number // BROKEN_EVERY % len(BROKEN_JSON)]
    return text.replace('"id": 20', f'"id": {broken}', 1)


def yaml_text(random_numbers: random.Random, number: int) -> str:
    lines = list(_yaml_lines(random_numbers))
    if number % BROKEN_EVERY == 0:
        broken = BROKEN_YAML[number // BROKEN_EVERY % len(BROKEN_YAML)]
        lines.insert(60, broken.rstrip("\n"))
    return "\n".join(lines) + "\n"


def _yaml_lines(random_numbers: random.Random) -> Iterator[str]:
    for index in range(30):
        yield f"{random_numbers.choice(WORDS)}_{index}:"
        yield f"  limit: {random_numbers.randrange(1000)}"
        yield f"  text: the {random_numbers.choice(WORDS)} of the {random_numbers.choice(WORDS)}"
        yield f"  among: [{', '.join(random_numbers.sample(WORDS, 4))}]"
