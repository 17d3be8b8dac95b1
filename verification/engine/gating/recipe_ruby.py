"""Ruby: Bundler, RSpec with its own report, Minitest with one of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import MAX_MANIFEST_BYTES
from verification.engine.gating.over_files import over_files
from verification.engine.gating.stages import (
    BUILD,
    NO_ENTRY_POINT,
    NO_LINTER,
    NO_TYPE_CHECKER,
    REPORT,
    TEST,
    TOOLS,
    TRAILER,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

MANIFESTS = ("Gemfile", "Gemfile.lock", ".ruby-version", ".tool-versions")
_NEEDS_NOTHING = (b"#", b"source ", b"ruby ")
"""Lines of a Gemfile that name no gem begin so."""
_LOCAL = re.compile(
    rb"\b(?:gemspec|path|eval_gemfile|instance_eval|require|require_relative|load|file|File|Dir)\b"
)
"""It reads what lies beside it."""
_ANOTHER = "Your Ruby version is |Failed to build gem native extension"
"""It asks for another one than the image has, or for what a gem is compiled with."""
_SPEC = re.compile(r"spec/.*_spec\.rb", re.DOTALL)
_TEST = re.compile(r"tests?/(?:.*/)?(?:test_[^/]*|[^/]*_test)\.rb", re.DOTALL)
_DEFAULT = re.compile(rb"^[ \t]*task[ \t(]+[:'\"]?default\b", re.MULTILINE)
"""What `rake` alone does, of a Rakefile that says so."""
_BUILD = over_files("rb", f"ruby {TOOLS}/compile.rb")


def ruby(component: Component, paths: Sequence[str], read: Read) -> Part:
    folder = deps_of(component)
    install = _install(component, paths, read)
    stages = (
        Stage(BUILD, _BUILD, Expected(ProblemFormat.LINES, Stream.ERR)),
        NO_TYPE_CHECKER,
        NO_LINTER,
        _test(component, paths, "bundle exec " if install.command else "", read),
        NO_ENTRY_POINT,
    )
    frozen = {"BUNDLE_FROZEN": "true"} if component.path("Gemfile.lock") in paths else {}
    return Part(
        component,
        install,
        stages,
        environment={
            "BUNDLE_PATH": f"{folder}/bundle",
            # The work's own settings may say where to install, and for whom not to.
            "BUNDLE_APP_CONFIG": f"{folder}/config",
            "LANG": "C.UTF-8",
            **frozen,
        },
    )


def _install(component: Component, paths: Sequence[str], read: Read) -> Install:
    content = read(component.path("Gemfile")) or b""
    lines = filter(None, map(bytes.strip, content.splitlines()))
    if all(line.startswith(_NEEDS_NOTHING) for line in lines):
        return Install()
    inputs = tuple(path for path in map(component.path, MANIFESTS) if path in paths)
    if _LOCAL.search(content):
        inputs = component.all_of(paths)
    return Install("bundle install --retry 2", inputs, excuses=_ANOTHER)


def _test(component: Component, paths: Sequence[str], run_by: str, read: Read) -> Stage:
    inner = component.inner_of(paths)
    if any(map(_SPEC.fullmatch, inner)):
        command = (
            f"{run_by}rspec --require {TOOLS}/rspec_end.rb --no-fail-fast --format progress "
            f'--format json --out "{REPORT}"'
        )
    elif any(map(_TEST.fullmatch, inner)):
        command = f"{run_by}ruby -I lib -I test {TOOLS}/run_minitest.rb"
    elif _DEFAULT.search((read(component.path("Rakefile")) or b"")[:MAX_MANIFEST_BYTES]):
        return Stage(TEST, f"{run_by}rake", is_given=True)
    else:
        return Stage(TEST, skipped="There are no tests of RSpec or Minitest.")
    return Stage(TEST, command, Expected(TestFormat.RSPEC), trailer=TRAILER)
