"""The potential of a Plummer sphere of 10000 stars, beside the formula."""
import kirin
import matplotlib.pyplot as plt
import numpy as np

n, random = 10_000, np.random.default_rng(1)
r = (random.uniform(0.0, 1.0, n) ** (-2 / 3) - 1.0) ** -0.5  # G = M = a = 1
direction = random.normal(size=(n, 3))
x = r[:, None] * direction / np.linalg.norm(direction, axis=1)[:, None]

with kirin.Gravity(x, np.full(n, 1 / n)) as gravity:
    potential = gravity.potentials()
energy = 0.5 * potential.mean()  # -3 pi / 32 in the mean of many spheres

radii = np.geomspace(0.05, 20.0)
plt.loglog(r[::10], -potential[::10], ".", label="10000 stars")
plt.loglog(radii, (1.0 + radii**2) ** -0.5, label="Plummer (1911)")
plt.xlabel("radius / a")
plt.ylabel("-potential / (G M / a)")
plt.legend()
plt.savefig("plummer.png")
