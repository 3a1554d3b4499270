#!/usr/bin/env python3
"""A step of `monte-carlo` on a GPU, phase by phase: counted where there is no GPU, and measured where there is one.

    cargo build --release -p monte-carlo
    benches/device_step.py target/release/monte-carlo                  the kernels' instructions, and what they take by these counts
    benches/device_step.py target/release/monte-carlo --measure        Figures 11 and 12 of Pattabiraman et al. (2013)

Counting needs no GPU: the driver of ffi-tests/fake-cuda interprets the PTX and counts each instruction once for each warp that executes it, and once more
for threads that have parted. The counts are those of the second step. A division is taken for 12 instructions and a root for 14, 8 of them of
double precision, as ptxas makes them for sm_90; an addition of 64-bit integers is taken for 2.

A kernel takes the longest of four times: to issue its instructions; to compute in double precision; to move its bytes, if nothing came out of a cache; and
the time of one warp alone, in which each instruction waits for the one before and each load for memory, as often as the warps come in turns.
To these times --launch is added for each launch. The defaults are those of an H100.

With --measure the phases are timed on one thread of the processor and, if there is a GPU, there; cells that need a GPU have the predicted time in brackets.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import figure

# The kernels of the phases, in the order of a step.
PHASES = {
    "time step": ["bin_moments", "least_relaxation"],
    "relaxation": ["relax"],
    "new orbits": ["find_orbits", "find_places"],
    "sort": ["make_keys", "sort_tiles", "merge_far", "take"],
    "potential": ["sum_runs", "sum_blocks", "add_blocks", "fill_potential"],
    "energy correction": ["correct", "pay", "scale_velocities", "list_leaving"],
    "diagnostics": ["diagnose", "join", "summarize"],
}

# What the seed's Appendix A has: mean speed-ups of a GTX 280 over one core.
PUBLISHED = {"new orbits": "28"}

DIVISION, ROOT, OF_DOUBLES, WIDE = 12, 14, 8, 2
WARP = 32
Counts = collections.namedtuple("Counts", "launches warps threads opcodes")


def read(log):
    """The counts of a log of the fake driver: by kernel, the opcodes with the numbers of warps and threads that execute them."""
    kernels = {}
    for what, number in re.findall(r"^count (\S+) (\d+)$", log, re.MULTILINE):
        kind, _, rest = what.partition(":")
        name, _, opcode = rest.partition(":")
        of = kernels.setdefault(name, {}) if kind in ("kernel", "warps", "threads") else {}
        of[kind, opcode] = int(number)
    read_one = lambda of: Counts(of["kernel", ""], of["warps", ""], of["threads", ""],
                                 {code: (n, of["threads", code]) for (kind, code), n in of.items() if kind == "warps" and code})
    return {name: read_one(of) for name, of in kernels.items() if ("warps", "") in of}


def less(after, before):
    """The counts of the steps between two."""
    nothing = Counts(0, 0, 0, {})

    def one(name):
        a, b = after[name], before.get(name, nothing)
        codes = {code: tuple(x - y for x, y in zip(n, b.opcodes.get(code, (0, 0)))) for code, n in a.opcodes.items()}
        return Counts(a.launches - b.launches, a.warps - b.warps, a.threads - b.threads, codes)

    return {name: one(name) for name in after}


def weight(opcode):
    """Instructions of the machine that an opcode becomes, and how many of them are of double precision."""
    if opcode.startswith("div.") and opcode.endswith(".f64"):
        return DIVISION, OF_DOUBLES
    if opcode.startswith("sqrt.") and opcode.endswith(".f64"):
        return ROOT, OF_DOUBLES
    if re.fullmatch(r"(add|sub)\.[su]64", opcode):
        return WIDE, 0
    computes = re.match(r"(add|sub|mul|fma|mad|min|max|setp|abs|neg|cvt)\.", opcode)
    return 1, int(bool(computes) and ".f64" in opcode)


def bytes_of(opcode):
    """Bytes that a thread moves to or from global memory."""
    found = re.fullmatch(r"(?:ld|st|atom|red)\.global(?:\.\w+)*?(?:\.v(\d))?\.[a-z](\d+)", opcode)
    return int(found[1] or 1) * int(found[2]) // 8 if found else 0


class Cost:
    """What a kernel, or a phase, does in a step."""

    def __init__(self, counts):
        self.launches, self.launched = counts.launches, counts.warps
        self.instructions = self.doubles = self.lanes = self.bytes = self.loads = self.shared = 0
        for opcode, (warps, threads) in counts.opcodes.items():
            all_of, doubles = weight(opcode)
            self.instructions += all_of * warps
            self.doubles += doubles * warps
            self.lanes += all_of * threads
            self.bytes += bytes_of(opcode) * threads
            self.loads += warps * opcode.startswith(("ld.global", "atom.global"))
            self.shared += warps * opcode.startswith(("ld.shared", "atom.shared"))

    def bounds(self, card):
        """Seconds: to issue, of double precision, of memory, and of warps that wait alone."""
        if not self.launched:
            return [0.0] * 4
        schedulers, clock = 4 * card.multiprocessors, 1e9 * card.clock
        turns = -(-self.launched // max(self.launches, 1)) / (card.multiprocessors * card.resident)
        waits = card.wait * self.instructions + card.load * self.loads + card.shared * self.shared
        return [self.instructions / (schedulers * clock), self.doubles * WARP / (64 * card.multiprocessors * clock),
                self.bytes / (1e12 * card.bandwidth), waits / self.launched * self.launches * max(turns, 1.0) / clock]

    def seconds(self, card):
        return max(self.bounds(card)) + 1e-6 * card.launch * self.launches


def costs(counts):
    """The costs of each phase: those of its kernels, which ran."""
    return {phase: {name: Cost(counts[name]) for name in names if counts.get(name) and counts[name].launches}
            for phase, names in PHASES.items()}


def predicted(of_phases, card):
    """Seconds of each phase."""
    return {phase: sum(cost.seconds(card) for cost in kernels.values()) for phase, kernels in of_phases.items()}


def driver():
    """The folder of the driver that interprets PTX."""
    done = subprocess.run(["cargo", "run", "--quiet", "-p", "fake-cuda", "--example", "driver"], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip()


def counted(program, n, folder):
    """The counts of the second step."""
    logs = []
    with tempfile.TemporaryDirectory() as place:
        for steps in (1, 2):
            log = os.path.join(place, "log")
            settings = {"LD_LIBRARY_PATH": folder, "FAKE_CUDA_COUNT": "1", "FAKE_CUDA_LOG": log, "FAKE_CUDA_MEMORY": str(1 << 34),
                        "KIRIN_GPU_TIMEOUT": "86400"}
            subprocess.run([program, "--n", str(n), "--steps", str(steps), "--device", "gpu"], env={**os.environ, **settings},
                           stdout=subprocess.DEVNULL, check=True)
            with open(log, encoding="utf-8") as file:
                logs.append(read(file.read()))
    return less(logs[1], logs[0])


def kept(file, n, make):
    """The counts for so many stars, from a file if it is there; else they are made and written to it."""
    if file and os.path.exists(file):
        with open(file, encoding="utf-8") as text:
            whole = json.load(text)
        if whole["n"] != n:
            raise SystemExit(f"{file}: counts of {whole['n']} stars, not of {n}")
        return {name: Counts(*numbers, {code: tuple(of) for code, of in opcodes.items()}) for name, (*numbers, opcodes) in whole["kernels"].items()}
    counts = make()
    if file:
        with open(file, "w", encoding="utf-8") as text:
            json.dump({"n": n, "kernels": counts}, text)
    return counts


def counts_table(of_phases, n, card):
    """Lines of a table of the kernels."""
    lines = ["| kernel | phase | launches | instructions of a warp, for each star | of double precision | busy lanes | bytes for each star"
             " | issue, ms | double, ms | memory, ms | alone, ms | with launches, ms |", "|---|---|" + "--:|" * 10]
    total = 0.0
    for phase, kernels in of_phases.items():
        for name, cost in kernels.items():
            lanes = cost.lanes / (WARP * cost.instructions)
            cells = [f"`{name}`", phase, cost.launches, f"{cost.instructions / n:.1f}", f"{cost.doubles / n:.1f}", f"{lanes:.2f}",
                     f"{cost.bytes / n:.0f}"]
            cells += [f"{1e3 * bound:.3f}" for bound in [*cost.bounds(card), cost.seconds(card)]]
            lines.append("| " + " | ".join(map(str, cells)) + " |")
            total += cost.seconds(card)
    return [*lines, "", f"All kernels of a step of {n} stars: {1e3 * total:.2f} ms, predicted."]


def measured(program, n, steps, device):
    """Seconds of each phase of a step, without the first one; None where there is no such device."""
    phases = []
    with tempfile.TemporaryDirectory() as place:
        file = os.path.join(place, "run.json")
        for count in (1, 1 + steps):
            done = subprocess.run([program, "--n", str(n), "--steps", str(count), "--threads", "1", "--device", device, "--profile", "--json", file],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                print(done.stderr.strip(), file=sys.stderr)
                return None
            with open(file, encoding="utf-8") as text:
                phases.append(json.load(text)["phases"])
    first, all_of = phases
    return {phase: (all_of[phase] - first[phase]) / steps for phase in all_of}


def speed_table(rows, prediction, n_counted):
    """Lines of the table of speed-ups; `rows` has N and the seconds of the phases on the processor and on the GPU or None."""
    lines = ["| N | phase | one thread, ms | GPU, ms | speed-up | published |", "|--:|---|--:|--:|--:|--:|"]
    for n, here, there in rows:
        for phase in [*PHASES, "all"]:
            seconds = sum(here.values()) if phase == "all" else here[phase]
            expected = (sum(prediction.values()) if phase == "all" else prediction[phase]) * n / n_counted
            if there is None:
                cells = [f"- ({1e3 * expected:.2f})", f"- ({seconds / expected:.0f})"]
            else:
                found = sum(there.values()) if phase == "all" else there[phase]
                cells = [f"{1e3 * found:.2f} ({1e3 * expected:.2f})", f"{seconds / found:.0f} ({seconds / expected:.0f})"]
            lines.append(f"| {n} | {phase} | {1e3 * seconds:.1f} | {' | '.join(cells)} | {PUBLISHED.get(phase, '')} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program monte-carlo")
    parser.add_argument("--n", type=int, nargs="+", default=[1_000_000], help="numbers of stars; the first one is counted (1000000)")
    parser.add_argument("--measure", action="store_true", help="measure the phases, too")
    parser.add_argument("--steps", type=int, default=5, help="steps to be measured (5)")
    parser.add_argument("--counts", metavar="FILE", help="take the counts from this file; if it is not there, write them to it")
    parser.add_argument("--driver", help="folder of the driver that interprets PTX; built if it is not given")
    parser.add_argument("--multiprocessors", type=int, default=132)
    parser.add_argument("--clock", type=float, default=1.755, help="GHz")
    parser.add_argument("--bandwidth", type=float, default=3.35, help="TB/s")
    parser.add_argument("--resident", type=int, default=32, help="warps on a multiprocessor at a time (32)")
    parser.add_argument("--wait", type=float, default=6, help="clock cycles of an instruction of a warp alone (6)")
    parser.add_argument("--load", type=float, default=300, help="the same of a load from memory or its cache (300)")
    parser.add_argument("--shared", type=float, default=30, help="the same from shared memory (30)")
    parser.add_argument("--launch", type=float, default=5, help="microseconds of a launch (5)")
    given = parser.parse_args()
    n = given.n[0]
    of_phases = costs(kept(given.counts, n, lambda: counted(given.program, n, given.driver or driver())))
    print("\n".join(["## Counted", "", *counts_table(of_phases, n, given)]))
    if given.measure:
        rows = [(n, measured(given.program, n, given.steps, "cpu"), measured(given.program, n, given.steps, "gpu")) for n in given.n]
        head = ["", "## Figures 11 and 12 of the seed: phases on one thread and on a GPU", "",
                f"`{' '.join(sys.argv)}`; {figure.machine()}, load {os.getloadavg()[0]:.1f}. In brackets what the counts predict.", ""]
        print("\n".join([*head, *speed_table(rows, predicted(of_phases, given), n)]))


if __name__ == "__main__":
    main()
