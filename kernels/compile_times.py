#!/usr/bin/env python3
"""How long ptxas takes for whole modules, and for those of one kernel that the library hands to the driver.

The driver compiles with the same compiler: its processor time here is the yardstick for the first block of a
process that finds no cache. Needs the pinned ptxas (20 MB, fetched once), no GPU.

    kernels/compile_times.py
    kernels/compile_times.py --arch sm_90 --rounds 5

Ends with 77 if the tool cannot be had on this machine.
"""

import argparse
import pathlib
import resource
import subprocess
import sys
import tempfile

from tools import ptxas, wheels

PREBUILT = pathlib.Path(__file__).resolve().parent / "prebuilt"
PRECISIONS = ["mixed", "double_single", "double", "single"]
UNAVAILABLE = 77


def kernels(text):
    """The module of each kernel, as src/core/gpu/cuda/driver/modules.rs cuts it."""
    head, *entries = text.split("\n.visible .entry ")
    return {entry.split("(")[0]: f"{head}\n.visible .entry {entry}\n" for entry in entries}


def measure(compiler, text, architecture, rounds):
    """The least seconds of processor time of some rounds, and the bytes of machine code."""
    with tempfile.TemporaryDirectory() as scratch:
        source, cubin = pathlib.Path(scratch, "x.ptx"), pathlib.Path(scratch, "x.cubin")
        source.write_text(text)
        best = float("inf")
        for _ in range(rounds):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([str(compiler), "-arch", architecture, str(source), "-o", str(cubin)], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return best, cubin.stat().st_size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="sm_80", help="architecture (sm_80)")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many (3)")
    arguments = parser.parse_args()
    try:
        compiler = ptxas.PTXAS.program()
    except wheels.Unavailable as why:
        print(f"cannot measure: {why}", file=sys.stderr)
        return UNAVAILABLE
    print(f"ptxas {ptxas.version(compiler)}, {arguments.arch}, seconds of processor time, kB of machine code")
    for module in PRECISIONS + ["common"]:
        text = (PREBUILT / f"{module}.ptx").read_text()
        whole = measure(compiler, text, arguments.arch, arguments.rounds)
        print(f"{module:32} {whole[0]:6.2f} {whole[1] / 1e3:8.0f}   whole")
        for name, alone in kernels(text).items():
            seconds, size = measure(compiler, alone, arguments.arch, arguments.rounds)
            print(f"  {name:30} {seconds:6.2f} {size / 1e3:8.0f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
