"""Runs each script of the gallery and asks whether its physics is right. The pictures are left in the present folder.

    python docs/gallery/test_gallery.py
"""

import runpy
import unittest
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

# Labels without a unit: a panel shares the axis of another, it is a unit itself, or a pure number.
PLAIN = {"", "years", "energy error", "rms eccentricity"}
SCRIPTS = Path(__file__).resolve().parent


def run(name):
    """What the script has computed, by the names of its variables."""
    plt.close("all")
    plt.rcParams.update({"figure.figsize": (5.0, 3.6), "figure.dpi": 80, "savefig.bbox": "tight"})
    values = runpy.run_path(str(SCRIPTS / f"{name}.py"))
    assert Path(f"{name}.png").stat().st_size > 4000, f"{name}.png is empty"
    labels = [label for axes in plt.gcf().axes for label in (axes.get_xlabel(), axes.get_ylabel())]
    assert all(label in PLAIN or " / " in label for label in labels), f"{name}.png: an axis has no unit: {labels}"
    return values


class Gallery(unittest.TestCase):
    def test_plummer(self):
        """The potential is the formula's up to the noise of 10000 stars."""
        found = run("plummer")
        self.assertAlmostEqual(found["energy"] / (-3 * np.pi / 32), 1.0, delta=0.02)
        ratio = found["potential"] * -np.sqrt(1.0 + found["r"] ** 2)
        self.assertLess(np.median(np.abs(ratio - 1.0)), 0.01)

    def test_cold_collapse(self):
        """The energy is kept, and the sphere is smallest about its free-fall time."""
        found = run("cold_collapse")
        energies = np.array(found["energies"])
        self.assertLess(np.ptp(energies) / abs(energies[0]), 0.01)
        self.assertAlmostEqual(energies[0], -0.6, delta=0.03)
        smallest = found["times"][np.argmin(found["half_mass"])]
        self.assertAlmostEqual(smallest, np.pi / 8**0.5, delta=0.15)

    def test_stream(self):
        """Stars leave inwards and lead, or outwards and trail. The others are within the tidal radius."""
        found = run("stream")
        stars, bound = found["stars"], found["bound"]
        self.assertGreater(bound.sum(), 128)
        self.assertGreater((~bound).sum(), 40)
        far = np.abs(stars["along_kpc"]) > 0.1
        self.assertFalse((bound & far).any())
        outward, along = stars["outward_kpc"], stars["along_kpc"]
        self.assertGreater(outward[far & (along < 0)].mean(), 0.02)
        self.assertLess(outward[far & (along > 0)].mean(), -0.02)

    def test_binaries(self):
        """The energy is kept, of which the pairs hold most."""
        found = run("binaries")["table"]
        self.assertLess(np.abs(found["energy_error"]).max(), 1e-8)
        self.assertLess(found["pair_energy"].max(), 0.5 * found["energy"][0])
        self.assertGreater(found["pairs"].min(), 40)

    def test_tree(self):
        """The density is that of the model, up to the noise of few stars in a shell."""
        found = run("tree")
        self.assertEqual(len(found["r"]), 30_000)
        self.assertLess(np.median(np.abs(found["density"] / found["model"] - 1.0)), 0.1)

    def test_planetesimals(self):
        """Planetesimals stir each other beyond the eccentricity that belongs to their Hill radius."""
        found = run("planetesimals")
        self.assertLess(found["eccentricity"][0], 2e-4)
        self.assertGreater(found["eccentricity"][-1], (1e-7 / 3) ** (1 / 3))
        self.assertLess(found["error"], 1e-6)

    def test_snapshots(self):
        """Three times, the same stars, and the centre of mass stays."""
        found = run("snapshots")["snapshots"]
        self.assertEqual([float(snapshot[0]) for snapshot in found], [0.0, 1.0, 2.0])
        for _, x, m, labels in found:
            self.assertEqual(set(labels), set(found[0][3]))
            self.assertAlmostEqual(m.sum(), 1.0, delta=1e-12)
            self.assertLess(np.abs(m @ x).max(), 1e-3)

    def test_core_collapse(self):
        """A Plummer sphere collapses after 12 to 25 initial half-mass relaxation times, and its halo grows."""
        table = run("core_collapse")["table"]
        self.assertTrue(12.0 < table["t"][-1] < 25.0, table["t"][-1])
        self.assertLess(table["core_radius"][-1], 0.15 * table["core_radius"][0])
        self.assertGreater(table["lagrangian_90"][-1], 1.2 * table["lagrangian_90"][0])
        self.assertLess(np.abs(table["energy_error"]).max(), 1e-10)


if __name__ == "__main__":
    unittest.main()
