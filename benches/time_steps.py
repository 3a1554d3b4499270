#!/usr/bin/env python3
"""Steps and energy errors of `hermite` against the accuracy parameter, in each precision: a table and a figure.

    cargo build --release -p hermite
    benches/time_steps.py target/release/hermite benches/results/time-steps
"""
import math
import os
import subprocess
import sys

N, T_END = 512, 0.125
ETAS = [0.02, 0.01, 0.005, 0.003, 0.002, 0.0015, 0.001, 0.0007, 0.0005, 0.0003]
PRECISIONS = ["mixed", "double"]
COLOURS = {"mixed": "#c33", "double": "#26a"}
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
                values[name] = float(line.strip()[len(name):].replace(" ", ""))
    return values["steps"], abs(values["energy error"]), LINE in done.stderr


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        facts = dict(line.split(":", 1) for line in file if ":" in line)
    facts = {name.strip(): value.strip() for name, value in facts.items()}
    widest = "AVX-512" if "avx512f" in facts.get("flags", "") else "no AVX-512"
    return f"{facts.get('model name', 'unknown')} ({widest}), one thread"


def path(points, x, y):
    return "M" + " L".join(f"{x(a):.1f},{y(b):.1f}" for a, b in points)


def panel(rows, column, title, left, legend):
    """One panel: a column of the rows against eta, both logarithmic. `legend` is the height of the legend in it."""
    top, width, height = 40, 300, 220
    low, high = math.log10(min(ETAS)), math.log10(max(ETAS))
    values = [math.log10(row[column]) for p in PRECISIONS for row in rows[p]]
    least, most = math.floor(min(values)), math.ceil(max(values))
    x = lambda eta: left + width * (high - math.log10(eta)) / (high - low)
    y = lambda value: top + height * (most - math.log10(value)) / (most - least)
    out = [f'<text x="{left + width / 2}" y="24" text-anchor="middle" font-weight="bold">{title}</text>',
           f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>']
    for power in range(least, most + 1):
        at = y(10.0 ** power)
        out.append(f'<path d="M{left},{at:.1f} h{width}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">1e{power}</text>')
    for eta in (0.02, 0.01, 0.003, 0.001, 0.0003):
        out.append(f'<text x="{x(eta):.1f}" y="{top + height + 18}" text-anchor="middle">{eta}</text>')
    out.append(f'<text x="{left + width / 2}" y="{top + height + 38}" text-anchor="middle">accuracy parameter eta</text>')
    for precision in PRECISIONS:
        points = [(eta, row[column]) for eta, row in zip(ETAS, rows[precision])]
        out.append(f'<path d="{path(points, x, y)}" fill="none" stroke="{COLOURS[precision]}" stroke-width="2"/>')
    for k, precision in enumerate(PRECISIONS):
        at = top + legend + 18 * k
        out.append(f'<path d="M{left + 12},{at - 4} h24" stroke="{COLOURS[precision]}" stroke-width="2"/>')
        out.append(f'<text x="{left + 42}" y="{at}">{precision}</text>')
    return out


def main():
    program, target = sys.argv[1:]
    rows = {p: [run(program, p, eta) for eta in ETAS] for p in PRECISIONS}
    text = ["# Steps of hermite against eta", "",
            f"`benches/time_steps.py`: a Plummer model of {N} stars to t = {T_END}, softening 1/256; {machine()}.", "",
            "| eta | `mixed`: steps | energy error | line on stderr | `double`: steps | energy error | line on stderr |",
            "|---|---|---|---|---|---|---|"]
    for k, eta in enumerate(ETAS):
        cells = [f"{s:,.0f} | {e:.1e} | {'yes' if told else 'no'}" for s, e, told in (rows["mixed"][k], rows["double"][k])]
        text.append(f"| {eta} | {' | '.join(cells)} |")
    with open(target + ".md", "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" width="800" height="310" font-family="sans-serif" font-size="12">',
           '<rect width="800" height="310" fill="white"/>',
           *panel(rows, 0, "particle steps", 60, 18), *panel(rows, 1, "energy error", 470, 186), "</svg>"]
    with open(target + ".svg", "w", encoding="utf-8") as file:
        file.write("\n".join(svg) + "\n")


if __name__ == "__main__":
    main()
