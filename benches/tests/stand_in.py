"""A folder with a program of a few lines, which stands in for the one that a script of benches calls."""
import os
import tempfile
import unittest


class TestWithProgram(unittest.TestCase):
    """Makes the folder, and in it the program `NAME` with the text `TEXT`."""

    NAME = TEXT = ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.program = os.path.join(self.folder, self.NAME)
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(self.TEXT)
        os.chmod(self.program, 0o755)
