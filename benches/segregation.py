#!/usr/bin/env python3
"""How fast heavy stars sink in `monte-carlo`, over the length of its steps: a table.

    cargo build --release -p monte-carlo
    benches/segregation.py target/release/monte-carlo runs segregation.md

Plummer spheres of two components, whose heavy stars have a fifth of the mass. For each ratio of masses, each theta_max and each seed there is a run;
all values of theta_max start from the same clusters. Runs are made in the order of their cost, each first to the earlier time and later to the end.
The folder `runs` keeps the state of each. If the script is stopped and called again, it goes on there; a run that was stopped goes on from its state
of five minutes before at most. The table is written anew after every run, so it can be read at any time.
"""
import argparse
import csv
import itertools
import os
import resource
import statistics
import subprocess
import sys

import figure

RATIOS = [10, 3]
ANGLES = [1, 0.5, 0.25, 0.125]
TIMES = [0.2, 0.4]

# Records nearer to a time than this give the radius at that time.
WINDOW = 0.03
EVERY = 0.004


class Run:
    """A cluster on its way."""

    def __init__(self, folder, n, ratio, angle, seed):
        self.n, self.ratio, self.angle, self.seed = n, ratio, angle, seed
        name = os.path.join(folder, f"{n}-{ratio:g}-{angle:g}-{seed}")
        self.state, self.csv = name + ".txt", name + ".csv"

    def records(self):
        """Time, number of steps and half-number radius of the heavy stars; empty if there is no run yet."""
        if not os.path.exists(self.csv):
            return []
        with open(self.csv, encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["heavy_50"]]
        return [(float(row["t"]), float(row["steps"]), float(row["heavy_50"])) for row in rows]

    def is_at(self, t_end):
        records = self.records()
        return bool(records) and records[-1][0] >= t_end * (1 - 1e-9)

    def go(self, program, t_end):
        """Goes on to a time; returns the seconds of processor time."""
        begin = ["--input", self.state] if os.path.exists(self.state) else [
            "--n", str(self.n), "--mass-ratio", f"{self.ratio:g}", "--mass-fraction", "0.2", "--theta-max", f"{self.angle:g}",
            "--seed", str(self.seed)]
        files = ["--output", self.state, "--csv", self.csv, "--every", str(EVERY), "--checkpoint-every", "5min", "--force"]
        command = [program, *begin, *files, "--t-end", str(t_end), "--threads", "1", "--device", "cpu"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def radius(self, time):
        """Radius at a time: the line through the records near it. None if the run has not gone so far."""
        if not self.is_at(time + WINDOW):
            return None
        near = [(t - time, r) for t, _, r in self.records() if abs(t - time) <= WINDOW * (1 + 1e-9)]
        t, r = ([row[k] for row in near] for k in range(2))
        if len(set(t)) < 2:
            return statistics.fmean(r)
        middle, height = statistics.fmean(t), statistics.fmean(r)
        slope = sum((a - middle) * (b - height) for a, b in near) / sum((a - middle) ** 2 for a in t)
        return height - slope * middle

    def steps(self, time):
        """Number of steps up to a time."""
        return max(steps for t, steps, _ in self.records() if t <= time)


def cost(ratio, angle, time):
    """Processor time of a run up to a time, in some unit: the step is inverse to the greatest mass and has theta_max^2."""
    return ratio * ratio * (time / TIMES[-1]) ** 1.3 / angle**2


def mean(values):
    """Mean and its standard error."""
    error = statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")
    return statistics.fmean(values), error


def cell(values, scale=1.0, digits=4):
    """Mean, error and number of the values that there are."""
    values = [scale * value for value in values if value is not None]
    if not values:
        return "-"
    at, error = mean(values)
    return f"{at:.{digits}f} +- {error:.{digits}f} ({len(values)})"


def changes(reference, radii):
    """Relative changes of the radii of the same clusters."""
    return [b / a - 1 for a, b in zip(reference, radii) if a is not None and b is not None]


def table(runs, given):
    """The table of the runs as lines of Markdown."""
    heads = ["ratio", "theta_max"]
    for time in TIMES:
        heads += [f"radius at {time:g}", f"against theta_max = {ANGLES[0]:g}, %"]
    lines = ["| " + " | ".join([*heads, "steps"]) + " |", "|---|--:|" + "---|" * 2 * len(TIMES) + "--:|"]
    for ratio in given.ratios:
        of = {angle: [run for run in runs if (run.ratio, run.angle) == (ratio, angle)] for angle in ANGLES}
        radii = {(angle, time): [run.radius(time) for run in of[angle]] for angle in ANGLES for time in TIMES}
        for angle in ANGLES:
            cells = [f"{ratio:g} : 1", f"{angle:g}"]
            for time in TIMES:
                cells.append(cell(radii[angle, time]))
                changed = changes(radii[ANGLES[0], time], radii[angle, time])
                cells.append("" if angle == ANGLES[0] else cell(changed, 100, 2))
            whole = [run.steps(TIMES[-1]) for run in of[angle] if run.is_at(TIMES[-1] + WINDOW)]
            cells.append(f"{statistics.fmean(whole):.0f}" if whole else "-")
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def page(runs, given):
    """The page of results as lines."""
    return ["# Heavy stars that sink, over the length of the steps", "",
            f"`benches/segregation.py --n {given.n} --seeds {given.seeds}`; {figure.machine()}.", "",
            f"Radius that holds half of the heavy stars, from a line through the records within {WINDOW:g} of the time; steps up to {TIMES[-1]:g}."
            " Means over the seeds with their standard errors, and in brackets the number of seeds. Changes are those of the same clusters.", "",
            *table(runs, given)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program monte-carlo")
    parser.add_argument("folder", help="folder of the runs, which may be there from an earlier call")
    parser.add_argument("page", help="file of the table")
    parser.add_argument("--n", type=int, default=100_000, help="number of stars (100000)")
    parser.add_argument("--seeds", type=int, default=8, help="number of seeds (8)")
    parser.add_argument("--ratios", type=float, nargs="+", default=RATIOS, help="ratios of the masses (10 3)")
    given = parser.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    seeds = range(1, given.seeds + 1)
    runs = [Run(given.folder, given.n, *which) for which in itertools.product(given.ratios, ANGLES, seeds)]
    legs = sorted(itertools.product(runs, TIMES), key=lambda leg: cost(leg[0].ratio, leg[0].angle, leg[1]))
    for run, time in legs:
        if not run.is_at(time + WINDOW):
            seconds = run.go(given.program, round(time + WINDOW, 9))
            print(f"{run.ratio:g} : 1, theta_max {run.angle:g}, seed {run.seed}, to {time:g}: {seconds:.1f} s", file=sys.stderr, flush=True)
        with open(given.page, "w", encoding="utf-8") as file:
            file.write("\n".join(page(runs, given)) + "\n")


if __name__ == "__main__":
    main()
