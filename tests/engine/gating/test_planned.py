from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processes.definition.model import Definition, LintCommands, Phase, ProcessPolicy
from tests.engine.gating.fakes import Listener, ScriptedSandbox
from verification.engine.case import Case
from verification.engine.evidence import Submission, TaskSpec
from verification.engine.fakes import MemoryWorkspace
from verification.engine.gating.given import Named
from verification.engine.gating.planned import planned_of
from verification.engine.gating.planning import Plan, plan_of
from verification.engine.gating.running import run_track, tracks_of
from verification.engine.gating.stages import ORDER, SECONDS, Part, Ready, Start
from verification.engine.outcome import Status
from verification.engine.verifier import VerifierSpec

PLAN = """\
## Test commands
```bash
make test
```

### Test commands (`backend/`): `make check`

**Run (backend):**
```yaml
- command: python main.py
  input: "3\\n"
  expected_output: 4
- {command: python -m app, ready: {port: 80}}
```
"""
OWN = """\
components:
  - path: .
    commands: {test: make mine, build: make all}
    seconds: {test: 5}
  - {path: backend, run: {command: mine}}
"""


def plan(text: str, files: dict[str, str], policy: ProcessPolicy | None = None) -> Plan:
    workspace = MemoryWorkspace(files)
    submission = Submission(TaskSpec("t", "", plan=text), files=workspace.files)
    phase = Phase(id="p", gates=ORDER)
    definition = Definition(name="x", phases=(phase,), policy=policy or ProcessPolicy())
    case = Case(definition, phase, submission, VerifierSpec(), 1)
    return plan_of(case, workspace)


def lowered(part: Part) -> dict[str, int]:
    return {one.gate: one.seconds for one in part.stages if one.seconds}


def commands(part: Part) -> dict[str, str]:
    return {one.gate: one.command for one in part.stages if one.is_given}


def test_folders_that_the_work_names_lie_below_the_one_before_all_its_paths() -> None:
    files = {"my-app/setup.py": "", "my-app/backend/setup.py": "", "my-app/loomverify.yaml": OWN}

    root, backend = plan("", files).parts
    [start] = next(one.starts for one in backend.stages if one.gate == "run")

    assert commands(root) == {"build": "make all"}
    assert lowered(root) == {"test": 5}
    assert (backend.component.folder, start.command) == ("my-app/backend", "mine")
    assert (start.path, start.line) == ("my-app/loomverify.yaml", 5)


def test_a_plan_speaks_of_work_below_one_folder_as_if_it_lay_at_the_root() -> None:
    text = "Test Commands:\n```bash\nnpm run check\n```\n"
    files = {"my-app/package.json": "{}", "my-app/src/main.js": "", "my-app/src/main.test.js": ""}

    [part] = plan(text, files).parts

    assert part.component.folder == "my-app"
    assert commands(part) == {"test": "npm run check"}


def test_a_plan_speaks_of_the_first_component_or_of_one_by_its_folder() -> None:
    found = planned_of(PLAN)

    assert found == {
        None: Named({"test": ("make test",)}),
        "backend": Named(
            {"test": ("make check",)},
            (Start("python main.py", "3\n", "4"), Start("python -m app", ready=Ready(80))),
        ),
    }


LINT = """\
## Lint commands
```
npm run lint
```
"""
OWN_LINT = "components: [{path: ., commands: {lint: 'true'}}]"


def test_only_where_the_process_says_so_a_plan_names_who_lints_and_the_work_never_does() -> None:
    by_plan = ProcessPolicy(lint_commands=LintCommands.PLAN)
    files = {"setup.py": "", "loomverify.yaml": OWN_LINT}

    [table] = plan(LINT, files).parts
    [named] = plan(LINT, files, by_plan).parts
    [own] = plan("", files, by_plan).parts

    assert commands(table) == commands(own) == {}
    assert commands(named) == {"lint": "npm run lint"}
    assert {one.is_apart for one in named.stages if one.gate == "lint"} == {False}


LIMITS = """\
**Limits:**
```yaml
test: 60
build: 7200
lint: 1
run: soon
```
### Timeouts (backend)
```yaml
{run: 5}
```
"""


def test_a_process_sets_the_limits_and_a_plan_only_lowers_them() -> None:
    files = {"setup.py": "", "backend/setup.py": "", "loomverify.yaml": OWN}
    policy = ProcessPolicy(gate_seconds={"test": 600, "run": 90})

    usual, _ = plan("", files).parts
    root, backend = plan(LIMITS, {**files, "loomverify.yaml": ""}, policy).parts

    assert usual.seconds == SECONDS
    assert root.seconds == {**SECONDS, "test": 600, "run": 90}
    assert lowered(root) == {"test": 60}
    assert lowered(backend) == {"run": 5}


@pytest.mark.parametrize(
    "text", ["{", "- test: 1", "test: -1", "test: 0", "test: [5]", "install: 5"]
)
def test_limits_that_are_none_lower_nothing(text: str) -> None:
    [part] = plan(f"Limits:\n```yaml\n{text}\n```\n", {"setup.py": ""}).parts

    assert lowered(part) == {}


def test_the_plan_counts_before_the_work_and_the_work_before_the_table() -> None:
    files = {"setup.py": "", "backend/setup.py": "", "loomverify.yaml": OWN}

    root, backend = plan(PLAN, files).parts
    own_root, own_backend = plan("", files).parts

    assert commands(root) == {"test": "make test", "build": "make all"}
    assert commands(backend) == {"test": "make check", "run": "python main.py\npython -m app"}
    assert commands(own_root) == {"build": "make all"}
    assert commands(own_backend) == {"run": "mine"}
    assert [one.is_own for one in root.stages if one.gate in ("test", "build")] == [True, False]
    assert {one.seconds for one in root.stages if one.gate == "test"} == {5}


def test_of_very_many_components_those_that_the_work_adds_are_left_out_last() -> None:
    own = "components:\n" + "".join(f"  - {{path: b{n}, language: go}}\n" for n in range(3))
    files = {f"a{n}/setup.py": "" for n in range(18)} | {f"b{n}/x.go": "" for n in range(3)}

    found = plan("", {**files, "loomverify.yaml": own})

    assert (len(found.parts), found.left_out) == (20, 1)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        ("command: [", "line 2 of its block: Not YAML"),
        ("- command: a\n  expected: 7", "line 2 of its block: run[0].expected is not a known key"),
        (
            "- {command: a, expected_output: [7]}",
            "run[0].expected_output must be text, not a list.",
        ),
        ("- command:\n", "run[0].command must be"),
        ("- {input: a, comand: b, ready: {port: 1}}", "run[0].command is required"),
        ("command: a\ncommand: b", "run.command stands here twice"),
    ],
)
def test_what_a_plan_expects_and_nobody_can_read_is_in_doubt(block: str, why: str) -> None:
    text = f"Run:\n```yaml\n{block}\n```\n"

    [part] = plan(text, {"setup.py": "", "loomverify.yaml": "run: mine\n"}).parts
    [track] = tracks_of([part], ["run"], {})
    [report] = run_track(track, ScriptedSandbox(), Listener())

    assert (report.gate, report.status) == ("run", Status.ERROR)
    assert why in report.detail


def test_what_is_expected_where_no_component_is_found_is_in_doubt() -> None:
    text = "Test (unit): `x`\n\nRun (web):\n```yaml\ncommand: y\n```\n"

    [part] = plan(text, {"setup.py": ""}).parts

    [run] = [one for one in part.stages if one.gate == "run"]
    assert "a run in web" in run.unreadable
    assert commands(part) == {}


def test_a_plan_may_call_a_component_by_its_language() -> None:
    files = {"requirements.txt": "", "package.json": "{}", "web/package.json": "{}"}
    text = (
        "## Test commands (Node.js)\n```sh\nx\n```\n## Build commands (python)\n```sh\ny\n```\n"
        "## Test commands (python)\n```sh\ncd . && z\n```\n"
    )

    found = {part.component.name: commands(part) for part in plan(text, files).parts}

    assert found[". (node)"] == {"test": "x"}
    assert found[". (python)"] == {"build": "y", "test": "cd . && z"}


def test_of_two_languages_in_a_folder_a_plan_means_the_first() -> None:
    files = {"setup.py": "", "package.json": "{}"}

    first, second = plan("Run (.): `x`\n\nTest commands: `y`\n", files).parts

    assert commands(first) == {"run": "x", "test": "y"}
    assert commands(second) == {}


@pytest.mark.parametrize(
    "text",
    [
        "Run:\n```yaml\nservices:\n  web:\n    command: x\n```\n",
        "Build:\n```yaml\ncommand: x\n```\n",
        "Run:\n```yaml\n\n```\n",
        "```yaml\ncommand: x\n```\n",
    ],
)
def test_other_yaml_is_not_meant_for_the_gate(text: str) -> None:
    assert planned_of(text) == {}


@given(st.text(alphabet='Run(b):`~\nyaml{}[]-*& comd"', max_size=200))
def test_no_plan_raises(text: str) -> None:
    found = planned_of(f"Run:\n```yaml\ncommand: {text}")

    for named in found.values():
        assert not (named.starts and named.unreadable)


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ("", ["."]),
        ("{path: ., seconds: {test: 5}}", ["."]),
        ("{path: other, commands: {test: mvn test -pl b}}", ["."]),
        ("{path: ., commands: {test: mvn test -pl b}}", [".", "a"]),
        ("{path: ., language: java, commands: {build: 'true'}}", [".", "a"]),
    ],
)
def test_below_commands_of_the_works_own_a_module_is_tried_on_its_own(
    own: str, found: list[str]
) -> None:
    project = "<project><modules><module>a</module></modules></project>"
    files = {"pom.xml": project, "a/pom.xml": "", "loomverify.yaml": f"components: [{own}]"}

    assert [part.component.folder or "." for part in plan("", files).parts] == found


BATS = "Test commands:\n\n    bats test\n"


@pytest.mark.parametrize(
    ("text", "files", "names"),
    [
        (BATS, {"run.sh": "", "test/run.bats": ""}, [". (make)"]),
        (BATS, {"run.sh": "", "a/Makefile": ""}, ["a (make)"]),
        (BATS + "It is written in Python.", {"run.py": ""}, [". (python)"]),
        (BATS, {"run.sh": "", "loomverify.yaml": "{components: [{path: a, language: make}]}",
                "a/b.sh": ""}, ["a (make)"]),
        ("Build commands:\n\n    sh run.sh\n", {"run.sh": ""}, []),
        ("Test it with bats.", {"run.sh": ""}, []),
    ],
)  # fmt: skip
def test_what_nothing_marks_is_tried_where_the_plan_names_its_tests(
    text: str, files: dict[str, str], names: list[str]
) -> None:
    assert [part.component.name for part in plan(text, files).parts] == names


def test_scripts_of_a_shell_have_what_the_plan_names_and_nothing_else() -> None:
    [part] = plan(BATS, {"run.sh": "", "test/run.bats": ""}).parts

    assert commands(part) == {"test": "bats --tap test"}
    assert {stage.gate for stage in part.stages if stage.command} == {"test", "security"}


@pytest.mark.parametrize(
    "package",
    [
        '{"scripts": {"test": "false"}, "n": ' + "1" * 5_000 + "}",
        '{"scripts": {"test": "false"}, "deep": ' + "[" * 3_000 + "]" * 3_000 + "}",
        '{"scripts": {"test": "false"}}' + " " * 1_000_001,
        "{",
        "[]",
    ],
    ids=["digits", "depth", "size", "broken", "list"],
)
def test_a_manifest_that_nobody_here_understands_is_in_doubt_and_says_so(package: str) -> None:
    [part] = plan("", {"package.json": package, "index.js": ""}).parts

    sandbox = ScriptedSandbox({})
    [track] = [one for one in tracks_of([part], ("build", "test", "run"), {}) if not one.is_apart]
    told = {
        report.gate: (report.status, report.detail)
        for report in run_track(track, sandbox, Listener())
    }

    why = "package.json could not be read: nobody knows what is to be run."
    assert told == {
        "build": (Status.ERROR, why),
        "test": (Status.ERROR, why),
        "run": (Status.SKIPPED, "No entry point is named."),
    }


def test_a_plan_that_names_the_tests_needs_no_manifest() -> None:
    [part] = plan("Test commands:\n\n    make test\n", {"package.json": "{"}).parts

    assert commands(part) == {"test": "make test"}
