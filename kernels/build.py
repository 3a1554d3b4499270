#!/usr/bin/env python3
"""Compiles the *.cu of each folder called kernels to prebuilt/*.ptx in it: the library's and those of the examples.

Needs Python 3.9 and pip on Linux on x86-64; no CUDA toolkit and no GPU: the compiler is NVRTC out
of a pinned wheel of the Python package index (24 MB, fetched once). The result is the same bytes
everywhere.

    kernels/build.py            bring every prebuilt/ up to date
    kernels/build.py --check    build anew elsewhere and compare byte by byte

Ends with 0 if all is well, 1 if not, and 77 if the compiler cannot be had on this machine.
"""

import argparse
import hashlib
import os
import pathlib
import re
import sys
import tempfile

from tools import nvrtc, wheels

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [REPOSITORY / "kernels", REPOSITORY / "kernels/variants", REPOSITORY / "src/device/kernels", *sorted(REPOSITORY.glob("examples/*/kernels"))]
TARGET = "60"
OPTIONS = [f"--gpu-architecture=compute_{TARGET}", "--std=c++17", "--fmad=false", "--ftz=true"]
# Where a folder's headers are. The variants are made of the library's.
INCLUDES = [".", ".."]
# What NVRTC 12.1 writes, and the first Linux driver that reads it (that of CUDA 12.1).
PTX_VERSION = "8.1"
LEAST_DRIVER = "530.30.02"
UNAVAILABLE = 77


class Wrong(Exception):
    """Something is not as it should be; the message says what."""


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def sources(folder):
    """Every file that goes into a module. The variants are made of the library's headers."""
    return sorted([*folder.glob("*.cu"), *folder.glob("*.cuh"), *folder.parent.glob("*.cuh")])


def modules(folder):
    return sorted(folder.glob("*.cu"))


def declared(module):
    """The kernels of a module: the `__global__` functions in its source and in the headers that it names, and whatever a
    macro makes one of, in its source or through the macros of the headers."""
    macros = {}
    for path in sorted(sources(module.parent), key=lambda path: path.name != "kirin.cuh"):
        for name, parameters, body in re.findall(r"^#define (\w+)\(([^)]*)\)(.*)$", joined(path), re.M):
            macros.setdefault(name, ([one.strip() for one in parameters.split(",")], body))
    named = re.findall(r'^#include "([^"]+)"$', module.read_text(), re.M)
    headers = "".join(without_directives(module.parent / name) for name in named)
    text = without_directives(module)
    return set(made(text, macros)) | set(re.findall(r"__global__ void (\w+)\(", headers + text))


def without_directives(path):
    return re.sub(r"^#.*$", "", joined(path), flags=re.M)


def joined(path):
    """A source without comments and continued lines."""
    return re.sub(r"//[^\n]*", "", path.read_text()).replace("\\\n", " ")


def made(text, macros):
    """The kernels that the uses of macros in a text make."""
    for name, arguments in re.findall(r"\b(\w+)\(([^()]*)\)", text):
        if name in macros:
            parameters, body = macros[name]
            given = dict(zip(parameters, map(str.strip, arguments.split(","))))
            if "__global__" in body:
                yield given[parameters[0]]
            else:
                body = re.sub(r"\w+", lambda word: given.get(word.group(), word.group()), body)
                yield from made(re.sub(r"\s*##\s*", "", body), macros)


def check_ptx(module, ptx):
    """Refuses PTX that is not for the promised drivers and devices, or lacks a kernel."""
    version = re.search(r"^\.version (\S+)$", ptx, re.M).group(1)
    target = re.search(r"^\.target (\S+)$", ptx, re.M).group(1)
    if (version, target) != (PTX_VERSION, f"sm_{TARGET}"):
        raise Wrong(f"{module.name}: PTX {version} for {target}, expected {PTX_VERSION} for sm_{TARGET}")
    entries = set(re.findall(r"^\.visible \.entry (\w+)\(", ptx, re.M))
    wanted = declared(module)
    if entries != wanted:
        raise Wrong(f"{module.name}: kernels {sorted(entries ^ wanted)} are in the source or the PTX, not in both")
    # The library cuts modules of one kernel out of the text: what kernels share must stand before the first.
    beside = re.search(r"^(?:\.(?:visible|weak|extern) +)?\.(?:func|global|shared|const)\b.*", ptx.split(".entry", 1)[1], re.M)
    if beside:
        raise Wrong(f"{module.name}: between two kernels stands {beside.group()}")


def build(folder):
    """All modules of a folder: file name -> contents."""
    compiler = nvrtc.Compiler()
    if compiler.version() != tuple(map(int, nvrtc.VERSION.split(".")[:2])):
        raise Wrong(f"NVRTC says that it is {compiler.version()}, expected {nvrtc.VERSION}")
    built = {}
    for module in modules(folder):
        options = OPTIONS + [f"-I{folder / include}" for include in INCLUDES]
        ptx, warnings = compiler.compile(module.read_text(), module.name, options)
        if warnings.strip():
            print(warnings, file=sys.stderr)
        check_ptx(module, ptx)
        built[module.stem + ".ptx"] = ptx.encode()
    return built


def manifest(folder, built):
    """What prebuilt/ was made from, and how. ffi-tests/tests/prebuilt.rs reads it."""
    includes = [f"-I{os.path.normpath(folder.relative_to(REPOSITORY) / include)}" for include in INCLUDES]
    lines = [
        "# Written by kernels/build.py.",
        f"nvrtc {nvrtc.VERSION}",
        f"options {' '.join(OPTIONS + includes)}",
        f"ptx {PTX_VERSION}",
        f"target sm_{TARGET}",
        f"driver {LEAST_DRIVER}",
    ]
    lines += [f"source {sha256(path.read_bytes())} {os.path.relpath(path, folder)}" for path in sources(folder)]
    lines += [f"module {sha256(data)} {name}" for name, data in sorted(built.items())]
    return ("\n".join(lines) + "\n").encode()


def read(folder):
    """The files of a folder: name -> contents."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())} if folder.is_dir() else {}


def is_current(folder):
    """Whether prebuilt/ is what its MANIFEST says, and that is what this program would write."""
    there = read(folder / "prebuilt")
    recorded = there.pop("MANIFEST", None)
    names = {module.stem + ".ptx" for module in modules(folder)}
    return set(there) == names and recorded == manifest(folder, there)


def write(folder, files):
    """Makes prebuilt/ hold these files only."""
    prebuilt = folder / "prebuilt"
    prebuilt.mkdir(exist_ok=True)
    for name in read(prebuilt).keys() - files.keys():
        (prebuilt / name).unlink()
    for name, data in files.items():
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as scratch:
            scratch.write(data)
        made = pathlib.Path(scratch.name)
        made.chmod(0o644)
        made.rename(prebuilt / name)


def bring_up_to_date(folder, arguments):
    """Builds or compares the modules of a folder; whether all is well."""
    prebuilt = (folder / "prebuilt").relative_to(REPOSITORY)
    if is_current(folder) and not arguments.check and not arguments.force:
        print(f"{prebuilt} is up to date")
        return True
    built = build(folder)
    files = {**built, "MANIFEST": manifest(folder, built)}
    if not arguments.check:
        write(folder, files)
        print(f"{prebuilt}: built {', '.join(sorted(built))}")
        return True
    there = read(folder / "prebuilt")
    wrong = sorted(name for name in files.keys() | there.keys() if files.get(name) != there.get(name))
    for name in wrong:
        print(f"{prebuilt}/{name} is not what the sources make: run kernels/build.py", file=sys.stderr)
    if not wrong:
        print(f"{prebuilt} is what the sources make: {', '.join(sorted(built))}")
    return not wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    parser.add_argument("--force", action="store_true", help="build even if all hashes fit")
    arguments = parser.parse_args()
    try:
        all_well = [bring_up_to_date(folder, arguments) for folder in FOLDERS]
    except wheels.Unavailable as why:
        print(f"cannot build: {why}", file=sys.stderr)
        return UNAVAILABLE
    except (Wrong, nvrtc.CompileError) as why:
        print(why, file=sys.stderr)
        return 1
    return 0 if all(all_well) else 1


if __name__ == "__main__":
    sys.exit(main())
