"""Writes the files of this folder with h5py and AMUSE: five bodies whose numbers the tests compute again."""
import h5py
import numpy as np

N = 5
I = np.arange(N)
MASS = (I + 1) / 8
X = np.stack([I * 0.5 - 1, I * -0.25, I * 0.125 + 2], axis=1)
V = np.stack([I * 0.0625, 1 - I * 0.5, I * 0.75], axis=1)
LABELS = I * 7 + 3


def header(file, counts, table=(0,) * 6, **more):
    group = file.create_group("Header")
    group.attrs.update(
        NumPart_ThisFile=np.array(counts, "u4"),
        NumPart_Total=np.array(counts, "u4"),
        MassTable=np.array(table, "f8"),
        Time=0.5,
        Redshift=0.0,
        NumFilesPerSnapshot=1,
        **more,
    )


def particles(file, kind, at, real="f8", label="u4", masses=True, **storage):
    group = file.create_group(f"PartType{kind}")
    group.create_dataset("Coordinates", data=X[at].astype(real), **storage)
    group.create_dataset("Velocities", data=V[at].astype(real), **storage)
    if masses:
        group.create_dataset("Masses", data=MASS[at].astype(real), **storage)
    group.create_dataset("ParticleIDs", data=LABELS[at].astype(label), **storage)


# Single precision, two types, the mass of one in the table, units of GADGET with G = 43007.1.
with h5py.File("gadget.hdf5", "w") as f:
    header(f, [0, 1, 0, 0, 4, 0], [0, MASS[0], 0, 0, 0, 0])
    particles(f, 1, slice(0, 1), "f4", masses=False)
    particles(f, 4, slice(1, 5), "f4")
    f.create_group("Units").attrs.update(
        UnitLength_in_cm=3.085678e21, UnitMass_in_g=1.989e43, UnitVelocity_in_cm_per_s=1e5)
# Compressed chunks in the other byte order, in the format of HDF5 1.14 and in the newest one.
for name, libver in [("chunked.hdf5", "v114"), ("newest.hdf5", "latest")]:
    with h5py.File(name, "w", libver=(libver, libver)) as f:
        header(f, [0, 5, 0, 0, 0, 0])
        particles(f, 1, slice(0, 5), ">f8", ">u8", chunks=True, compression="gzip", shuffle=True)

from amuse.datamodel import Particles
from amuse.io import write_set_to_file
from amuse.units import nbody_system, units
for name, (mass, length, velocity, time) in {
    "nbody.amuse": (nbody_system.mass, nbody_system.length, nbody_system.speed, nbody_system.time),
    "si.amuse": (units.MSun, units.parsec, units.kms, units.Myr),
}.items():
    p = Particles(N)
    p.mass, p.position, p.velocity, p.id = MASS | mass, X | length, V | velocity, LABELS
    write_set_to_file(p.savepoint(0.5 | time), name, "amuse", overwrite_file=True)
