"""Steps of REBOUND on one core with its own gravity and with kirin's: processor time, and how far the positions are apart.

    KIRIN_THREADS=1 python benches/python_rebound.py

Both take turns; the table has medians. The integrator is leapfrog: one force a step.
"""

import statistics
import sys
import time

import numpy as np
import rebound

import kirin.rebound

TURNS = 5


def plummer(n, rng):
    """Half-mass stars of a Plummer model in virial equilibrium on the whole, without its edge."""
    radius = 1.0 / np.sqrt(rng.uniform(0.0, 0.99, n) ** (-2.0 / 3.0) - 1.0)
    direction = rng.normal(size=(n, 3))
    x = direction * (radius / np.linalg.norm(direction, axis=1))[:, None]
    v = 0.3 * rng.normal(size=(n, 3)) / (1.0 + radius**2)[:, None] ** 0.25
    return x, v


def simulation(n, attached):
    x, v = plummer(n, np.random.default_rng(7))
    sim = rebound.Simulation()
    for (px, py, pz), (vx, vy, vz) in zip(x, v):
        sim.add(m=1.0 / n, x=px, y=py, z=pz, vx=vx, vy=vy, vz=vz)
    sim.integrator, sim.dt, sim.softening = "leapfrog", 1e-3, 0.01
    if attached:
        kirin.rebound.attach(sim, attached)
    return sim


def positions(sim):
    x = np.empty((sim.N, 3))
    sim.serialize_particle_data(xyz=x)
    return x


def main():
    print("| N | steps | REBOUND, s a step | kirin, double | kirin, mixed | REBOUND / double | largest difference, double |")
    print("|---|---|---|---|---|---|---|")
    for n, steps in [(10, 2000), (30, 1000), (100, 300), (300, 100), (1000, 30), (3000, 5), (10_000, 3)]:
        sims = {name: simulation(n, name) for name in ("", "double", "mixed")}
        seconds = {name: [] for name in sims}
        for turn in range(-1, TURNS):
            for name, sim in sims.items():
                began = time.process_time()
                sim.steps(steps)
                if turn >= 0:
                    seconds[name].append((time.process_time() - began) / steps)
            if turn == 0:
                apart = np.abs(positions(sims[""]) - positions(sims["double"])).max()
        own, double, mixed = (statistics.median(seconds[name]) for name in ("", "double", "mixed"))
        print(f"| {n} | {steps} | {own:.3g} | {double:.3g} | {mixed:.3g} | {own / double:.2f} | {apart:.1e} |", flush=True)
    with kirin.Gravity([[0, 0, 0]], 1) as gravity:
        backend = gravity.backend
    print(f"\n{backend}, kirin {kirin.__version__}, REBOUND {rebound.__version__}, Python {sys.version.split()[0]}")


main()
