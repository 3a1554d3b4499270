#!/usr/bin/env python3
"""How long a star cluster takes with each library, over its number of stars: a table and a figure.

    cargo build --release -p hermite
    benches/cluster_time.py target/release/hermite benches/results/cluster-time \\
        --curve "kirin, 1 core: KIRIN_THREADS=1" --curve "kirin, 2 cores: KIRIN_THREADS=2" \\
        --curve "Phantom-GRAPE, AVX2, 1 core: OMP_NUM_THREADS=1 /opt/pg6/libpg6.so"

Each curve has a label, environment variables, and the GRAPE-6 library if it is another than kirin. `hermite` integrates the same
Plummer models with each of them, in turns.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import figure

# Numbers of stars, and how long they are followed.
RUNS = [(256, 1.0), (512, 1.0), (1024, 0.5), (2048, 0.25), (4096, 0.125), (8192, 0.0625), (16384, 0.0625)]


def curve(text):
    """A label, its settings, and the library or nothing."""
    label, _, words = text.partition(":")
    words = words.split()
    settings = dict(word.split("=", 1) for word in words if "=" in word)
    libraries = [word for word in words if "=" not in word]
    if len(libraries) > 1:
        raise argparse.ArgumentTypeError(f"more than one library: {' '.join(libraries)}")
    return label.strip(), settings, libraries


def seconds(program, n, t_end, settings, libraries):
    """Wall time of a time unit."""
    with tempfile.TemporaryDirectory() as folder:
        summary = os.path.join(folder, "run.json")
        command = [program, "--n", str(n), "--t-end", str(t_end)]
        for library in libraries:
            command += ["--library", library]
        subprocess.run([*command, "--json", summary], env={**os.environ, **settings}, capture_output=True, check=True)
        with open(summary, encoding="utf-8") as file:
            return json.load(file)["seconds"] / t_end


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program hermite")
    parser.add_argument("target", help="path of the results, without .md and .svg")
    parser.add_argument("--curve", type=curve, action="append", required=True,
                        help="LABEL: [NAME=VALUE ...] [LIBRARY]; may be repeated; the others are compared with the first")
    parser.add_argument("--picture", help="file of the figure, if it is not to lie beside the table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--say", default="", help="what else a reader should know, such as the versions of the libraries")
    given = parser.parse_args()
    times = {label: {n: [] for n, _ in RUNS} for label, _, _ in given.curve}
    before = os.getloadavg()[0]
    for n, t_end in RUNS:
        for k in range(given.rounds):
            turn = k % len(given.curve)
            for label, settings, libraries in given.curve[turn:] + given.curve[:turn]:
                times[label][n].append(seconds(given.program, n, t_end, settings, libraries))
    medians = {label: {n: statistics.median(t) for n, t in rows.items()} for label, rows in times.items()}
    first, *others = medians
    text = ["# Time of a star cluster", "",
            f"`benches/cluster_time.py`: wall seconds of an N-body time unit in `hermite` at its defaults, Plummer models from t = 0 to"
            f" {RUNS[-1][1]:g} (most stars) to {RUNS[0][1]:g} (fewest); medians of {given.rounds} runs in turns. In brackets: how"
            f" many times as long as with {first}. {figure.machine()}; load average before: {before:.2f}. {given.say}".rstrip(), "",
            "| N | " + " | ".join(medians) + " |", "|---:|" + "---:|" * len(medians)]
    for n, _ in RUNS:
        cells = [f"{medians[first][n]:.3g}"]
        cells += [f"{medians[label][n]:.3g} ({medians[label][n] / medians[first][n]:.2f})" for label in others]
        text.append(f"| {n} | {' | '.join(cells)} |")
    panel = figure.curves("wall seconds for an N-body time unit", "number of stars",
                          {label: [[n, t] for n, t in rows.items()] for label, rows in medians.items()})
    figure.save(given.target, text, {"title": "How long a star cluster takes",
                                     "subtitle": "hermite at its defaults, Plummer models", "columns": [[panel]]}, given.picture)


if __name__ == "__main__":
    main()
