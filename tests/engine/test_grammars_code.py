from __future__ import annotations

import pytest

from tests.engine.grammar_answers import answers
from tests.tables import check_rows
from verification.engine.grammars.sql_text import MAX_PROBLEMS

UNREAD = "No SQL dialect that is known here reads this statement."
FENCED = "The file starts with a Markdown fence, which is not {}."
TEMPLATE = "It holds template marks, so this does not count: "
DEEP = 5_000


@check_rows(
    "content",
    [
        "select 1;\n-- done\n",
        "select `a` from b;\nselect [a] from b;\nselect \"a\"::int from b;",
        "create table a (b int) engine=innodb default charset=utf8;",
        "select 1\nGO\nselect 2\nGO\n",
        "\\connect shop\nselect 1",
        ".mode csv\nselect 1;",
        "COPY a FROM stdin;\n1\t'\n\\.\nselect 1;",
        "CREATE FUNCTION f() RETURNS int AS $$ BEGIN RETURN 1; END $$ LANGUAGE plpgsql;",
        "create trigger x before insert on y begin select 1; foo bar baz; end;",
        "GRANT SELECT ON a TO b; VACUUM; PRAGMA foreign_keys=on;",
        "select 'é'".encode("utf-16"),
        "select 'é'".encode("latin-1"),
        "",
    ],
)  # fmt: skip
def test_sql_without_a_remark(content: str | bytes) -> None:
    assert answers("a.sql", content) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("select 1;\n\n  -- why\n  select * form t;\nselect 2;", [f"advisory 4:3 {UNREAD}"]),
        ("Here is the query: select 1", [f"advisory 1:1 {UNREAD}"]),
        ("select 'é from x", ["advisory A text, name or comment opens and never closes."]),
        ("```sql\nselect 1\n```", ["advisory 1:1 " + FENCED.format("SQL")]),
        ("select {{ x }} from {{ ref('a') }}", [f"note 1:1 {TEMPLATE}{UNREAD}"]),
        ("DELIMITER //\nselect 1//", ["unknown It changes its delimiter: that is a language of its client."]),
        ("select " + "(" * DEEP + "1" + ")" * DEEP, ["unknown It is nested too deeply to be parsed."]),
    ],
)  # fmt: skip
def test_what_is_said_about_sql(content: str, told: list[str]) -> None:
    assert answers("a.sql", content) == told


def test_a_file_of_broken_statements_is_told_in_a_few_lines() -> None:
    assert len(answers("a.sql", "select a b c from d;\n" * 30)) == MAX_PROBLEMS


@check_rows(
    ("path", "content"),
    [
        ("a.js", "#!/usr/bin/env node\nx?.y ?? `${1}`;\nconst a = <p>{x}</p>;\n"),
        ("a.mjs", "import x from 'y' with {type: 'json'};\nclass A { #x = 1; static {} }"),
        ("a.cjs", "module.exports = {a: async function* () {}};"),
        ("a.jsx", "export default () => <><A {...b} /></>;"),
        ("a.ts", "let x = <T,>(a: T) => a satisfies U;\nenum E {A}\n"),
        ("a.d.ts", "declare module 'x' { export function f(a?: number): asserts a is string }"),
        ("a.tsx", "const a = <A<string> b={1}/>;"),
        ("a.go", "package a\n\nfunc F[T any](a T) {}\n"),
        ("a.rs", "fn f() -> impl Fn() + '_ { async move {} }"),
        ("a.rb", "def f(a:, **) = a => {b:}\nputs <<~A\n  #{x ? 1 : 2}\nA\nx = %w[a b]\n"),
        ("a.gemspec", "Gem::Specification.new { |s| s.name = 'a' }\n"),
        ("a.rb", "# encoding: latin-1\nx = '\xe9'\n".encode("latin-1")),
        ("a.php", "<?php\nenum A: string { case B = 'b'; }\nfinal class C { public function __construct(private readonly int $x) {} }\n"),
        ("a.php", "<html><?php if ($x): ?><p><?= $y ?></p><?php endif; ?></html>\n"),
        ("a.php", "<?php\n$x = '\xe9';\n".encode("latin-1")),
        ("a.css", "a:is(b, c)::before { color: #fff !important; width: calc(1px + 2 * 3%); }\n"),
        ("a.html", "<!doctype html>\n<title>a</title>\n<p>b<br>c\n<input disabled value=x>\n<script>if (a < b) {}</script>\n"),
        ("a.html", b"<meta charset=windows-1252><p>\xe9</p>\n"),
        # What the languages have and the grammars do not.
        ("a.rs", "fn f() { check(str![[r\"x\"]]); }\n"),
        ("a.rs", "#!/usr/bin/env cargo\n---cargo\n[dependencies]\n---\nfn main() {}\n"),
        ("a.css", "@media (400px <= width < 700px) { a { b: c } }\n@container x (width > 1px) { a { b: c } }\n"),
        ("a.css", "a { src: url(../b.eot?#iefix); *zoom: 1; filter: progid:A.B(c='d', e=1); }\n"),
        ("a.css", "@keyframes x { 6.5% { a: b } entry 0% { a: b } }\n.a { & .b-🥕 { c: d } --x: 1 / 2 [; }\n".replace(" [", "")),
        ("a.html", "<p>a -> b, 3 > 2, 1 < 2, salt & pepper</p><textarea>ul > li { a: \"b }</textarea>\n"),
        ("a.java", "sealed interface S permits P {}\nrecord P(int x) implements S {}"),
        ("a.sh", "#!/bin/sh\nif [ -n \"$1\" ]; then cat <<E\n$((1 + 2))\nE\nfi\n"),
        # Other things have these names as well.
        ("a.sh", "#!/usr/bin/env python3\nx = {1: 2}[1]\nif x:\n    pass\n"),
        ("a.ts", "<?xml version='1.0'?>\n<!DOCTYPE TS>\n<TS></TS>"),
    ],
)  # fmt: skip
def test_sources_without_a_remark(path: str, content: str) -> None:
    assert answers(path, content) == []


@check_rows(
    ("path", "content", "told"),
    [
        ("a.js", "let a = 1;\nlet é = = 2;", "advisory 2:7 This does not fit the grammar: `=`."),
        ("a.js", "f(1;", "advisory 1:4 `)` is missing here."),
        ("a.ts", "let x: number = 1;\nlet y: = 2;", "advisory 2:6 This does not fit the grammar: `:`."),
        ("a.go", "package a\nfunc f() {\n\tx := 1 +\n}\n", "advisory 3:9 This does not fit the grammar: `+`."),
        ("a.rs", "fn f() { let x = ; }", "advisory 1:16 This does not fit the grammar: `=`."),
        ("a.java", "class A { void f( { } }", "advisory 1:18 `)` is missing here."),
        ("a.rb", "def f\n  x = [1, 2\nend\n", "advisory 1:1 This does not fit the grammar: `def f`."),
        ("a.php", "<?php\n$x = 1;\n$y = = 2;\n", "advisory 3:6 This does not fit the grammar: `=`."),
        ("a.css", "a { b: c;\n", "advisory 1:10 `}` is missing here."),
        ("a.css", "a { b: c; }\nd { e f; }\n", "advisory 2:5 This does not fit the grammar: `e f;`."),
        ("a.css", "@media (width < 1px { a { b: c } }\n", "advisory 1:15 This does not fit the grammar: `<`."),
        ("a.html", "<p>a</p\n<p>b</p>\n", "advisory 1:8 `>` is missing here."),
        ("a.html", "<div class=\"a>b</div>\n", "advisory 1:1 This does not fit the grammar: `<div class=\"a>b</div>`."),
        ("a.html", "<ul><li>a</li>li>b</li></ul>\n", "advisory 1:18 This does not fit the grammar: `b`."),
        ("a.html", "{% if x %}<p\n{% endif %}</p\n", f"note 2:14 {TEMPLATE}This does not fit the grammar: `p`."),
    ],
)  # fmt: skip
def test_what_is_said_about_sources(path: str, content: str | bytes, told: str) -> None:
    assert answers(path, content) == [told]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.js", "x = " + "[" * DEEP + "]" * DEEP),
        ("a.tsx", "x = " + "<a>" * DEEP + "</a>" * DEEP),
        ("a.ts", "x = " + "(" * DEEP + "1" + ")" * DEEP),
        ("a.go", "package a\nvar x = " + "(" * DEEP + "1" + ")" * DEEP),
        ("a.rs", "fn f() { let x = " + "(" * DEEP + "1" + ")" * DEEP + "; }"),
        ("a.java", "class A { int x = " + "(" * DEEP + "1" + ")" * DEEP + "; }"),
        ("a.rb", "x = " + "[" * DEEP + "1" + "]" * DEEP),
        ("a.php", "<?php $x = " + "(" * DEEP + "1" + ")" * DEEP + ";"),
        ("a.css", "a { b: " + "c(" * DEEP + ")" * DEEP + " }"),
        ("a.html", "<b>" * 100 + "</b>" * 100),
        ("a.sh", "echo " + "$(" * DEEP + "a" + ")" * DEEP),
    ],
)
def test_deep_sources_are_read_like_any_other(path: str, content: str) -> None:
    assert answers(path, content) == []


@pytest.mark.parametrize(
    "path", ["a.js", "a.ts", "a.go", "a.rs", "a.java", "a.sh", "a.rb", "a.css"]
)
def test_a_deep_source_that_never_closes_is_told_once(path: str) -> None:
    [found] = answers(path, "(" * 100_000)

    assert found.startswith("advisory 1:")
    assert len(found) < 120


@pytest.mark.parametrize("language", ["json", "yaml", "toml", "xml"])
def test_an_answer_pasted_with_its_fence_is_named(language: str) -> None:
    [found] = answers(f"a.{language}", f"```{language}\n{{}}\n```\n")

    assert found == "hard 1:1 " + FENCED.format(language.upper())
