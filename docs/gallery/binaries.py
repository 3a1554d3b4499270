"""A cluster of 200 stars without softening, half of the systems binaries: the error of its energy."""
import subprocess

import matplotlib.pyplot as plt
import numpy as np

run = "hermite --n 200 --binary-fraction 0.5 --eps 0 --eta 0.005 --regularize --t-end 2 --csv binaries.csv --every 1/16"
subprocess.run(run.split(), check=True, stdout=subprocess.DEVNULL)

table = np.genfromtxt("binaries.csv", delimiter=",", names=True)
share = table["pair_energy"][0] / table["energy"][0]
plt.semilogy(table["time"][1:], np.abs(table["energy_error"][1:]), ".-")
plt.title(f"{table['pairs'][0]:.0f} pairs with {100 * share:.0f} % of the energy")
plt.xlabel("time / N-body units")
plt.ylabel("energy error")
plt.savefig("binaries.png")
