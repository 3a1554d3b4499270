"""Reads FOLDER/run.hdf5 and FOLDER/run.amuse with the packages that are installed, and compares them with FOLDER/run.txt.

The units of the run are 1e4 solar masses and 3 pc. A line for each package is printed; the first difference ends it.
"""
import importlib.util
import sys

import numpy as np

folder = sys.argv[1]
TIME, TABLE = None, []
for words in (line.split() for line in open(f"{folder}/run.txt")):
    if words[0] == "time":
        TIME = float(words[1])
    if words[0].lstrip("-").isdigit():
        TABLE.append([float(word) for word in words])
TABLE = np.array(TABLE)
LABELS, MASS, X, V = TABLE[:, 0].astype(int), TABLE[:, 1], TABLE[:, 2:5], TABLE[:, 5:8]

G = 4.30091727e-3  # pc (km/s)^2 per solar mass
UNIT_MASS, UNIT_LENGTH = 1e4, 3.0
UNIT_VELOCITY = np.sqrt(G * UNIT_MASS / UNIT_LENGTH)
UNIT_TIME = 0.97779222168 * UNIT_LENGTH / UNIT_VELOCITY


def compare(who, labels, mass, x, v, time, tolerance):
    """Labels must be equal; solar masses, pc, km/s and Myr within a relative `tolerance`."""
    assert len(mass) == len(MASS), f"{who} reads {len(mass)} bodies of {len(MASS)}"
    assert np.array_equal(np.asarray(labels, dtype=int), LABELS), f"{who}: labels"
    for name, found, expected in [
        ("mass", mass, MASS * UNIT_MASS),
        ("x", x, X * UNIT_LENGTH),
        ("v", v, V * UNIT_VELOCITY),
        ("time", time, TIME * UNIT_TIME),
    ]:
        error = np.max(np.abs(np.asarray(found) - expected)) / np.max(np.abs(expected))
        assert error <= tolerance, f"{who}: {name} differs by {error:.1e}"
    print(f"{who}: {len(mass)} bodies")


def with_h5py():
    import h5py

    with h5py.File(f"{folder}/run.hdf5") as f:
        p = f["PartType1"]
        for name, expected in [("Masses", MASS), ("Coordinates", X), ("Velocities", V), ("ParticleIDs", LABELS)]:
            assert np.array_equal(p[name][:], expected), f"h5py: {name} has other bits"
        assert f["Header"].attrs["Time"] == TIME
        units = f["Units"].attrs
        compare("h5py", p["ParticleIDs"], p["Masses"][:] * units["UnitMass_in_g"] / 1.988409870698051e33,
                p["Coordinates"][:] * units["UnitLength_in_cm"] / 3.0856775814913673e18,
                p["Velocities"][:] * units["UnitVelocity_in_cm_per_s"] / 1e5,
                TIME * units["UnitLength_in_cm"] / units["UnitVelocity_in_cm_per_s"] / 3.15576e13, 1e-8)


def with_pynbody():
    import pynbody

    s = pynbody.load(f"{folder}/run.hdf5")
    time = float(s.properties["time"].in_units("Myr", **s.conversion_context()))
    compare("pynbody", s["iord"], s["mass"].in_units("Msol"), s["pos"].in_units("pc"), s["vel"].in_units("km s^-1"),
            time, 1e-3)


def with_yt():
    import h5py
    import yt

    yt.set_log_level("error")
    with h5py.File(f"{folder}/run.hdf5") as f:
        units = dict(f["Units"].attrs)
    ds = yt.load(f"{folder}/run.hdf5", unit_base=units)
    p = {name: ds.all_data()["PartType1", name] for name in
         ["ParticleIDs", "Masses", "Coordinates", "Velocities"]}
    order = np.argsort(p["ParticleIDs"])[np.argsort(np.argsort(LABELS))]
    compare("yt", p["ParticleIDs"][order], p["Masses"].to("Msun")[order], p["Coordinates"].to("pc")[order],
            p["Velocities"].to("km/s")[order], ds.current_time.to("Myr"), 1e-3)


def with_amuse():
    from amuse.io import read_set_from_file
    from amuse.units import units

    p = read_set_from_file(f"{folder}/run.amuse", "amuse")
    compare("amuse", p.id, p.mass.value_in(units.MSun), p.position.value_in(units.parsec),
            p.velocity.value_in(units.kms), p.collection_attributes.timestamp.value_in(units.Myr), 1e-3)


for package, check in [("h5py", with_h5py), ("pynbody", with_pynbody), ("yt", with_yt), ("amuse", with_amuse)]:
    if importlib.util.find_spec(package):
        check()
    else:
        print(f"SKIPPED: {package} is not installed")
