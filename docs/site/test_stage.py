"""The links of the site's pages, and which folders the site may replace: python docs/site/test_stage.py"""

import os
import subprocess
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import stage


class Links(unittest.TestCase):
    def staged(self, text, page="docs/page.md"):
        """A page with this text as the site has it, and what is wrong with it."""
        with TemporaryDirectory() as folder:
            (Path(folder) / "root/docs").mkdir(parents=True)
            (Path(folder) / "root" / page).write_text(text)
            for name in ("src/lib.rs", "kernels/README.md", "docs/plot.svg", "docs/stream.png", "docs/stream.py"):
                (Path(folder) / "root" / name).parent.mkdir(exist_ok=True)
                (Path(folder) / "root" / name).write_text("content\n")
            root, stage.ROOT = stage.ROOT, (Path(folder) / "root").resolve()
            try:
                staging = stage.Staging(Path(folder) / "site")
                staging.page(Path(page))
            finally:
                stage.ROOT = root
            return (Path(folder) / "site" / page).read_text(), staging

    def test_pages_and_headings_stay(self):
        for text in ("[a](../kernels/README.md#ptx)", "[a](https://example.org/x)", "[a](#here)"):
            self.assertEqual(self.staged(text)[0], text)

    def test_folders_become_their_pages(self):
        self.assertEqual(self.staged("[a](../kernels)")[0], "[a](../kernels/README.md)")
        self.assertEqual(self.staged("[a](../src/)")[0], "a")

    def test_sources_become_text(self):
        self.assertEqual(self.staged("see [`lib`](../src/lib.rs).")[0], "see `lib`.")

    def test_pictures_are_copied_and_scripts_shown(self):
        text, staging = self.staged("![a](plot.svg)")
        self.assertEqual((text, staging.files), ("![a](plot.svg)", {Path("docs/plot.svg")}))
        self.assertIn("```python\ncontent\n```", self.staged("![a](stream.png)")[0])

    def test_a_link_to_nothing_is_an_error(self):
        for target in ("none.md", "none/", "none.svg", "../../outside.md"):
            self.assertEqual(len(self.staged(f"[a]({target})")[1].errors), 1, target)

    def test_code_is_left_alone(self):
        text = "text\n\n```sh\n[a](none.md)\n```\n\nmore\n"
        found, staging = self.staged(text)
        self.assertEqual((found, staging.errors), (text, []))


class Folders(unittest.TestCase):
    def build(self, folder):
        """Runs `build` with a Python that is too old, so it ends with 77 once it has accepted the folder."""
        with TemporaryDirectory() as programs:
            old = Path(programs) / "python3"
            old.write_text("#!/bin/sh\nexit 1\n")
            old.chmod(0o755)
            environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
            build = [Path(__file__).resolve().parent / "build", folder]
            return subprocess.run(build, env=environment, capture_output=True, text=True)

    def test_only_a_site_that_the_script_has_built_is_replaced(self):
        with TemporaryDirectory() as folder:
            page = Path(folder) / "site/index.html"
            self.assertEqual(self.build(page.parent).returncode, 77)
            page.parent.mkdir()
            page.write_text("somebody's own\n")
            refused = self.build(page.parent)
            self.assertEqual(refused.returncode, 1, refused.stdout)
            self.assertIn("is there already", refused.stderr)
            self.assertEqual(page.read_text(), "somebody's own\n")
            (page.parent / ".kirin-site").touch()
            self.assertEqual(self.build(page.parent).returncode, 77)


if __name__ == "__main__":
    unittest.main()
