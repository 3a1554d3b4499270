"""Accelerations of 10^4 particles from Python on one core, beside numpy, numba and pytreegrav's direct sum; and what a call costs.

    KIRIN_THREADS=1 NUMBA_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benches/python.py

All take turns; the table has medians of processor time. numba and pytreegrav are left out where they are not installed.
"""

import statistics
import sys
import time

import numpy as np

import kirin

N, EPS, TURNS = 10_000, 0.01, 5


def plummer(n, rng):
    radius = 1.0 / np.sqrt(rng.uniform(0.0, 1.0, n) ** (-2.0 / 3.0) - 1.0)
    direction = rng.normal(size=(n, 3))
    return direction * (radius / np.linalg.norm(direction, axis=1))[:, None]


def with_numpy(x, m):
    """In rows, so that the arrays stay in the cache."""
    acc = np.empty_like(x)
    for k in range(len(x)):
        d = x - x[k]
        r2 = np.einsum("ij,ij->i", d, d) + EPS**2
        acc[k] = (m / (r2 * np.sqrt(r2))) @ d
    return acc


def with_numba():
    import numba

    @numba.njit(fastmath=True)
    def compute(x, y, z, m, eps2, acc):
        for i in range(len(m)):
            xi, yi, zi = x[i], y[i], z[i]
            ax = ay = az = 0.0
            for j in range(len(m)):
                dx, dy, dz = x[j] - xi, y[j] - yi, z[j] - zi
                r2 = dx * dx + dy * dy + dz * dz + eps2
                w = m[j] / (r2 * np.sqrt(r2))
                ax += w * dx
                ay += w * dy
                az += w * dz
            acc[i, 0], acc[i, 1], acc[i, 2] = ax, ay, az

    def call(x, m):
        acc = np.empty_like(x)
        x, y, z = np.ascontiguousarray(x.T)
        compute(x, y, z, m, EPS**2, acc)
        return acc

    return call


def with_pytreegrav():
    import pytreegrav

    # Its kernel is that of a spline, of Plummer's shape nowhere: no softening, and errors from the same sum.
    return lambda x, m: pytreegrav.Accel(x, m, np.zeros(len(m)), method="bruteforce", parallel=False)


def exact(x, m, rows, eps):
    """Sums of extended precision."""
    x, m = x.astype(np.longdouble), m.astype(np.longdouble)
    acc = []
    for k in rows:
        d = x - x[k]
        r2 = (d * d).sum(1) + np.longdouble(eps) ** 2
        r2[k] = 1.0
        acc.append(((m / (r2 * np.sqrt(r2)))[:, None] * d).sum(0))
    return np.array(acc)


def main():
    rng = np.random.default_rng(7)
    x, m = plummer(N, rng), np.full(N, 1.0 / N)
    programs = {
        "kirin, double": (lambda x, m: kirin.accelerations(x, m, EPS), EPS),
        "kirin, mixed": (lambda x, m: kirin.accelerations(x, m, EPS, precision="mixed"), EPS),
        "numpy": (with_numpy, EPS),
    }
    for name, make, eps in [("numba, fastmath", with_numba, EPS), ("pytreegrav, direct sum", with_pytreegrav, 0.0)]:
        try:
            programs[name] = (make(), eps)
        except ImportError as error:
            print(f"SKIPPED: {name}: {error}", file=sys.stderr)
    rows = rng.permutation(N)[:200]
    wanted = {eps: exact(x, m, rows, eps) for eps in (0.0, EPS)}
    seconds, errors = {name: [] for name in programs}, {}
    for turn in range(-1, TURNS):
        for name, (program, eps) in programs.items():
            began = time.process_time()
            found = program(x, m)[rows]
            took = time.process_time() - began
            if turn < 0:  # numba compiles
                size = np.linalg.norm(wanted[eps], axis=1)
                error = np.linalg.norm(found - wanted[eps], axis=1).astype(float) / size
                errors[name] = float(np.sqrt((error**2).mean())), float(error.max())
            else:
                seconds[name].append(took)
    first = statistics.median(seconds["kirin, double"])
    print("| program | seconds | of kirin's, double | error (rms) | error (largest) |\n|---|---|---|---|---|")
    for name, all_of in seconds.items():
        median = statistics.median(all_of)
        rms, largest = errors[name]
        print(f"| {name} | {median:.3f} | {median / first:.2f} | {rms:.1e} | {largest:.1e} |")
    with kirin.Gravity(x, m) as gravity:
        backend = gravity.backend
    print(f"\nN = {N}, {backend}, kirin {kirin.__version__}, numpy {np.__version__}, Python {sys.version.split()[0]}\n")
    one_target()


def one_target():
    """Microseconds of a call with one target, beside those of the library's call for the same results."""
    from ctypes import byref

    from kirin import _library
    from kirin._arrays import new, put_vectors

    rng = np.random.default_rng(8)
    print("| one target, and | sources | the library's call, us | in Python, us | more, us |\n|---|---|---|---|---|")
    for n in (1, 1000):
        x = rng.normal(size=(n, 3))
        point, v = x[:1].copy(), x[:1].copy()
        with kirin.Gravity(x, 1.0) as gravity:
            targets, _, _, keep = gravity._targets(point, 0.1, None)
            moving, _, _, keep_moving = gravity._targets(point, 0.1, None)
            put_vectors(moving, "v", v)
            few, all_of = _library.Results(), _library.Results()
            arrays = [new(few, "acc", (1, 3))]
            arrays += [new(all_of, name, (1, 3)) for name in ("acc", "jerk", "pot", "nearest", "distance2")]

            def bare(targets, results):
                _library.forces(gravity._handle, 0.0, 0.01, 1, byref(targets), byref(results))

            def everything():
                gravity.forces(point, v, eps=0.1, jerk=True, potential=True, nearest=True)

            calls = [
                lambda: bare(targets, few),
                lambda: gravity.accelerations(point, eps=0.1),
                lambda: bare(moving, all_of),
                everything,
            ]
            least = [float("inf")] * len(calls)
            for _ in range(25):
                for k, call in enumerate(calls):
                    began = time.process_time()
                    for _ in range(1000):
                        call()
                    least[k] = min(least[k], 1e3 * (time.process_time() - began))
            for what, library, python in (("accelerations", *least[:2]), ("all results", *least[2:])):
                print(f"| {what} | {n} | {library:.2f} | {python:.2f} | {python - library:.2f} |")
            del keep, keep_moving, arrays


if __name__ == "__main__":
    main()
