"""The command `kirin`, which is a program of its own (docs/command.md)."""

import os
import sys

PATH = os.path.join(os.path.dirname(__file__), "bin", "kirin")


def main():
    """Becomes the command."""
    try:
        os.execv(PATH, [PATH, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"kirin: {PATH}: {error.strerror}. This package was built without the command, or for another machine")
