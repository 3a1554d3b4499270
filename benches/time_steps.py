#!/usr/bin/env python3
"""Steps and energy errors of `hermite` against the accuracy parameter, in each precision: a table and a figure.

    cargo build --release -p hermite
    benches/time_steps.py target/release/hermite benches/results/time-steps
"""
import os
import subprocess
import sys

import figure

N, T_END = 512, 0.125
ETAS = [0.02, 0.01, 0.005, 0.003, 0.002, 0.0015, 0.001, 0.0007, 0.0005, 0.0003]
PRECISIONS = ["mixed", "double"]
LINE = "limited by the noise"


def run(program, precision, eta):
    """Returns steps, energy error, and whether the library said that noise limits the steps."""
    settings = {"KIRIN_PRECISION": precision, "KIRIN_BACKEND": "cpu", "KIRIN_THREADS": "1"}
    done = subprocess.run(
        [program, "--n", str(N), "--t-end", str(T_END), "--eta", str(eta)],
        env={**os.environ, **settings}, capture_output=True, text=True, check=True)
    values = {}
    for line in (done.stdout + done.stderr).splitlines():
        for name in ("steps", "energy error"):
            if line.strip().startswith(name):
                # The energy error is `of` some energy.
                number = line.strip()[len(name):].split(" of ")[0]
                values[name] = float(number.replace(" ", ""))
    return values["steps"], abs(values["energy error"]), LINE in done.stderr


def main():
    program, target = sys.argv[1:]
    rows = {p: [run(program, p, eta) for eta in ETAS] for p in PRECISIONS}
    model = f"a Plummer model of {N} stars to t = {T_END}, softening 1/256"
    text = ["# Steps of hermite against eta", "",
            f"`benches/time_steps.py`: {model}; {figure.machine()}, one thread.", "",
            "| eta | `mixed`: steps | energy error | line on stderr | `double`: steps | energy error | line on stderr |",
            "|---|---|---|---|---|---|---|"]
    for k, eta in enumerate(ETAS):
        cells = [f"{s:,.0f} | {e:.1e} | {'yes' if told else 'no'}" for s, e, told in (rows["mixed"][k], rows["double"][k])]
        text.append(f"| {eta} | {' | '.join(cells)} |")
    panels = [figure.curves(title, "accuracy parameter eta",
                            {p: sorted([eta, row[k]] for eta, row in zip(ETAS, rows[p])) for p in PRECISIONS})
              for k, title in enumerate(("particle steps", "energy error"))]
    figure.save(target, text, {"title": "Steps and energy errors of hermite", "subtitle": model,
                               "columns": [[panel] for panel in panels]})


if __name__ == "__main__":
    main()
