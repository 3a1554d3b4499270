"""Builds the wheel of kirin-nbody: the files of `kirin/`, the library and its headers. Nothing but Python is needed, and
cargo where KIRIN_LIBRARY does not name a library that is built already.

    pip wheel --no-deps examples/python
"""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HEADERS = ["kirin.h", "kirin.f90", "kirin_grape5.h", "kirin_grape5.f90"]


def project(name):
    """A value of pyproject.toml. (tomllib is not in every Python that is supported.)"""
    text = (HERE / "pyproject.toml").read_text()
    return re.search(rf'^{name} = "(.*)"$', text, re.MULTILINE).group(1)


def library():
    """The library, built if nobody names one."""
    named = os.environ.get("KIRIN_LIBRARY")
    if named:
        return Path(named)
    subprocess.run(["cargo", "build", "--release", "--lib", "-p", "kirin"], cwd=ROOT, check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    return folder / ("libkirin.dylib" if sys.platform == "darwin" else "libkirin.so")


def glibc(binary):
    """The newest version of the GNU C library that the library asks for."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", binary)
    return max((int(a), int(b)) for a, b in found) if found else None


def tag(binary):
    """On which machines the wheel runs: the truth, also where that is not the usual one."""
    machine = platform.machine()
    if sys.platform == "darwin":
        return f"py3-none-macosx_11_0_{machine}"
    needs = glibc(binary)
    if needs is None:
        return f"py3-none-linux_{machine}"
    a, b = max(needs, (2, 17))
    return f"py3-none-manylinux_{a}_{b}_{machine}"


def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {project('name')}", f"Version: {project('version')}"]
    lines += [f"Summary: {project('description')}", f"License: {project('license')}"]
    lines += [f"Requires-Python: {project('requires-python')}", "Requires-Dist: numpy>=1.21"]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()]
    return "\n".join(lines)


def contents():
    """The name and the bytes of each file of the wheel, and its tag."""
    binary = library().read_bytes()
    files = {}
    for file in sorted((HERE / "kirin").iterdir()):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            files[f"kirin/{file.name}"] = file.read_bytes()
    files["kirin/libkirin.dylib" if sys.platform == "darwin" else "kirin/libkirin.so"] = binary
    for header in HEADERS:
        files[f"kirin/include/{header}"] = (ROOT / "include" / header).read_bytes()
    of = f"{project('name').replace('-', '_')}-{project('version')}"
    info = f"{of}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: kirin\nRoot-Is-Purelib: false\nTag: {tag(binary)}\n"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = wheel.encode()
    for text in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{text}"] = (ROOT / text).read_bytes()
    return files, of, tag(binary)


def record(files, info):
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    files, of, tagged = contents()
    info = f"{of}.dist-info"
    files[f"{info}/RECORD"] = record(files, info).encode()
    name = f"{of}-{tagged}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, data in files.items():
            entry = zipfile.ZipInfo(file, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    raise NotImplementedError("kirin-nbody is built from kirin's repository: pip wheel examples/python")
