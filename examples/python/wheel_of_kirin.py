"""Builds the wheel of kirin-nbody: the files of `kirin/`, the libraries, their headers and the command. Nothing but Python is needed, and
cargo where LIBKIRIN does not name a library that is built already; the command and the other libraries are then taken from its folder.

    pip wheel --no-deps examples/python
"""

import base64
import hashlib
import os
import re
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INTERFACES = ["kirin", "kirin_grape5", "kirin_nbody6", "kirin_sapporo"]
PACKAGES = ["kirin", "kirin-command", "kirin-nbody6", "kirin-sapporo"]
PROGRAMS = ("kirin/bin/", "kirin/workers/")
# The first bytes of a file for one processor, and which number there is that of a processor: of Linux, and of macOS.
ELF, MAC = b"\x7fELF", bytes.fromhex("cffaedfe")
MACHINES = {ELF: ("<H", 18, {62: "x86_64", 183: "aarch64"}), MAC: ("<I", 4, {0x01000007: "x86_64", 0x0100000C: "arm64"})}


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
    """The library, built if nobody names one. Paths that are not absolute begin at the repository: pip calls this in a folder of its own."""
    named = os.environ.get("LIBKIRIN")
    if named:
        return ROOT / named
    target = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    packages = [word for package in PACKAGES for word in ("-p", package)]
    # It would put the library elsewhere. Conda's compiler package for Rust sets it.
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_BUILD_TARGET"}
    try:
        command = ["cargo", "build", "--release", "--target-dir", target, *packages]
        subprocess.run(command, cwd=ROOT, env=environment, check=True)
    except FileNotFoundError:
        raise SystemExit("there is no cargo: install Rust (https://rustup.rs), and open a new shell") from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"cargo ended with status {error.returncode}") from None
    return target / "release" / ("libkirin.dylib" if sys.platform == "darwin" else "libkirin.so")


def glibc(binary):
    """The newest version of the GNU C library that the library asks for."""
    found = re.findall(rb"GLIBC_(\d+)\.(\d+)", binary)
    return max((int(a), int(b)) for a, b in found) if found else None


def is_mac(binary):
    return binary.startswith(MAC)


def machine(name, binary):
    """The processor that a file was built for, which need not be this one."""
    form, place, processors = MACHINES.get(binary[:4], ("<I", 0, {}))
    number = struct.unpack_from(form, binary, place)[0] if len(binary) >= 20 else 0
    if number not in processors:
        raise SystemExit(f"{name} is no program or library for one of the processors that are known here")
    return processors[number]


def tag(files):
    """On which machines the wheel runs: the truth, also where that is not the usual one."""
    processors = {name: machine(name, binary) for name, binary in files.items()}
    processor = next(iter(processors.values()))
    if set(processors.values()) != {processor}:
        raise SystemExit(f"these were built for several processors: {processors}")
    binaries = list(files.values())
    if is_mac(binaries[0]):
        return f"py3-none-macosx_11_0_{processor}"
    newest = [version for version in map(glibc, binaries) if version]
    if not newest:
        return f"py3-none-linux_{processor}"
    a, b = max(newest + [(2, 17)])
    return f"py3-none-manylinux_{a}_{b}_{processor}"


def binaries():
    """The library and, as far as they lie in its folder, those of forwarded names and the command; by their places in the wheel."""
    main = library()
    if not main.is_file():
        raise SystemExit(f"there is no library {main}")
    data = main.read_bytes()
    if is_mac(data):
        return {"kirin/lib/libkirin.dylib": data}
    found = {"kirin/lib/libkirin.so.0": data}
    for place, file in [
        ("kirin/lib/libkirin_nbody6.so.0", "libkirin_nbody6.so"),
        ("kirin/lib/libkirin_sapporo.so.0", "libkirin_sapporo.so"),
        ("kirin/bin/kirin", "kirin"),
    ]:
        path = main.parent / file
        if path.is_file():
            found[place] = path.read_bytes()
        else:
            print(f"the wheel is built without {file}: it is not in {main.parent}", file=sys.stderr)
    return found


def metadata():
    lines = ["Metadata-Version: 2.1", f"Name: {value('name')}", f"Version: {version()}"]
    lines += [f"Summary: {value('description')}", f"License: {value('license')}"]
    lines += [f"Requires-Python: {value('requires-python')}", f"Requires-Dist: {needs()}"]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / "README.md").read_text()]
    return "\n".join(lines)


def contents():
    """The name and the bytes of each file of the wheel, and its tag."""
    compiled = binaries()
    tagged = tag(compiled)
    files = dict(compiled)
    for file in sorted([*(HERE / "kirin").glob("*.py*"), HERE / "kirin/py.typed", HERE / "kirin/workers/gravity_field"]):
        files[file.relative_to(HERE).as_posix()] = file.read_bytes()
    # The names under which clients include a header, too.
    of_clients = ["grape6.h", "gp5util.h", "g5util.h", "g5nbutil.h"]
    for header in [f"{interface}.{kind}" for interface in INTERFACES for kind in ("h", "f90")] + of_clients:
        files[f"kirin/include/{header}"] = (ROOT / "include" / header).read_bytes()
    of = f"{value('name').replace('-', '_')}-{version()}"
    info = f"{of}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: kirin\nRoot-Is-Purelib: false\nTag: {tagged}\n"
    files[f"{info}/METADATA"] = metadata().encode()
    files[f"{info}/WHEEL"] = wheel.encode()
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nkirin = kirin._command:main\n"
    for text in ("LICENSE-MIT", "LICENSE-APACHE"):
        files[f"{info}/licenses/{text}"] = (ROOT / text).read_bytes()
    return files, of, tagged


def record(files, info):
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{info}/RECORD,,\n"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517."""
    if not (ROOT / "Cargo.toml").is_file():
        raise SystemExit(f"{HERE} is not in kirin's repository. pip before 21.3 builds in a copy: python -m pip install --upgrade pip")
    files, of, tagged = contents()
    info = f"{of}.dist-info"
    files[f"{info}/RECORD"] = record(files, info).encode()
    name = f"{of}-{tagged}.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, data in files.items():
            entry = zipfile.ZipInfo(file, (2026, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if file.startswith(PROGRAMS) else 0o100644) << 16
            wheel.writestr(entry, data)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517."""
    raise NotImplementedError("kirin-nbody is built from kirin's repository: pip wheel examples/python")
