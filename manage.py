"""Django's command line, with the embedded database started where it is needed."""

import os
import sys

from loomverify.embedded import ensure_database
from loomverify.env import environment
from loomverify.variables import ConfigurationError

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "loomverify.settings")
    try:
        ensure_database(environment())
    except ConfigurationError as error:
        sys.stderr.write(f"loomverify: {error}\n")
        sys.exit(3)
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)
