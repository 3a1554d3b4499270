"""NVIDIA's compilers, out of wheels from the Python package index.

Each wheel is pinned by version and SHA-256 and unpacked into a folder of its own under
$KIRIN_TOOLS, or else the user's cache folder. Nothing is installed into the running Python, and
what is there is used without asking the index again.
"""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile


class Unavailable(Exception):
    """The wheels cannot be had on this machine; the message says why."""


class Wheel:
    """A wheel of the package index, and the one file of it that matters."""

    def __init__(self, package, version, sha256, file):
        self.package = package
        self.version = version
        self.sha256 = sha256
        self.file = file

    def path(self):
        """Where `file` is; fetches the wheel if it has to."""
        folder = cache() / f"{self.package}-{self.version}"
        if not folder.is_dir():
            self.fetch(folder)
        found = folder / self.file
        if not found.is_file():
            raise Unavailable(f"{found} is missing: remove {folder} and try again")
        return found

    def program(self):
        """Like `path`, for a program: wheels do not say what may be executed."""
        found = self.path()
        if not os.access(found, os.X_OK):
            found.chmod(0o755)
        return found

    def fetch(self, folder):
        if sys.platform != "linux" or platform.machine() != "x86_64":
            raise Unavailable(
                f"the pinned wheels are for Linux on x86-64, this is {sys.platform} on {platform.machine()}"
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            wanted = pathlib.Path(scratch, "requirements.txt")
            wanted.write_text(f"{self.package}=={self.version} --hash=sha256:{self.sha256}\n")
            unpacked = pathlib.Path(scratch, "unpacked")
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
            command += ["--only-binary=:all:", "--require-hashes", "--disable-pip-version-check"]
            command += ["--target", str(unpacked), "--requirement", str(wanted)]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if "DO NOT MATCH THE HASHES" in done.stdout:
                raise ValueError(done.stdout)
            if done.returncode != 0:
                reason = done.stdout.strip().splitlines() or ["pip said nothing"]
                raise Unavailable(f"pip cannot install {self.package} {self.version}: {reason[-1]}")
            # Another process may have been faster: its copy is as good.
            try:
                unpacked.rename(folder)
            except OSError:
                if not folder.is_dir():
                    raise


def cache():
    """The folder of the unpacked wheels."""
    own = os.environ.get("KIRIN_TOOLS")
    if own:
        return pathlib.Path(own)
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "kirin" / "tools"
