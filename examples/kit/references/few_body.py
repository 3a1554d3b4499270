"""Reference figures of the few-body integrator (FEW_BODY.md, src/few_body/tests.rs), by other means.

    pip install mpmath gmpy2 rebound numpy
    python3 few_body.py pythagorean 70      # Taylor series with 38 digits: five minutes
    python3 few_body.py kozai               # REBOUND's IAS15, and the double-averaged quadrupole equations
    python3 few_body.py exchange 3000 1.0   # IAS15: encounters with a speed in units of v_c
    python3 few_body.py exchange 12000 2.0 84   # with other random numbers
"""
import math
import random
import sys


def pythagorean(t_end):
    """Burrau's problem by Taylor series of 36 terms: positions, velocities and orbits at t_end."""
    from mpmath import mp, mpf, nstr, sqrt

    mp.dps, terms, tolerance = 38, 36, mpf(10) ** -32
    m = [mpf(3), mpf(4), mpf(5)]
    x = [[mpf(1), mpf(3)], [mpf(-2), mpf(-1)], [mpf(1), mpf(-1)]]
    v = [[mpf(0), mpf(0)] for _ in m]
    pairs = [(0, 1), (0, 2), (1, 2)]

    def series():
        xs, vs = ([[[c] for c in p] for p in of] for of in (x, v))
        d = {p: [[], []] for p in pairs}
        r2, u = ({p: [] for p in pairs} for _ in range(2))
        for k in range(terms):
            a = [[mpf(0), mpf(0)] for _ in m]
            for p in pairs:
                i, j = p
                for c in range(2):
                    d[p][c].append(xs[j][c][k] - xs[i][c][k])
                r2[p].append(sum(d[p][c][l] * d[p][c][k - l] for c in range(2) for l in range(k + 1)))
                if k == 0:  # u = r^-3
                    u[p].append(1 / (r2[p][0] * sqrt(r2[p][0])))
                else:
                    s = sum((mpf(-3) / 2 * (k - l) - l) * r2[p][k - l] * u[p][l] for l in range(k))
                    u[p].append(s / (k * r2[p][0]))
                for c in range(2):
                    f = sum(d[p][c][l] * u[p][k - l] for l in range(k + 1))
                    a[i][c] += m[j] * f
                    a[j][c] -= m[i] * f
            for i in range(3):
                for c in range(2):
                    xs[i][c].append(vs[i][c][k] / (k + 1))
                    vs[i][c].append(a[i][c] / (k + 1))
        return xs, vs

    def at(coefficients, h):
        value = mpf(0)
        for c in reversed(coefficients):
            value = value * h + c
        return value

    t, closest = mpf(0), (mpf(10), mpf(0))
    while t < t_end:
        xs, vs = series()
        h = mpf(t_end) - t
        for i in range(3):
            size = max(mpf(1), max(abs(c) for c in v[i]))
            for k in (terms - 1, terms):
                last = max(abs(vs[i][c][k]) for c in range(2))
                if last > 0:
                    h = min(h, (tolerance * size / last) ** (mpf(1) / k))
        x = [[at(c, h) for c in p] for p in xs]
        v = [[at(c, h) for c in p] for p in vs]
        t += h
        closest = min([closest] + [(sqrt(sum((x[j][c] - x[i][c]) ** 2 for c in range(2))), t) for i, j in pairs])
    for i in range(3):
        print("body", i, [nstr(c, 17) for c in x[i] + v[i]])
    energy = sum(m[i] * (v[i][0] ** 2 + v[i][1] ** 2) / 2 for i in range(3))
    for i, j in pairs:
        dx, dv = ([of[j][c] - of[i][c] for c in range(2)] for of in (x, v))
        r, mass = sqrt(dx[0] ** 2 + dx[1] ** 2), m[i] + m[j]
        energy -= m[i] * m[j] / r
        inverse = 2 / r - (dv[0] ** 2 + dv[1] ** 2) / mass
        h = dx[0] * dv[1] - dx[1] * dv[0]
        print("orbit", i, j, "a", nstr(1 / inverse, 15), "e", nstr(sqrt(1 - h * h * inverse / mass), 15))
    print("energy error", nstr(energy + mpf(769) / 60, 3), "closest step", nstr(closest[0], 8), "at", nstr(closest[1], 8))


def kozai():
    """A triple over 1.5 cycles: maxima of the inner eccentricity, at quarters of the outer period."""
    import numpy as np
    import rebound

    m1, m2, m3, a1, e1, a2, e2, inclination = 1.0, 0.3, 0.7, 1.0, 0.1, 12.0, 0.2, math.radians(80)
    sim = rebound.Simulation()
    sim.integrator = "ias15"
    sim.add(m=m1)
    sim.add(m=m2, a=a1, e=e1, inc=inclination, omega=0.3, f=0.5)
    sim.add(m=m3, a=a2, e=e2, inc=0, omega=0.7, f=1.0)
    sim.move_to_com()
    for p in sim.particles:
        print(p.m, p.xyz, p.vxyz)
    step = math.tau * math.sqrt(a2**3 / 2) / 4
    p, mass1 = sim.particles, m1 + m2

    def shape(x, v, mass):
        x, v = np.array(x), np.array(v)
        r, h = np.linalg.norm(x), np.cross(x, v)
        a = 1 / (2 / r - v @ v / mass)
        return h / math.sqrt(mass * a), np.cross(v, h) / mass - x / r

    centre = [(m1 * np.array(getattr(p[0], k)) + m2 * np.array(getattr(p[1], k))) / mass1 for k in ("xyz", "vxyz")]
    inner = [np.array(getattr(p[1], k)) - np.array(getattr(p[0], k)) for k in ("xyz", "vxyz")]
    outer = [np.array(getattr(p[2], k)) - c for k, c in zip(("xyz", "vxyz"), centre)]
    y = np.concatenate([*shape(*inner, mass1), *shape(*outer, mass1 + m3)])
    momentum = [mu * math.sqrt(mass * a) for mu, mass, a in (
        (m1 * m2 / mass1, mass1, a1), (mass1 * m3 / (mass1 + m3), mass1 + m3, a2))]
    tau = math.sqrt(a1**3 / mass1) * mass1 / m3 * (a2 / a1) ** 3

    def averaged(y):
        j, e, big_j, big_e = y[:3], y[3:6], y[6:9], y[9:]
        q = math.sqrt(1 - big_e @ big_e)
        n, rate = big_j / q, 0.75 / tau / q**3
        jn, en, ratio = j @ n, e @ n, momentum[0] / momentum[1]
        cross = np.cross
        bracket = 0.5 - 3 * e @ e + 12.5 * en * en - 2.5 * jn * jn
        return rate * np.concatenate([
            jn * cross(j, n) - 5 * en * cross(e, n),
            jn * cross(e, n) + 2 * cross(j, e) - 5 * en * cross(j, n),
            ratio * (jn * cross(n, j) - 5 * en * cross(n, e)),
            ratio / q * (jn * cross(big_e, j) - 5 * en * cross(big_e, e) - bracket * cross(n, big_e))])

    track = []
    while len(track) * step < 35000:
        sim.integrate((len(track) + 1) * step)
        k1 = averaged(y)
        k2 = averaged(y + step / 2 * k1)
        k3 = averaged(y + step / 2 * k2)
        y = y + step / 6 * (k1 + 2 * k2 + 2 * k3 + averaged(y + step * k3))
        track.append((sim.particles[1].orbit(primary=sim.particles[0]).e, np.linalg.norm(y[3:6])))
    for name, column in (("IAS15", 0), ("averaged", 1)):
        e = [row[column] for row in track]
        for k in range(12, len(e) - 12):
            if e[k] == max(e[k - 12:k + 13]):
                print(name, "maximum", e[k], "at", (k + 1) * step)
        print(name, "at the end", e[-1])


def exchange(count, speed, seed=83):
    """The encounters of src/few_body/scattering.rs with other random numbers."""
    import rebound

    random.seed(seed)
    largest, ends = 4 / speed + 0.6, {"fly-by": 0, "exchange": 0, "ionization": 0, "open": 0}

    def direction():
        z, f = 2 * random.random() - 1, math.tau * random.random()
        s = math.sqrt(1 - z * z)
        return [s * math.cos(f), s * math.sin(f), z]

    def cross(a, b):
        return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]

    def end(p):
        """How the encounter has ended; None before that."""
        tightest = None
        for i, j in ((0, 1), (0, 2), (1, 2)):
            inverse = 2 / math.dist(p[i].xyz, p[j].xyz) - math.dist(p[i].vxyz, p[j].vxyz) ** 2 / 2
            if inverse > 0 and (tightest is None or inverse > tightest[0]):
                tightest = (inverse, i, j)
        if tightest is None:
            pairs = [(p[i], p[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
            free = all(math.dist(a.vxyz, b.vxyz) ** 2 / 2 > 3 / math.dist(a.xyz, b.xyz) and math.dist(a.xyz, b.xyz) > 20
                       for a, b in pairs)
            return "ionization" if free else None
        inverse, i, j = tightest
        third = 3 - i - j
        x, v = ([getattr(p[third], k)[c] - (getattr(p[i], k)[c] + getattr(p[j], k)[c]) / 2 for c in range(3)]
                for k in ("xyz", "vxyz"))
        r = math.hypot(*x)
        parts = sum(c * c for c in v) / 2 > 3 / r and sum(a * b for a, b in zip(x, v)) > 0 and r > 40 / inverse
        return ("fly-by" if third == 2 else "exchange") if parts else None

    for _ in range(count):
        impact, v = largest * math.sqrt(random.random()), speed * math.sqrt(1.5)
        around = impact * v / 50
        inward = -math.sqrt(v * v + 6 / 50 - around * around)
        x = direction()
        across = cross(direction(), x)
        scale = math.sqrt(2) / math.hypot(*across)
        sim = rebound.Simulation()
        sim.integrator = "ias15"
        for s in (0.5, -0.5):
            place, motion = [s * c for c in x], [s * scale * c for c in across]
            sim.add(m=1, x=place[0], y=place[1], z=place[2], vx=motion[0], vy=motion[1], vz=motion[2])
        sim.add(m=1, x=50, vx=inward, vy=around)
        sim.move_to_com()
        how = None
        for k in range(3000):
            sim.integrate(20.0 * (k + 1), exact_finish_time=0)
            how = end(sim.particles)
            if how:
                break
        ends[how or "open"] += 1
    for name in ("exchange", "ionization"):
        part, area = ends[name] / count, (largest * speed) ** 2
        print(name, "%.3f +- %.3f" % (area * part, area * math.sqrt(part * (1 - part) / count)))
    print(ends)


if __name__ == "__main__":
    what, numbers = sys.argv[1], [float(word) for word in sys.argv[2:]]
    if what == "pythagorean":
        pythagorean(numbers[0])
    elif what == "kozai":
        kozai()
    else:
        exchange(int(numbers[0]), *numbers[1:])
