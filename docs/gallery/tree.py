"""A Plummer sphere of 30000 stars in the treecode: the density stays that of the model."""
import subprocess

import h5py
import matplotlib.pyplot as plt
import numpy as np

run = "treecode --n 3e4 --t-end 1/16 --dt 1/16 --output tree.hdf5 --force --csv tree.csv"
subprocess.run(run.split(), check=True, stdout=subprocess.DEVNULL)

with h5py.File("tree.hdf5") as file:
    stars = file["PartType1"]
    r, m = np.linalg.norm(stars["Coordinates"], axis=1), stars["Masses"][:]
edges = np.geomspace(0.05, 5.0, 25)
mass = np.histogram(r, edges, weights=m)[0]
middle, a = np.sqrt(edges[1:] * edges[:-1]), 3 * np.pi / 16
density = mass / (4 / 3 * np.pi * np.diff(edges**3))
model = 3 / (4 * np.pi * a**3) * (1 + (middle / a) ** 2) ** -2.5

plt.loglog(middle, density, "o", label="30000 stars")
plt.loglog(middle, model, label="Plummer (1911)")
plt.xlabel("radius / N-body units")
plt.ylabel("density / N-body units")
plt.legend()
plt.savefig("tree.png")
