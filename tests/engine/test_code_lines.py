from __future__ import annotations

from collections.abc import Iterator

import pytest

from verification.adapters.probe import ChildProbe
from verification.engine.grammars.code_lines import code_lines

SCRIPT = """#!/usr/bin/env node
import a from 'a';
export * from './x';
export { b } from './b';
// a remark

const c = require('c');
export const run = (one) => {
  if (one) {
    return a(
      c,
    );
  } else {
    return `text

    ends`;
  }
};
"""
TYPES = """import type { T } from './t';
export interface Shape {
  area: number;
}
export type Kind =
  | 'round'
  | 'square';
declare module 'other' {
  const x: number;
}
export class Round<A> extends Base implements Shape {
  private name: string;
  size = 1;
  grow(by: number): void;
  grow(
    by: any,
  ): void {
    this.size += by;
  }
}
"""
MARKUP = "export const Page = () => (\n  <div>\n    hello\n\n    {name}\n  </div>\n);\n"
GO = """package calc

import "fmt"

type T struct {
\tA int
}

var x = first()

func Sign(a int) int {
\t// a remark
\tif a < 0 {
\t\treturn -1
\t}
\treturn 1
}

var later = func() {
\tfmt.Println()
}
"""


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("a.js", SCRIPT, {7, 8, 9, 10, 11, 13, 14, 16}),
        ("a.ts", SCRIPT, {7, 8, 9, 10, 11, 13, 14, 16}),
        ("a.ts", TYPES, {11, 13, 15, 16, 18}),
        ("a.tsx", MARKUP, {1, 2, 3, 5, 6}),
        ("a.go", GO, {13, 14, 16, 20}),
        ("a.js", "", set()),
        ("a.js", "// nothing\n\n{}\n", set()),
        ("a.js", "const =", None),  # not of the grammar
        ("a.js", "\xff\xfe", None),
        ("a.py", "x = 1\n", None),  # Python's own tool tells of every file
        ("a.cs", "class A {}", None),
    ],
)
def test_lines_of_code_hold_more_than_remarks_brackets_imports_and_types(
    path: str, text: str, lines: set[int] | None
) -> None:
    content = b"\xff\xff" if text.startswith("\xff") else text.encode()

    found = code_lines(path, content)

    assert found == (None if lines is None else frozenset(lines))


def test_deep_nesting_costs_no_answer() -> None:
    deep = 20_000

    assert code_lines("a.js", f"x = {'[' * deep}{']' * deep}".encode()) == frozenset({1})


@pytest.fixture
def probe() -> Iterator[ChildProbe]:
    probe = ChildProbe()
    yield probe
    probe.close()


def test_the_child_answers_alike_in_one_round_trip(probe: ChildProbe) -> None:
    sources = [("a.js", SCRIPT.encode()), ("a.py", b"x = 1\n"), ("a.go", GO.encode())]

    found = probe.code_lines(sources)

    assert found == [code_lines(path, content) for path, content in sources]
