"""PHP: Composer without the work's scripts, PHPUnit or Pest, and PHP's own look at each file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from verification.engine.gating.components import Component, Read
from verification.engine.gating.manifests import inner_table, json_table
from verification.engine.gating.over_files import over_files
from verification.engine.gating.stages import (
    BUILD,
    COVERAGE,
    NO_ENTRY_POINT,
    NO_LINTER,
    NO_TYPE_CHECKER,
    REPORT,
    TEST,
    Cover,
    Expected,
    Install,
    Part,
    Stage,
    Stream,
    deps_of,
)
from verification.engine.gating.unreported import is_code
from verification.engine.reports.coverage import CoverageFormat
from verification.engine.reports.problems import ProblemFormat
from verification.engine.reports.testing import TestFormat

MANIFESTS = ("composer.json", "composer.lock")
CONFIGURED = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
_COMPOSER = (
    "composer install --no-interaction --no-progress --no-scripts --no-plugins --prefer-dist"
)
_SIMPLE = re.compile(r"[\w][\w.-]*", re.ASCII)
_ANOTHER = "your php version|missing from your system|ext-.* has the wrong version installed"
"""It asks for another one than the image has, or for an extension that this has not."""
# It ends with 255, for which xargs would end at once.
_EACH = 'php -d display_errors=stderr -d log_errors=0 -l "$one" || code=1'
_BUILD = over_files("php", f"sh -c 'code=0; for one; do {_EACH}; done; exit $code' sh")
# Only where PHP can count lines; PCOV would look into one usual folder alone.
_COUNTED = f"""cover=
if php -m | grep -qiE '^(pcov|xdebug)$'; then
  mkdir -p "{REPORT}.php" && printf 'pcov.directory="%s"\\n' "$PWD" > "{REPORT}.php/lines.ini"
  export PHP_INI_SCAN_DIR=":{REPORT}.php" XDEBUG_MODE=coverage
  cover="--coverage-cobertura {COVERAGE} FOLDERS"
fi"""


def php(component: Component, paths: Sequence[str], read: Read) -> Part:
    composer = json_table(read(component.path("composer.json")))
    is_composed = component.path("composer.json") in paths
    folder = deps_of(component)
    stages = (
        Stage(BUILD, _BUILD, Expected(ProblemFormat.PHP, Stream.ERR)),
        NO_TYPE_CHECKER,
        NO_LINTER,
        _test(component, paths, composer),
        NO_ENTRY_POINT,
    )
    return Part(
        component,
        _install(component, paths, composer) if is_composed else Install(),
        stages,
        environment={
            # What was installed comes before what lies in the work.
            "PATH": f"{folder}/vendor/bin:/usr/local/bin:/usr/bin:/bin",
            "COMPOSER_HOME": "/tmp/composer",  # noqa: S108 - of the container
            "COMPOSER_VENDOR_DIR": f"{folder}/vendor",
        },
        linked={"vendor": f"{folder}/vendor"} if is_composed else {},
    )


def _install(component: Component, paths: Sequence[str], composer: Mapping[str, Any]) -> Install:
    """In the work's own folder: what is installed says where the work's classes lie from there."""
    inputs = tuple(path for path in map(component.path, MANIFESTS) if path in paths)
    if _is_local(composer):
        inputs = component.all_of(paths)
    return Install(_COMPOSER, inputs, excuses=_ANOTHER)


def _is_local(composer: Mapping[str, Any]) -> bool:
    """Whether it needs what lies beside it: packages, or files whose classes are looked up."""
    named = composer.get("repositories")
    repositories = [*named.values()] if isinstance(named, dict) else named
    is_path = any(
        isinstance(one, dict) and one.get("type") in ("path", "artifact")
        for one in (repositories if isinstance(repositories, list) else ())
    )
    loaded = (inner_table(composer, key) for key in ("autoload", "autoload-dev"))
    return is_path or any("classmap" in one for one in loaded)


def _test(component: Component, paths: Sequence[str], composer: Mapping[str, Any]) -> Stage:
    inner = component.inner_of(paths)
    is_pest = "pestphp/pest" in inner_table(composer, "require-dev")
    is_configured = any(name in inner for name in CONFIGURED)
    if not (is_pest or is_configured or any(path.endswith("Test.php") for path in inner)):
        if isinstance(inner_table(composer, "scripts").get("test"), str | list):
            return Stage(TEST, "composer run-script --no-interaction test", is_given=True)
        return Stage(TEST, skipped="There are no tests of PHPUnit or Pest.")
    runner = "pest" if is_pest else "phpunit"
    command = f'{runner} --log-junit "{REPORT}"'
    if not (is_configured or is_pest):
        folders = [
            name for name in ("tests", "test") if any(p.startswith(f"{name}/") for p in inner)
        ]
        loaded = "--bootstrap vendor/autoload.php " if "composer.json" in inner else ""
        command += f" {loaded}{folders[0] if folders else '.'}"
    return Stage(TEST, command, Expected(TestFormat.JUNIT), cover=_cover(inner, runner))


def _cover(paths: Sequence[str], runner: str) -> Cover | None:
    """Of the folders that hold code: the upmost one would hold what was installed, too."""
    code = (path for path in paths if path.endswith(".php") and is_code(path))
    folders = sorted({path.partition("/")[0] for path in code if "/" in path})
    simple = [one for one in folders if _SIMPLE.fullmatch(one)]
    if not simple:
        return None
    said = " ".join(f"--coverage-filter {one}" for one in simple)
    first = _COUNTED.replace("FOLDERS", said)
    return Cover(runner, "$cover", CoverageFormat.COBERTURA, first=first)
