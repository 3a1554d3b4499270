"""A cluster of 200 stars, half of the systems binaries, without softening: what happens to the energy of the pairs."""
import subprocess

import matplotlib.pyplot as plt
import numpy as np

run = "hermite --n 200 --binary-fraction 0.5 --eps 0 --regularize --t-end 2 --csv binaries.csv --every 1/16"
subprocess.run(run.split(), check=True, stdout=subprocess.DEVNULL)

table = np.genfromtxt("binaries.csv", delimiter=",", names=True)
upper, lower = plt.subplots(2, sharex=True)[1]
upper.plot(table["time"], table["pair_energy"], ".-")
upper.set_ylabel("energy within pairs")
lower.semilogy(table["time"][1:], np.abs(table["energy_error"][1:]), ".-")
lower.set_ylabel("energy error")
lower.set_xlabel("time")
plt.savefig("binaries.png")
