#!/usr/bin/env python3
"""Tables 4.3, 4.5 and 4.6 and Figures 4.5, 4.7 and 4.8 of the thesis (J. Bedorf, Amsterdam 2007): Starlab's kira with kirin.

    benches/starlab.py target/release/kirin STARLAB/bin RESULTS --minutes 30

STARLAB/bin has makeplummer, scale and kira, linked with kirin as CLIENTS.md tells. RESULTS.json keeps every run with its machine and commit,
so that the same command later makes only those that are missing, also elsewhere; RESULTS.md and RESULTS.svg are written from it. The list
"notes" in it, what else a reader should know, is kept too. Runs begin with few stars and end when the
minutes do. Seconds are processor time, of kira alone: from the start of the program to t = 1/4, its two looks at the energy included.

Models of more than 131072 stars are scaled here, with potentials by the Python package kirin: `scale` sums all pairs on one core without
vectors. A run of 524288 stars takes hours; --threads 2 divides it among two cores.
"""
import argparse
import json
import os
import re
import resource
import subprocess
import time

import figure

# Table 4.3: seconds at a = 0.3 of GRAPE-6Af and kirin (8800GTX), with eps = 1/256 and with 0.
SECONDS = {
    256: (0.06, 0.12, 0.06, 0.11), 512: (0.11, 0.22, 0.13, 0.19), 1024: (0.27, 0.29, 0.27, 0.39), 2048: (0.65, 0.54, 0.67, 0.74),
    4096: (1.65, 1.51, 1.79, 3.75), 8192: (4.33, 4.35, 4.7, 8.57), 16384: (12.02, 11.17, 13.18, 20.2),
    32768: (35.69, 32.5, 41.4, 57.1), 65536: (116.1, 101.1, 146, 202), 131072: (None, 355, None, 735),
    262144: (None, 1313, None, 2668), 524288: (None, 4913, None, 11190), 1048576: (None, 18681, None, 46372),
}
# Tables 4.5 (eps = 1/256) and 4.6 (0): energy errors of GRAPE-6Af and kirin at a = 0.3 (in 1e-7), 0.2 (1e-8) and 0.1 (1e-9).
ERRORS = {
    "1/256": {
        256: (1.14, 0.40, 0.42, 1.00, 0.28, 20.1), 512: (0.33, 0.40, 0.68, 3.00, 0.56, 23.8), 1024: (0.25, 0.78, 0.39, 3.58, 0.97, 29.1),
        2048: (0.21, 0.31, 1.08, 2.50, 0.98, 19.3), 4096: (8.71, 8.92, 1.59, 2.75, 0.58, 9.33), 8192: (51.5, 51.5, 1.72, 2.58, 1.54, 12.9),
        16384: (3.75, 3.46, 3.80, 4.25, 2.04, 6.92), 32768: (8.32, 8.14, 1.34, 3.37, 2.39, 21.4), 65536: (37.0, 37.3, 2.24, 2.12, 3.72, 4.95),
    },
    "0": {
        256: (0.11, 2.00, 0.49, 1.55, 0.90, 0.38), 512: (0.73, 0.01, 0.79, 0.17, 0.78, 3.29), 1024: (0.53, 0.91, 0.65, 1.25, 0.90, 6.35),
        2048: (0.16, 0.13, 1.64, 3.01, 0.93, 19.4), 4096: (10.9, 11.6, 1.45, 1.96, 0.47, 9.26), 8192: (151, 151, 0.90, 2.18, 1.14, 22.0),
        16384: (86.1, 86.2, 4.18, 4.83, 1.58, 12.4), 32768: (497, 498, 124, 122, 1.67, 19.2), 65536: (1421, 1413, 72.9, 74.1, 1.86, 0.70),
    },
}
SOFTENINGS = {"1/256": 1 / 256, "0": 0.0}
ACCURACIES = {0.3: 1e-7, 0.2: 1e-8, 0.1: 1e-9}
# Figures 4.7 and 4.8: accuracy parameters, and numbers of stars.
SWEEP = [round(0.025 * k, 3) for k in range(12, 0, -1)]
SWEPT = (1024, 16384)
# The most stars that `makeplummer` and `scale` bring to standard units themselves, in some minutes.
SCALED_BY_STARLAB = 131072


def wanted(largest):
    """All runs in their order: N, eps, a."""
    tables = [(n, eps, a) for n in SECONDS for eps in SOFTENINGS for a in ACCURACIES if n in ERRORS[eps] or a == 0.3]
    sweep = [(n, eps, a) for n in SWEPT for a in SWEEP for eps in SOFTENINGS]
    # The sweep of few stars first; that of many comes where the tables have as many.
    order = sorted(dict.fromkeys(tables + sweep), key=lambda run: (run[0], run[2] not in ACCURACIES, -run[2]))
    return [run for run in order if run[0] <= largest]


def model(programs, n):
    """A Plummer model of n stars in standard units, as kira reads it."""
    plummer = [os.path.join(programs, "makeplummer"), "-n", str(n), "-s", "1", "-i"]
    if n > SCALED_BY_STARLAB:
        return scaled(subprocess.run([*plummer, "-u"], capture_output=True, check=True, text=True).stdout, potentials).encode()
    made = subprocess.run(plummer, capture_output=True, check=True)
    scale = subprocess.run([os.path.join(programs, "scale"), "-s"], input=made.stdout, capture_output=True, check=True)
    return scale.stdout


STAR = re.compile(r"  r  =  (\S+) (\S+) (\S+)\n  v  =  (\S+) (\S+) (\S+)\n")


def scaled(snapshot, potentials_of):
    """A snapshot of `makeplummer -u` in standard units: mass 1, potential energy -1/2, kinetic energy 1/4, at rest in the origin.

    `potentials_of(x, m)` are the potentials of stars of mass m at the positions x. The story of the root says what that of `scale` does.
    """
    before, root, *stars = snapshot.split("(Particle\n")
    columns = list(zip(*([float(c) for c in STAR.search(star).groups()] for star in stars)))
    columns = [[c - middle for c in column] for column, middle in zip(columns, map(mean, columns))]
    m = 1 / len(stars)
    potential = m * sum(potentials_of(list(zip(*columns[:3])), m)) / 2
    kinetic = m * sum(c * c for column in columns[3:] for c in column) / 2
    factors = [abs(potential) / 0.5] * 3 + [(0.25 / kinetic) ** 0.5] * 3
    root = root.replace("  initial_mass = 1\n", "  initial_mass = 1\n  initial_total_energy = -0.25\n  initial_rvirial = 1\n")
    root = root.replace("  com_vel = 0 0 0\n", "  com_vel = 0 0 0\n  total_energy = -0.25\n")
    parts = [before, root]
    for star, *phase in zip(stars, *columns):
        line = "  r  =  {:.17g} {:.17g} {:.17g}\n  v  =  {:.17g} {:.17g} {:.17g}\n".format(*(c * f for c, f in zip(phase, factors)))
        parts.append(STAR.sub(line, star, count=1))
    return "(Particle\n".join(parts)


def potentials(x, m):
    """By direct summation in double precision."""
    import kirin

    return kirin.Gravity(x, m, precision="double").potentials()


def error_of(log):
    """|E(end) - E(start)| / |E(start)| of what kira says."""
    energies = [float(line.split()[3]) for line in log.splitlines() if line.startswith("Energies:")]
    if len(energies) < 2:
        raise ValueError("kira told no two energies")
    return abs((energies[-1] - energies[0]) / energies[0])


def run(kirin, programs, stars, eps, a, threads=1):
    """Seconds of all threads together, energy error and steps of a run to t = 1/4."""
    command = [kirin, "run", "--threads", str(threads), os.path.join(programs, "kira"), "-t", "0.25", "-d", "0.25", "-D", "1", "-s", "1",
               "-a", str(a), "-e", str(SOFTENINGS[eps])]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=stars, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    log = done.stderr.decode(errors="replace")
    steps = re.findall(r"total steps = *([0-9.e+]+)", log)
    return {"seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, "error": error_of(log),
            "steps": float(steps[-1]) if steps else None, "threads": threads}


def key(n, eps, a):
    return f"{n} {eps} {a}"


def shown(value, form="{:.3g}"):
    return "-" if value is None else form.format(value)


def mean(values):
    values = [v for v in values if v is not None]
    return sum(values) / len(values) if values else None


def named(names):
    """Runs in words."""
    return "; ".join(f"N = {n}, eps = {eps}, a = {a}" for n, eps, a in map(str.split, names))


def origins(runs):
    """Machines and commits of the runs: most were made where the first line says, the others are named."""
    made = {}
    for name, run in runs.items():
        made.setdefault((run["machine"], run["commit"]), []).append(name)
    for k, ((machine, built), names) in enumerate(sorted(made.items(), key=lambda item: -len(item[1]))):
        loads = [runs[name]["load"] for name in names]
        what = f"but {named(names)}" if k else "machine"
        yield f"{what}: {machine}; load {min(loads):.1f} to {max(loads):.1f}; commit {built}"


def of_several(runs):
    """Which runs had several threads."""
    found = [(name, run["threads"]) for name, run in runs.items() if run.get("threads", 1) > 1]
    return "".join(f"; of all {threads} threads together for {named([name])}" for name, threads in found)


def table_of_seconds(runs):
    lines = ["| N | GRAPE-6Af, eps = 1/256 [s] | kirin 2007 [s] | here [s] | GRAPE-6Af, eps = 0 [s] | kirin 2007 [s] | here [s] |",
             "|--:|--:|--:|--:|--:|--:|--:|"]
    for n, (grape, gpu, grape_0, gpu_0) in SECONDS.items():
        here = [runs.get(key(n, eps, 0.3), {}).get("seconds") for eps in SOFTENINGS]
        cells = [grape, gpu, here[0], grape_0, gpu_0, here[1]]
        lines.append(f"| {n} | " + " | ".join(shown(c, "{:.4g}") for c in cells) + " |")
    return lines


def table_of_errors(runs, eps):
    heads = [f"{who}, a = {a}" for a in ACCURACIES for who in ("GRAPE-6Af", "kirin 2007", "here")]
    lines = ["| N | " + " | ".join(heads) + " |", "|--:|" + "--:|" * len(heads)]
    rows = {}
    for n, published in ERRORS[eps].items():
        cells = []
        for k, (a, unit) in enumerate(ACCURACIES.items()):
            here = runs.get(key(n, eps, a), {}).get("error")
            cells += [published[2 * k] * unit, published[2 * k + 1] * unit, here]
        rows[n] = cells
        lines.append(f"| {n} | " + " | ".join(shown(c, "{:.2e}") for c in cells) + " |")
    # The means of what was run here, too.
    complete = [cells for cells in rows.values() if None not in cells]
    means = [mean(column) for column in zip(*complete)] if complete else [None] * len(heads)
    lines.append("| mean of the complete rows | " + " | ".join(shown(c, "{:.2e}") for c in means) + " |")
    return lines


def table_of_sweep(runs, eps):
    heads = [f"{what}, N = {n}" for n in SWEPT for what in ("seconds", "dE/E")]
    lines = ["| a | " + " | ".join(heads) + " |", "|--:|" + "--:|" * len(heads)]
    for a in SWEEP:
        found = [runs.get(key(n, eps, a), {}) for n in SWEPT]
        cells = [c for r in found for c in (shown(r.get("seconds")), shown(r.get("error"), "{:.1e}"))]
        lines.append(f"| {a} | " + " | ".join(cells) + " |")
    return lines


def page(runs, told):
    """The lines of the page. `told`: command, commit, load."""
    lines = ["# Tables 4.3, 4.5 and 4.6, Figures 4.5, 4.7 and 4.8 of the thesis: kira", ""]
    lines += [f"* {line}" for line in told]
    lines += ["* clusters: Plummer spheres (`makeplummer -n N -s 1 -i`, `scale -s`), kira from t = 0 to 1/4",
              "* here: seconds of processor time of one thread" + of_several(runs), "",
              "The published columns are those of J. Bédorf's thesis (Amsterdam, 2007), in seconds of the whole run: a PCI board with four",
              "GRAPE-6 chips, and kirin in CUDA on an NVIDIA GeForce 8800GTX, in single precision. A cell with `-` was not run, there or here.",
              "The thesis does not name its models' seeds and kira's version, and its Figures 4.7 and 4.8 print no numbers. In Table 4.6 it prints the",
              "means of a = 0.2 ten times too small: its rows have means of 2.30e-7 and 2.35e-7.",
              "", "## Table 4.3: seconds at a = 0.3", ""]
    lines += table_of_seconds(runs)
    for number, eps in (("4.5", "1/256"), ("4.6", "0")):
        lines += ["", f"## Table {number}: relative energy error, eps = {eps}", ""] + table_of_errors(runs, eps)
    for number, eps in (("4.7", "1/256"), ("4.8", "0")):
        lines += ["", f"## Figure {number}: accuracy parameter, seconds and relative energy error, eps = {eps}", ""]
        lines += table_of_sweep(runs, eps)
    return lines


def picture(runs):
    """Figure 4.5, and both halves of Figures 4.7 and 4.8."""
    def points(rows):
        return [[x, y] for x, y in rows if y]

    def drawn(named):
        return {name: rows for name, rows in named.items() if rows}

    seconds = {}
    for eps, (grape, gpu) in (("1/256", (0, 1)), ("0", (2, 3))):
        seconds[f"here, {eps}"] = points((n, runs.get(key(n, eps, 0.3), {}).get("seconds")) for n in SECONDS)
        seconds[f"kirin 2007, {eps}"] = points((n, row[gpu]) for n, row in SECONDS.items())
        seconds[f"GRAPE, {eps}"] = points((n, row[grape]) for n, row in SECONDS.items())
    columns = [[{**figure.curves("Seconds (Figure 4.5)", "number of stars", drawn(seconds)), "y_label": "seconds"}]]
    for curve in columns[0][0]["data"]["curves"]:
        curve["form"] = "measured" if curve["label"].startswith("here") else "published"
    for number, eps in (("4.7", "1/256"), ("4.8", "0")):
        both = []
        for what, field, unit in (("Seconds", "seconds", "seconds"), ("Energy error", "error", "|dE/E|")):
            rows = {f"N = {n}": points((a, runs.get(key(n, eps, a), {}).get(field)) for a in SWEEP) for n in SWEPT}
            panel = figure.curves(f"{what} (Figure {number}, eps = {eps})", "accuracy parameter", drawn(rows))
            both.append({**panel, "y_label": unit})
        columns.append(both)
    return {"title": "kira with kirin and the thesis", "subtitle": "Plummer spheres to t = 1/4", "columns": columns}


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["git", "-C", here, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kirin", help="the command kirin")
    parser.add_argument("programs", help="folder of Starlab's programs")
    parser.add_argument("results", help="path of the results, without .json, .md and .svg")
    parser.add_argument("--largest", type=int, default=65536, help="most stars")
    parser.add_argument("--minutes", type=float, default=30.0, help="begin no run after so many")
    parser.add_argument("--threads", type=int, default=1, help="threads of kirin")
    given = parser.parse_args()
    kept = given.results + ".json"
    everything = {"notes": [], "runs": {}}
    if os.path.exists(kept):
        with open(kept, encoding="utf-8") as file:
            everything = json.load(file)
    runs = everything["runs"]
    where = {"machine": figure.machine(), "commit": commit()}
    began = time.monotonic()
    stars = (None, None)
    for n, eps, a in wanted(given.largest):
        if key(n, eps, a) in runs:
            continue
        if time.monotonic() - began > 60 * given.minutes:
            break
        if stars[0] != n:
            stars = (n, model(given.programs, n))
        made = run(given.kirin, given.programs, stars[1], eps, a, given.threads)
        runs[key(n, eps, a)] = {**made, "load": round(os.getloadavg()[0], 2), **where}
        with open(kept + ".new", "w", encoding="utf-8") as file:
            json.dump(everything, file, indent=1)
        os.replace(kept + ".new", kept)
    largest = max((int(name.split()[0]) for name in runs), default=given.largest)
    told = [f"command: `benches/starlab.py kirin STARLAB/bin {os.path.basename(given.results)} --largest {largest}`", *origins(runs)]
    text = page(runs, told + everything["notes"])
    text += ["", f"![The figures]({os.path.basename(given.results)}.svg)"]
    figure.save(given.results, text, picture(runs))


if __name__ == "__main__":
    main()
