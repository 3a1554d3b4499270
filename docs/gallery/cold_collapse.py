"""A uniform sphere without velocities collapses within one free-fall time."""
import kirin
import matplotlib.pyplot as plt
import numpy as np

n, eps, dt, random = 512, 0.05, 1 / 128, np.random.default_rng(2)
x = random.normal(size=(n, 3))
x *= (random.uniform(size=n) ** (1 / 3) / np.linalg.norm(x, axis=1))[:, None]  # G = M = R = 1
v, m, times = np.zeros((n, 3)), np.full(n, 1 / n), np.arange(0.0, 2.0, dt)
half_mass, energies = [], []

with kirin.Gravity(x, m) as gravity:
    force = gravity.forces(eps=eps, potential=True)
    for _ in times:
        half_mass.append(np.median(np.linalg.norm(x, axis=1)))
        energies.append(0.5 * m @ (force.pot + (v**2).sum(axis=1)))
        v += 0.5 * dt * force.acc  # kick, drift, kick
        x += dt * v
        gravity.update(np.arange(n), x=x)
        force = gravity.forces(eps=eps, potential=True)
        v += 0.5 * dt * force.acc

plt.plot(times, half_mass)
plt.axvline(np.pi / 8**0.5, linestyle=":", label="free fall of the sphere")
plt.xlabel("time / N-body units")
plt.ylabel("half-mass radius / N-body units")
plt.legend()
plt.savefig("cold_collapse.png")
