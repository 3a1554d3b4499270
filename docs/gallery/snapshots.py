"""Snapshots of hermite in GADGET's HDF5 layout, read by h5py."""
import subprocess
from pathlib import Path

import h5py
import matplotlib.pyplot as plt
import numpy as np

run = "hermite --n 512 --mass-function kroupa --t-end 2 --output cluster.hdf5 --force --snapshot-every 1"
subprocess.run(run.split(), check=True, stdout=subprocess.DEVNULL)

snapshots = []
for name in sorted(Path().glob("cluster.0*.hdf5")):
    with h5py.File(name) as file:
        stars = file["PartType1"]
        snapshots.append((file["Header"].attrs["Time"], stars["Coordinates"][:], stars["Masses"][:], stars["ParticleIDs"][:]))
panels = plt.subplots(1, len(snapshots), sharex=True, sharey=True, figsize=(9, 3.3))[1]
for panel, (time, x, m, _) in zip(panels, snapshots):
    panel.scatter(x[:, 0], x[:, 1], s=2000 * m)
    panel.set(title=f"t = {time:g}", xlim=(-2, 2), ylim=(-2, 2), xlabel="x / N-body units", aspect="equal")
panels[0].set_ylabel("y / N-body units")
plt.savefig("snapshots.png")
