"""By what the tests of a Python project are run, and which."""

from __future__ import annotations

import pytest

from tests.engine.gating.test_recipes import part_in
from verification.engine.gating.components import Component, Language
from verification.engine.gating.recipe_python import MEMBERS
from verification.engine.gating.recipes import Files, part_of
from verification.engine.gating.stages import TEST, Part

MANAGE = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site.settings')\n"
TESTS = "from django.test import TestCase\n\nclass Tests(TestCase):\n    def test_it(self): pass\n"
DJANGO = {"manage.py": MANAGE, "requirements.txt": "django\n", "app/tests.py": TESTS}


def command_of(part: Part) -> str:
    return next(one.command for one in part.stages if one.gate == TEST)


@pytest.mark.parametrize(
    ("files", "is_by_django"),
    [
        (DJANGO, True),
        ({**DJANGO, "app/tests/test_more.py": "import unittest\n"}, True),
        ({**DJANGO, "requirements.txt": "django\npytest-django\n"}, False),
        ({**DJANGO, "pytest.ini": "[pytest]\nDJANGO_SETTINGS_MODULE = site.settings\n"}, False),
        ({**DJANGO, "app/tests/test_more.py": "def test_it(): pass\n"}, False),
        ({**DJANGO, "app/tests.py": "import unittest\n"}, False),
        ({**DJANGO, "manage.py": "print('a script of that name')\n"}, False),
        ({"requirements.txt": "", "app/tests.py": TESTS}, False),
    ],
)
def test_tests_of_django_are_run_by_it_unless_pytest_is_spoken_of(
    files: dict[str, str], is_by_django: bool
) -> None:
    command = command_of(part_in(Language.PYTHON, files))

    assert ("run_unittest.py manage.py test" in command) is is_by_django
    assert ("run_pytest.py" in command) is not is_by_django


def test_tests_of_a_component_below_are_left_to_it() -> None:
    paths = [
        "pyproject.toml",
        "packages/my a/pyproject.toml",
        "web/package.json",
        "packages/b/setup.py",
        "a.py",
    ]
    upper = Component("", Language.PYTHON, ("pyproject.toml",))
    inner = Component("packages/my a", Language.PYTHON, ("pyproject.toml",))
    other = Component("packages/b", Language.PYTHON, ("setup.py",))
    components = (upper, inner, other, Component("web", Language.NODE, ("package.json",)))
    files = Files(paths, lambda _path: b"")

    ignoring = command_of(part_of(upper, files, components))

    assert ignoring.endswith("--ignore packages/b --ignore 'packages/my a'")
    assert "--ignore" not in command_of(part_of(inner, files, components))


def test_what_only_names_its_members_has_nothing_to_try_itself() -> None:
    paths = ["pyproject.toml", "a/pyproject.toml", "a/test_a.py"]
    upper = Component("", Language.PYTHON, ("pyproject.toml",))
    inner = Component("a", Language.PYTHON, ("pyproject.toml",))

    part = part_of(upper, Files(paths, lambda _path: b""), (upper, inner))

    assert next(one.skipped for one in part.stages if one.gate == TEST) == MEMBERS
