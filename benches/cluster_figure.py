#!/usr/bin/env python3
"""README's figure: the time of a star cluster with kirin on a CPU and on a GPU, and with other libraries.

    benches/cluster_figure.py docs/cluster-time.svg

The curves of the CPU are the measured runs of results/cluster-time.md. The same runs were not made on a GPU. What they would take there follows from
runs that were made there with larger steps (Table 4.2 of results/hermite-thesis-h100.md), by the number of blocks and of steps. With sapporo2 no whole
runs were made: calls of both libraries were timed beside each other (results/gpu-h100/README.md), and the difference of each block's call is added. The
script writes these numbers, and how well the same model predicts the runs on the CPU, into results/cluster-time-gpu.md.
"""
import json
import math
import os
import sys

import figure

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
PAGE = os.path.join(RESULTS, "cluster-time-gpu.md")
# A block of one star, in seconds, where the library does nearly nothing: bench-mixed.txt (16384 stars), and an estimate for one core of the Xeon, which
# enters only the check of the model.
CALL_OF_GPU = 24e-6
CALL_OF_CPU = 2e-6
NAMES = {"kirin, 1 core": "kirin, a core", "kirin, 2 cores": "kirin, two cores",
         "Phantom-GRAPE, AVX2, 1 core": "Phantom-GRAPE, AVX2, a core", "Phantom-GRAPE, AVX-512, 1 core": "Phantom-GRAPE, AVX-512, a core"}


def read(name):
    """A file of the results."""
    with open(os.path.join(RESULTS, name), encoding="utf-8") as file:
        return file.read()


def tables(text):
    """The Markdown tables of a page: a list of rows for each, with the names of the columns in the first."""
    found, rows = [], []
    for line in text.splitlines() + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            found.append([rows[0]] + rows[2:])
            rows = []
    return found


def measured(text):
    """Seconds of a time unit by curve and number of stars, from cluster-time.md."""
    names, *rows = tables(text)[0]
    return {name: {int(row[0]): float(row[k].split()[0]) for row in rows} for k, name in enumerate(names) if k > 0}


def whole_runs(text):
    """Seconds, pairs a second and mean block by number of stars, from Table 4.2 with the default division of the work."""
    names, *rows = tables(text[text.index("## Table 4.2"):])[0]
    place = names.index("split [s]")
    prefix = {"M": 1e6, "G": 1e9}

    def rate(cell):
        number, unit = cell.split()
        return float(number) * prefix[unit]
    return {int(row[0]): (float(row[place]), rate(row[place + 1]), float(row[names.index("mean block")])) for row in rows}


def modelled(runs, counts, call):
    """Seconds of a time unit at the defaults: each block costs a call, and each step what is left of the time of the whole run."""
    times = {}
    for run in counts:
        n = run["n"]
        seconds, rate, mean = runs[n]
        steps = seconds * rate / n
        of_step = max(0.0, seconds - steps / mean * call) / steps
        times[n] = (run["blocks"] * call + run["steps"] * of_step) / run["t_end"]
    return times


def calls(text, n):
    """Microseconds of `set_ti, force` of kirin and sapporo2 by the size of the block, for `n` j-particles."""
    chapter = text[text.index("## Beside sapporo2"):]
    prefix = {"us": 1.0, "ms": 1e3}

    def time(cell):
        number, unit = cell.split()
        return float(number) * prefix[unit]
    found = {}
    for row in tables(chapter)[0][1:]:
        case = row[1].split(", ")
        if int(row[0]) == n and case[:2] == ["set_ti", "force"] and len(case) == 3:
            found[int(case[2])] = (time(row[2]), time(row[3]))
        elif int(row[0]) == n and case[0] == "all":
            found[n] = (time(row[2]), time(row[3]))
    return found


def more_by_sapporo(found, run):
    """Seconds by which sapporo2 is later in a time unit: the difference of a block's call between the measured sizes is a power law."""
    sizes = sorted(found)
    seconds = 0.0
    for k, blocks in enumerate(run["block_sizes"]):
        size = min(1.5 * 2**k if k > 0 else 1.0, run["n"])
        at = max(0, min(len(sizes) - 2, sum(s <= size for s in sizes) - 1))
        low, high = sizes[at], sizes[at + 1]
        below, above = (found[s][1] - found[s][0] for s in (low, high))
        part = math.log(size / low) / math.log(high / low)
        seconds += blocks * 1e-6 * below * (above / below) ** part
    return seconds / run["t_end"]


def main():
    target = sys.argv[1]
    page, counts = read("cluster-time.md"), json.loads(read("cluster-blocks.json"))["runs"]
    cpu = measured(page)
    if "kirin, 2 cores" not in cpu:
        sys.exit("cluster-time.md has no curve `kirin, 2 cores`, beside which the model is checked")
    gpu = modelled(whole_runs(read("hermite-thesis-h100.md")), counts, CALL_OF_GPU)
    check = modelled(whole_runs(read("hermite-thesis-xeon-avx512-2vcpu.md")), counts, CALL_OF_CPU)
    largest = counts[-1]
    # One point, drawn as a short line.
    sapporo = gpu[largest["n"]] + more_by_sapporo(calls(read("gpu-h100/README.md"), largest["n"]), largest)
    curves = [{"label": NAMES.get(name, name), "points": [[n, t] for n, t in times.items()], "form": "measured"} for name, times in cpu.items()]
    curves += [{"label": "kirin, an H100 (modelled)", "points": [[n, t] for n, t in gpu.items()], "form": "model"},
               {"label": "sapporo2, an H100 (modelled)", "points": [[0.93 * largest["n"], sapporo], [largest["n"], sapporo]], "form": "model"}]
    panel = figure.curves("Wall seconds of an N-body time unit", "number of stars", {})
    panel["y_label"] = "seconds"
    panel["data"] = {"curves": curves}
    figure.draw({"title": "How long a star cluster takes", "columns": [[panel]],
                 "subtitle": "hermite, Plummer models. CPU: Xeon family 6 model 167, 2026-11-24, measured. H100: 2026-11-22, dashed, modelled"}, target)
    ratios = [check[n] / cpu["kirin, 2 cores"][n] for n in check]
    text = ["# Time of a star cluster on a GPU", "",
            "Made by `benches/cluster_figure.py`. Nobody has run [cluster-time.md](cluster-time.md)'s clusters on a GPU. The seconds of an N-body time"
            " unit are modelled: the blocks and steps of the default settings ([cluster-blocks.json](cluster-blocks.json)), each times what it costs.",
            "",
            "The costs are from runs on an H100 with larger steps, eta = 0.03, from t = 0.25 to 0.5"
            " ([Table 4.2](hermite-thesis-h100.md), 2026-11-22). Other programs had 28 % of the cores then.", "",
            f"* A block costs {1e6 * CALL_OF_GPU:g} us, the time of a block of one star.",
            "* A step costs the rest of the run's time, divided by the number of steps.",
            "* Those runs took `mixed` at every N. The default on an H100 is `double` up to 4096 stars, for which there are no such runs.", "",
            "The last column shows the error of such a model. It predicts the runs of the Xeon on two cores from"
            " [that machine's own runs](hermite-thesis-xeon-avx512-2vcpu.md) with larger steps, which an older version made.", "",
            "| N | kirin, an H100, modelled [s] | kirin, Xeon, two cores, measured [s] | Xeon, modelled over measured |", "|---:|---:|---:|---:|"]
    text += [f"| {n} | {gpu[n]:.3g} | {cpu['kirin, 2 cores'][n]:.3g} | {check[n] / cpu['kirin, 2 cores'][n]:.2f} |" for n in gpu]
    text += ["", f"sapporo2 with {largest['n']} stars: {sapporo:.3g} s. Only single calls of it were timed"
             " ([beside kirin's](gpu-h100/README.md#beside-sapporo2))."
             " For each block the difference of the two calls is added to kirin's time, by a power law between the measured sizes of blocks."
             " kirin's calls were slower then than now, so the difference is rather too small.", ""]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join(text))
    print(f"the model predicts the runs of the Xeon at {min(ratios):.2f} to {max(ratios):.2f} of what was measured")


if __name__ == "__main__":
    main()
