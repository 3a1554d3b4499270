"""Copies the repository's pages, and the files that they show, into a folder from which the site is built.

    python3 docs/site/stage.py FOLDER

The folder has the tree of the repository, so links between pages need no change. Two kinds of links cannot be kept, because the site has no
address of a repository to point to: a link to a folder becomes one to the folder's README.md, and a link to a source file, or to a folder
without README.md, becomes its text. A link to nothing is an error. A script that has drawn a picture (`stream.py`, `stream.png`) is shown below it.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

#: Files that a browser shows, and that are copied if a page links to them.
SHOWN = {".svg", ".png", ".txt", ".json", ".csv", ".h", ".f90", ".py"}

#: [text](target), where the text may hold one pair of brackets, as of an image that is a link.
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")

FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)


def pages():
    """Every page that git knows, or would add."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    found = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    return sorted(Path(name) for name in found if name and not name.startswith(".") and (ROOT / name).exists())


class Staging:
    """One copy of the pages: `errors` has what is wrong with their links."""

    def __init__(self, folder):
        self.folder = folder
        self.files = set()
        self.errors = []

    def link(self, page, match):
        """The link, as the site has it."""
        image, text, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match.group(0)
        path, _, anchor = target.partition("#")
        place = (ROOT / page.parent / path).resolve()
        if not place.exists() or not place.is_relative_to(ROOT):
            self.errors.append(f"{page}: there is no {target}")
            return match.group(0)
        if place.is_dir():
            if not (place / "README.md").exists():
                return text
            path = f"{path.rstrip('/')}/README.md"
        elif place.suffix in SHOWN:
            self.files.add(place.relative_to(ROOT))
        elif place.suffix != ".md":
            return text
        script = place.with_suffix(".py")
        shown = f"\n\n```python\n{script.read_text()}```" if image and script.exists() else ""
        return f"{image}[{text}]({path}{'#' + anchor if anchor else ''}){shown}"

    def page(self, page):
        """Copies a page with its links, but for those in blocks of code."""
        pieces = FENCE.split((ROOT / page).read_text())
        # Text, fence, code, fence, text, ...
        for k in range(0, len(pieces), 4):
            pieces[k] = LINK.sub(lambda match: self.link(page, match), pieces[k])
        to = self.folder / page
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text("".join(pieces))

    def copy(self):
        for page in pages():
            self.page(page)
        for file in self.files:
            (self.folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, self.folder / file)


def main():
    staging = Staging(Path(sys.argv[1]).resolve())
    staging.copy()
    if staging.errors:
        sys.exit("\n".join(staging.errors))
    print(f"{len(pages())} pages, {len(staging.files)} other files")


if __name__ == "__main__":
    main()
