#!/usr/bin/env python3
"""Plummer spheres of several masses by the isotropic Fokker-Planck equation: Lagrangian radii beside which `monte-carlo` can be put.

    benches/fokker_planck.py phaseflow.exe RUNS --masses 1 10 --fractions 0.8 0.2 --t-end 0.5
    benches/fokker_planck.py phaseflow.exe RUNS --mass-function 2.35 0.2 120 --components 24 --t-end 0.05

The solver is PhaseFlow (Vasiliev 2017) of Agama (`make exe/phaseflow.exe` in its folder; it needs GSL alone). Units are G = M = 1, E = -1/4. Times are
initial half-mass relaxation times, as in `monte-carlo`; in these the number of stars and the Coulomb logarithm have no effect. A core that collapses needs
shorter and shorter steps. Here they are at least 1e-6, so the solver soon fails or goes wrong then. The collapse is where the potential in the centre is
deepest; later times mean nothing.
"""
import argparse
import glob
import math
import os
import subprocess

HALF_MASS_RADIUS = 0.76863
SCALE_RADIUS = 3 * math.pi / 16
RELAXATION_TIME = 0.138 * HALF_MASS_RADIUS**1.5
# Of the whole mass.
FRACTIONS = [1e-3, 0.01, 0.05, 0.5]


def power_law(exponent, low, high, count):
    """Part of the mass, and mass of a star in any unit, of components of equal width in the logarithm of the mass, dN/dm being m^-exponent."""
    edges = [low * (high / low) ** (k / count) for k in range(count + 1)]
    moment = [[e ** (p - exponent) / (p - exponent) for e in edges] for p in (1, 2)]
    numbers, masses = ([after - before for before, after in zip(m, m[1:])] for m in moment)
    return [(mass / sum(masses), mass / number) for number, mass in zip(numbers, masses)]


def write(path, components, t_end, every):
    """The solver's parameters. Masses are such that the mean one is 1, and so is the Coulomb logarithm: then the relaxation time is `RELAXATION_TIME`."""
    mean = 1 / sum(part / mass for part, mass in components)
    with open(path + ".ini", "w", encoding="utf-8") as file:
        file.write(f"[PhaseFlow]\ncoulombLog=1\ntimeTotal={t_end * RELAXATION_TIME}\neps=3e-3\ndtmin={1e-6 * RELAXATION_TIME}\nmethod=2\n"
                   f"gridsize=300\nhmin=1e-16\nhmax=1e10\ntimeOut={every * RELAXATION_TIME}\nfileOut={path}_\nfileLog={path}.log\n")
        for k, (part, mass) in enumerate(components):
            file.write(f"[S{k}]\ndensity=Plummer\nscaleRadius={SCALE_RADIUS}\nmass={part}\nMstar={mass / mean}\n")


def profile(path):
    """Radii and the mass within them."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return [(float(row[0]), float(row[1])) for row in rows]


def within(rows, radius):
    """Mass within a radius, by a line in the logarithms."""
    for (r0, m0), (r1, m1) in zip(rows, rows[1:]):
        if radius <= r1:
            return m0 * (m1 / m0) ** (math.log(radius / r0) / math.log(r1 / r0))
    return rows[-1][1]


def enclosing(profiles, fraction):
    """Radius within which the profiles have a fraction of their mass."""
    wanted = fraction * sum(rows[-1][1] for rows in profiles)
    low, high = 1e-4, 1e2
    while high / low > 1 + 1e-6:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if sum(within(rows, middle) for rows in profiles) > wanted else (middle, high)
    return low


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="phaseflow.exe")
    parser.add_argument("folder", help="folder for its files")
    parser.add_argument("--masses", type=float, nargs="+", help="masses of the stars of each component, in any unit")
    parser.add_argument("--fractions", type=float, nargs="+", help="parts of the mass in each component")
    parser.add_argument("--mass-function", type=float, nargs=3, metavar=("EXPONENT", "LEAST", "LARGEST"), help="masses of a power law instead")
    parser.add_argument("--components", type=int, default=24, help="components that stand for the power law (24; at most 26)")
    parser.add_argument("--t-end", type=float, default=0.5, help="end, in initial half-mass relaxation times (0.5)")
    parser.add_argument("--every", type=float, help="time between lines (a tenth of the end)")
    given = parser.parse_args()
    if given.mass_function:
        components = power_law(*given.mass_function, given.components)
    elif given.masses and given.fractions and len(given.masses) == len(given.fractions):
        components = list(zip(given.fractions, given.masses))
    else:
        parser.error("needs --mass-function, or --masses and as many --fractions")
    if len(components) > 26:
        parser.error("at most 26 components")
    os.makedirs(given.folder, exist_ok=True)
    path = os.path.join(given.folder, "model")
    for old in glob.glob(path + "_*"):
        os.remove(old)
    write(path, components, given.t_end, given.every or given.t_end / 10)
    run = subprocess.run([given.program, path + ".ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    with open(path + ".log", encoding="utf-8") as file:
        centre = [(float(phi), float(t)) for t, phi in (line.split()[:2] for line in file if not line.startswith("#"))]
    if run.returncode != 0 or min(centre)[1] < centre[-1][1]:
        print(f"Collapse at {min(centre)[1] / RELAXATION_TIME:.5f}.\n")
    halves = [f"half of mass {mass:g}" for _, mass in components] if len(components) <= 3 else []
    print("| time | " + " | ".join([f"{100 * f:g} %" for f in FRACTIONS] + halves) + " |\n|" + "--:|" * (1 + len(FRACTIONS) + len(halves)))
    # Where there are several components, the last letter is that of the component.
    names = [name[len(path) + 1:] for name in glob.glob(path + "_*")]
    times = sorted({name[:-1] if len(components) > 1 else name for name in names}, key=float)
    for time in times:
        profiles = [profile(name) for name in sorted(glob.glob(f"{path}_{time}[a-z]") or [f"{path}_{time}"])]
        radii = [enclosing(profiles, f) for f in FRACTIONS] + [enclosing([rows], 0.5) for rows in profiles if halves]
        print(f"| {float(time) / RELAXATION_TIME:.4f} | " + " | ".join(f"{r:.4f}" for r in radii) + " |")


if __name__ == "__main__":
    main()
