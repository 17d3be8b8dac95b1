"""Ends as what could not be run does where the work is for other versions than this Python's."""

import platform
import sys

from packaging.specifiers import InvalidSpecifier, SpecifierSet

COULD_NOT_RUN_EXIT_CODE = 126
asked, has = sys.argv[1], platform.python_version()
try:
    fits = SpecifierSet(asked).contains(has, prereleases=True)
except InvalidSpecifier:
    fits = True  # pip says so better
if not fits:
    sys.stderr.write(f"The work is for Python {asked}; its image has {has}.\n")
    sys.exit(COULD_NOT_RUN_EXIT_CODE)
