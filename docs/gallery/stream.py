"""A star cluster on a circular orbit at 8 kpc loses stars into two tidal arms."""
import subprocess

import matplotlib.pyplot as plt
import numpy as np

options = "--n 256 --model king --galaxy mwpotential2014 --orbit circular --radius 8 --cluster-mass 5e3 --cluster-radius 12"
run = f"symplectic {options} --eps 0.2 --t-end 300Myr --stars stream.csv"
subprocess.run(run.split(), check=True, stdout=subprocess.DEVNULL)

stars = np.genfromtxt("stream.csv", delimiter=",", names=True)
bound = stars["bound"] > 0
for chosen, colour in ((~bound, "tab:orange"), (bound, "tab:blue")):
    plt.plot(stars["along_kpc"][chosen], stars["outward_kpc"][chosen], ".", color=colour)
plt.xlabel("along the orbit / kpc")
plt.ylabel("outward / kpc")
plt.title(f"300 Myr: {bound.sum()} stars bound, {(~bound).sum()} in the arms")
plt.savefig("stream.png")
