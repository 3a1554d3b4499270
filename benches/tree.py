"""Accelerations by trees from Python on one core: `kirin.Tree` and pytreegrav.

    KIRIN_THREADS=1 NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benches/tree.py

All take turns; the table has medians of processor time, the tree's building included, and errors against direct sums in double precision. For each row of
pytreegrav kirin has the angle that gives at most its median error.
"""

import importlib.metadata
import statistics
import time

import numpy as np
import pytreegrav
from python import exact, plummer

import kirin

TURNS = 5
# theta of pytreegrav and of kirin, for each model.
ANGLES = {False: [(0.7, 0.78), (0.5, 0.58)], True: [(0.7, 0.72), (0.5, 0.56)]}


def with_kirin(theta, quadrupoles):
    def call(x, m):
        with kirin.Tree(x, m) as tree:
            return tree.accelerations(theta=theta, quadrupoles=quadrupoles)

    return call


def with_pytreegrav(theta, quadrupoles):
    def call(x, m):
        softening = np.zeros(len(m))
        return pytreegrav.Accel(x, m, softening, theta=theta, method="tree", quadrupole=quadrupoles)

    return call


def main():
    print("| N | quadrupoles | program | theta | seconds | kirin is faster | median error | 99th percentile |")
    print("|---|---|---|---|---|---|---|---|")
    for n in (30_000, 100_000):
        rng = np.random.default_rng(7)
        x, m = plummer(n, rng), np.full(n, 1.0 / n)
        rows = rng.permutation(n)[:1000]
        wanted = exact(x, m, rows, 0.0).astype(float)
        for quadrupoles, angles in ANGLES.items():
            for theirs, ours in angles:
                programs = {
                    "pytreegrav": (theirs, with_pytreegrav(theirs, quadrupoles)),
                    "kirin": (ours, with_kirin(ours, quadrupoles)),
                }
                seconds, errors = {name: [] for name in programs}, {}
                for turn in range(-1, TURNS):
                    for name, (_, program) in programs.items():
                        began = time.process_time()
                        found = program(x, m)[rows]
                        took = time.process_time() - began
                        if turn >= 0:  # numba compiles
                            seconds[name].append(took)
                        size = np.linalg.norm(wanted, axis=1)
                        errors[name] = np.linalg.norm(found - wanted, axis=1) / size
                medians = {name: statistics.median(all_of) for name, all_of in seconds.items()}
                for name, (theta, _) in programs.items():
                    ratio = f"{medians['pytreegrav'] / medians['kirin']:.1f}" if name == "kirin" else ""
                    middle, late = np.quantile(errors[name], [0.5, 0.99])
                    print(
                        f"| {n} | {'yes' if quadrupoles else 'no'} | {name} | {theta} | {medians[name]:.3f} | {ratio} "
                        f"| {middle:.2e} | {late:.2e} |",
                        flush=True,
                    )
    with kirin.Tree(x, m) as tree:
        print(f"\n{tree.backend}, {tree.precision}, kirin {kirin.__version__}, pytreegrav {importlib.metadata.version('pytreegrav')}")


if __name__ == "__main__":
    main()
