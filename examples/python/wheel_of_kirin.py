"""Builds the wheel of kirin-nbody: the files of `kirin/`, the library and its headers. Nothing but Python is needed, and
cargo where LIBKIRIN does not name a library that is built already.

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


def value(name, file=HERE / "pyproject.toml"):
    """The first value of this name in a file. (tomllib is not in every Python that is supported.)"""
    return re.search(rf'^{name} = "(.*)"$', file.read_text(), re.MULTILINE).group(1)


def version():
    """That of the library."""
    return value("version", ROOT / "Cargo.toml")


def needs():
    """The dependency."""
    return re.search(r'^dependencies = \["(.*)"\]$', (HERE / "pyproject.toml").read_text(), re.MULTILINE).group(1)


def library():
    """The library, built if nobody names one."""
    named = os.environ.get("LIBKIRIN")
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
    newest = glibc(binary)
    if newest is None:
        return f"py3-none-linux_{machine}"
    a, b = max(newest, (2, 17))
    return f"py3-none-manylinux_{a}_{b}_{machine}"


def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {value('name')}", f"Version: {version()}"]
    lines += [f"Summary: {value('description')}", f"License: {value('license')}"]
    lines += [f"Requires-Python: {value('requires-python')}", f"Requires-Dist: {needs()}"]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()]
    return "\n".join(lines)


def contents():
    """The name and the bytes of each file of the wheel, and its tag."""
    binary = library().read_bytes()
    files = {}
    for file in sorted((HERE / "kirin").iterdir()):
        if file.suffix in (".py", ".pyi") or file.name == "py.typed":
            files[f"kirin/{file.name}"] = file.read_bytes()
    for file in sorted((HERE / "kirin/workers").iterdir()):
        files[f"kirin/workers/{file.name}"] = file.read_bytes()
    files["kirin/libkirin.dylib" if sys.platform == "darwin" else "kirin/libkirin.so"] = binary
    for header in HEADERS:
        files[f"kirin/include/{header}"] = (ROOT / "include" / header).read_bytes()
    of = f"{value('name').replace('-', '_')}-{version()}"
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
            entry.external_attr = (0o100755 if "/workers/" in file else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    raise NotImplementedError("kirin-nbody is built from kirin's repository: pip wheel examples/python")
