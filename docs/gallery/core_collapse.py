"""Core collapse of 2000 stars by Henon's Monte Carlo method."""
import subprocess

import matplotlib.pyplot as plt
import numpy as np

run = "monte-carlo --n 2000 --t-end 30 --csv core_collapse.csv"
subprocess.run(run.split(), check=True, stdout=subprocess.DEVNULL)

table = np.genfromtxt("core_collapse.csv", delimiter=",", names=True)
for percent in ("01", "10", "50", "90"):
    plt.semilogy(table["t"], table[f"lagrangian_{percent}"], label=f"{int(percent)} % of the mass")
plt.semilogy(table["t"], table["core_radius"], "k:", label="core")
plt.xlabel("time / initial half-mass relaxation time")
plt.ylabel("radius / N-body units")
plt.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
plt.savefig("core_collapse.png")
